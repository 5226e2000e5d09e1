package p2os

import "math"

const (
	mmPerUnit = 0.826 // of the P2-DX wheel encoders

	// wrap is where the robot's 12-bit coordinates start over, in units.
	wrap = 4096

	// fullTurn is 360 degrees in units of a SIP's heading.
	fullTurn = 4096

	// maxStep bounds the robot's way between two packets, in mm: at 10 packets a second
	// and 500 mm/s it goes 50. More means a restarted robot or a corrupt packet, which
	// would make the position wrong for good.
	maxStep = 100

	// lateSIPs is the number of SIPs that may come before SETO takes effect: one may be
	// under way, and a radio modem may hold another.
	lateSIPs = 2
)

// Odometry adds up the robot's wrapping coordinates to a pose. Totals are kept
// in encoder units, so that rounding to mm never accumulates: driving back over
// the same counts returns to exactly 0. The zero value has its origin where the
// first SIP finds the robot, and the robot's own heading.
type Odometry struct {
	x, y       int64  // units in the robot's frame, since Reset or Resume
	refX, refY uint16 // units, the latest SIP
	refHeading int16  // angle units, the latest SIP
	started    bool
	late       int // further SIPs that may be from before SETO

	// The robot's frame in that of the clients. They differ after Resume.
	originX, originY float64 // units
	turned           int     // angle units
}

// Update takes the coordinates of a SIP; only their low 12 bits count. It returns
// false if the robot seems to have moved more than 100 mm along an axis: then the
// change is ignored along both, and the next one is measured from this SIP.
func (o *Odometry) Update(s *SIP) (ok bool) {
	o.refHeading = s.Heading
	if o.late > 0 {
		o.late--
		o.settle(s)
		return true
	}
	dx, dy := step(o.refX, s.X), step(o.refY, s.Y)
	first := !o.started
	o.refX, o.refY, o.started = s.X, s.Y, true
	if first {
		return true
	}
	if outOfReach(dx) || outOfReach(dy) {
		return false
	}
	o.x += dx
	o.y += dy
	return true
}

// settle takes the coordinates of a SIP after SETO as the position itself, which also
// corrects the effect of a late SIP near the origin. A SIP more than 100 mm away is
// late and ignored.
func (o *Odometry) settle(s *SIP) {
	x, y := step(0, s.X), step(0, s.Y)
	if !outOfReach(x) && !outOfReach(y) {
		o.x, o.y, o.refX, o.refY = x, y, s.X, s.Y
	}
}

// Reset makes the current pose the origin. It goes with SETO, after which the
// robot counts from 0; up to two SIPs may come before SETO takes effect.
func (o *Odometry) Reset() { *o = Odometry{started: true, late: lateSIPs} }

// Resume keeps the pose, and measures further movement from a SIP in whatever frame:
// the robot was disconnected, and may have moved or restarted.
func (o *Odometry) Resume(s *SIP) {
	x, y := o.position()
	*o = Odometry{
		refX: s.X, refY: s.Y, refHeading: s.Heading, started: true,
		originX: x, originY: y, turned: (o.turned + int(o.refHeading) - int(s.Heading)) % fullTurn,
	}
}

// X returns the position along the x axis (forward at SETO), in mm.
func (o *Odometry) X() int {
	x, _ := o.position()
	return unitsToMM(x)
}

// Y returns the position along the y axis (left at SETO), in mm.
func (o *Odometry) Y() int {
	_, y := o.position()
	return unitsToMM(y)
}

// Heading returns the heading of a SIP in the frame of X and Y, in whole degrees, 0
// to 359, counterclockwise.
func (o *Odometry) Heading(s *SIP) int { return headingDegrees(o.turned + int(s.Heading)) }

// position returns the position in units, in the clients' frame.
func (o *Odometry) position() (x, y float64) {
	sin, cos := math.Sincos(float64(o.turned) * radPerAngleUnit)
	x, y = float64(o.x), float64(o.y)
	return o.originX + x*cos - y*sin, o.originY + x*sin + y*cos
}

// step returns the shortest signed difference between two coordinates, -2048 to
// 2047 units.
func step(from, to uint16) int64 {
	return (int64(to)-int64(from)+wrap/2)&(wrap-1) - wrap/2
}

func outOfReach(units int64) bool { return unitsToMM(float64(max(units, -units))) > maxStep }

func unitsToMM(units float64) int { return int(math.Round(units * mmPerUnit)) }
