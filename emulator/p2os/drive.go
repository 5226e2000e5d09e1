package p2os

import (
	"math"
	"time"
)

// A Pose is a place on the floor: mm, and degrees counter-clockwise. Heading is not wrapped.
type Pose struct{ X, Y, Heading float64 }

// step is the longest time over which the wheels are taken to accelerate evenly. At the fastest turn the pose error
// of one step is below a micrometre; longer steps would round off the corners of a path.
const step = 10 * time.Millisecond

// A drive is two wheels on one axle. It is driven by time alone.
type drive struct {
	axle         float64 // mm between the wheels
	accel, decel float64 // mm/s² of each wheel, getting faster and getting slower
	wantLeft     float64 // mm/s
	wantRight    float64
	left, right  float64 // mm/s now
	world        Pose    // where the robot is
	odometry     Pose    // where it thinks it is: the same path since SETO
	at           time.Duration
}

// turn sets the wanted speeds from a forward speed (mm/s) and a turn rate (deg/s, left positive).
func (d *drive) turn(forward, rate float64) {
	half := rate * math.Pi / 180 * d.axle / 2
	d.wantLeft, d.wantRight = forward-half, forward+half
}

// wanted is the inverse of turn.
func (d *drive) wanted() (forward, rate float64) {
	return (d.wantLeft + d.wantRight) / 2, (d.wantRight - d.wantLeft) / d.axle * 180 / math.Pi
}

// limit sets how fast a wheel may get faster (positive) or slower (negative), mm/s², as SETA does.
func (d *drive) limit(a float64) {
	switch {
	case a > 0:
		d.accel = a
	case a < 0:
		d.decel = -a
	}
}

// moving tells whether a wheel turns.
func (d *drive) moving() bool { return d.left != 0 || d.right != 0 }

// advance lets time pass until now.
func (d *drive) advance(now time.Duration) {
	for d.at < now {
		if !d.moving() && d.wantLeft == 0 && d.wantRight == 0 {
			d.at = now // however long it stood
			return
		}
		dt := min(step, now-d.at)
		d.at += dt
		s := dt.Seconds()
		left, right := d.left, d.right
		d.left, d.right = d.approach(left, d.wantLeft, s), d.approach(right, d.wantRight, s)
		l, r := (left+d.left)/2*s, (right+d.right)/2*s // mm travelled
		d.world.move(l, r, d.axle)
		d.odometry.move(l, r, d.axle)
	}
}

// approach returns the speed after s seconds of going from v towards want.
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
