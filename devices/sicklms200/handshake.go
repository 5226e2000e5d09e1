package sicklms200

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/transport"
)

// speeds are tried in this order, in baud, after the one that worked last. The laser
// has 9600 after power-up, and keeps whatever it was set to until its power is cut:
// 38400 by this server and most other programs, 500000 by programs on an RS-422 line.
var speeds = [...]int{9600, 38400, 500000, 19200}

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
	// lineTime is the time between a change of the line's speed and the first request:
	// the laser drops what it took for the beginning of a telegram after 14 ms.
	lineTime = 30 * time.Millisecond
)

// probeTimes bound the wait for the first answer, at each speed in turn, then again. A
// laser takes 60 ms. Longer would make clients wait: a laser that is not there is told
// within 3 s. If anything is heard, the wait at that speed is answerTime.
var probeTimes = [...]time.Duration{250 * time.Millisecond, 400 * time.Millisecond}

// phase of the connection. Up to starting the driver waits for the answer to a
// request.
type phase uint8

const (
	stopping    phase = iota // also finds the speed of the laser
	changing                 // its speed
	asking                   // which variant it has
	reading                  // its configuration
	varying                  // setting the variant
	configuring              // to configuration mode
	writing                  // its configuration
	starting                 // to stream
	waiting                  // for the first scan
	running
)

// wanted is the variant of Player's laser data.
var wanted = Variant{Angle: 180, Resolution: 50}

// Why the laser refuses what, and what to do about it.
var (
	errNotAcknowledged = errors.New("not acknowledged: switch it off and on")
	errPassword        = errors.New("its password is not " + Password)
	errFault           = errors.New("its interface has a fault: switch it off and on")
	errSetting         = errors.New("it keeps its setting")
	errAnswer          = errors.New("its answer makes no sense: is it an LMS-200?")
)

// phases are the requests. take reads the answer and returns the next phase; it is
// called with telegrams of the answer's code only. without, if not nil, returns the
// next phase of a laser that does not acknowledge the request.
var phases = [...]struct {
	what    string // completes "the laser refuses to ..."
	request func(d *Driver, dst []byte) []byte
	answer  Code
	take    func(d *Driver, t Telegram) (phase, error)
	without func(d *Driver, why error) (phase, error)
}{
	stopping: {
		"stop streaming",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, OnRequest) },
		CodeAck,
		func(d *Driver, t Telegram) (phase, error) { return d.found(), acknowledged(t) },
		func(d *Driver, _ error) (phase, error) { return d.found(), nil },
	},
	changing: {
		"change to 38400 baud",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, Speed38400) },
		CodeAck,
		func(_ *Driver, t Telegram) (phase, error) { return asking, acknowledged(t) },
		nil,
	},
	asking: {
		"tell its status",
		func(_ *Driver, dst []byte) []byte { return AppendStatusRequest(dst) },
		CodeStatus,
		func(d *Driver, t Telegram) (phase, error) {
			if v, ok := t.Variant(); ok {
				d.variant = v
			}
			return reading, nil
		},
		func(*Driver, error) (phase, error) { return reading, nil },
	},
	reading: {
		"tell its configuration",
		func(_ *Driver, dst []byte) []byte { return AppendConfigRequest(dst) },
		CodeConfig,
		func(d *Driver, t Telegram) (phase, error) {
			if c, ok := t.Config(); ok {
				d.config = append(d.config[:0], c...)
			}
			return d.plan(), nil
		},
		func(d *Driver, _ error) (phase, error) { return d.plan(), nil },
	},
	varying: {
		"scan 180 degrees in steps of 0.5",
		func(_ *Driver, dst []byte) []byte { return AppendVariant(dst, wanted) },
		CodeVariantSet,
		func(d *Driver, t Telegram) (phase, error) {
			if accepted, v, ok := t.VariantSet(); !ok || !accepted || v != wanted {
				return d.cannotVary(errSetting)
			}
			d.variant = wanted
			return d.plan(), nil
		},
		(*Driver).cannotVary,
	},
	configuring: {
		"enter configuration mode",
		func(_ *Driver, dst []byte) []byte { return AppendConfigurationMode(dst) },
		CodeAck,
		func(d *Driver, t Telegram) (phase, error) {
			if err := acknowledged(t); err != nil {
				return d.cannotConfigure(err)
			}
			d.configurable = true
			return d.plan(), nil
		},
		(*Driver).cannotConfigure,
	},
	writing: {
		"measure in millimetres",
		func(d *Driver, dst []byte) []byte { return AppendSetConfig(dst, d.config.adjusted()) },
		CodeConfigSet,
		func(d *Driver, t Telegram) (phase, error) {
			accepted, c, ok := t.ConfigSet()
			if !ok || !accepted || !c.suits() {
				return 0, errSetting
			}
			d.config = append(d.config[:0], c...)
			return d.plan(), nil
		},
		nil,
	},
	starting: {
		"stream",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, Stream) },
		CodeAck,
		func(_ *Driver, t Telegram) (phase, error) { return waiting, acknowledged(t) },
		nil,
	},
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

