package stage

import (
	"sync"
	"sync/atomic"
)

// sharing has the work of an instant done by several processors. The loop waits for it.
type sharing struct {
	taken    []atomic.Bool // by portion
	wait     sync.WaitGroup
	panicked atomic.Pointer[any] // what a goroutine has panicked with
}

// work is what processors share. Pieces may be done in any order and at the same time.
type work interface {
	// do does the pieces from first to end, without the latter. No two workers with one
	// number are at work at the same time.
	do(worker, first, end int)
}

// share does pieces 0 to n of the work, in portions of some. Each worker begins at a place of
// its own, so that it most often does what it did the last time, and has that in its cache; at
// the end it takes what others have not begun. Worker 0 is the caller, the others are
// goroutines. A panic of a goroutine is one of the caller: on the loop it ends a driver, and
// not the process.
func (s *sharing) share(workers, n, some int, w work) {
	if workers < 2 {
		w.do(0, 0, n)
		return
	}
	portions := (n + some - 1) / some
	if len(s.taken) < portions {
		s.taken = make([]atomic.Bool, portions)
	}
	for i := range portions {
		s.taken[i].Store(false)
	}
	take := func(worker int) {
		for i := range portions {
			if i = (i + worker*portions/workers) % portions; !s.taken[i].Swap(true) {
				w.do(worker, i*some, min((i+1)*some, n))
			}
		}
	}
	s.panicked.Store(nil)
	s.wait.Add(workers - 1)
	for worker := 1; worker < workers; worker++ {
		go func() {
			defer s.wait.Done()
			defer func() {
				if p := recover(); p != nil {
					s.panicked.Store(&p)
				}
			}()
			take(worker)
		}()
	}
	func() {
		defer s.wait.Wait()
		take(0)
	}()
	if p := s.panicked.Swap(nil); p != nil {
		panic(*p)
	}
}
