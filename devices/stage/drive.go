package stage

import (
	"math"
	"time"

	"player/devices/stage/floor"
)

const (
	// axle is the distance between the wheels as effective in a rotation, metres, for a Pioneer 2-DX by its
	// manufacturer's parameters (DiffConvFactor 0.0056), with which driver p2os computes. Commands are clipped by it.
	axle = 2 / 5.6
	// maxWheel and maxTurn are the limits to which P2OS clips commands: 500
	// mm/s for a wheel and 100 deg/s.
	maxWheel = 0.500
	maxTurn  = 100 * math.Pi / 180
	// profileAccel and profileTurn are the smooth profile of the separate
	// velocity mode (manual 3.6), the defaults of P2OS: 300 mm/s^2, 100
	// deg/s^2.
	profileAccel = 0.300
	profileTurn  = 100 * math.Pi / 180
)

// span is a range of speeds or accelerations, min <= 0 <= max.
type span struct{ min, max float64 }

func (s span) clip(v float64) float64 { return max(s.min, min(s.max, v)) }

// drive is two wheels on an axle. It models speeds, not positions.
type drive struct {
	speeds, turns     span // limits: m/s and rad/s
	accels, turnRises span // limits: m/s^2 and rad/s^2

	motors   bool // powered
	separate bool // the smooth velocity mode of manual 3.6

	wantSpeed, wantTurn float64 // commanded, clipped
	speed, turn         float64 // now
}

// command takes a position command: mm/s and deg/s. In direct mode both wheels
// are scaled by the same factor, so that the path keeps its curvature. In
// separate mode speed and turn rate are clipped separately.
func (d *drive) command(speed, turn int16) {
	v, w := float64(speed)/1000, floor.Radians(float64(turn))
	w = max(-maxTurn, min(maxTurn, w))
	if d.separate {
		v = max(-maxWheel, min(maxWheel, v))
	} else if fastest := math.Abs(v) + math.Abs(w)*axle/2; fastest > maxWheel {
		v, w = v*maxWheel/fastest, w*maxWheel/fastest
	}
	d.wantSpeed, d.wantTurn = d.speeds.clip(v), d.turns.clip(w)
}

// halt stops the wheels at once and clears the command.
func (d *drive) halt() { d.wantSpeed, d.wantTurn, d.speed, d.turn = 0, 0, 0, 0 }

// step accelerates evenly for dt and returns the travel of the wheels in that
// time: metres forward and radians.
func (d *drive) step(dt time.Duration) (forward, turned float64) {
	if !d.motors {
		d.speed, d.turn = 0, 0
		return 0, 0
	}
	accels, rises := d.accels, d.turnRises
	if d.separate {
		accels = span{max(accels.min, -profileAccel), min(accels.max, profileAccel)}
		rises = span{max(rises.min, -profileTurn), min(rises.max, profileTurn)}
	}
	s := dt.Seconds()
	speed := d.speed + span{accels.min * s, accels.max * s}.clip(d.wantSpeed-d.speed)
	turn := d.turn + span{rises.min * s, rises.max * s}.clip(d.wantTurn-d.turn)
	forward, turned = (d.speed+speed)/2*s, (d.turn+turn)/2*s
	d.speed, d.turn = speed, turn
	return forward, turned
}
