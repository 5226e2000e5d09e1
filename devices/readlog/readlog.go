// Package readlog plays logs (docs/LOGS.md): it provides the devices that were
// recorded, and publishes what they said, when they said it, as if they were
// there.
package readlog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/logfile"
)

const (
	// burst is how often a record is read, or a message published, in one go:
	// below a millisecond of work. A log that is played faster than that makes
	// way for the clients after each, and so does one with much between the
	// messages that are played.
	burst = 1024
	// ration is how much is read in one go, in bytes: about a millisecond of
	// work. Other programs log camera images beside our messages.
	ration = 1 << 20
	// pause is how long the loop has to itself between two bursts.
	pause = time.Millisecond
	// lap is the time between the last message of a log and the first of the
	// next round; about the period of a robot's data, so that nothing jumps in
	// time, and a log of one message does not keep the server busy.
	lap = 100 * time.Millisecond
	// stepCode is the configuration that asks for a step.
	stepCode = "s"
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:      "readlog",
		Doc:       "plays a log of writelog, as if the devices were there",
		Provides:  devices.Interfaces(),
		Simulated: true,
		Options: []devices.Option{
			{Name: "file", Default: devices.Path(""), Required: true, Doc: "the log"},
			{Name: "rate", Default: 1.0, Min: 0.01, Max: 100, Doc: "how much faster than it was recorded"},
			{Name: "loop", Default: false, Doc: "begins anew at the end"},
			{Name: "step", Default: false, Doc: "waits for the configuration s of a device before its next data"},
		},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			d, err := New(Options{a.String("file"), a.Float("rate"), a.Bool("loop"), a.Bool("step")}, a.Provides)
			if err != nil {
				return nil, err
			}
			return []devices.Instance{{Driver: d, Provides: d.Provides()}}, nil
		},
	}
}

// Options are how a log is played.
type Options struct {
	File string
	Rate float64
	Loop bool
	Step bool
}

// Driver plays a log from its beginning whenever it is started.
type Driver struct {
	options  Options
	recorded []source

	link    *devices.Link
	log     *logfile.Reader // nil: it is off, or at the end
	playing map[*logfile.Channel]*devices.Device
	next    logfile.Message // not published yet; Channel is nil: it is to be found
	atEnd   bool            // there is no next
	base    time.Duration   // when the message of time zero is due
	zero    int64           // of the first message that is played, ns since 1970
	target  *devices.Device // whose data ends the step under way; nil: none is
	count   int             // messages of this round
}

// source is a device and the channel that it is played from.
type source struct {
	spec    devices.Spec
	channel logfile.Channel
}

// New reads what is in a log. It provides one device of each interface: of
// several that were recorded the one with the index that is wanted, else the
// first. The error says what is wrong with the file.
func New(o Options, wanted []devices.Spec) (*Driver, error) {
	s, err := logfile.Scan(o.File)
	if err != nil {
		return nil, err
	}
	d := &Driver{options: o}
	for _, spec := range devices.Interfaces() {
		index := 0
		if i := slices.IndexFunc(wanted, func(w devices.Spec) bool { return w.Letter == spec.Letter }); i >= 0 {
			index = wanted[i].Index
		}
		if c, ok := choose(s.Channels, spec.Name, index); ok {
			d.recorded = append(d.recorded, source{spec, c})
		}
	}
	if len(d.recorded) == 0 {
		return nil, fmt.Errorf("%s: there is no data of a device in this log", o.File)
	}
	return d, nil
}

// choose finds the data of an interface: with the index, else the first.
func choose(channels []logfile.ChannelSummary, name string, index int) (chosen logfile.Channel, ok bool) {
	for _, c := range channels {
		if c.Interface == name && c.Content == logfile.Data && (!ok || c.Index == index) {
			chosen, ok = c.Channel, true
		}
	}
	return chosen, ok
}

// Provides returns the devices that the log has data of.
func (d *Driver) Provides() []devices.Spec {
	specs := make([]devices.Spec, len(d.recorded))
	for i, s := range d.recorded {
		specs[i] = s.spec
	}
	return specs
}

