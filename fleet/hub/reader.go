package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/devices"
	"player/fleet/bridge"
)

const (
	// roundPeriod is the time between two rounds that look for listeners.
	roundPeriod = time.Second
	// roundLimit is how long a round may last: when the NATS server is busy, answers
	// are late. The end of a round that is lost with the connection is waited for as
	// long.
	roundLimit = 5 * time.Second
	// repeatPeriod is the silence after which the data of a device, which has not
	// changed, is sent again. A late subscriber waits at most this long for it.
	repeatPeriod = 2 * time.Second
	// retryPause is the time between two attempts to reach a robot.
	retryPause = time.Second
	// refusedPause is the time between two requests for a device that the robot has
	// refused. Each may start hardware and be logged there.
	refusedPause = 5 * time.Second

	// noResponders is the status of an answer of the NATS server itself: there is
	// no listener.
	noResponders = "503"

	// endOfRound is the last token of the subject to which the bridge sends the end
	// of a round.
	endOfRound = "end"
)

// reader reads the devices of a robot that have a listener.
type reader struct {
	hub   *hub
	robot Robot
	state *state

	sources  []*source
	fixed    int // sources that have letters; the others are in the order of state.further
	interest bridge.Interest
	inbox    string         // where refusals arrive: followed by the number of a subject
	replies  chan *nats.Msg // to inbox
	asks     chan *nats.Msg // requests for rates
	round    time.Time      // when the next one begins
	began    time.Time      // when the last one has

	conn  *client.Client // nil: there is none
	aged  bool           // the robot sends ages, and new data only
	rate  int            // of conn, Hz
	retry time.Time      // no attempt to connect before

	limited context.Context // of Read: ends when the reader must check for changes
	until   time.Time       // when limited ends
	close   context.CancelFunc
}

// source is a device and its data.
type source struct {
	spec    devices.Spec
	name    string
	code    byte      // on conn; 0: the robot does not have the device
	subject [2]string // of the payload and of JSON
	probe   [2]bool   // the next message on it looks for listeners
	demand  bridge.Demand
	pacer   bridge.Pacer
	open    bool
	refused error         // why it is not open; nil: it was not tried
	retry   time.Time     // no attempt to open it before
	newest  bridge.Sample // of the robot
	waiting bool          // newest waits for its turn
	sent    time.Time     // when the last message was

	lines     []string  // of its description
	described time.Time // when the last message with them was
}

func newReader(h *hub, r Robot, s *state) *reader {
	rd := &reader{hub: h, robot: r, state: s, inbox: nats.NewInbox() + ".", close: func() {}}
	rd.add(devices.Lettered())
	rd.fixed = len(rd.sources)
	return rd
}

// add adds devices. A robot without further devices has no more messages for them.
func (r *reader) add(specs []devices.Spec) {
	epoch := bridge.NewEpoch(time.Now())
	for _, spec := range specs {
		s := &source{spec: spec, name: bridge.NameOf(spec), newest: nothing(spec, epoch)}
		for form, last := range []string{bridge.Data, bridge.JSON} {
			s.subject[form] = bridge.Subject(r.hub.Fleet, r.robot.Name, s.name, last)
		}
		if bridge.HasLetter(spec) {
			s.code = spec.Letter
		}
		r.sources = append(r.sources, s)
	}
}

// identify gives the further devices the bytes that they have on the connection: another start of the server may have
// handed out others.
func (r *reader) identify(ctx context.Context) error {
	entries, err := list(ctx, r.conn, r.state)
	r.add(r.state.furtherFrom(len(r.sources) - r.fixed))
	for _, s := range r.sources[r.fixed:] {
		s.code = 0
		for _, e := range entries {
			if e.Address() == s.spec.Address() {
				s.code = e.Code
			}
		}
	}
	return err
}

// nothing is the sample of a device that has no data.
func nothing(spec devices.Spec, epoch int64) bridge.Sample {
	return bridge.Sample{Interface: spec.Name, Letter: spec.Letter, Epoch: epoch}
}

