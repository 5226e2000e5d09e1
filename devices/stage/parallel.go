package stage

import (
	"sync"
	"sync/atomic"
	"time"
)

// pool has the work of an instant done by several processors. The loop waits for it.
type pool struct {
	task
	taken    []atomic.Bool // by portion
	helpers  []atomic.Uint32
	busy     atomic.Int32 // helpers that are at work
	wait     sync.WaitGroup
	panicked atomic.Pointer[any] // the value of a helper's panic
}

// task is the work of one run. It does not change meanwhile.
type task struct {
	work                          work
	workers, n, portion, portions int
}

// work is divided into pieces, which may be done in any order and at the same time.
type work interface {
	// do does the pieces from first to end, without the latter. No two workers with one
	// number are at work at the same time.
	do(worker, first, end int)
}

// The states of a helper, a goroutine other than the loop.
const (
	gone   = iota
	idle   // waits for work
	called // has work
)

// linger is how long a helper polls for more work before it ends, and the loop for the end of the helpers before
// it sleeps. A report of all robots has some ten pieces of work, each of 50 us and more, with pauses as long. To
// wake a sleeping thread of a virtual machine takes as long as such a pause.
const linger = 100 * time.Microsecond

// run does the pieces 0 to n-1 of the work, in portions of that many pieces. Each worker begins at its own place, so
// that it mostly repeats the pieces of the last run, whose data is in its cache; at the end it takes pieces that other
// workers have not begun. Worker 0 is the caller, the others are helpers. A helper's panic becomes a panic of the
// caller: on the loop it ends a driver, and not the process.
func (p *pool) run(workers, n, portion int, w work) {
	if workers < 2 {
		w.do(0, 0, n)
		return
	}
	p.task = task{w, workers, n, portion, (n + portion - 1) / portion}
	if len(p.taken) < p.portions {
		p.taken = make([]atomic.Bool, p.portions)
	}
	for i := range p.portions {
		p.taken[i].Store(false)
	}
	if len(p.helpers) < workers {
		p.helpers = make([]atomic.Uint32, workers) // those that linger end
	}
	p.panicked.Store(nil)
	p.wait.Add(workers - 1)
	p.busy.Store(int32(workers - 1))
	for worker := 1; worker < workers; worker++ {
		if state := &p.helpers[worker]; !state.CompareAndSwap(idle, called) {
			state.Store(called)
			go p.help(worker, state)
		}
	}
	func() {
		defer func() {
			for deadline := time.Now().Add(linger); p.busy.Load() > 0 && time.Now().Before(deadline); {
			}
			p.wait.Wait()
		}()
		p.take(0)
	}()
	if cause := p.panicked.Swap(nil); cause != nil {
		panic(*cause)
	}
}

// help is a helper: it works while it is called.
func (p *pool) help(worker int, state *atomic.Uint32) {
	for {
		func() {
			defer p.wait.Done()
			defer p.busy.Add(-1)
			defer state.Store(idle)
			defer func() {
				if cause := recover(); cause != nil {
					p.panicked.Store(&cause)
				}
			}()
			p.take(worker)
		}()
		for deadline := time.Now().Add(linger); state.Load() == idle; {
			if time.Now().After(deadline) && state.CompareAndSwap(idle, gone) {
				return
			}
		}
	}
}

// take does the portions that no other worker has begun.
func (p *pool) take(worker int) {
	for i := range p.portions {
		if i = (i + worker*p.portions/p.workers) % p.portions; !p.taken[i].Swap(true) {
			p.work.do(worker, i*p.portion, min((i+1)*p.portion, p.n))
		}
	}
}
