package host

import (
	"slices"
	"time"

	"player/timers"
)

// answerLimit is how long an operation on a device file may take. It takes milliseconds, with some
// adapters tens of milliseconds. An adapter that hangs blocks each operation for five seconds or for
// ever. The limit is shorter than the limit of any setup, so that the error names the adapter.
const answerLimit = 1500 * time.Millisecond

// operation is something that may block: opening a device file, setting it, closing it.
type operation struct {
	owner *line                   // finishWith removes the operations of an owner; nil: none
	run   func()                  // on a goroutine
	done  func(now time.Duration) // on the loop, when run has returned
	// late is called once if the operation takes too long. begun is false if run was not called
	// by then; it is not called any more. Nil: nothing waits for the operation.
	late func(now time.Duration, begun bool)
}

// operations are the operations on one device file, which are carried out one after the other. So at
// most one goroutine waits for an adapter, however often its driver tries again.
type operations struct {
	host       *Host
	path       string
	current    *operation  // under way; nil: none
	waiting    []operation // behind it
	stuck      bool        // current takes too long
	limitTimer *timers.Timer
}

// operationsOn returns the operations on a path.
func (h *Host) operationsOn(path string) *operations {
	o := h.operations[path]
	if o == nil {
		o = &operations{host: h, path: path}
		o.limitTimer = timers.NewTimer(o.expire)
		h.operations[path] = o
	}
	return o
}

// add carries out an operation after those that wait. While the adapter does not answer, an operation
// that something waits for is not added: it is late at once.
func (o *operations) add(op operation) {
	if o.stuck && op.late != nil {
		op.late(o.host.loop.Now(), false)
		return
	}
	o.waiting = append(o.waiting, op)
	o.next()
}

// finishWith removes the operations of an owner that have not begun, and carries out the last
// operation for it next.
func (o *operations) finishWith(owner *line, last operation) {
	o.waiting = slices.DeleteFunc(o.waiting, func(op operation) bool { return op.owner == owner })
	o.waiting = slices.Insert(o.waiting, 0, last)
	o.next()
}

// next begins the next operation, unless one is under way.
func (o *operations) next() {
	if o.current == nil && len(o.waiting) > 0 {
		op := o.waiting[0]
		o.waiting, o.current = slices.Delete(o.waiting, 0, 1), &op
		// Detach takes effect at the end of the round.
		if !o.host.loop.Post(func(time.Duration) { o.begin() }) {
			o.begin() // the loop has ended: close all that is open
		}
	}
	if o.current == nil {
		delete(o.host.operations, o.path)
	}
	if waited := o.waitedFor(); !waited {
		o.host.timers.Stop(o.limitTimer)
	} else if !o.limitTimer.Armed() {
		o.host.timers.Set(o.limitTimer, o.host.loop.Now()+answerLimit)
	}
}

func (o *operations) begin() {
	run, delay := o.current.run, o.host.onOperate
	o.host.lastWords.Go(func() {
		if delay != nil {
			delay(o.path)
		}
		run()
		o.host.loop.Post(o.finished)
	})
}

func (o *operations) finished(now time.Duration) {
	op := o.current
	o.current, o.stuck = nil, false
	o.host.timers.Stop(o.limitTimer) // the adapter answers
	op.done(now)
	o.next()
}

// waitedFor reports whether anything waits for the adapter.
func (o *operations) waitedFor() bool {
	return o.current != nil && o.current.late != nil || slices.ContainsFunc(o.waiting, isWaitedFor)
}

func isWaitedFor(op operation) bool { return op.late != nil }

// expire ends the wait for an adapter that does not answer.
func (o *operations) expire(now time.Duration) time.Duration {
	o.stuck = true
	var late []operation
	for _, op := range o.waiting {
		if isWaitedFor(op) {
			late = append(late, op)
		}
	}
	o.waiting = slices.DeleteFunc(o.waiting, isWaitedFor)
	if first := o.current.late; first != nil {
		o.current.late = nil
		first(now, true)
	}
	for _, op := range late {
		op.late(now, false)
	}
	return 0
}