func (r *reader) run(ctx context.Context) error {
	r.replies, r.asks = make(chan *nats.Msg, backlog), make(chan *nats.Msg, backlog)
	replies, err := r.hub.nats.ChanSubscribe(r.inbox+"*", r.replies)
	if err != nil {
		return err
	}
	defer replies.Unsubscribe()
	asks, err := r.hub.nats.ChanSubscribe(bridge.Subject(r.hub.Fleet, r.robot.Name, bridge.Every, bridge.Rate), r.asks)
	if err != nil {
		return err
	}
	defer asks.Unsubscribe()
	defer r.disconnect(nil)

	for ctx.Err() == nil {
		r.add(r.state.furtherFrom(len(r.sources) - r.fixed))
		if now := time.Now(); !now.Before(r.round) {
			r.round = now.Add(roundPeriod)
			r.ask(now)
		}
		r.drain()
		reading := r.adjust(ctx)
		if !reading {
			r.wait(ctx)
			continue
		}
		r.read(ctx)
	}
	return nil
}

// wait waits for a message to the bridge, or until the next round.
func (r *reader) wait(ctx context.Context) {
	timer := time.NewTimer(time.Until(r.round))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case m := <-r.replies:
		r.reply(m)
	case m := <-r.asks:
		r.asked(m)
	case <-timer.C:
	}
}

// drain takes the messages to the bridge that are there.
func (r *reader) drain() {
	for {
		select {
		case m := <-r.replies:
			r.reply(m)
		case m := <-r.asks:
			r.asked(m)
		default:
			return
		}
	}
}

// ask begins a round. A subject on which data flows is asked about with the next data,
// another one with the newest data once more, or without any.
func (r *reader) ask(now time.Time) {
	if !r.hub.nats.IsConnected() {
		r.interest.Forget()
		return
	}
	if r.interest.Asking() && now.Sub(r.began) < roundLimit {
		return
	}
	r.began = now
	round := r.interest.Begin()
	for i, s := range r.sources {
		silent := now.Sub(s.sent) >= repeatPeriod
		if silent {
			s.sent = now
		}
		for form, subject := range s.subject {
			s.probe[form] = true
			if silent || !r.interest.Listened(subject) {
				r.interest.Ask(subject)
				r.publish(i, form, now)
			}
		}
	}
	_ = r.hub.nats.Publish(r.inbox+endOfRound, []byte(strconv.Itoa(round)))
}

// publish sends the newest data of a source in one of its forms.
func (r *reader) publish(number, form int, now time.Time) {
	s := r.sources[number]
	sample := s.newest.At(now)
	m := &nats.Msg{Subject: s.subject[form], Header: sample.Headers()}
	if form == 0 {
		m.Data = sample.Payload
		if len(s.lines) > 0 && r.interest.Listened(m.Subject) && now.Sub(s.described) >= bridge.DescribePeriod {
			m.Header[bridge.HeaderDescription], s.described = s.lines, now
		}
	} else {
		m.Data = sample.JSON()
	}
	if s.probe[form] {
		m.Reply = r.inbox + strconv.Itoa(number*len(s.subject)+form)
		s.probe[form] = false
	}
	if r.hub.nats.PublishMsg(m) != nil {
		return // lost with the connection: there is no backlog
	}
	r.state.count(func(c *Counts) { c.Messages, c.Bytes = c.Messages+1, c.Bytes+uint64(len(m.Data)) })
}

// reply takes a message to the inbox: the end of a round, or a refusal. A stream that
// records a subject confirms the message, which is of no interest.
func (r *reader) reply(m *nats.Msg) {
	last := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	if last == endOfRound {
		if round, err := strconv.Atoi(string(m.Data)); err == nil {
			r.interest.End(round)
		}
		return
	}
	number, err := strconv.Atoi(last)
	if err != nil || number < 0 || number >= 2*len(r.sources) || m.Header.Get("Status") != noResponders {
		return
	}
	r.interest.Refused(r.sources[number/2].subject[number%2])
}

