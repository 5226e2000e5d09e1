package p2os

import "math"

const (
	mmPerUnit = 0.826 // of the P2-DX wheel encoders

	// wrap is where the robot's 12-bit coordinates start over, in units.
	wrap = 4096

	// maxStep is how far the robot may go in one packet, in mm: at 10 packets
	// a second and 500 mm/s it goes 50. More is a robot that has restarted or
	// a corrupt packet, and believing it would throw the position off for good.
	maxStep = 100
)

// Odometry adds up the robot's wrapping coordinates to a position. Totals are
// kept in encoder units, so that rounding to mm never accumulates: driving back
// over the same counts returns to exactly 0. The zero value has its origin
// where the first SIP finds the robot.
type Odometry struct {
	x, y       int64  // units since the origin
	refX, refY uint16 // units, the latest SIP
	started    bool
}

// Update takes the coordinates of one SIP, of which the low 12 bits count. It
// is false if the robot seems to have gone over 100 mm along an axis: the
// packet's change is then discarded in both, and the next is measured from it.
func (o *Odometry) Update(x, y uint16) (ok bool) {
	dx, dy := step(o.refX, x), step(o.refY, y)
	first := !o.started
	o.refX, o.refY, o.started = x, y, true
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

// Reset makes the current position the origin. It goes with SETO, after which
// the robot counts from 0, so the next SIP is measured from 0. A SIP that was
// under way before SETO took effect then adds a step that the one after it
// takes back.
func (o *Odometry) Reset() { *o = Odometry{started: true} }

// Resume keeps the position and measures on from wherever the next SIP finds
// the robot: it was out of sight, and may have moved or restarted.
func (o *Odometry) Resume() { o.started = false }

// X is the position along the robot's x axis (forward at SETO), in mm.
func (o *Odometry) X() int { return unitsToMM(o.x) }

// Y is the position along the robot's y axis (left at SETO), in mm.
func (o *Odometry) Y() int { return unitsToMM(o.y) }

// step is the shortest signed difference between two coordinates, -2048 to
// 2047 units.
func step(from, to uint16) int64 {
	return (int64(to)-int64(from)+wrap/2)&(wrap-1) - wrap/2
}

func outOfReach(units int64) bool { return unitsToMM(max(units, -units)) > maxStep }

func unitsToMM(units int64) int { return int(math.Round(float64(units) * mmPerUnit)) }
