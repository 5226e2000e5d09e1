// Package timers calls functions at deadlines. It is pure: it never reads a clock and
// never starts a goroutine. The caller passes the time, a monotonic
// time.Duration since the server started. Nothing here is safe for concurrent
// use.
package timers

import (
	"container/heap"
	"time"
)

// Func is called when its timer is due. now is the time at which the loop woke up, which may be
// before the deadline by at most the lookahead of Queue.Run. Func returns the next absolute
// deadline, or zero to stop.
type Func func(now time.Duration) time.Duration

// Timer is one deadline. A timer belongs to one Queue.
type Timer struct {
	fn      Func
	at      time.Duration
	period  time.Duration // of a tick, otherwise zero
	index   int           // position in the heap, -1 while not armed
	lastRun uint64        // number of the last Run that called it
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
	heap    timerHeap
	runs    uint64                              // counts the calls of RunWhile
	proceed func() (now time.Duration, ok bool) // of the current RunWhile
}

// Set arms t for the absolute deadline at. An armed timer is moved.
func (q *Queue) Set(t *Timer, at time.Duration) {
	t.at = at
	if t.Armed() {
		heap.Fix(&q.heap, t.index)
	} else {
		heap.Push(&q.heap, t)
	}
}

// Stop disarms t. It is a no-op if t is not armed.
func (q *Queue) Stop(t *Timer) {
	if t.Armed() {
		heap.Remove(&q.heap, t.index)
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

// RunWhile is Run, but ends when proceed returns false. proceed also returns the time. RunWhile calls
// it before each timer but the first, and a long tick calls it between two batches of members. The
// next run calls the remaining timers first, because their deadlines have passed.
func (q *Queue) RunWhile(now, lookahead time.Duration, proceed func() (time.Duration, bool)) {
	q.runs++
	q.proceed = proceed
	for first := true; len(q.heap) > 0 && q.heap[0].at <= now+lookahead; first = false {
		t := q.heap[0]
		if t.lastRun == q.runs {
			return
		}
		if !first {
			if _, ok := proceed(); !ok {
				return
			}
		}
		t.lastRun = q.runs
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

// timerHeap implements heap.Interface.
type timerHeap []*Timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].before(h[j]) }

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last], t.index = nil, -1
	*h = (*h)[:last]
	return t
}
