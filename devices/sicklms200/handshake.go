package sicklms200

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/devices/transport"
)

// speeds are tried in this order, in baud, after the last speed that worked. The laser has
// 9600 after power-up, and keeps any other setting until its power is cut: 38400 by this
// server and most other programs, 500000 by programs on an RS-422 line.
var speeds = []int{9600, 38400, 500000, 19200}

// streamSpeed is the lowest speed at which all scans come through, in baud: 5 a second,
// 732 bytes each. A slower laser is set to it; a faster one stays as it is.
const streamSpeed = 38400

const (
	// answerTime bounds the wait for one answer. A laser that streams at 9600 baud first
	// ends its scan, which takes 760 ms.
	answerTime = time.Second
	// attempts is how often each request is sent before it counts as not answered.
	attempts = 2
	// settleTime is the time for the laser to change its speed, or to answer a request
	// that was sent twice.
	settleTime = 200 * time.Millisecond
	// lineTime is the time between a change of the line's speed and the first request: after
	// 14 ms the laser drops bytes that it took for the beginning of a telegram.
	lineTime = 30 * time.Millisecond
)

// search tries each speed, one after the other, then again. A laser takes 60 ms to answer.
// With longer waits clients would wait: the error comes within 3 s. The first input may be a
// scan.
var search = []transport.Attempt{
	{Speed: 0, Wait: 250 * time.Millisecond, Noisy: answerTime},
	{Speed: 1, Wait: 250 * time.Millisecond, Noisy: answerTime},
	{Speed: 2, Wait: 250 * time.Millisecond, Noisy: answerTime},
	{Speed: 3, Wait: 250 * time.Millisecond, Noisy: answerTime},
	{Speed: 0, Wait: 400 * time.Millisecond},
	{Speed: 1, Wait: 400 * time.Millisecond},
	{Speed: 2, Wait: 400 * time.Millisecond},
	{Speed: 3, Wait: 400 * time.Millisecond},
}

const (
	stopping    transport.Phase = iota // also finds the speed of the laser
	changing                           // its speed
	asking                             // which variant it has
	reading                            // its configuration
	varying                            // setting the variant
	configuring                        // to configuration mode
	writing                            // its configuration
	starting                           // to stream
	waiting                            // for the first scan
)

// wanted is the variant of Player's laser data.
var wanted = Variant{Angle: 180, Resolution: 50}

// The laser's refusals, each with its remedy.
var (
	errNotAcknowledged = errors.New("not acknowledged: switch it off and on")
	errPassword        = errors.New("its password is not " + Password)
	errFault           = errors.New("its interface has a fault: switch it off and on")
	errSetting         = errors.New("it keeps its setting")
	errMute            = errors.New("the laser streams, but does not answer: is the wire to it broken?")
	errAnswer          = errors.New("its answer makes no sense: is it an LMS-200?")
)

// phase is a step of the handshake, and the phase after its answer.
type phase struct {
	transport.Step
	what   string // completes "the laser refuses to ..."
	answer Code
	// take returns the next phase, by an answer of this code.
	take func(d *Driver, t Telegram) (transport.Phase, error)
	// without returns the next phase if the laser does not acknowledge the request. Nil: the
	// handshake fails.
	without func(d *Driver, why error) (transport.Phase, error)
}

// ask is a step that sends a request.
func ask(request func(dst []byte) []byte, wait time.Duration) transport.Step {
	return transport.Step{Send: request, Fresh: true, Wait: wait, Tries: attempts}
}

