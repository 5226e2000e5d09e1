// Package slack sets the kernel's timer slack of threads. The server starts with a large
// slack for the monitor thread of the Go runtime (docs/DECISIONS.md, "Timer slack"), and
// every thread and program inherits it.
package slack

import "golang.org/x/sys/unix"

// Default is the kernel's timer slack in ns.
const Default = 50_000

// TakeBack sets this thread's timer slack to the kernel's default, if it is larger, until undo
// is called. It sets 50 us and not zero: zero means the slack that the thread inherited. After
// an error the thread keeps its slack, and its timers may be late by it.
func TakeBack() (undo func()) {
	has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || has <= Default {
		return func() {}
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, Default, 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(has), 0, 0, 0) }
}
