package timers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestPeriodicDeadlinesDoNotDrift(t *testing.T) {
	var q Queue
	const period = 100 * ms
	var timer *Timer
	deadline := period
	timer = NewTimer(func(now time.Duration) time.Duration {
		deadline = Skip(deadline, period, now)
		return deadline
	})
	q.Set(timer, deadline)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		at, _ := q.Next()
		q.Run(at+time.Duration(rng.IntN(99))*ms, 0) // late by up to a period
	}
	if at, _ := q.Next(); at != 1001*period {
		t.Fatalf("deadline %v after 1000 late wakes, want %v", at, 1001*period)
	}
}

func TestSkipNeverBursts(t *testing.T) {
	for _, c := range []struct{ deadline, period, now, want time.Duration }{
		{100 * ms, 10 * ms, 100 * ms, 110 * ms},
		{100 * ms, 10 * ms, 109 * ms, 110 * ms},
		{100 * ms, 10 * ms, 110 * ms, 120 * ms},
		{100 * ms, 10 * ms, 1234 * ms, 1240 * ms},
		{100 * ms, 10 * ms, 0, 110 * ms}, // fired early
	} {
		if got := Skip(c.deadline, c.period, c.now); got != c.want {
			t.Errorf("Skip(%v, %v, %v) = %v, want %v", c.deadline, c.period, c.now, got, c.want)
		}
	}
}

// A 1 ms timer with a lookahead of 5 ms is due again at once. It must not be
// called twice in one Run, and it must keep its phase.
func TestRunCallsATimerOnce(t *testing.T) {
	var q Queue
	calls := 0
	timer := NewTimer(func(now time.Duration) time.Duration { calls++; return now + ms })
	q.Set(timer, ms)
	q.Run(ms, 5*ms)
	if calls != 1 {
		t.Fatalf("called %d times in one Run", calls)
	}
	if at, _ := q.Next(); at != 2*ms {
		t.Fatalf("next deadline %v, want 2ms", at)
	}
}

// Timers that a Run leaves are called first in the next one, so none starves.
func TestRunWhileLeavesTheRest(t *testing.T) {
	var q Queue
	var called []string
	for i, name := range []string{"a", "b", "c"} {
		at := time.Duration(i+1) * ms
		q.Set(NewTimer(func(now time.Duration) time.Duration {
			called = append(called, name)
			return now + 10*ms
		}), at)
	}
	never := func() (time.Duration, bool) { return 20 * ms, false }
	for range 4 {
		q.RunWhile(20*ms, 0, never)
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(called, want) {
		t.Errorf("called %v, want %v: one each time, then none is due", called, want)
	}
}

func TestCallbackMaySetAndStop(t *testing.T) {
	var q Queue
	var self, other *Timer
	other = NewTimer(func(time.Duration) time.Duration { t.Error("a stopped timer was called"); return 0 })
	self = NewTimer(func(now time.Duration) time.Duration {
		q.Stop(other)
		q.Set(self, now+7*ms)
		return now + 99*ms // its own Set wins
	})
	q.Set(self, ms)
	q.Set(other, ms)
	q.Run(ms, 0)
	if at, ok := q.Next(); !ok || at != 8*ms {
		t.Fatalf("next deadline %v %v, want 8ms", at, ok)
	}
}

// The queue calls the timers that a simple model calls, sorted by deadline.
func TestQueueAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var q Queue
		model := map[int]time.Duration{}
		timers := make([]*Timer, 20)
		var called []int
		for i := range timers {
			timers[i] = NewTimer(func(time.Duration) time.Duration { called = append(called, i); return 0 })
		}
		now := time.Duration(0)
		for range 100 {
			i := rng.IntN(len(timers))
			switch rng.IntN(4) {
			case 0, 1:
				at := now + time.Duration(rng.IntN(50))
				q.Set(timers[i], at)
				model[i] = at
			case 2:
				q.Stop(timers[i])
				delete(model, i)
			case 3:
				now += time.Duration(rng.IntN(20))
				lookahead := time.Duration(rng.IntN(3))
				called = called[:0]
				q.Run(now, lookahead)
				if !slices.IsSortedFunc(called, func(a, b int) int { return int(model[a] - model[b]) }) {
					t.Fatalf("called %v, due at %v", called, model)
				}
				var want []int
				for i, at := range model {
					if at <= now+lookahead {
						want = append(want, i)
						delete(model, i)
					}
				}
				slices.Sort(want)
				slices.Sort(called)
				if !slices.Equal(called, want) {
					t.Fatalf("called %v, want %v", called, want)
				}
			}
			first, some := time.Duration(0), false
			for i, timer := range timers {
				at, armed := model[i]
				if timer.Armed() != armed || armed && timer.at != at {
					t.Fatalf("timer %d armed %v at %v, model says %v at %v", i, timer.Armed(), timer.at, armed, at)
				}
				if armed && (!some || at < first) {
					first, some = at, true
				}
			}
			if at, ok := q.Next(); ok != some || at != first {
				t.Fatalf("next deadline %v %v, want %v %v", at, ok, first, some)
			}
		}
	}
}