// phases is the handshake. Driver.steps adds the phases that need a driver.
var phases = [...]phase{
	// Its wait is the search's.
	stopping: {ask(func(dst []byte) []byte { return AppendMode(dst, OnRequest) }, 0), "stop streaming", CodeAck,
		func(d *Driver, t Telegram) (transport.Phase, error) { return d.found(), acknowledged(t) },
		func(d *Driver, _ error) (transport.Phase, error) { return d.found(), nil }},
	changing: {ask(func(dst []byte) []byte { return AppendMode(dst, Speed38400) }, answerTime),
		"change to 38400 baud", CodeAck,
		func(_ *Driver, t Telegram) (transport.Phase, error) { return asking, acknowledged(t) }, nil},
	asking: {ask(AppendStatusRequest, answerTime), "report its status", CodeStatus,
		func(d *Driver, t Telegram) (transport.Phase, error) {
			if v, ok := t.Variant(); ok {
				d.variant = v
			}
			return reading, nil
		},
		func(*Driver, error) (transport.Phase, error) { return reading, nil }},
	reading: {ask(AppendConfigRequest, answerTime), "report its configuration", CodeConfig,
		func(d *Driver, t Telegram) (transport.Phase, error) {
			if c, ok := t.Config(); ok {
				d.config = append(d.config[:0], c...)
			}
			return d.plan(), nil
		},
		func(d *Driver, _ error) (transport.Phase, error) { return d.plan(), nil }},
	varying: {ask(func(dst []byte) []byte { return AppendVariant(dst, wanted) }, answerTime),
		"scan 180 degrees in steps of 0.5", CodeVariantSet,
		func(d *Driver, t Telegram) (transport.Phase, error) {
			if accepted, v, ok := t.VariantSet(); !ok || !accepted || v != wanted {
				return d.cannotVary(errSetting)
			}
			d.variant = wanted
			return d.plan(), nil
		},
		(*Driver).cannotVary},
	configuring: {ask(AppendConfigurationMode, answerTime), "enter configuration mode", CodeAck,
		func(d *Driver, t Telegram) (transport.Phase, error) {
			if err := acknowledged(t); err != nil {
				return d.cannotConfigure(err)
			}
			d.configurable = true
			return d.plan(), nil
		},
		(*Driver).cannotConfigure},
	// It writes to slow memory that wears out.
	writing: {ask(nil, setupTime), "measure in millimetres", CodeConfigSet,
		func(d *Driver, t Telegram) (transport.Phase, error) {
			accepted, c, ok := t.ConfigSet()
			if !ok || !accepted || !c.suits() {
				return 0, errSetting
			}
			d.config = append(d.config[:0], c...)
			return d.plan(), nil
		}, nil},
	starting: {ask(func(dst []byte) []byte { return AppendMode(dst, Stream) }, answerTime), "stream", CodeAck,
		func(_ *Driver, t Telegram) (transport.Phase, error) { return waiting, acknowledged(t) }, nil},
	waiting: {Step: transport.Step{Wait: setupTime}, what: "stream"},
}

// steps returns the steps of the phases.
func (d *Driver) steps() []transport.Step {
	steps := make([]transport.Step, len(phases))
	for i := range phases {
		steps[i] = phases[i].Step
	}
	steps[writing].Send = func(dst []byte) []byte { return AppendSetConfig(dst, d.config.adjusted()) }
	steps[asking].Late, steps[reading].Late = d.goOn, d.goOn
	return steps
}

// acknowledged returns an error if the answer to a mode is not a success.
func acknowledged(t Telegram) error {
	switch result, ok := t.Ack(); {
	case !ok:
		return errAnswer
	case result == WrongPassword:
		return errPassword
	case result != Accepted:
		return errFault
	}
	return nil
}

// found returns the phase after the laser has answered at a speed, which over the network it
// keeps: the line would not follow.
func (d *Driver) found() transport.Phase {
	if d.Baud() < streamSpeed && !d.OverNetwork() {
		return changing
	}
	return asking
}

// plan returns the next phase, by the settings that the laser has reported so far. Its first
// scan shows the unreported ones. A right setting is not changed, so that a laser with
// another password works.
func (d *Driver) plan() transport.Phase {
	switch {
	case d.variant != wanted && d.variant != Variant{}:
		return varying
	case len(d.config) == 0 || d.config.suits():
		return starting
	case d.configurable:
		return writing
	}
	return configuring
}

// cannotVary returns the phase after the laser has refused another variant: some lasers
// accept it in configuration mode only.
func (d *Driver) cannotVary(why error) (transport.Phase, error) {
	if d.configurable {
		return 0, why
	}
	return configuring, nil
}

