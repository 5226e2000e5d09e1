package sicklms200

import (
	"errors"
	"fmt"
	"time"

	"player/devices"
)

// speeds are tried in this order, in baud. The laser has the first after
// power-up and keeps the second, at which all its scans come through, from one
// server to the next.
var speeds = [...]int{9600, 38400}

const (
	// answerTime bounds the wait for one answer. A laser that streams at 9600 baud first
	// ends its scan, which takes 760 ms.
	answerTime = time.Second
	// attempts is how often each request is sent before the handshake fails. The first
	// one is sent once at each speed in turn, so that a laser that was left at the
	// second is found soon.
	attempts = 2
	// settleTime is the time for the laser to change its speed, or to answer a request
	// that was sent twice.
	settleTime = 200 * time.Millisecond
)

// phase of the connection. Up to starting the driver waits for the answer to a
// request.
type phase uint8

const (
	stopping    phase = iota // also finds the speed of the laser
	changing                 // its speed
	configuring              // to configuration mode
	asking                   // which variant it has
	varying                  // setting the variant
	reading                  // its configuration
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
	errPassword        = errors.New("its password is not " + PasswordLMS + ": set it back with SICK's own software")
	errFault           = errors.New("its interface has a fault: switch it off and on")
	errSetting         = errors.New("it keeps its setting: is it an LMS-200? Set it with SICK's own software")
	errAnswer          = errors.New("its answer makes no sense: is it an LMS-200?")
)

// phases are the requests. take reads the answer and returns the next phase; it is
// called with telegrams of the answer's code only.
var phases = [...]struct {
	what    string // completes "the laser refuses to ..."
	request func(d *Driver, dst []byte) []byte
	answer  Code
	take    func(d *Driver, t Telegram) (phase, error)
}{
	stopping: {
		"stop streaming",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, OnRequest) },
		CodeAck,
		func(d *Driver, t Telegram) (phase, error) {
			if d.speed != speeds[1] {
				return changing, acknowledged(t)
			}
			return configuring, acknowledged(t)
		},
	},
	changing: {
		"change to 38400 baud",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, Speed38400) },
		CodeAck,
		func(_ *Driver, t Telegram) (phase, error) { return configuring, acknowledged(t) },
	},
	configuring: {
		"enter configuration mode",
		func(_ *Driver, dst []byte) []byte { return AppendConfigurationMode(dst, PasswordLMS) },
		CodeAck,
		func(_ *Driver, t Telegram) (phase, error) { return asking, acknowledged(t) },
	},
	asking: {
		"tell its status",
		func(_ *Driver, dst []byte) []byte { return AppendStatusRequest(dst) },
		CodeStatus,
		func(_ *Driver, t Telegram) (phase, error) {
			if v, ok := t.Variant(); ok && v == wanted {
				return reading, nil
			}
			return varying, nil
		},
	},
	varying: {
		"scan 180 degrees in steps of 0.5",
		func(_ *Driver, dst []byte) []byte { return AppendVariant(dst, wanted) },
		CodeVariantSet,
		func(_ *Driver, t Telegram) (phase, error) {
			if accepted, v, ok := t.VariantSet(); !ok || !accepted || v != wanted {
				return 0, errSetting
			}
			return reading, nil
		},
	},
	reading: {
		"tell its configuration",
		func(_ *Driver, dst []byte) []byte { return AppendConfigRequest(dst) },
		CodeConfig,
		func(d *Driver, t Telegram) (phase, error) {
			c, ok := t.Config()
			if !ok {
				return 0, errAnswer
			}
			if c.suits() {
				return starting, nil
			}
			d.config = append(d.config[:0], c...)
			d.config.adjust()
			return writing, nil
		},
	},
	writing: {
		"measure in millimetres",
		func(d *Driver, dst []byte) []byte { return AppendSetConfig(dst, d.config) },
		CodeConfigSet,
		func(d *Driver, t Telegram) (phase, error) {
			accepted, c, ok := t.ConfigSet()
			if !ok || !accepted || !c.suits() {
				return 0, errSetting
			}
			return starting, nil
		},
	},
	starting: {
		"stream",
		func(_ *Driver, dst []byte) []byte { return AppendMode(dst, Stream) },
		CodeAck,
		func(_ *Driver, t Telegram) (phase, error) { return waiting, acknowledged(t) },
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

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	return d.link.Host().OpenSerial(d.port, d.speed, h)
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.giveUp, d.heard = now+setupTime, false
	d.enter(now, stopping)
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
	d.pausing = false
	d.transport.Port().Discard()
	d.parser.Reset()
	d.out = phases[d.phase].request(d, d.out[:0])
	d.transport.Port().Write(d.out)
	until := now + answerTime
	if d.phase == writing {
		until = d.giveUp // it writes to a memory that is slow and wears out
	}
	d.transport.WakeAt(min(until, d.giveUp))
}

// pause sends the request of phase p after settleTime.
func (d *Driver) pause(now time.Duration, p phase) {
	d.phase, d.tries, d.pausing = p, 0, true
	d.transport.WakeAt(now + settleTime)
}

// answer handles a telegram during the handshake; scans that are still under way are
// ignored.
func (d *Driver) answer(now time.Duration, t Telegram) {
	p := &phases[d.phase]
	switch t.Code() {
	case p.answer:
		next, err := p.take(d, t)
		switch {
		case err != nil:
			d.refused(now, err)
		case d.phase == changing:
			d.setSpeed(now, speeds[1], next)
		case d.tries > 1 && next != waiting:
			d.pause(now, next) // its second answer must not count as the next one's
		default:
			d.enter(now, next)
		}
	case CodeNack:
		if d.tries < attempts {
			d.ask(now)
			return
		}
		d.refused(now, errNotAcknowledged)
	}
}

func (d *Driver) refused(now time.Duration, why error) {
	d.transport.Down(now, fmt.Errorf("the laser refuses to %s: %w", phases[d.phase].what, why))
}

// Timeout implements transport.Timer.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case now >= d.giveUp:
		d.transport.Down(now, d.reason())
	case d.pausing, d.tries < attempts && d.phase != stopping:
		d.ask(now)
	case d.heard:
		d.heard = false // it is at this speed, or was
		d.enter(now, stopping)
	default:
		other := speeds[0]
		if d.speed == other {
			other = speeds[1]
		}
		d.setSpeed(now, other, stopping)
	}
}

// setSpeed changes the speed of the line and continues with phase p.
func (d *Driver) setSpeed(now time.Duration, baud int, p phase) {
	if err := d.transport.Port().SetSpeed(baud); err != nil {
		d.transport.Down(now, fmt.Errorf("cannot set %d baud: %w", baud, err))
		return
	}
	d.speed, d.heard = baud, false
	d.pause(now, p)
}

// reason returns why the handshake took too long.
func (d *Driver) reason() error {
	if d.phase != stopping {
		return fmt.Errorf("no answer when asked to %s: switch the laser off and on", phases[min(d.phase, starting)].what)
	}
	return fmt.Errorf("no answer at %d or %d baud: is the laser on, and set to RS-232? After power-up it needs half a minute", speeds[0], speeds[1])
}

// suits reports whether scans are as Player's laser data needs them: in mm, in
// one of the measuring modes that leave 13 bits to a range.
func (c Configuration) suits() bool {
	return Unit(c[Units]) == Millimetres && c[MeasuringMode] <= 1
}

// adjust changes the configuration so that it suits.
func (c Configuration) adjust() {
	c[Units] = byte(Millimetres)
	if !c.suits() {
		c[MeasuringMode] = 0
	}
}
