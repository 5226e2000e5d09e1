package subsumption

import (
	"math"
	"time"
)

// Command is a command to the wheels.
type Command struct {
	Speed int // mm/s forward
	Turn  int // deg/s counterclockwise
}

// Motor turns the winner's output into a command for two wheels, as SR04's
// motor_cmd does: neither wheel is asked for more than it can do. Changes of
// the layer do not jerk the robot: a new winner speeds up from the last one's
// speed. Slowing down is immediate.
type Motor struct {
	Wheel int // top speed of one wheel, mm/s; zero: no limit
	Axle  int // distance between the wheels, mm
	Accel int // limit on the increase of speed, mm/s²; zero: no limit

	speed float64       // last commanded, mm/s, before clipping
	last  time.Duration // time of that command
}

// Pioneer returns the motor of a Pioneer 2: wheels of 500 mm/s, 357 mm apart as effective in a rotation
// (its manufacturer's parameters), and half of its acceleration.
func Pioneer() Motor { return Motor{Wheel: 500, Axle: 357, Accel: 500} }

// Command returns the command for an output at now.
func (m *Motor) Command(now time.Duration, out Output) Command {
	speed := float64(out.Speed)
	if m.Accel > 0 {
		speed = m.grow(speed, float64(m.Accel)*(now-m.last).Seconds())
	}
	m.speed, m.last = speed, now
	if m.Wheel == 0 || m.Axle == 0 {
		return Command{int(math.Round(speed)), out.Turn}
	}
	rim := float64(out.Turn) * math.Pi / 180 * float64(m.Axle) / 2 // of a wheel, mm/s
	limit := float64(m.Wheel)
	left, right := max(-limit, min(speed-rim, limit)), max(-limit, min(speed+rim, limit))
	return Command{
		Speed: int(math.Round((left + right) / 2)),
		Turn:  int(math.Round((right - left) / float64(m.Axle) * 180 / math.Pi)),
	}
}

// grow returns the speed nearest to want that may follow the last one if it
// may grow by step. A reversal passes through zero.
func (m *Motor) grow(want, step float64) float64 {
	from := m.speed
	if from*want < 0 {
		from = 0
	}
	if math.Abs(want) <= math.Abs(from) {
		return want
	}
	return from + max(-step, min(want-from, step))
}
