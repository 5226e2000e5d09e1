package stage

import (
	"sync"
	"sync/atomic"
)

// sharing has the work of an instant done by several processors. The loop waits for it.
type sharing struct {
	next     atomic.Int64 // the first piece that nobody has taken
	wait     sync.WaitGroup
	panicked atomic.Pointer[any] // what a goroutine has panicked with
}

// work is what processors share. Pieces may be done in any order and at the same time.
type work interface {
	// do does the pieces from first to end, without the latter. No two workers with one
	// number are at work at the same time.
	do(worker, first, end int)
}

// share does pieces 0 to n of the work, each worker taking some in turn. Worker 0 is the
// caller, the others are goroutines. A panic of a goroutine is one of the caller: on the loop
// it ends a driver, and not the process.
func (s *sharing) share(workers, n, some int, w work) {
	if workers < 2 {
		w.do(0, 0, n)
		return
	}
	take := func(worker int) {
		for {
			end := int(s.next.Add(int64(some)))
			if end-some >= n {
				return
			}
			w.do(worker, end-some, min(end, n))
		}
	}
	s.next.Store(0)
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
