package stage

import (
	"sync"
	"sync/atomic"
	"time"
)

// sharing has the work of an instant done by several processors. The loop waits for it.
type sharing struct {
	task
	taken    []atomic.Bool // by portion
	helpers  []atomic.Uint32
	busy     atomic.Int32 // helpers that are at work
	wait     sync.WaitGroup
	panicked atomic.Pointer[any] // what a helper has panicked with
}

// task is what workers share. It does not change while they do.
type task struct {
	work                       work
	workers, n, some, portions int
}

// work is what processors share. Pieces may be done in any order and at the same time.
type work interface {
	// do does the pieces from first to end, without the latter. No two workers with one
	// number are at work at the same time.
	do(worker, first, end int)
}

// The states of a helper, a goroutine beside the loop.
const (
	gone   = iota
	idle   // waits for work
	called // has work
)

// linger is how long a helper looks for more work before it ends, and the loop for its end before
// it sleeps. There are some ten pieces of work in a report of all robots, of 50 us and more with as
// much between them, and it takes as long to wake a sleeping thread of a virtual machine.
const linger = 100 * time.Microsecond

// share does pieces 0 to n of the work, in portions of some. Each worker begins at a place of
// its own, so that it most often does what it did the last time, and has that in its cache; at
// the end it takes what others have not begun. Worker 0 is the caller, the others are
// helpers. A panic of a helper is one of the caller: on the loop it ends a driver, and
// not the process.
func (s *sharing) share(workers, n, some int, w work) {
	if workers < 2 {
		w.do(0, 0, n)
		return
	}
	s.task = task{w, workers, n, some, (n + some - 1) / some}
	if len(s.taken) < s.portions {
		s.taken = make([]atomic.Bool, s.portions)
	}
	for i := range s.portions {
		s.taken[i].Store(false)
	}
	if len(s.helpers) < workers {
		s.helpers = make([]atomic.Uint32, workers) // those that linger end
	}
	s.panicked.Store(nil)
	s.wait.Add(workers - 1)
	s.busy.Store(int32(workers - 1))
	for worker := 1; worker < workers; worker++ {
		if state := &s.helpers[worker]; !state.CompareAndSwap(idle, called) {
			state.Store(called)
			go s.help(worker, state)
		}
	}
	func() {
		defer func() {
			for end := time.Now().Add(linger); s.busy.Load() > 0 && time.Now().Before(end); {
			}
			s.wait.Wait()
		}()
		s.take(0)
	}()
	if p := s.panicked.Swap(nil); p != nil {
		panic(*p)
	}
}

// help is a helper: it works while it is called.
func (s *sharing) help(worker int, state *atomic.Uint32) {
	for {
		func() {
			defer s.wait.Done()
			defer s.busy.Add(-1)
			defer state.Store(idle)
			defer func() {
				if p := recover(); p != nil {
					s.panicked.Store(&p)
				}
			}()
			s.take(worker)
		}()
		for end := time.Now().Add(linger); state.Load() == idle; {
			if time.Now().After(end) && state.CompareAndSwap(idle, gone) {
				return
			}
		}
	}
}

// take does what nobody else has begun.
func (s *sharing) take(worker int) {
	for i := range s.portions {
		if i = (i + worker*s.portions/s.workers) % s.portions; !s.taken[i].Swap(true) {
			s.work.do(worker, i*s.some, min((i+1)*s.some, s.n))
		}
	}
}
