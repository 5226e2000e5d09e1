// Package slack sets the timer slack of threads. The server starts with a large one
// for the monitor thread of the Go runtime (docs/DECISIONS.md, "Timer slack"), which every
// thread and program inherits.
package slack

import "golang.org/x/sys/unix"

// Default is the kernel's timer slack in ns.
const Default = 50_000

// TakeBack gives this thread the kernel's timer slack, if it has a larger one, until undo
// is called. It sets 50 us and not zero, which would mean the slack that the thread inherited.
// After an error the thread keeps its slack, and its timers are late by it.
func TakeBack() (undo func()) {
	has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || has <= Default {
		return func() {}
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, Default, 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(has), 0, 0, 0) }
}
