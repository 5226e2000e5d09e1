package subsumption

import (
	"cmp"
	"time"
)

// Xlate rotates and scans: it turns once around, remembers the direction of
// the longest range, turns there and drops its flag. Inverted it takes the
// shortest range instead. Subsumed, it gives up.
type Xlate struct {
	Turn     int           // deg/s; zero: 40
	Deadzone int           // degrees; zero: 5
	Every    time.Duration // pause between two scans; zero: only when Scan is called

	state   xlateState
	begun   time.Duration // start of the scan, or end of the last one
	heading int           // in the last cycle, degrees
	turned  int           // so far, degrees
	best    int           // best range, mm; negated when inverted
	course  int           // heading of the best range
}

type xlateState uint8

const (
	xlateIdle xlateState = iota
	xlateAsked
	xlateScan
	xlateFace
)

// Scan asks for a scan in the next cycle.
func (x *Xlate) Scan() { x.state = xlateAsked }

func (x *Xlate) Act(now time.Duration, s *Sensors, to Signals) Output {
	rate := cmp.Or(x.Turn, steer)
	heading := s.Pose.Heading
	if x.state == xlateIdle && x.Every > 0 && now-x.begun >= x.Every {
		x.state = xlateAsked
	}
	if x.state == xlateAsked {
		x.state, x.begun, x.heading, x.turned, x.best = xlateScan, now, heading, 0, -2*Far
	} else if to.Subsumed || x.state != xlateIdle && now-x.begun > x.limit(rate) {
		x.state, x.begun = xlateIdle, now
	}
	switch x.state {
	case xlateScan:
		x.turned += between(heading - x.heading)
		x.heading = heading
		room := s.Ahead()
		if to.Inverted {
			room = -room
		}
		if room > x.best {
			x.best, x.course = room, heading
		}
		if x.turned < 360 {
			return want(0, rate)
		}
		x.state = xlateFace
		fallthrough
	case xlateFace:
		if turn := towards(between(x.course-heading), cmp.Or(x.Deadzone, deadzone), rate); turn != 0 {
			return want(0, turn)
		}
		x.state, x.begun = xlateIdle, now
	}
	return Output{}
}

// limit ends a scan that does not finish because the robot cannot turn: three
// times its normal duration.
func (x *Xlate) limit(rate int) time.Duration {
	return 3 * 360 * time.Second / time.Duration(max(1, rate))
}
