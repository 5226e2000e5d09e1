package timers

import (
	"slices"
	"time"
)

const (
	// Grid is the spacing of ticks of one rate, 5 ms. A wake-up costs more
	// than the frames sent in it (docs/BENCHMARKS.md), so members share ticks
	// and ticks lie on a coarse grid. A finer grid means more wakes, a coarser
	// one lets the last member of a full tick wait longer.
	Grid = 5 * time.Millisecond
	// TickFill is how many members a tick takes before the next one of the
	// same rate is opened, one grid step later. At about 5 us a frame a full
	// tick holds the loop for 0.3 ms. When every step of the period has its
	// tick they fill evenly.
	TickFill = 64
	// TickSlice is how many members are fired at a time. When every tick is full
	// many times over, the rest of a tick waits for the next turn of the loop, and
	// what else there is to do comes in between: at about 9 us a frame, once a
	// millisecond. gnet accepts one client a turn; ticks of thousands in one go
	// let a full server take fifty a second.
	TickSlice = 128
)

// Ticks gives members that ask for the same period a common deadline. Deadlines
// are multiples of the period, so slow and fast rates fall on the same wakes.
type Ticks[M comparable] struct {
	queue   *Queue
	fire    func(now time.Duration, m M)
	periods map[time.Duration][]*Tick[M]
}

// Tick is one shared deadline and its members.
type Tick[M comparable] struct {
	period  time.Duration
	phase   int // grid steps after the multiple of the period
	members []M
	fired   int // how many of members, from the first, have been in this round
	timer   *Timer
}

// NewTicks returns an empty schedule on q that calls fire for every member of
// a tick that is due.
func NewTicks[M comparable](q *Queue, fire func(now time.Duration, m M)) *Ticks[M] {
	return &Ticks[M]{queue: q, fire: fire, periods: map[time.Duration][]*Tick[M]{}}
}

// Join adds m to a tick of the given period (positive). m first fires within
// one period from now. The returned tick is what Leave wants.
func (s *Ticks[M]) Join(m M, period, now time.Duration) *Tick[M] {
	t := s.tick(period, now)
	t.members = append(t.members, m)
	return t
}

// Leave removes m from t. A tick without members is gone: nothing is armed for
// it. Leave may be called from within fire for the member that fires.
func (s *Ticks[M]) Leave(m M, t *Tick[M]) {
	i := slices.Index(t.members, m)
	if i < 0 {
		return
	}
	if i < t.fired { // those who have been stay in front
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

// tick finds room: a tick that is not full, else a new one on an unused grid
// step, else the emptiest.
func (s *Ticks[M]) tick(period, now time.Duration) *Tick[M] {
	open := s.periods[period]
	var emptiest *Tick[M]
	var used uint64 // a bit for each grid step that has its tick
	for _, t := range open {
		if len(t.members) < TickFill {
			return t
		}
		if emptiest == nil || len(t.members) < len(emptiest.members) {
			emptiest = t
		}
		used |= 1 << t.phase
	}
	// 64 steps are 320 ms: rates below 3 Hz do not need more ticks than that.
	phase, steps := 0, min(int(max(1, period/Grid)), 64)
	for phase < steps && used>>phase&1 != 0 {
		phase++
	}
	if phase == steps {
		return emptiest
	}
	t := &Tick[M]{period: period, phase: phase}
	t.timer = NewTimer(func(now time.Duration) time.Duration { return s.run(t, now) })
	offset := time.Duration(phase) * Grid
	s.queue.Set(t.timer, Skip((now-offset)/period*period+offset-period, period, now))
	s.periods[period] = append(open, t)
	return t
}

// run fires the members, or as many as there may be at a time; then it is due
// again at once. A member may leave in its own call or between two slices: each
// of the others is fired once a round.
func (s *Ticks[M]) run(t *Tick[M], now time.Duration) time.Duration {
	deadline := t.timer.at
	for n := 0; t.fired < len(t.members); n++ {
		if n == TickSlice {
			return deadline
		}
		t.fired++
		s.fire(now, t.members[t.fired-1])
	}
	t.fired = 0
	if len(t.members) == 0 {
		return 0
	}
	return Skip(deadline, t.period, max(now, deadline))
}
