package p2os

import "math"

const (
	// maxWheelSpeed in mm/s bounds a wheel in direct mode and the translation
	// in separate mode.
	maxWheelSpeed = 500
	// maxTurnRate in deg/s bounds the rotation in separate mode. Direct mode
	// needs no such bound: the wheels' own makes it 179 deg/s.
	maxTurnRate = 100
	// wheelUnit is VEL2's unit in mm/s.
	wheelUnit = 20
)

// WheelVelocities turns a client's speed (mm/s, forward) and turn rate (deg/s,
// counterclockwise) into those of VEL2: units of 20 mm/s, truncated toward
// zero. If a wheel would exceed 500 mm/s, both are slowed by the same factor, so
// that the curve stays the same.
func WheelVelocities(speed, turnRate int16) (left, right int8) {
	turn := float64(turnRate) * math.Pi / 180 * wheelBase / 2
	l, r := float64(speed)-turn, float64(speed)+turn
	if fastest := max(math.Abs(l), math.Abs(r)); fastest > maxWheelSpeed {
		l, r = l/fastest*maxWheelSpeed, r/fastest*maxWheelSpeed
	}
	return int8(l / wheelUnit), int8(r / wheelUnit)
}

// SeparateVelocities bounds a client's speed (mm/s) and turn rate (deg/s) for
// VEL and RVEL, by which the robot itself accelerates smoothly: 500 mm/s and
// 100 deg/s.
func SeparateVelocities(speed, turnRate int16) (vel, rvel int16) {
	return max(-maxWheelSpeed, min(speed, maxWheelSpeed)), max(-maxTurnRate, min(turnRate, maxTurnRate))
}
