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
	// answerTime is how long the robot has for one answer. The original server
	// gives it 200 ms, its successors 400.
	answerTime = 500 * time.Millisecond
	// attempts is how often each request is made before another way is tried:
	// the other speed, or the handshake from the beginning. Both speeds must
	// come up twice in setupTime.
	attempts = 2
	// clearTime is how long a robot that was left open may send on after CLOSE:
	// what is on its way, and a packet more.
	clearTime = 250 * time.Millisecond
	// originTime is how long SETO, and the second one, have to show in a SIP. It
	// ends before the second one counts as not answered.
	originTime = 800 * time.Millisecond
)

// phase is where the connection is. From sync0 to origin the driver waits for
// the answer to a request.
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

// appendRequest appends what is sent in a phase.
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

// enter begins a phase.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase, d.tries = p, 0
	d.ask(now)
}

// ask makes the request of the phase, for the first time or again.
func (d *Driver) ask(now time.Duration) {
	d.tries++
	d.out = d.phase.appendRequest(d.out[:0])
	d.write(now)
	d.transport.WakeAt(min(now+answerTime, d.giveUp))
}

// Timeout implements transport.Hardware.
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

// reason says why the handshake failed.
func (d *Driver) reason() error {
	if d.heard {
		return errors.New("the robot answers, but does not open the connection: switch it off and on again")
	}
	return fmt.Errorf("no answer at %d or %d baud: is the robot on, and the cable in its HOST port?", speeds[0], speeds[1])
}

// changeSpeed goes on at the other speed.
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
	d.parser.Reset() // what was received is of the other speed
	if d.changes < len(speeds) {
		d.enter(now, sync0)
		return
	}
	// No answer at any speed: an earlier handshake may have ended between SYNC2
	// and OPEN, so that the robot takes SYNC0 for PULSE and says nothing.
	d.clear(now)
}

// clear closes a robot that is open, to begin from the beginning.
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
		return // robots send packets of other kinds, too
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
			// The clients go on from the pose they know; only what the robot did
			// while it was away is lost.
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
		case now >= d.originBy: // it does not know SETO, or somebody pushes it
			d.odometry = Odometry{}
			d.run(now)
		}
	case running:
		d.report(now)
	}
}

// echo goes on to the next phase of the handshake. An echo of an earlier one
// answers a request that was repeated.
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

// run begins the normal operation, with the SIP that was just decoded.
func (d *Driver) run(now time.Duration) {
	d.phase = running
	d.transport.WakeAt(now + pulsePeriod)
	d.transport.Up(now) // forgets commands of the time without the robot
	if d.phase == running {
		d.report(now)
	}
}

// atOrigin reports whether a robot that stands still has taken SETO. SIPs of before
// may still come when SETO has been sent.
func atOrigin(s *SIP) bool {
	const near = 2 // units of either kind: wheels under power quiver
	return max(step(0, s.X), -step(0, s.X), step(0, s.Y), -step(0, s.Y), int64(s.Heading), -int64(s.Heading)) <= near
}
