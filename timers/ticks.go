package timers

import (
	"slices"
	"time"
)

const (
	// Grid is the time between two ticks of one rate. A wake-up costs more than the frames that
	// are sent in it (docs/BENCHMARKS.md), so members have common ticks on a coarse grid. A finer
	// grid means more wakes; with a coarser one the last member of a full tick waits longer.
	Grid = 5 * time.Millisecond
	// TickFill is the number of members that a tick takes before the next tick
	// of the same rate is opened, one grid step later. At about 5 us a frame,
	// a full tick takes the loop 0.3 ms. When every grid step of the
	// period has a tick, a new member joins the smallest.
	TickFill = 64
	// batch is how many members are fired before the tick asks whether it may go on. Their frames
	// take 0.1 ms. With simulated lasers and noise they take 1 ms, because a scan is computed for
	// the frame. More would delay other timers; fewer would read the clock more often.
	batch = 16
	// A member that is fired lateLimit after its deadline counts as late: its interval differs by
	// a whole step of the grid.
	lateLimit = Grid
)

// Ticks gives members with the same period a common deadline. Deadlines are
// multiples of the period, so slow and fast rates have common wakes.
type Ticks[M comparable] struct {
	queue   *Queue
	fire    func(now time.Duration, m M)
	periods map[time.Duration][]*Tick[M]
	late    uint64
}

// Tick is one deadline and its members.
type Tick[M comparable] struct {
	period  time.Duration
	phase   int // offset from the multiple of the period, in grid steps
	members []M
	fired   int           // members[:fired] have been fired for the current deadline
	due     time.Duration // the current deadline while some members are not fired, otherwise zero
	timer   *Timer
}

// NewTicks returns an empty schedule on q. It calls fire for every member of a
// tick that is due.
func NewTicks[M comparable](q *Queue, fire func(now time.Duration, m M)) *Ticks[M] {
	return &Ticks[M]{queue: q, fire: fire, periods: map[time.Duration][]*Tick[M]{}}
}

// Late returns how many times a member was fired 5 ms after its deadline or later.
func (s *Ticks[M]) Late() uint64 { return s.late }

// Join adds m to a tick of the given period, which must be positive. m first
// fires within one period from now. The returned tick is the argument of
// Leave.
func (s *Ticks[M]) Join(m M, period, now time.Duration) *Tick[M] {
	t := s.tick(period, now)
	t.members = append(t.members, m)
	return t
}

// Leave removes m from t. A tick without members is deleted and its timer
// stopped. fire may call Leave for the member that it was called for.
func (s *Ticks[M]) Leave(m M, t *Tick[M]) {
	i := slices.Index(t.members, m)
	if i < 0 {
		return
	}
	if i < t.fired { // members already fired stay in front
		t.fired--
		t.members[i] = t.members[t.fired]
		i = t.fired
	}
	last := len(t.members) - 1
	t.members[i] = t.members[last]
	clear(t.members[last:])
	t.members = t.members[:last]
	if last > 0 {
		return
	}
	s.queue.Stop(t.timer)
	rest := slices.DeleteFunc(s.periods[t.period], func(o *Tick[M]) bool { return o == t })
	if len(rest) == 0 {
		delete(s.periods, t.period)
		return
	}
	s.periods[t.period] = rest
}

// tick returns a tick with room: one that is not full, otherwise a new one on
// an unused grid step, otherwise the one with the fewest members.
func (s *Ticks[M]) tick(period, now time.Duration) *Tick[M] {
	open := s.periods[period]
	var emptiest *Tick[M]
	var used uint64 // one bit for each grid step that has a tick
	for _, t := range open {
		if len(t.members) < TickFill {
			return t
		}
		if emptiest == nil || len(t.members) < len(emptiest.members) {
			emptiest = t
		}
		used |= 1 << t.phase
	}
	// 64 steps are 320 ms: rates below 3 Hz do not need more ticks.
	phase, steps := 0, min(int(max(1, period/Grid)), 64)
	for phase < steps && used>>phase&1 != 0 {
		phase++
	}
	if phase == steps {
		return emptiest
	}
	t := &Tick[M]{period: period, phase: phase}
	t.timer = NewTimer(func(now time.Duration) time.Duration { return s.run(t, now) })
	t.timer.period = period
	offset := time.Duration(phase) * Grid
	s.queue.Set(t.timer, Skip((now-offset)/period*period+offset-period, period, now))
	s.periods[period] = append(open, t)
	return t
}

// run fires each member once, in batches. When the queue must not proceed, the rest of the tick is due
// at once, behind all other timers that are due, and the loop does its other work first. Without
// batches, thousands of members would be fired at once: a full server accepted only fifty clients a
// second, and a faster tick waited for all of a slower one. A member may leave during its own call or
// between two batches.
func (s *Ticks[M]) run(t *Tick[M], now time.Duration) time.Duration {
	if t.due == 0 {
		t.due = t.timer.at
	}
	deadline := t.due
	for n := 0; t.fired < len(t.members); n++ {
		if n > 0 && n%batch == 0 {
			if yielded, ok := s.queue.proceed(); !ok {
				return yielded
			}
		}
		t.fired++
		if now-deadline >= lateLimit {
			s.late++
		}
		s.fire(now, t.members[t.fired-1])
	}
	t.fired, t.due = 0, 0
	if len(t.members) == 0 {
		return 0
	}
	return Skip(deadline, t.period, max(now, deadline))
}
