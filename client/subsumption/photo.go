package subsumption

import (
	"cmp"
	"time"
)

// Photo turns towards a light and drops its flag when the light is straight
// ahead (the article's moth). Inverted it turns until the light is behind (the
// cockroach).
type Photo struct {
	Speed    int // mm/s; zero: 300
	Turn     int // deg/s; zero: 40
	Deadzone int // degrees on either side; zero: 5
	Offset   int // degrees by which the sensor points too far to the right
}

func (p Photo) Act(_ time.Duration, s *Sensors, to Signals) Output {
	if !s.Light.Seen {
		return Output{}
	}
	off := s.Light.Bearing + p.Offset
	if to.Inverted {
		off += 180
	}
	turn := towards(between(off), cmp.Or(p.Deadzone, deadzone), cmp.Or(p.Turn, steer))
	return Output{cmp.Or(p.Speed, topSpeed), turn, turn != 0}
}