// found returns the phase after the laser has answered at a speed.
func (d *Driver) found() phase {
	if d.speed < streamSpeed {
		return changing
	}
	return asking
}

// plan returns the next phase, by what the laser measures as far as it has told. What
// it has not told shows in its first scan. Its setting is left alone if it is right, so
// that a laser with another password works.
func (d *Driver) plan() phase {
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

// cannotVary returns the phase after the laser has refused another variant: some take
// it in configuration mode only.
func (d *Driver) cannotVary(why error) (phase, error) {
	if d.configurable {
		return 0, why
	}
	return configuring, nil
}

// cannotConfigure returns the phase after the laser has refused configuration mode. Its
// measuring mode alone is no reason to give up: some leave 13 bits to a range.
func (d *Driver) cannotConfigure(why error) (phase, error) {
	if d.plan() == varying || Unit(d.config[Units]) != Millimetres {
		return 0, why
	}
	d.transport.Log().Warn("the laser refuses another measuring mode: its ranges may be wrong",
		zap.Uint8("mode", d.config[MeasuringMode]), zap.NamedError("why", why))
	return starting, nil
}

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	d.speed = d.first
	return d.link.Host().OpenSerial(d.port, d.speed, h)
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.giveUp = now + setupTime
	d.variant, d.config, d.configurable, d.overheard = Variant{}, d.config[:0], false, nil
	d.search(now)
}

// search looks for the laser at all speeds, at the present one first.
func (d *Driver) search(now time.Duration) {
	d.first, d.probe, d.heard = d.speed, 0, false
	d.enter(now, stopping)
}

// searchOn goes on at the next speed that the line has.
func (d *Driver) searchOn(now time.Duration) {
	for d.probe++; d.probe < len(speeds)*len(probeTimes); d.probe++ {
		if d.setSpeed(d.probeSpeed()) == nil {
			d.pause(now, stopping, lineTime)
			return
		}
	}
	d.absent(now)
}

// probeSpeed returns the speed to be tried: the first one, then the others in order.
func (d *Driver) probeSpeed() int {
	n := d.probe % len(speeds)
	if n == 0 {
		return d.first
	}
	if at := slices.Index(speeds[:], d.first); n <= at {
		n--
	}
	return speeds[n]
}

// enter starts a phase.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase, d.tries = p, 0
	if p == waiting {
		d.transport.WakeAt(d.giveUp)
		return
	}
	d.ask(now)
}

// ask sends the request of the phase, for the first time or again. Bytes received
// before cannot be its answer.
func (d *Driver) ask(now time.Duration) {
	d.tries++
	d.pausing, d.noisy = false, false
	d.transport.Port().Discard()
	d.parser.Reset()
	d.out = phases[d.phase].request(d, d.out[:0])
	d.transport.Port().Write(d.out)
	d.asked = now
	until := now + answerTime
	switch d.phase {
	case stopping:
		until = now + probeTimes[d.probe/len(speeds)]
	case writing:
		until = d.giveUp // it writes to a memory that is slow and wears out
	}
	d.transport.WakeAt(min(until, d.giveUp))
}

