package p2os

import (
	"math"
	"time"
)

// A Pose is a position on the floor in mm, and a heading in degrees
// counter-clockwise. The heading is not wrapped.
type Pose struct{ X, Y, Heading float64 }

// step is the longest time for which the wheels' acceleration is assumed
// constant. At the fastest turn rate the pose error of one step is below a
// micrometre; longer steps would cut the corners of a path.
const step = 10 * time.Millisecond

// A drive is two wheels on one axle. Only time advances it.
type drive struct {
	axle         float64 // mm between the wheels
	accel, decel float64 // mm/s² of each wheel, accelerating and braking
	wantLeft     float64 // mm/s
	wantRight    float64
	left, right  float64 // mm/s now
	world        Pose    // the true pose
	odometry     Pose    // the estimated pose: the same path since SETO
	slip         float64 // see Options.Slip
	top, topTurn float64 // limits of moves and rotations by a given amount, mm/s and deg/s
	way, heading goal    // the rest of such a move and rotation, mm and deg
	at           time.Duration
}

// Speeds of MOVE, HEAD and DHEAD (assumed; SETV and SETRV change them).
const (
	defaultTop     = 400 // mm/s
	defaultTopTurn = 50  // deg/s
)

// A goal is how far there is to go.
type goal struct {
	on   bool
	left float64
}

// speed returns the speed at which to go on: one from which the rest is enough to brake.
// within is where the goal is reached.
func (g *goal) speed(top, brake, within float64) float64 {
	if math.Abs(g.left) < within {
		g.on = false
		return 0
	}
	fast := min(top, math.Sqrt(2*brake*math.Abs(g.left)), math.Abs(g.left)/step.Seconds())
	return math.Copysign(fast, g.left)
}

// pursue sets the wanted speeds that lead to the goals.
func (d *drive) pursue() {
	if !d.way.on && !d.heading.on {
		return
	}
	forward, rate := d.wanted()
	if d.way.on {
		forward = d.way.speed(d.top, d.decel/2, 0.5)
	}
	if d.heading.on {
		rate = d.heading.speed(d.topTurn, d.decel/d.axle*180/math.Pi/2, 0.1)
	}
	d.turn(forward, rate)
}

// halt cancels the robot's moves and rotations.
func (d *drive) halt() {
	d.way, d.heading = goal{}, goal{}
	d.turn(0, 0)
}

// turn sets the wanted speeds from a forward speed (mm/s) and a turn rate (deg/s, left positive).
func (d *drive) turn(forward, rate float64) {
	half := rate * math.Pi / 180 * d.axle / 2
	d.wantLeft, d.wantRight = forward-half, forward+half
}

// wanted returns the inverse of turn.
func (d *drive) wanted() (forward, rate float64) {
	return (d.wantLeft + d.wantRight) / 2, (d.wantRight - d.wantLeft) / d.axle * 180 / math.Pi
}

// limit sets the acceleration (positive) or braking (negative) of a wheel,
// mm/s², as SETA does.
func (d *drive) limit(a float64) {
	switch {
	case a > 0:
		d.accel = a
	case a < 0:
		d.decel = -a
	}
}

// moving reports whether a wheel rotates.
func (d *drive) moving() bool { return d.left != 0 || d.right != 0 }

// advance advances the drive to now.
func (d *drive) advance(now time.Duration) {
	for d.at < now {
		d.pursue()
		if !d.moving() && d.wantLeft == 0 && d.wantRight == 0 {
			d.at = now // after any standstill
			return
		}
		dt := min(step, now-d.at)
		d.at += dt
		s := dt.Seconds()
		left, right := d.left, d.right
		d.left, d.right = d.approach(left, d.wantLeft, s), d.approach(right, d.wantRight, s)
		l, r := (left+d.left)/2*s, (right+d.right)/2*s // mm travelled
		d.odometry.move(l, r, d.axle)
		d.way.left -= (l + r) / 2
		d.heading.left -= (r - l) / d.axle * 180 / math.Pi
		lost := (r - l) / 2 * d.slip
		d.world.move(l+lost, r-lost, d.axle)
	}
}

// approach returns the speed after s seconds of changing from v towards want.
func (d *drive) approach(v, want, s float64) float64 {
	limit := d.accel * s
	if math.Abs(want) < math.Abs(v) || v*want < 0 {
		limit = d.decel * s
	}
	return v + max(-limit, min(limit, want-v))
}

// move rolls the wheels by l and r mm along an arc.
func (p *Pose) move(l, r, axle float64) {
	turn := (r - l) / axle
	middle := p.Heading*math.Pi/180 + turn/2
	p.X += (l + r) / 2 * math.Cos(middle)
	p.Y += (l + r) / 2 * math.Sin(middle)
	p.Heading += turn * 180 / math.Pi
}
