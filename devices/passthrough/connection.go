package passthrough

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/peer"
)

const (
	// connectLimit bounds connecting and the answer to an empty request, which comes
	// at once. A longer limit would delay finding a computer that was switched on
	// late, because the kernel backs off on one connection.
	connectLimit = 3 * time.Second
	// answerLimit bounds the setup of the devices after that. The other Player itself
	// gives up on most of them within 10 s.
	answerLimit = 15 * time.Second
	// pingPeriod is the silence after which a ping is sent: the other Player sends
	// nothing while nothing is new.
	pingPeriod = time.Second
	// silenceLimit is the silence after which the connection counts as lost. Two pings
	// may get lost.
	silenceLimit = 3 * time.Second
)

var (
	errSilent = errors.New("it does not answer")
	errClosed = errors.New("it has closed the connection")
)

type state uint8

const (
	off      state = iota
	asking         // connecting, then waiting for the reply; until due
	learning       // the devices are open; waiting for what is asked about them, until due
	serving        // data comes
	resting        // until it is tried again, at due
)

func (d *Driver) connect(now time.Duration) {
	port, err := d.link.Host().Dial(d.address, d)
	if err != nil {
		d.lost(now, err)
		return
	}
	d.port, d.reader = port, peer.Reader{}
	d.outbox = peer.Outbox{Port: port, Log: d.link.Log(), Code: func(device *devices.Device) byte { return d.remoteOf(device).code }}
	d.items.Interface = d.interfaceOf
	d.frame.Ages, d.next, d.refusal = d.frame.Ages[:0], 0, nil
	d.out = d.out[:0]
	for _, c := range []codec.Config{
		{Code: codec.ConfigFrequency, Arg: uint16(d.rate)}, {Code: codec.ConfigCompact, Arg: codec.FramesAuto}, {Code: codec.ConfigPath, Text: d.link.Path()},
		// Our clients' commands end by a command to stop, which must not stop clients of the other Player.
		{Code: codec.ConfigLifetime, Arg: codec.LifetimeEndless},
	} {
		d.out = codec.AppendMessage(d.out, codec.KindConfig, codec.Server, c.Append(nil))
	}
	known := true
	for i := range d.remotes {
		r := &d.remotes[i]
		r.writes, r.code = false, 0
		if letter := r.device.Letter(); codec.OnWire(letter) && r.name == r.device.Spec().At(0).Address() {
			r.code = letter
		}
		known = known && r.code != 0
	}
	if !known {
		question := codec.Config{Code: codec.ConfigQuestion, Arg: uint16(codec.QuestionDevices)}
		d.out = codec.AppendMessage(d.out, codec.KindConfig, codec.Server, question.Append(nil))
	}
	d.out = codec.AppendRequest(d.out, nil)
	if d.asks = !known; known {
		d.out = codec.AppendRequest(d.out, d.pairs())
	}
	d.state = asking
	d.wake(now + connectLimit)
	port.Write(d.out)
}

// pairs returns the request for all devices.
func (d *Driver) pairs() []byte {
	pairs := []byte{codec.Server, codec.AccessRead} // for the ages (PROTOCOL 8.1)
	for i := range d.remotes {
		pairs = append(pairs, d.remotes[i].code, codec.AccessRead)
	}
	return pairs
}

// interfaceOf returns the letter of the interface of a device there.
func (d *Driver) interfaceOf(code byte) byte {
	if r := d.remote(code); r != nil {
		return r.device.Letter()
	}
	return code
}

// missing returns an error if the other Player has not listed one of the devices.
func (d *Driver) missing() error {
	for i := range d.remotes {
		if d.remotes[i].code == 0 {
			return fmt.Errorf("it has no device %s", d.remotes[i].name)
		}
	}
	return nil
}

func (d *Driver) wake(at time.Duration) {
	d.due = at
	d.link.WakeAt(at)
}

func (d *Driver) disconnect() {
	if d.port != nil {
		d.port.Close()
		d.port = nil
	}
}

// limit returns how large a block may be, for peer.Reader.
func (d *Driver) limit(letter byte) int {
	switch letter {
	case codec.KindReply:
		return 2 + 2*len(d.remotes)
	case codec.Server:
		return 8 + 4*len(d.remotes)
	case codec.KindCompact:
		return codec.MaxBlock
	case codec.KindAnswer:
		return codec.MaxAnswer
	}
	if r := d.remote(letter); r != nil {
		return r.device.Spec().DataSize
	}
	return -1
}

func (d *Driver) Receive(now time.Duration, in []byte) {
	d.heard = now
	for port := d.port; d.port == port && port != nil; {
		letter, payload, rest, ok, err := d.reader.Next(in, d.limit)
		if err == nil && ok {
			err = d.take(now, letter, payload)
		}
		if err != nil {
			d.lost(now, err)
		}
		if !ok {
			return
		}
		in = rest
	}
}

