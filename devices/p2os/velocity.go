package p2os

import "math"

const (
	// maxWheelSpeed in mm/s bounds a wheel in direct mode and the translation
	// in separate mode.
	maxWheelSpeed = 500
	// maxTurnRate in deg/s bounds RVEL, here and in the original server: a robot may bound
	// it further. In direct mode VEL2 commands faster rotations.
	maxTurnRate = 100
)

// wheels returns the velocities of the wheels in mm/s for a client's speed (mm/s, forward)
// and turn rate (deg/s, counterclockwise). If a wheel would exceed 500 mm/s, both wheels are
// slowed by the same factor, so that the curve stays the same; v and w are the slowed speed
// and turn rate.
func (m *Model) wheels(speed, turnRate int16) (left, right, v, w float64) {
	v, w = float64(speed), float64(turnRate)
	turn := w * math.Pi / 180 * m.Axle / 2
	if fastest := math.Abs(v) + math.Abs(turn); fastest > maxWheelSpeed {
		slow := maxWheelSpeed / fastest
		v, w, turn = v*slow, w*slow, turn*slow
	}
	return v - turn, v + turn, v, w
}

// direct commands a robot in direct mode (PROTOCOL 6.2). VEL2, the command of the original
// server, has steps of 20 mm/s. It is sent where it is exact. Otherwise VEL and RVEL are
// sent, with steps of 1 mm/s and 1 deg/s, if the robot knows them. Where only VEL2 is
// possible the packets alternate between the steps around a velocity, so that it is right on
// average.
type direct struct {
	restLeft, restRight float64 // steps that the last VEL2 was short of
}

// append appends the packets of a client's speed and turn rate.
func (d *direct) append(dst []byte, m *Model, speed, turnRate int16) []byte {
	left, right, v, w := m.wheels(speed, turnRate)
	if left == 0 && right == 0 {
		*d = direct{}
		return AppendVel2(dst, 0, 0)
	}
	left, right = left/m.Vel2, right/m.Vel2
	exact := left == math.Trunc(left) && right == math.Trunc(right)
	if !exact && m.Turns && math.Abs(w) <= maxTurnRate {
		*d = direct{}
		return AppendInt(AppendInt(dst, Vel, int16(v)), RVel, int16(w)) // truncated: no wheel above its limit
	}
	return AppendVel2(dst, m.quantise(left, &d.restLeft), m.quantise(right, &d.restRight))
}

// quantise rounds a velocity to a step of VEL2 and carries the rest.
func (m *Model) quantise(want float64, rest *float64) int8 {
	limit := min(math.Trunc(maxWheelSpeed/m.Vel2), math.MaxInt8)
	step := max(-limit, min(math.Round(want+*rest), limit))
	*rest = max(-0.5, min(want+*rest-step, 0.5))
	return int8(step)
}

// SeparateVelocities bounds a client's speed (mm/s) and turn rate (deg/s) for
// VEL and RVEL, by which the robot itself accelerates smoothly: 500 mm/s and
// 100 deg/s.
func SeparateVelocities(speed, turnRate int16) (vel, rvel int16) {
	return max(-maxWheelSpeed, min(speed, maxWheelSpeed)), max(-maxTurnRate, min(turnRate, maxTurnRate))
}
