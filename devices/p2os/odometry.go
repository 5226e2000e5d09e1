package p2os

import (
	"fmt"
	"math"
	"time"

	"player/devices/wheels"
)

const (
	// maxStep is how far the coordinates of a robot at rest may move between two
	// packets, in mm. A corrupt packet with a right checksum moves them farther.
	maxStep = 100
	// overshoot is how much faster than commanded a robot may drive for a moment.
	overshoot = 1.1
	// coast is the longest time that a robot drives after the last command: its watchdog
	// stops it after 2 s, then it brakes.
	coast = 2300 * time.Millisecond
	// cycle is the robot's time that a SIP counts for at least. A robot sends one every 100
	// ms by its own clock. The additional 5 ms remove the lag of a lost SIP after 20 others.
	cycle = 105 * time.Millisecond
	// together is the longest time between SIPs that were delayed and arrive together.
	together = 25 * time.Millisecond

	// lateSIPs is how many SIPs may come one by one before SETO takes effect: one may be
	// under way, and a radio modem may have another in its buffer.
	lateSIPs = 2
)

// Odometry adds up the robot's wrapping coordinates to a pose. Totals are kept
// in encoder units, so that rounding to mm never accumulates: driving back over
// the same counts returns to exactly 0. With a Model it is ready: it has its origin
// where the first SIP finds the robot, and the robot's own heading.
type Odometry struct {
	Model *Model

	x, y       int64         // units in the robot's frame, since Reset or Resume
	ref        point         // of the latest SIP that was believed
	doubted    point         // of the latest SIP, if it was not believed
	doubts     bool          // it was not
	refHeading int16         // angle units, the latest SIP
	at         time.Duration // when the latest SIP came
	lag        time.Duration // that the robot can have driven before it sent the next SIP, and that no SIP has reported
	fastest    float64       // mm/s, while there was a lag, or since SETO was sent
	started    bool

	late    int           // further SIPs that may be from before SETO
	resetAt time.Duration // when SETO was sent

	// The place and direction of the robot's frame in the clients' frame. The frames differ after Resume.
	originX, originY float64 // mm
	turned           float64 // angle units
}

// point is the coordinates of a SIP, in units.
type point struct{ x, y uint16 }

// Update takes the coordinates of a SIP that came at now. commanded is the highest commanded
// speed since the previous SIP, in mm/s, and until is the time of the last command: the
// robot may receive commands while its SIPs are lost. rested is how long the watchdog had
// stopped the robot before until.
//
// The coordinates wrap, and SIPs are delayed, arrive together or get lost. The robot sends
// SIPs by its own clock, so their arrivals only bound the time between two of them: the sum
// of these times is at most the time that has passed. A movement is counted if the robot can
// have made it in the time that the other SIPs leave. An error explains why a movement was
// impossible. A single SIP with an impossible movement is ignored; with the second the robot
// counts from elsewhere, and further movement is measured from there.
func (o *Odometry) Update(s *SIP, now time.Duration, commanded float64, until, rested time.Duration) error {
	speed := math.Abs(float64(o.Model.Speed(s)))
	o.fastest = max(o.fastest, commanded, speed)
	gap := now - o.at
	driving := min(gap-rested, max(0, until-o.at)+coast)
	// To drive on, a robot needs commands, so no lag is longer than coast.
	o.lag = min(o.lag+driving, driving+coast)
	reach := maxStep + overshoot*o.fastest*o.lag.Seconds()
	alone := maxStep + overshoot*o.fastest*driving.Seconds() // if no SIP was delayed
	to := point{s.X, s.Y}
	o.refHeading, o.at = s.Heading, now
	if !o.started {
		o.ref, o.started, o.lag, o.fastest = to, true, 0, speed
		return nil
	}
	defer o.accountFor(speed)
	if o.late > 0 {
		if gap > together {
			o.late--
		}
		o.settle(to, maxStep+overshoot*o.fastest*(now-o.resetAt).Seconds())
		return nil
	}
	moved := o.Model.distance(o.ref, to)
	if again := o.Model.distance(o.doubted, to); o.doubts && again < moved {
		o.ref, moved = o.doubted, again
	}
	dx, dy := o.Model.step(o.ref.x, s.X), o.Model.step(o.ref.y, s.Y)
	if moved > reach {
		o.doubted, o.doubts = to, true
		return fmt.Errorf("the coordinates jumped by (%.0f, %.0f) mm in %v, the robot can have moved %.0f mm at most",
			o.Model.mm(dx), o.Model.mm(dy), gap.Round(time.Millisecond), reach)
	}
	o.ref, o.doubts = to, false
	if wrap := o.Model.mm(o.Model.wrap()); wrap-moved <= alone {
		return fmt.Errorf("nothing was heard for %v: the robot may have moved %.0f mm, its counters are unambiguous up to %.0f mm",
			gap.Round(time.Millisecond), alone, wrap/2)
	}
	o.x += dx
	o.y += dy
	return nil
}