// pause sends the request of phase p later.
func (d *Driver) pause(now time.Duration, p phase, length time.Duration) {
	d.phase, d.tries, d.pausing = p, 0, true
	d.transport.WakeAt(now + length)
}

// answer handles a telegram during the handshake; scans that are still under way are
// ignored.
func (d *Driver) answer(now time.Duration, t Telegram) {
	p := &phases[d.phase]
	switch t.Code() {
	case p.answer:
		next, err := p.take(d, t)
		d.proceed(now, next, err)
	case CodeNack:
		switch {
		case d.tries < attempts:
			d.ask(now)
		case p.without == nil:
			d.refused(now, errNotAcknowledged)
		default:
			next, err := p.without(d, errNotAcknowledged)
			d.proceed(now, next, err)
		}
	}
}

// proceed goes on after an answer.
func (d *Driver) proceed(now time.Duration, next phase, err error) {
	switch {
	case err != nil:
		d.refused(now, err)
	case d.phase == changing:
		if err := d.setSpeed(streamSpeed); err != nil {
			d.transport.Down(now, err)
			return
		}
		d.pause(now, next, settleTime)
	case d.tries > 1 && next != waiting:
		d.pause(now, next, settleTime) // its second answer must not count as the next one's
	default:
		d.enter(now, next)
	}
}

func (d *Driver) refused(now time.Duration, why error) {
	err := fmt.Errorf("the laser refuses to %s: %w", phases[d.phase].what, why)
	switch d.phase {
	case varying, configuring, writing:
		err = fmt.Errorf("%w. %s", err, d.measures())
	}
	d.transport.Down(now, err)
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

// Timeout implements transport.Timer.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case now >= d.giveUp:
		d.fail(now)
	case d.pausing, d.tries < attempts && d.phase != stopping:
		d.ask(now)
	case d.heard && (d.phase == asking || d.phase == reading):
		next, _ := phases[d.phase].without(d, nil) // it cannot fail
		d.pause(now, next, settleTime)
	case d.heard, d.phase != stopping:
		d.search(now) // it is at this speed, or was
	case d.noisy && now < d.asked+answerTime && d.probe < len(speeds):
		if err := d.stranger(); err != nil {
			d.transport.Down(now, err)
			return
		}
		d.transport.WakeAt(min(d.asked+answerTime, d.giveUp)) // it may be a scan
	default:
		d.searchOn(now)
	}
}

// setSpeed changes the speed of the line.
func (d *Driver) setSpeed(baud int) error {
	if err := d.transport.Port().SetSpeed(baud); err != nil {
		return fmt.Errorf("cannot set %d baud: %w", baud, err)
	}
	d.speed, d.heard = baud, false
	return nil
}

// fail ends a handshake that took too long.
func (d *Driver) fail(now time.Duration) {
	if d.phase == stopping {
		d.absent(now)
		return
	}
	d.transport.Down(now, fmt.Errorf("no answer when asked to %s: switch the laser off and on", phases[min(d.phase, starting)].what))
}

// absent ends a handshake that no laser has answered.
func (d *Driver) absent(now time.Duration) {
	if err := d.stranger(); err != nil {
		d.transport.Down(now, err)
		return
	}
	d.transport.Unanswered(now, errAbsent)
}

var errAbsent = errors.New("no answer at 9600, 19200, 38400 or 500000 baud: is the laser on, and wired for RS-232 or RS-422 as this port is? After power-up it needs half a minute")

// stranger returns an error if what is heard on the port is something else, or a laser
// that does not obey.
func (d *Driver) stranger() error {
	switch what := transport.Recognize(d.overheard); what {
	case "":
		return nil
	case "a SICK laser":
		return errors.New("the laser streams, but does not answer: is the wire to it broken?")
	default:
		return fmt.Errorf("%s is heard here, not a laser: are the ports swapped?", what)
	}
}

// suits reports whether scans are as Player's laser data needs them: in mm, in
// one of the measuring modes that leave 13 bits to a range.
func (c Configuration) suits() bool {
	return Unit(c[Units]) == Millimetres && c[MeasuringMode] <= 1
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