// Setup begins to play.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.target = link, nil
	if err := d.open(now); err != nil {
		link.Fail(now, err)
		return
	}
	link.Ready(now)
	link.WakeAt(d.play(now))
}

// open begins a round at now.
func (d *Driver) open(now time.Duration) (err error) {
	if d.log, err = logfile.Open(d.options.File); err != nil {
		return err
	}
	// What belongs to no channel of ours is played by no device.
	d.playing, d.count = map[*logfile.Channel]*devices.Device{nil: nil}, 0
	d.next, d.atEnd, d.base = logfile.Message{}, false, now
	return nil
}

// read reads a record, the next message if it is one that is played. It returns
// how many bytes it went through: those of the file, which come a chunk at a
// time, and those of the message.
func (d *Driver) read() int {
	offset := d.log.Offset()
	m, err := d.log.NextRecord()
	if err == io.EOF {
		d.atEnd = true
		return 0
	}
	device, known := d.playing[m.Channel]
	if !known {
		device = d.deviceOf(m.Channel)
		d.playing[m.Channel] = device
	}
	if device != nil {
		d.next = m
		if d.count == 0 {
			d.zero = m.Time
		}
	}
	return int(d.log.Offset()-offset) + len(m.Payload)
}

// deviceOf is the device that a channel is played by, nil if by none.
func (d *Driver) deviceOf(c *logfile.Channel) *devices.Device {
	i := slices.IndexFunc(d.recorded, func(s source) bool { return s.channel == *c })
	if i < 0 {
		return nil
	}
	return d.link.Device(d.recorded[i].spec.Letter)
}

// due is when the next message is to be published.
func (d *Driver) due() time.Duration {
	return d.base + time.Duration(float64(d.next.Time-d.zero)/d.options.Rate)
}

// play publishes what is due at now and returns when to go on, zero for not by
// itself.
func (d *Driver) play(now time.Duration) time.Duration {
	for i, left := 0, ration; i < burst && left > 0; i++ {
		switch {
		case d.log == nil:
			return 0
		case d.atEnd:
			return d.end(now)
		case d.next.Channel == nil:
			left -= d.read()
		case d.options.Step && d.target == nil:
			return 0
		case !d.options.Step && d.due() > now:
			return d.due()
		default:
			d.publish(now)
		}
	}
	return now + pause
}

// publish publishes the next message.
func (d *Driver) publish(now time.Duration) {
	device := d.playing[d.next.Channel]
	device.Publish(now, d.next.Payload)
	d.count++
	if device == d.target {
		d.target = nil
	}
	d.next = logfile.Message{}
}

// end ends a round. The devices keep what they said last.
func (d *Driver) end(now time.Duration) time.Duration {
	log := d.link.Log().With(zap.String("file", d.options.File), zap.Int("messages", d.count))
	if damage := d.log.Damage(); damage != nil {
		log = log.With(zap.NamedError("damage", damage))
	}
	d.close()
	if !d.options.Loop || d.count == 0 {
		log.Info("the log is at its end")
		return 0
	}
	log.Debug("the log begins anew")
	if err := d.open(now + lap); err != nil {
		log.Error("the log cannot be played again", zap.Error(err))
		return 0
	}
	return now + lap
}

func (d *Driver) close() {
	if d.log != nil {
		_ = d.log.Close() // it was only read
		d.log, d.target = nil, nil
	}
}

// Shutdown stops playing.
func (d *Driver) Shutdown(now time.Duration) {
	d.close()
	d.link.Stopped(now)
}

// Tick goes on.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.play(now) }

var (
	errNoStep = errors.New("the log is played without steps: its driver needs step 1")
	errEnd    = errors.New("the log is at its end")
	errBusy   = errors.New("the last step is still under way")
)

// Configure has no effect, as what was recorded cannot be changed, but for s, which
// asks for a step (PROTOCOL 6.7): up to the next data of the device, or the end of
// the log.
func (d *Driver) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	if string(payload) != stepCode {
		_, err := codec.DecodeRobotConfig(payload)
		return err
	}
	switch {
	case !d.options.Step:
		return errNoStep
	case d.log == nil:
		return errEnd
	case d.target != nil:
		return errBusy
	}
	d.target = device
	d.link.WakeAt(d.play(now))
	return nil
}
