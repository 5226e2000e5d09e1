package subsumption

import (
	"cmp"
	"time"
)

// Boundary keeps the robot within a fence in odometry coordinates. Outside the
// fence it turns towards the middle and drives there at half speed until it is
// inside. A fence without area has no effect.
type Boundary struct {
	Min, Max Target // opposite corners, mm
	Speed    int    // full speed, mm/s; zero: 300
	Turn     int    // deg/s; zero: 40
	Deadzone int    // degrees; zero: 5
}

func (b *Boundary) Act(_ time.Duration, s *Sensors, _ Signals) Output {
	p := s.Pose
	inside := p.X >= b.Min.X && p.X <= b.Max.X && p.Y >= b.Min.Y && p.Y <= b.Max.Y
	if inside || b.Min.X >= b.Max.X || b.Min.Y >= b.Max.Y {
		return Output{}
	}
	_, off := LocateTarget(p, Target{b.Min.X + (b.Max.X-b.Min.X)/2, b.Min.Y + (b.Max.Y-b.Min.Y)/2})
	turn := towards(off, cmp.Or(b.Deadzone, deadzone), cmp.Or(b.Turn, steer))
	speed := cmp.Or(b.Speed, topSpeed)
	if turn != 0 {
		speed /= 2
	}
	return want(speed, turn)
}
