// Package slack is about the timer slack of threads. The server starts with a large one
// for the monitor thread of the Go runtime (docs/DECISIONS.md, "Timer slack"), and every
// thread and program inherits it.
package slack

import "golang.org/x/sys/unix"

// Default is the kernel's timer slack in ns.
const Default = 50_000

// TakeBack gives this thread the kernel's timer slack, if it has a larger one, until undo
// is called. It is set to 50 us and not to zero: zero stands for what the thread inherited.
// An error leaves the slack as it is: timers are late by it then.
func TakeBack() (undo func()) {
	has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || has <= Default {
		return func() {}
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, Default, 0, 0, 0)
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(has), 0, 0, 0) }
}
