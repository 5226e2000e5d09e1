package subsumption

import (
	"cmp"
	"time"
)

const (
	irRange = 457 // mm, 18 inches: the range of SR04's infrared detectors
	// sonarRange in mm is the range at which Sonar starts: at full speed three
	// seconds before the obstacle, and two before IR takes over.
	sonarRange = 1000
)

// IR keeps the robot away from obstacles close in front of it. An obstacle on
// one side slows it down and turns it to the other; obstacles on both sides
// stop it and turn it on the spot until one side is clear. Inverted, it turns
// towards obstacles.
type IR struct {
	Range int // mm; zero: 457
	Speed int // full speed, mm/s; it drives at half of it; zero: 300
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

// Sonar steers around obstacles beyond the range of IR: the nearer, the slower
// and the sharper. Within that range IR takes over.
type Sonar struct {
	Range int // range at which it starts, mm; zero: 1000
	Near  int // range of half speed and full turn rate, mm; zero: 457
	Speed int // full speed, mm/s; zero: 300
	Turn  int // full turn rate, deg/s; zero: 40
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

// dodge remembers the side on which an obstacle is avoided: a robot that
// changes sides in front of a wall runs into it.
type dodge int

// turn returns 1 for left, -1 for right, 0 if neither side has an obstacle.
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