// rated is the answer to a request for a rate.
type rated struct {
	Rate int   `json:"hz"` // which the device has now
	For  int64 `json:"for_ms"`
}

// asked takes a request for a rate.
func (r *reader) asked(m *nats.Msg) {
	if bridge.CameraOf(m.Subject) != "" {
		return // pictures answers
	}
	device := bridge.Device(m.Subject)
	i := slices.IndexFunc(r.sources, func(s *source) bool { return s.name == device })
	body, _, err := r.hub.read(r.robot, m)
	hz := 0
	if err == nil {
		hz, err = body.Rate()
	}
	switch {
	case i < 0:
		r.hub.answer(m, refusal{Error: fmt.Sprintf("there is no device %q", device)})
	case err != nil:
		r.hub.answer(m, refusal{Error: err.Error()})
	default:
		now := time.Now()
		r.sources[i].demand.Ask(hz, now)
		r.hub.answer(m, rated{r.sources[i].demand.Rate(now), bridge.AskLimit.Milliseconds()})
	}
}

// wanted reports whether a source has a listener.
func (r *reader) wanted(s *source) bool {
	return r.interest.Listened(s.subject[0]) || r.interest.Listened(s.subject[1])
}

// adjust opens the devices that have a listener, and closes the others. It reports
// whether there is something to read.
func (r *reader) adjust(ctx context.Context) bool {
	if !slices.ContainsFunc(r.sources, r.wanted) {
		r.disconnect(nil)
		return false
	}
	if r.conn == nil && time.Now().Before(r.retry) {
		return false
	}
	err := r.connect(ctx)
	if err == nil {
		err = r.request(ctx)
	}
	if err == nil {
		err = r.pace()
	}
	if err != nil {
		if ctx.Err() == nil {
			r.disconnect(err)
		}
		return false
	}
	r.report()
	return slices.ContainsFunc(r.sources, func(s *source) bool { return s.open })
}

// connect connects to the robot, and asks it for ages, which some servers do not have.
func (r *reader) connect(ctx context.Context) error {
	if r.conn != nil {
		return nil
	}
	conn, err := r.hub.dial(ctx, r.robot)
	if err != nil {
		return err
	}
	r.conn, r.rate = conn, 0
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if err := r.identify(ctx); err != nil {
		return err
	}
	err = conn.Request(ctx, string([]byte{codec.Server, codec.AccessRead}))
	if _, refused := errors.AsType[*client.AccessError](err); refused {
		r.aged = false
		return nil
	}
	if err != nil {
		return err
	}
	r.aged = true
	return conn.SetFresh(true)
}

// request opens and closes devices.
func (r *reader) request(ctx context.Context) error {
	now := time.Now()
	var request []byte
	var changed []*source
	for _, s := range r.sources {
		wanted := r.wanted(s)
		switch {
		case wanted && s.code == 0:
			s.refused = fmt.Errorf("%s: the robot does not have it now", s.name)
		case wanted && !s.open && !now.Before(s.retry):
			request, changed = append(request, s.code, codec.AccessRead), append(changed, s)
			s.open, s.refused = true, nil
		case !wanted && s.open:
			request = append(request, s.code, codec.AccessClose)
			s.reset()
		}
	}
	if len(request) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := r.conn.Request(ctx, string(request))
	access, refused := errors.AsType[*client.AccessError](err)
	if err != nil && !refused {
		return err
	}
	if slices.ContainsFunc(changed, func(s *source) bool { return bridge.Describes(s.spec) }) {
		if err := r.describe(ctx); err != nil {
			return err
		}
	}
	if !refused {
		return nil
	}
	for _, a := range access.Devices {
		for _, s := range changed {
			if s.code == a.Device {
				s.reset()
				s.refused = fmt.Errorf("%s: %s", s.name, a.Reason())
				s.retry = now.Add(refusedPause)
			}
		}
	}
	return nil
}