// take takes one block.
func (d *Driver) take(now time.Duration, letter byte, payload []byte) error {
	switch letter {
	case codec.KindReply:
		return d.replied(now, payload)
	case codec.Server:
		d.next = 0
		return d.frame.Decode(payload)
	case codec.KindCompact:
		return d.takeCompact(now, payload)
	case codec.KindAnswer:
		d.answered(payload)
		return nil
	}
	r, age := d.remote(letter), d.age()
	if age == codec.NoAge || len(payload) == 0 && letter != codec.Vision { // it has no data yet
		return nil
	}
	if err := peer.CheckData(r.device.Spec(), payload); err != nil {
		return err
	}
	r.device.Publish(now-time.Duration(age)*time.Microsecond, payload)
	return nil
}

// takeCompact takes the blocks of a compact block.
func (d *Driver) takeCompact(now time.Duration, block []byte) error {
	d.items.Reset(block)
	for port := d.port; d.port == port; {
		letter, payload, ok, err := d.items.Next()
		if err != nil || !ok {
			return err
		}
		if letter != codec.Server && d.remote(letter) == nil {
			return fmt.Errorf("its compact block has a device %q, which we have not opened", letter)
		}
		if err := d.take(now, letter, payload); err != nil {
			return err
		}
	}
	return nil
}

// age returns the age of the next block of the frame, in us. Data of a Player that
// sends no ages counts as fresh.
func (d *Driver) age() uint32 {
	if d.next >= len(d.frame.Ages) {
		return 0
	}
	d.next++
	return d.frame.Ages[d.next-1]
}

// answered handles the answer to a question of ours.
func (d *Driver) answered(payload []byte) {
	question, lines := codec.Answer(payload)
	for _, line := range lines {
		switch question {
		case codec.QuestionGeometry:
			if part, ok := codec.ParsePart(line, d.key); ok && d.state == learning {
				d.parts = append(d.parts, part)
			}
		case codec.QuestionRays:
			if rays, ok := codec.ParseRays(line, d.key); ok && d.state == learning {
				d.rays = append(d.rays, rays)
			}
		case codec.QuestionChannels:
			if channel, ok := codec.ParseChannel(line, d.key); ok && d.state == learning {
				d.channels = append(d.channels, channel)
			}
		case codec.QuestionColors:
			key, color, ok := codec.ParseChannelColor(line)
			if index, known := d.key(key); ok && known && d.state == learning {
				color.Device = index
				d.colors = append(d.colors, color)
			}
		case codec.QuestionDevices:
			if e, ok := codec.ParseEntry(line); ok && d.state == asking && d.refusal == nil {
				for i := range d.remotes {
					if d.remotes[i].name == e.Address() {
						d.remotes[i].code = e.Code
					}
				}
			}
		case codec.QuestionRefusals:
			if r, ok := codec.ParseReason(line, d.key); ok && d.refusal != nil {
				d.refusal = fmt.Errorf("it cannot open %s for us: %s", d.remotes[r.Device].name, r.Text)
				return
			}
		}
	}
}

// key is a codec.Keys that finds the index in remotes.
func (d *Driver) key(key string) (index byte, known bool) {
	for i := range d.remotes {
		if r := &d.remotes[i]; r.name == key || r.code < 0x80 && key == string(rune(r.code)) {
			return byte(i), true
		}
	}
	return 0, false
}

// replied handles the reply to a request. The empty request is a ping.
func (d *Driver) replied(now time.Duration, pairs []byte) error {
	switch {
	case d.state == asking && len(pairs) == 0 && d.refusal != nil:
		return d.refusal
	case d.state == asking && len(pairs) == 0:
		if err := d.missing(); err != nil {
			return err
		}
		d.wake(now + answerLimit)
		if d.asks {
			d.asks = false
			d.port.Write(codec.AppendRequest(d.out[:0], d.pairs()))
		}
	case d.state == asking:
		return d.opened(now, pairs)
	case d.state == learning && len(pairs) == 0:
		d.serve(now)
	default:
		for i := 0; i+1 < len(pairs); i += 2 {
			if r := d.remote(pairs[i]); r != nil && pairs[i+1] == codec.AccessError {
				d.refuse(r)
			}
		}
	}
	return nil
}