// cannotConfigure returns the phase after the laser has refused configuration mode. Its
// measuring mode alone is no reason to give up: in some modes a range has 13 bits.
func (d *Driver) cannotConfigure(why error) (transport.Phase, error) {
	if d.plan() == varying || Unit(d.config[Units]) != Millimetres {
		return 0, why
	}
	d.Log().Warn("the laser refuses another measuring mode: its ranges may be wrong",
		zap.Uint8("mode", d.config[MeasuringMode]), zap.NamedError("why", why))
	return starting, nil
}

// protocol returns the transport's protocol for a laser on a port.
func (d *Driver) protocol(port string) transport.Protocol {
	return transport.Protocol{
		Address: port, Name: "a laser", Speeds: speeds, Search: search, Settle: lineTime,
		Begin: d.begin, Steps: d.steps(), Limit: setupTime,
		Framing: &d.parser.Framing, Receive: d.receive,
		// The laser stays at the speed it has.
		Bye:    func(dst []byte) []byte { return AppendMode(dst, OnRequest) },
		Silent: errAbsent, Stuck: stuck,
	}
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.variant, d.config, d.configurable = Variant{}, d.config[:0], false
	return stopping
}

func stuck(p transport.Phase) error {
	if p == stopping {
		return errMute
	}
	return fmt.Errorf("no answer when asked to %s: switch the laser off and on", phases[p].what)
}

// goOn continues when a laser does not answer the request of the phase.
func (d *Driver) goOn(now time.Duration) {
	if !d.Answers() {
		d.Enter(now, stopping) // it is at another speed
		return
	}
	next, _ := phases[d.Phase()].without(d, nil) // it cannot fail
	d.Pause(now, next, settleTime)
}

// answer handles a telegram during the handshake; scans that are still under way are
// ignored.
func (d *Driver) answer(now time.Duration, t Telegram) {
	p := &phases[d.Phase()]
	switch t.Code() {
	case p.answer:
		next, err := p.take(d, t)
		d.proceed(now, next, err)
	case CodeNack:
		switch {
		case d.Tried() < attempts:
			d.Ask(now)
		case p.without == nil:
			d.refused(now, errNotAcknowledged)
		default:
			next, err := p.without(d, errNotAcknowledged)
			d.proceed(now, next, err)
		}
	}
}

// proceed continues after an answer.
func (d *Driver) proceed(now time.Duration, next transport.Phase, err error) {
	switch {
	case err != nil:
		d.refused(now, err)
	case d.Phase() == changing:
		d.SetSpeed(now, streamSpeed, func(now time.Duration) { d.Pause(now, next, settleTime) })
	case d.Tried() > 1 && next != waiting:
		d.Pause(now, next, settleTime) // its second answer must not count as the next one's
	default:
		d.Enter(now, next)
	}
}

func (d *Driver) refused(now time.Duration, why error) {
	err := fmt.Errorf("the laser refuses to %s: %w", phases[d.Phase()].what, why)
	switch d.Phase() {
	case varying, configuring, writing:
		err = fmt.Errorf("%w. %s", err, d.measures())
	}
	d.Down(now, err)
}

// advice is for lasers with a wrong setting that we cannot change.
const advice = "set it to 180 degrees, 0.5 degrees and millimetres with SICK's own software"

// measures describes the setting of a laser that keeps it.
func (d *Driver) measures() string {
	text := "It measures "
	if d.variant != (Variant{}) {
		text += fmt.Sprintf("%d degrees in steps of %g, ", d.variant.Angle, float64(d.variant.Resolution)/100)
	}
	if len(d.config) > 0 {
		text += fmt.Sprintf("in %v, ", Unit(d.config[Units]))
	}
	return text + "not 180 degrees in steps of 0.5, in mm: " + advice
}

var errAbsent = errors.New("no answer at 9600, 19200, 38400 or 500000 baud: is the laser on, and wired for RS-232 or RS-422 as this port is? After power-up it needs half a minute")

// suits reports whether scans fit Player's laser data: in mm, in one of the measuring modes
// with 13 bits for a range.
func (c Configuration) suits() bool {
	return Unit(c[Units]) == Millimetres && c[MeasuringMode] <= 2
}

// adjusted returns the configuration, changed so that it suits.
func (c Configuration) adjusted() Configuration {
	c = slices.Clone(c)
	c[Units] = byte(Millimetres)
	if !c.suits() {
		c[MeasuringMode] = 0
	}
	return c
}
