package reactor

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// While the loop always has something to do, another goroutine gets the thread again and
// again, not only when Go takes it away, which is every ten milliseconds at most.
func TestBusyLoopYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := run(t, nil)
	var turns atomic.Int64
	var over atomic.Bool
	go func() {
		for !over.Load() {
			turns.Add(1)
			runtime.Gosched()
		}
	}()
	const callbacks = 400
	done := make(chan time.Duration, 1)
	left, began := callbacks, time.Duration(0)
	var work func(now time.Duration)
	work = func(now time.Duration) {
		if left--; left == callbacks-1 {
			began = now
		}
		for r.Now() < now+time.Millisecond { // work
		}
		if left == 0 {
			done <- r.Now() - began
			return
		}
		r.Post(work)
	}
	r.Post(work)
	took := receive(t, done, "the work")
	over.Store(true)
	if got, want := turns.Load(), int64(took/(3*yieldPeriod)); got < want {
		t.Errorf("in %v of work the other goroutine had %d turns, want %d", took, got, want)
	}
}
