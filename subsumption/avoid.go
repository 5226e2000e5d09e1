package subsumption

import (
	"cmp"
	"time"
)

const (
	irRange = 457 // mm, 18 inches: how far SR04's infrared detectors saw
	// sonarRange in mm is when Sonar begins: at full speed three seconds before
	// the obstacle, and two before IR takes over.
	sonarRange = 1000
)

// IR keeps the robot from what is near in front of it. Something on one side
// slows it down and turns it to the other; something on both sides stops it and
// turns it on the spot until one side is clear. Inverted, it turns towards what
// it sees.
type IR struct {
	Range int // mm; zero: 457
	Speed int // full speed, of which it takes half, mm/s; zero: 300
	Turn  int // deg/s; zero: 40
	dodge dodge
}

func (b *IR) Act(_ time.Duration, s *Sensors, to Signals) Output {
	reach := cmp.Or(b.Range, irRange)
	left, right := s.Left() < reach, s.Right() < reach
	turn := b.dodge.turn(left, right, s) * cmp.Or(b.Turn, steer)
	if to.Inverted {
		turn = -turn
	}
	switch {
	case left && right:
		return want(0, turn)
	case left || right:
		return want(cmp.Or(b.Speed, topSpeed)/2, turn)
	}
	return Output{}
}

// Sonar steers around what is farther away than IR sees: the nearer, the slower
// and the sharper. It hands over to IR where that begins.
type Sonar struct {
	Range int // where it begins, mm; zero: 1000
	Near  int // where it is at half speed and full turn, mm; zero: 457
	Speed int // full speed, mm/s; zero: 300
	Turn  int // full turn, deg/s; zero: 40
	dodge dodge
}

func (b *Sonar) Act(_ time.Duration, s *Sensors, _ Signals) Output {
	reach, near := cmp.Or(b.Range, sonarRange), cmp.Or(b.Near, irRange)
	left, right := s.Left(), s.Right()
	turn := b.dodge.turn(left < reach, right < reach, s)
	if turn == 0 {
		return Output{}
	}
	room := max(0, min(left, right)-near) // 0 to span
	span := max(1, reach-near)
	top := cmp.Or(b.Speed, topSpeed)
	return want(top/2+(top-top/2)*room/span, turn*cmp.Or(b.Turn, steer)*(span-room)/span)
}

// dodge remembers which way an obstacle is being avoided: whoever changes his
// mind in front of a wall runs into it.
type dodge int

// turn returns 1 for left, -1 for right, 0 for nothing on either side.
func (d *dodge) turn(left, right bool, s *Sensors) int {
	switch {
	case left && !right:
		*d = -1
	case right && !left:
		*d = 1
	case !left: // neither
		*d = 0
	case *d == 0 && s.Left() < s.Right():
		*d = -1
	case *d == 0:
		*d = 1
	}
	return int(*d)
}
