// Package timers calls functions at deadlines. It is pure: it never reads a clock and
// never starts a goroutine. The caller passes the time, a monotonic
// time.Duration since the server started. Nothing here is safe for concurrent
// use.
package timers

import "time"

// Func is called when its timer is due. now is the time at which the loop woke up. It may be
// before the deadline, by at most the lookahead of Queue.Run. Func returns the next
// absolute deadline, or zero to stop.
type Func func(now time.Duration) time.Duration

// Timer is one deadline. A timer belongs to one Queue.
type Timer struct {
	fn     Func
	at     time.Duration
	period time.Duration // of a tick, otherwise zero
	index  int           // position in the heap, -1 while not armed
	round  uint64        // number of the last Run that called it
}

// NewTimer returns a timer that is not armed.
func NewTimer(fn Func) *Timer { return &Timer{fn: fn, index: -1} }

// before reports whether t goes before o. Of two ticks with one deadline the one with the shorter
// period goes first, because the same wait is a larger part of a shorter period.
func (t *Timer) before(o *Timer) bool {
	return t.at < o.at || t.at == o.at && t.period < o.period
}

// Armed reports whether the timer is waiting for its deadline.
func (t *Timer) Armed() bool { return t.index >= 0 }

// Queue is a binary heap of the armed timers. The zero value is empty and ready to use.
type Queue struct {
	heap    []*Timer
	round   uint64                              // counts the calls of Run
	proceed func() (now time.Duration, ok bool) // of the Run that goes on
}

// Set arms t for the absolute deadline at. An armed timer is moved.
func (q *Queue) Set(t *Timer, at time.Duration) {
	t.at = at
	if t.index < 0 {
		t.index = len(q.heap)
		q.heap = append(q.heap, t)
	}
	q.down(q.up(t.index))
}

// Stop disarms t. It is a no-op if t is not armed.
func (q *Queue) Stop(t *Timer) {
	i := t.index
	if i < 0 {
		return
	}
	last := len(q.heap) - 1
	q.swap(i, last)
	q.heap[last] = nil
	q.heap = q.heap[:last]
	t.index = -1
	if i < last {
		q.down(q.up(i))
	}
}

// Next returns the earliest deadline; ok is false when nothing is armed.
func (q *Queue) Next() (at time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Run calls the timers that are due at now+lookahead or before, sorted by
// deadline, each at most once. It disarms each timer before the call and arms
// it again for the deadline that the call returns. A callback may set and stop
// any timer. Run ends when a timer that it has called is due again within the
// lookahead: all others are due later than that.
func (q *Queue) Run(now, lookahead time.Duration) {
	q.RunWhile(now, lookahead, func() (time.Duration, bool) { return 0, true })
}

// RunWhile is Run, but ends when proceed returns false, and the time. It calls proceed before each
// timer but the first, and within long ticks. The next run calls the remaining timers first,
// because their deadlines have passed.
func (q *Queue) RunWhile(now, lookahead time.Duration, proceed func() (time.Duration, bool)) {
	q.round++
	q.proceed = proceed
	for first := true; len(q.heap) > 0 && q.heap[0].at <= now+lookahead; first = false {
		t := q.heap[0]
		if t.round == q.round {
			return
		}
		if !first {
			if _, ok := proceed(); !ok {
				return
			}
		}
		t.round = q.round
		q.Stop(t)
		if next := t.fn(now); next != 0 && !t.Armed() {
			q.Set(t, next)
		}
	}
}

// Skip returns the next deadline of a periodic timer: the first deadline +
// n*period, n >= 1, after now. Deadlines are absolute, so a late wake does not
// shift later ones. A period that was missed is skipped.
func Skip(deadline, period, now time.Duration) time.Duration {
	next := deadline + period
	if next <= now {
		next += (now - next + period) / period * period
	}
	return next
}

func (q *Queue) swap(i, j int) {
	q.heap[i], q.heap[j] = q.heap[j], q.heap[i]
	q.heap[i].index, q.heap[j].index = i, j
}

func (q *Queue) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].before(q.heap[parent]) {
			break
		}
		q.swap(i, parent)
		i = parent
	}
	return i
}

func (q *Queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if right := child + 1; right < len(q.heap) && q.heap[right].before(q.heap[child]) {
			child = right
		}
		if !q.heap[child].before(q.heap[i]) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
