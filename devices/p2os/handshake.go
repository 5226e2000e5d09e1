package p2os

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

// speeds are tried in this order, in baud. Robots leave the factory with the
// first; the second is what their owners set to get more sonar readings.
var speeds = [...]int{9600, 38400}

const (
	// answerTime bounds the wait for one answer. The original server waits 200 ms, its
	// successors 400.
	answerTime = 500 * time.Millisecond
	// attempts is how often a request is sent before the other speed is tried, or the
	// handshake starts again. Each speed must be tried twice in setupTime.
	attempts = 2
	// clearTime is how long a robot that was left open may still send after CLOSE: the
	// bytes under way and one packet more.
	clearTime = 250 * time.Millisecond
	// originTime bounds the wait for a SIP that shows the effect of SETO, sent twice.
	// It ends before the second one counts as not answered.
	originTime = 800 * time.Millisecond
)

// phase of the connection. From sync0 to origin the driver waits for the answer to
// a request.
type phase uint8

const (
	sync0    phase = iota
	sync1          //
	sync2          // the answer names the robot
	opening        // for the first SIP
	origin         // for the first SIP after SETO
	running        //
	clearing       // until a robot that was left open has fallen silent
	leaving        // for the robot to brake, at shutdown
)

// appendRequest appends the request of a phase.
func (p phase) appendRequest(dst []byte) []byte {
	switch p {
	case sync0:
		return AppendCommand(dst, Sync0)
	case sync1:
		return AppendCommand(dst, Sync1)
	case sync2:
		return AppendCommand(dst, Sync2)
	case opening:
		return AppendCommand(AppendCommand(dst, Open), Pulse)
	case origin:
		return AppendSetOrigin(AppendInt(dst, Sonar, 1))
	}
	return dst
}

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	return d.link.Host().OpenSerial(d.port, d.speed, h)
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.parser.Reset()
	d.giveUp, d.heard, d.changes, d.free = now+setupTime, false, 0, 0
	d.moving, d.gripping = false, false
	if d.transport.WasLost() {
		// It may still be open and obey the last command; SYNC0, which is PULSE
		// to it, would keep its watchdog from stopping it.
		d.out = d.appendVelocities(d.out[:0], codec.PositionCommand{})
		d.write(now)
	}
	d.enter(now, sync0)
}

// enter starts a phase.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase, d.tries = p, 0
	d.ask(now)
}

// ask sends the request of the phase, for the first time or again.
func (d *Driver) ask(now time.Duration) {
	d.tries++
	d.out = d.phase.appendRequest(d.out[:0])
	d.write(now)
	d.transport.WakeAt(min(now+answerTime, d.giveUp))
}

// Timeout implements transport.Timer.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case d.phase == running:
		if d.moving || d.gripping {
			d.flush(now)
		}
		if now >= d.sent+pulsePeriod {
			d.out = AppendCommand(d.out[:0], Pulse)
			d.write(now)
		}
		if !d.moving && !d.gripping {
			d.transport.WakeAt(d.sent + pulsePeriod)
		}
	case d.phase == leaving:
		d.transport.Finish(now, AppendCommand(d.out[:0], Close))
	case now >= d.giveUp:
		d.transport.Down(now, d.reason())
	case d.phase == clearing:
		d.transport.Port().Discard()
		d.parser.Reset()
		d.enter(now, sync0)
	case d.tries < attempts:
		d.ask(now)
	case d.phase == sync0:
		d.changeSpeed(now)
	default:
		d.enter(now, sync0)
	}
}

// reason returns why the handshake failed.
func (d *Driver) reason() error {
	if d.heard {
		return errors.New("the robot answers, but does not open the connection: switch it off and on again")
	}
	return fmt.Errorf("no answer at %d or %d baud: is the robot on, and the cable in its HOST port?", speeds[0], speeds[1])
}

// changeSpeed continues at the other speed.
func (d *Driver) changeSpeed(now time.Duration) {
	other := speeds[0]
	if d.speed == other {
		other = speeds[1]
	}
	if err := d.transport.Port().SetSpeed(other); err != nil {
		d.transport.Down(now, fmt.Errorf("cannot set %d baud: %w", other, err))
		return
	}
	d.speed = other
	d.changes++
	d.parser.Reset() // it holds bytes of the other speed
	if d.changes < len(speeds) {
		d.enter(now, sync0)
		return
	}
	// No answer at any speed: an earlier handshake may have ended between SYNC2
	// and OPEN, so that the robot takes SYNC0 for PULSE and says nothing.
	d.clear(now)
}

// clear closes a robot that was left open, and restarts the handshake.
func (d *Driver) clear(now time.Duration) {
	d.phase = clearing
	d.out = AppendCommand(d.out[:0], Close)
	d.write(now)
	d.transport.WakeAt(min(now+clearTime, d.giveUp))
}

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	for packet, rest := d.parser.Next(p); packet != nil && d.transport.IsOpen(); packet, rest = d.parser.Next(rest) {
		d.packet(now, packet)
	}
	d.transport.Noise(now, transport.Noise{Garbage: d.parser.Stats.Garbage, Broken: d.parser.Stats.Broken + d.broken})
}

func (d *Driver) packet(now time.Duration, p Packet) {
	d.heard = true
	if d.phase <= sync2 && p.Type() <= byte(Sync2) {
		d.echo(now, p)
		return
	}
	if err := d.sip.Decode(p); err != nil {
		if errors.Is(err, ErrShortSIP) {
			d.broken++
		}
		return // robots also send packets of other kinds
	}
	switch d.phase {
	case sync0, sync1, sync2:
		// The robot is still open, from an earlier server or before it was lost.
		if d.transport.WasLost() {
			d.run(now)
			return
		}
		d.transport.Log().Info("the robot was left open: closing it first")
		d.clear(now)
	case opening:
		if d.transport.WasLost() {
			// The pose continues from the one that clients know; only the movement during
			// the outage is lost.
			d.odometry.Resume(&d.sip)
			d.out = AppendInt(d.out[:0], Sonar, 1)
			d.write(now)
			d.run(now)
			return
		}
		d.odometry.Reset()
		d.opened = d.anyOpen()
		d.originBy = now + originTime
		d.enter(now, origin)
	case origin:
		switch {
		case atOrigin(&d.sip):
			d.run(now)
		case now >= d.originBy: // it ignores SETO, or somebody pushes it
			d.odometry = Odometry{}
			d.run(now)
		}
	case running:
		d.report(now)
	}
}

// echo continues with the next phase of the handshake. An echo of an earlier phase
// answers a repeated request.
func (d *Driver) echo(now time.Duration, p Packet) {
	if p.Type() != byte(d.phase) {
		return
	}
	if id, ok := DecodeIdentity(p); ok {
		d.transport.Log().Info("robot found", zap.String("name", id.Name), zap.String("class", id.Class),
			zap.String("subclass", id.Subclass), zap.Int("baud", d.speed))
	}
	d.enter(now, d.phase+1)
}

// run starts normal operation, with the SIP that was just decoded.
func (d *Driver) run(now time.Duration) {
	d.phase = running
	d.transport.WakeAt(now + pulsePeriod)
	d.transport.Up(now) // forgets the commands of the outage
	if d.phase == running {
		d.report(now)
	}
}

// atOrigin reports whether SETO has taken effect in a robot that stands still. Older
// SIPs may still come after SETO was sent.
func atOrigin(s *SIP) bool {
	const near = 2 // units of either kind: wheels under power quiver
	return max(step(0, s.X), -step(0, s.X), step(0, s.Y), -step(0, s.Y), int64(s.Heading), -int64(s.Heading)) <= near
}