// opened handles the reply to the first request. An old Player answers e for the ages; then
// its data counts as fresh. If a device is refused, we ask for the reason. Clients get the devices when the
// questions about them are answered: they ask the same ones as soon as they have the devices open.
func (d *Driver) opened(now time.Duration, pairs []byte) error {
	aged := false
	for i := 0; i+1 < len(pairs); i += 2 {
		switch r := d.remote(pairs[i]); {
		case pairs[i] == codec.Server:
			aged = pairs[i+1] == codec.AccessRead
		case r != nil && pairs[i+1] == codec.AccessError:
			d.refusal = fmt.Errorf("it cannot open %s for us", r.name)
			why := codec.Config{Code: codec.ConfigQuestion, Arg: uint16(codec.QuestionRefusals)}
			d.out = codec.AppendMessage(d.out[:0], codec.KindConfig, codec.Server, why.Append(nil))
			d.out = codec.AppendRequest(d.out, nil) // even a Player without questions answers this
			d.port.Write(d.out)
			d.wake(now + connectLimit)
			return nil
		}
	}
	d.state = learning
	d.out = d.out[:0]
	if aged {
		fresh := codec.Config{Code: codec.ConfigFresh, Arg: 1}
		d.out = codec.AppendMessage(d.out, codec.KindConfig, codec.Server, fresh.Append(nil))
	}
	d.parts, d.rays, d.channels, d.colors = nil, nil, nil, nil
	questions := d.questions(aged)
	for _, question := range questions {
		q := codec.Config{Code: codec.ConfigQuestion, Arg: uint16(question)}
		d.out = codec.AppendMessage(d.out, codec.KindConfig, codec.Server, q.Append(nil))
	}
	if len(questions) == 0 {
		d.serve(now)
		return nil
	}
	d.out = codec.AppendRequest(d.out, nil) // its reply comes behind the answers
	d.wake(now + connectLimit)
	d.port.Write(d.out)
	return nil
}

// serve begins to carry out commands.
func (d *Driver) serve(now time.Duration) {
	d.retry.Worked(now, d.link.Log())
	d.state = serving
	d.wake(now + pingPeriod)
	d.link.Ready(now)
}

// questions returns the questions about the devices. A Player that sends no ages is one of 0.7.4a, which answers none.
func (d *Driver) questions(aged bool) (questions []byte) {
	if !aged {
		return nil
	}
	questions = append(questions, codec.QuestionGeometry)
	for i := range d.remotes {
		switch d.remotes[i].device.Letter() {
		case codec.Ranger:
			questions = append(questions, codec.QuestionRays)
		case codec.IO, codec.Servo:
			questions = append(questions, codec.QuestionChannels)
		case codec.Vision:
			questions = append(questions, codec.QuestionColors)
		}
	}
	slices.Sort(questions)
	return slices.Compact(questions)
}

// refuse is called when an open device was refused: we may only read it, and the
// request to write has closed it (PROTOCOL 2.10).
func (d *Driver) refuse(r *remote) {
	if !r.writes || r.refused {
		d.link.Log().Error("the other Player has closed a device", zap.String("device", r.device.Spec().Name))
		return
	}
	d.link.Log().Warn("the other Player takes no commands from us", zap.String("device", r.device.Spec().Name))
	r.refused = true
	r.device.ForgetCommand()
	d.ask(r, codec.AccessRead)
}

// ask requests access to one device.
func (d *Driver) ask(r *remote, access byte) {
	d.out = codec.AppendRequest(d.out[:0], []byte{r.code, access})
	d.port.Write(d.out)
}

func (d *Driver) Hangup(now time.Duration, err error) {
	if errors.Is(err, io.EOF) {
		err = errClosed
	}
	d.lost(now, err)
}

// lost is called when the connection has failed. Commands are forgotten, because the
// other Player stops the motors.
func (d *Driver) lost(now time.Duration, why error) {
	d.disconnect()
	if d.link.State() == devices.Starting {
		d.state = off
		d.link.Fail(now, fmt.Errorf("player %s: %w", d.address, why))
		return
	}
	d.link.ForgetCommands()
	d.state = resting
	d.wake(d.retry.Failed(now, d.link.Log(), why))
}

func (d *Driver) Tick(now time.Duration) time.Duration {
	switch {
	case d.state == serving:
		return d.check(now)
	case now < d.due:
	case d.state == resting:
		d.connect(now)
	case d.state == asking && d.refusal != nil:
		d.lost(now, d.refusal)
	case d.state == asking, d.state == learning:
		d.lost(now, errSilent)
	}
	return d.due
}

// check sends waiting commands and pings, and detects a silent connection.
func (d *Driver) check(now time.Duration) time.Duration {
	next := d.heard + pingPeriod
	if now >= next {
		next = min(now+pingPeriod, d.heard+silenceLimit)
		if now >= d.heard+silenceLimit {
			d.lost(now, errSilent)
		} else if d.port.Buffered() == 0 { // else a ping is under way
			d.out = codec.AppendRequest(d.out[:0], nil)
			d.port.Write(d.out)
		}
	}
	if d.state == serving {
		if again := d.outbox.Flush(now); again != 0 {
			next = min(next, again)
		}
	}
	if d.state != serving { // it was lost
		return d.due
	}
	return next
}
