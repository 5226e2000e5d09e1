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
	// overshoot is how much faster than told a robot may drive for a moment.
	overshoot = 1.1
	// coast is the longest time that a robot drives after it has heard from us: its
	// watchdog bites after 2 s, then it brakes.
	coast = 2300 * time.Millisecond
	// held is how late a SIP may be: by a busy computer, an adapter or a radio modem.
	// The one after it may come at once, and yet tell the movement of all that time.
	held = 500 * time.Millisecond

	// lateSIPs is the number of SIPs that may come before SETO takes effect: one may be
	// under way, and a radio modem may hold another.
	lateSIPs = 2
)

// Odometry adds up the robot's wrapping coordinates to a pose. Totals are kept
// in encoder units, so that rounding to mm never accumulates: driving back over
// the same counts returns to exactly 0. With a Model it is ready: it has its origin
// where the first SIP finds the robot, and the robot's own heading.
type Odometry struct {
	Model *Model

	x, y       int64         // units in the robot's frame, since Reset or Resume
	refX, refY uint16        // units, the latest SIP
	refHeading int16         // angle units, the latest SIP
	refSpeed   float64       // mm/s, the latest SIP
	at         time.Duration // of the latest SIP
	spare      float64       // mm that the robot can have moved before it, and that it did not tell
	started    bool
	late       int // further SIPs that may be from before SETO

	// The robot's frame in that of the clients. They differ after Resume.
	originX, originY float64 // mm
	turned           int     // angle units
}

// Update takes the coordinates of a SIP that came at now. commanded is the highest
// speed that the robot was given since the SIP before, in mm/s, and until is when it was
// sent a command last: it may hear us when we do not hear it. The coordinates wrap,
// so the movement since then is known only if the robot cannot have gone half of
// their range. An error explains why a movement was not counted; the next one is
// measured from this SIP.
func (o *Odometry) Update(s *SIP, now time.Duration, commanded float64, until time.Duration) error {
	speed := math.Abs(float64(o.Model.Speed(s)))
	fastest := overshoot * max(commanded, speed, o.refSpeed)
	driving := min(now-o.at, max(0, until-o.at)+coast)
	reach := maxStep + fastest*driving.Seconds()
	gap := now - o.at
	o.refHeading, o.refSpeed, o.at = s.Heading, speed, now
	if o.late > 0 {
		o.late--
		o.settle(s, reach)
		return nil
	}
	dx, dy := o.Model.step(o.refX, s.X), o.Model.step(o.refY, s.Y)
	first := !o.started
	o.refX, o.refY, o.started = s.X, s.Y, true
	mmX, mmY := o.Model.mm(dx), o.Model.mm(dy)
	half := o.Model.mm(o.Model.wrap() / 2)
	moved, late := max(math.Abs(mmX), math.Abs(mmY)), o.spare
	o.spare = min(max(0, reach-maxStep+late-moved), fastest*held.Seconds())
	switch {
	case first:
	case moved > reach+late:
		return fmt.Errorf("the coordinates jumped by (%.0f, %.0f) mm in %v, the robot can have moved %.0f mm at most",
			mmX, mmY, gap.Round(time.Millisecond), reach+late)
	case reach > half:
		return fmt.Errorf("nothing was heard for %v: the robot may have moved %.0f mm, its counters are unambiguous up to %.0f mm",
			gap.Round(time.Millisecond), reach, half)
	default:
		o.x += dx
		o.y += dy
	}
	return nil
}

// settle takes the coordinates of a SIP after SETO as the position itself, which also
// corrects the effect of a late SIP near the origin. A SIP beyond reach is
// late and ignored.
func (o *Odometry) settle(s *SIP, reach float64) {
	x, y := o.Model.step(0, s.X), o.Model.step(0, s.Y)
	if max(math.Abs(o.Model.mm(x)), math.Abs(o.Model.mm(y))) <= reach {
		o.x, o.y, o.refX, o.refY = x, y, s.X, s.Y
	}
}

// Reset makes the current pose the origin. It goes with SETO, after which the
// robot counts from 0; up to two SIPs may come before SETO takes effect.
func (o *Odometry) Reset(now time.Duration) {
	*o = Odometry{Model: o.Model, at: now, started: true, late: lateSIPs}
}

// Resume keeps the pose, and measures further movement from a SIP in whatever frame:
// the robot was disconnected, and may have moved or restarted.
func (o *Odometry) Resume(s *SIP, now time.Duration) {
	x, y := o.position()
	*o = Odometry{
		Model: o.Model, at: now, refX: s.X, refY: s.Y, refHeading: s.Heading, started: true,
		originX: x, originY: y, turned: (o.turned + int(o.refHeading) - int(s.Heading)) % o.Model.fullTurn(),
	}
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
func (o *Odometry) Heading(s *SIP) int { return o.Model.degrees(o.turned + int(s.Heading)) }

// position returns the position in mm, in the clients' frame.
func (o *Odometry) position() (x, y float64) {
	sin, cos := math.Sincos(float64(o.turned) * o.Model.Angle)
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

func (m *Model) mm(units int64) float64 { return float64(units) * m.Distance }

// fullTurn returns 360 degrees in units of the heading.
func (m *Model) fullTurn() int { return int(math.Round(2 * math.Pi / m.Angle)) }

// degrees returns a heading in whole degrees, 0 to 359, counterclockwise.
func (m *Model) degrees(units int) int {
	return int(wheels.Degrees(float64(units) * m.Angle * 180 / math.Pi))
}
