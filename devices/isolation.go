package devices

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// This file keeps the panic of a driver from ending the server. Every call into a driver is made by
// Link.call. After a panic the driver's state is unknown, so the link reclaims all that the driver owns
// (ownership.go): ports, programs, devices of other drivers. From then on it is like a link whose
// hardware was unplugged: clients keep their subscriptions, data grows old, commands are dropped, and
// Setup is tried again.

const (
	// mostPanics within panicPeriod switch a driver off: another try would fail as well, and each
	// one stops the motors.
	mostPanics  = 3
	panicPeriod = time.Minute
	// parting is the time that last words have to be sent, and programs have to end, after a panic
	// or a shutdown that took too long. It is shorter than retry.First.
	parting = 500 * time.Millisecond
	// longestTrace bounds the stack in the log, in bytes.
	longestTrace = 1000
)

var (
	errPanicked = errors.New("its driver has panicked")
	// ErrSwitchedOff refuses a subscription to a driver that is switched off. The caller logs it.
	ErrSwitchedOff = errors.New("its driver has panicked three times in a minute: it is off until the server is restarted")
)

// call calls the driver by fn, unless its given run has ended by a panic.
func (l *Link) call(now time.Duration, run int, fn func()) {
	if run == l.run {
		defer l.caught(now)
		fn()
	}
}

// caught catches a panic. It is deferred in every call into the driver.
func (l *Link) caught(now time.Duration) {
	if r := recover(); r != nil {
		l.crash(now, r)
	}
}

// crash is called when the driver has panicked. The driver may have been called by another driver, whose
// device it observes, and which is still in its call. So that device is released later, by reclaim.
func (l *Link) crash(now time.Duration, value any) {
	l.log.Error(LogPanicked, zap.String("panic", fmt.Sprintf("%.200v", value)), zap.String("stack", trace()))
	err := errPanicked
	l.panics = slices.DeleteFunc(append(l.panics, now), func(at time.Duration) bool { return at+panicPeriod <= now })
	if len(l.panics) >= mostPanics {
		l.switchedOff, err = true, ErrSwitchedOff
	}
	l.disown(now)
	l.ForgetCommands()
	switch {
	case l.state == Stopping:
		l.Stopped(now)
	case l.state == Ready || l.lost:
		l.lose(now, err)
	case l.state == Starting:
		l.failed(now, l.log, err)
		l.idle(now)
		l.endPending(now, err)
	}
	l.arm()
}

// lose is called when the driver has failed while it has subscribers. They stay, and it is set up again.
func (l *Link) lose(now time.Duration, err error) {
	l.Counts.Errors++
	l.state, l.lost, l.overdueAt, l.wake = Lost, true, 0, 0
	l.switchedOff = l.switchedOff || errors.Is(err, ErrSwitchedOff) // the error of a driver that it requires
	if l.switchedOff {
		l.log.Error("device is off", zap.Error(err))
	} else {
		l.overdueAt = l.retry.Failed(now, l.log, err)
	}
	l.arm()
}

// isSwitchedOff reports whether the driver, or one that it requires, is switched off.
func (l *Link) isSwitchedOff() bool {
	return l.switchedOff || slices.ContainsFunc(l.dependencies, dependency.isSwitchedOff)
}

// trace returns the stack of a panic, innermost function first.
func trace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	var b strings.Builder
	panicking := false
	for more := true; more && b.Len() < longestTrace; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			panicking = panicking || f.Function == "runtime.gopanic"
			continue
		case !panicking:
			continue
		case strings.HasPrefix(f.Function, "player/devices.(*Link).call"), strings.HasPrefix(f.Function, "player/devices.(*isolated"):
			more = false
		}
		fmt.Fprintf(&b, "%s %s:%d; ", path.Base(f.Function), path.Base(f.File), f.Line)
	}
	return b.String()[:min(b.Len(), longestTrace)]
}
