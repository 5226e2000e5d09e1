package reactor

import "golang.org/x/sys/unix"

// DefaultSlack is the kernel's timer slack in ns.
const DefaultSlack = 50_000

// TakeBackSlack gives this thread the kernel's timer slack, if the process was
// started with a larger one. A large slack is for the monitor thread of the Go
// runtime (docs/DECISIONS.md, "Timer slack"), and every thread inherits it. It is
// set to 50 us and not to zero: zero stands for what the thread inherited. An
// error leaves the slack as it is: timers are late by it then.
func TakeBackSlack() {
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && slack > DefaultSlack {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, DefaultSlack, 0, 0, 0)
	}
}
