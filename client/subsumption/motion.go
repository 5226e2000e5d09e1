package subsumption

import (
	"cmp"
	"time"
)

// Defaults of Motion. The article gives none.
const (
	motionEvery     = 30 * time.Second
	motionWatch     = 5 * time.Second
	motionThreshold = 150                    // mm: more than the jitter of a sonar
	motionSettle    = 500 * time.Millisecond // until the reports of a moving robot are outdated
)

// Motion watches for movement: from time to time it stops the robot and checks
// whether something comes nearer. If so it turns there and starts to watch
// again; inverted, it turns away. When nothing has moved for a while, it lets
// the robot go on.
type Motion struct {
	Every     time.Duration // pause between two watches; zero: 30 s
	Watch     time.Duration // zero: 5 s
	Threshold int           // smallest approach that counts, mm; zero: 150
	Turn      int           // deg/s; zero: 40

	watching bool
	since    time.Duration // when the watch started or ended
	still    time.Duration // since when the robot has been commanded to stop
	turn     int           // turn rate until then, deg/s
	until    time.Duration
	seen     bool            // base is valid
	base     [Directions]int // the first ranges of this watch
}

func (m *Motion) Act(now time.Duration, s *Sensors, to Signals) Output {
	if !m.watching {
		if now-m.since < cmp.Or(m.Every, motionEvery) {
			return Output{}
		}
		m.watching = true
		m.settle(now)
	}
	if to.Subsumed { // another layer moves the robot, so its ranges also change
		m.settle(now)
	}
	switch {
	case now < m.until:
		m.still = now
		return want(0, m.turn)
	case s.Speed != 0 || s.Turn != 0:
		m.settle(now)
	case now-m.still < motionSettle:
	case !m.seen:
		m.seen, m.base, m.since = true, s.Range, now
	case now-m.since >= cmp.Or(m.Watch, motionWatch):
		m.watching, m.since = false, now
		return Output{}
	default:
		m.face(now, s, to.Inverted)
		if now < m.until {
			return want(0, m.turn)
		}
	}
	return want(0, 0)
}

// settle restarts the watch.
func (m *Motion) settle(now time.Duration) { m.still, m.seen, m.until = now, false, now }

// face turns to the direction in which something has come nearest.
func (m *Motion) face(now time.Duration, s *Sensors, inverted bool) {
	most, where := cmp.Or(m.Threshold, motionThreshold), 0
	moved := false
	for i, r := range s.Range {
		if nearer := m.base[i] - r; nearer >= most {
			most, where, moved = nearer, Bearing(i), true
		}
	}
	if !moved {
		return
	}
	if inverted {
		where = between(where + 180)
	}
	rate := cmp.Or(m.Turn, steer)
	m.settle(now)
	m.turn = towards(where, 0, rate)
	m.until = now + time.Duration(max(where, -where))*time.Second/time.Duration(max(1, rate))
}