// accountFor subtracts from the lag the time that a SIP accounts for. speed is the SIP's speed.
func (o *Odometry) accountFor(speed float64) {
	if !o.doubts {
		o.lag = min(max(0, o.lag-cycle), coast)
	}
	if o.lag == 0 && o.late == 0 {
		o.fastest = speed
	}
}

// settle takes the coordinates of a SIP after SETO as the position itself, which also
// corrects the effect of a late SIP near the origin: the position that is nearest to the
// one before. A SIP beyond reach, which is how far the robot can be from the origin, is
// late and ignored.
func (o *Odometry) settle(to point, reach float64) {
	x, y := o.x+o.Model.step(o.ref.x, to.x), o.y+o.Model.step(o.ref.y, to.y)
	if o.Model.mm(max(abs(x), abs(y))) > reach {
		x, y = o.Model.step(0, to.x), o.Model.step(0, to.y)
	}
	if o.Model.mm(max(abs(x), abs(y))) <= reach {
		o.x, o.y, o.ref = x, y, to
	}
}

// Reset makes the current pose the origin. It goes with SETO, after which the
// robot counts from 0; SIPs that were under way may come before SETO takes effect.
func (o *Odometry) Reset(now time.Duration) {
	*o = Odometry{Model: o.Model, at: now, lag: o.lag, fastest: o.fastest, started: true, late: lateSIPs, resetAt: now}
}

// isSettled reports whether SETO has taken effect, or was not sent. Otherwise it may be lost, if the connection is.
func (o *Odometry) isSettled() bool { return o.late == 0 }

// Resume keeps the pose, and measures further movement from a SIP in any frame: the robot
// was disconnected, and may have moved or restarted. If it may not have got the last SETO, the pose is the origin.
func (o *Odometry) Resume(s *SIP, now time.Duration) {
	if !o.isSettled() {
		o.Reset(now)
	}
	x, y := o.position()
	*o = Odometry{
		Model: o.Model, at: now, ref: point{s.X, s.Y}, refHeading: s.Heading, started: true,
		originX: x, originY: y, turned: o.Model.wrapped(o.turned + float64(o.refHeading) - float64(s.Heading)),
	}
}

// Turn replaces the rotation in the next SIP by turned, in angle units counterclockwise. The
// rotation by the wheels is ignored.
func (o *Odometry) Turn(s *SIP, turned float64) {
	if !o.started {
		return
	}
	if o.late == 0 { // the movement until now keeps its course
		o.originX, o.originY = o.position()
		o.x, o.y = 0, 0
	}
	wheels := o.Model.wrapped(float64(s.Heading) - float64(o.refHeading))
	o.turned = o.Model.wrapped(o.turned + turned - wheels)
}

// X returns the position along the x axis (forward at SETO), in mm.
func (o *Odometry) X() int {
	x, _ := o.position()
	return int(math.Round(x))
}

// Y returns the position along the y axis (left at SETO), in mm.
func (o *Odometry) Y() int {
	_, y := o.position()
	return int(math.Round(y))
}

// Heading returns the heading of a SIP in the frame of X and Y, in whole degrees, 0
// to 359, counterclockwise.
func (o *Odometry) Heading(s *SIP) int { return o.Model.degrees(o.turned + float64(s.Heading)) }

// position returns the position in mm, in the clients' frame.
func (o *Odometry) position() (x, y float64) {
	sin, cos := math.Sincos(o.turned * o.Model.Angle)
	x, y = o.Model.mm(o.x), o.Model.mm(o.y)
	return o.originX + x*cos - y*sin, o.originY + x*sin + y*cos
}

// wrap is where the coordinates start over, in units.
func (m *Model) wrap() int64 { return 1 << m.Bits }

// step returns the shortest signed difference between two coordinates, in units.
func (m *Model) step(from, to uint16) int64 {
	wrap := m.wrap()
	return (int64(to)-int64(from)+wrap/2)&(wrap-1) - wrap/2
}

// distance returns the greater of the steps along x and y, in mm.
func (m *Model) distance(from, to point) float64 {
	return m.mm(max(abs(m.step(from.x, to.x)), abs(m.step(from.y, to.y))))
}

func abs(v int64) int64 { return max(v, -v) }

func (m *Model) mm(units int64) float64 { return float64(units) * m.Distance }

// fullTurn returns 360 degrees in units of the heading.
func (m *Model) fullTurn() float64 { return math.Round(2 * math.Pi / m.Angle) }

// wrapped returns an angle in its units, within half a revolution to either side.
func (m *Model) wrapped(units float64) float64 { return math.Remainder(units, m.fullTurn()) }

// degrees returns a heading in whole degrees, 0 to 359, counterclockwise.
func (m *Model) degrees(units float64) int {
	return int(wheels.Degrees(units * m.Angle * 180 / math.Pi))
}
