package subsumption

import (
	"cmp"
	"time"
)

// Defaults of Perimeter. The article gives none.
const (
	perimeterReach = 1000 // mm
	perimeterKeep  = 500  // mm
	// perimeterSearch is long enough for a robot at half speed to turn by more
	// than a right angle around the end of a wall.
	perimeterSearch = 3 * time.Second
)

// Perimeter follows a wall or a building at the robot's side, at a distance. It chooses the
// nearer side and stays on it. When the wall ends it turns that way to find it again, for a
// while, and then drops its flag. Obstacles in front of the robot are left to a higher
// layer.
type Perimeter struct {
	Reach  int           // range in which it detects a wall at its side, mm; zero: 1000
	Keep   int           // distance to keep, mm; zero: 500
	Speed  int           // mm/s; zero: 300
	Turn   int           // at most, deg/s; zero: 40
	Search time.Duration // zero: 3 s

	side  int           // 1: the wall is to the left, -1: to the right, 0: none
	until time.Duration // end of the search
}

func (b *Perimeter) Act(now time.Duration, s *Sensors, _ Signals) Output {
	reach, keep := cmp.Or(b.Reach, perimeterReach), cmp.Or(b.Keep, perimeterKeep)
	left, right := min(s.Range[0], s.Range[1]), min(s.Range[7], s.Range[6])
	switch {
	case b.side == 0 && min(left, right) >= reach:
		return Output{}
	case b.side == 0 && left <= right:
		b.side = 1
	case b.side == 0:
		b.side = -1
	}
	beside, diagonal := s.Range[0], s.Range[1]
	if b.side < 0 {
		beside, diagonal = s.Range[7], s.Range[6]
	}
	speed, turn := cmp.Or(b.Speed, topSpeed), cmp.Or(b.Turn, steer)
	if min(beside, diagonal) < reach {
		b.until = now + cmp.Or(b.Search, perimeterSearch)
	} else if now >= b.until {
		b.side = 0
		return Output{}
	}
	// The distance of the wall further on: the diagonal sensor points ahead, so the robot
	// turns before it is too near. 77 is 100 sin 50°.
	coming := diagonal * 77 / 100
	off := max(-keep, min(coming-keep, keep))
	if off > 0 {
		speed /= 2
	}
	return want(speed, b.side*turn*off/keep)
}
