package sony

import (
	"math"
	"time"
)

// Ranges and speeds of the EVI-D30, in camera units.
const (
	panPerDegree  = 8.8 // clockwise is positive
	tiltPerDegree = 12  // up is positive
	panMax        = 880 // 100 degrees
	tiltMax       = 300 // 25 degrees
	zoomMax       = 1023

	panFastest  = 0x18 // 80 deg/s
	tiltFastest = 0x14 // 50 deg/s
	panStep     = 80. / panFastest * panPerDegree
	tiltStep    = 50. / tiltFastest * tiltPerDegree // units per second for one step of speed

	zoomSpeed = 700. // units per second, 1.5 s from end to end: assumed, no published figure
)

// An axis is one motor. It moves to its target at constant speed.
type axis struct {
	pos, want float64 // units
	speed     float64 // units per second
}

func (a *axis) moving() bool { return a.pos != a.want }

func (a *axis) advance(dt time.Duration) {
	most := a.speed * dt.Seconds()
	a.pos += max(-most, min(most, a.want-a.pos))
}

// rest returns the time until the axis stops.
func (a *axis) rest() time.Duration {
	if !a.moving() {
		return 0
	}
	return time.Duration(math.Ceil(math.Abs(a.want-a.pos)/a.speed*float64(time.Second))) + 1 // plus 1 ns against rounding
}

func (a *axis) goTo(want, speed float64) { a.want, a.speed = want, speed }

func (a *axis) stop() { a.want = a.pos }

// units returns the position in the camera's units.
func (a *axis) units() int { return int(math.Round(a.pos)) }