// describe asks the robot how its devices describe their data: drivers may learn it when they start. A server that does
// not know the questions has no such devices.
func (r *reader) describe(ctx context.Context) error {
	rays, err := r.conn.Rays(ctx)
	if err != nil {
		return err
	}
	channels, err := r.conn.Channels(ctx)
	if err != nil {
		return err
	}
	for _, s := range r.sources[r.fixed:] {
		s.lines = nil
		for _, ray := range rays {
			if ray.Device == s.code && bridge.Describes(s.spec) {
				s.lines = append(s.lines, ray.Line(s.spec.Address()))
			}
		}
		for _, c := range channels {
			if c.Device == s.code {
				s.lines = append(s.lines, c.Line(s.spec.Address()))
			}
		}
	}
	return nil
}

// reset forgets the data of a source that is closed.
func (s *source) reset() {
	sequence := s.newest.Sequence
	s.newest = nothing(s.spec, s.newest.Epoch)
	s.newest.Sequence, s.open, s.waiting, s.refused = sequence, false, false, nil
	s.lines, s.described = nil, time.Time{}
}

// pace asks the robot for the rate of the fastest source.
func (r *reader) pace() error {
	rate, now := 0, time.Now()
	for _, s := range r.sources {
		if s.open {
			rate = max(rate, s.demand.Rate(now))
		}
	}
	if rate == 0 || rate == r.rate {
		return nil
	}
	r.rate = rate
	return r.conn.SetFrequency(rate)
}

// report notes in the status the devices that are read.
func (r *reader) report() {
	var reading []string
	var refused []error
	for _, s := range r.sources {
		if s.open {
			reading = append(reading, s.name)
		}
		if s.refused != nil && r.wanted(s) {
			refused = append(refused, s.refused)
		}
	}
	r.state.connection(true, reading, errors.Join(refused...))
}

// read waits for data of the robot, at most until something else is due, and sends
// the sources that have their turn.
func (r *reader) read(ctx context.Context) {
	until := r.round
	for _, s := range r.sources {
		if s.waiting && s.pacer.Due().Before(until) {
			until = s.pacer.Due()
		}
	}
	if r.limited == nil || !until.Equal(r.until) {
		r.close()
		r.limited, r.close = context.WithDeadline(ctx, until)
		r.until = until
	}
	err := r.conn.Read(r.limited)
	now := time.Now()
	switch {
	case err == nil:
		r.take(now)
	case r.limited.Err() != nil:
		r.limited = nil
	case lost(err):
		r.disconnect(err)
		return
	}
	// Another error is about a payload that is not as the protocol says. The next
	// Read goes on behind it.
	for i, s := range r.sources {
		if !s.waiting || !s.pacer.Ready(s.demand.Rate(now), r.rate, now) {
			continue
		}
		s.waiting, s.sent = false, now
		s.newest.Sequence++
		for form, subject := range s.subject {
			if r.interest.Listened(subject) {
				r.publish(i, form, now)
			}
		}
	}
}

// take takes the new data of a round.
func (r *reader) take(now time.Time) {
	for _, s := range r.sources {
		payload := r.conn.Raw(s.code)
		if !s.open || !r.conn.New(s.code) || len(payload) == 0 {
			continue
		}
		s.waiting = true
		s.newest.Arrived = now
		s.newest.Payload = append(s.newest.Payload[:0], payload...)
		s.newest.Age, s.newest.Aged = r.conn.Age(s.code)
		if s.code == codec.Position {
			r.state.stall(r.conn.Position.Stall != 0)
		}
	}
}

// lost reports whether an error of a client is its connection's.
func lost(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// disconnect closes the connection to the robot. err is why, or nil if there is no listener.
func (r *reader) disconnect(err error) {
	r.close()
	r.limited, r.close = nil, func() {}
	if r.conn != nil {
		_ = r.conn.Close() // nothing was written that matters
		r.conn = nil
	}
	for _, s := range r.sources {
		s.reset()
	}
	if err != nil {
		r.retry = time.Now().Add(retryPause)
	}
	r.state.connection(false, nil, inWords(r.robot.Address, err))
}
