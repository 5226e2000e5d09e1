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

// This file keeps the panic of a driver from ending the server. Every call into a
// driver is made by Link.call. After a panic the driver's state is unknown, so the
// link takes back all that the driver owns (ownership.go): ports, programs, other devices. Then the
// link is like one whose hardware was unplugged: clients keep their subscriptions, data
// grows old, commands are dropped, and Setup is tried again.

const (
	// mostPanics within panicPeriod switch a driver off: its next try would be as
	// useless, and each one stops the motors.
	mostPanics  = 3
	panicPeriod = time.Minute
	// parting is the time for last words to leave, and for programs to end, after a
	// panic or a shutdown that took too long. It is shorter than retry.First.
	parting = 500 * time.Millisecond
	// longestTrace bounds the stack in the log, in bytes.
	longestTrace = 1000
)

var (
	errPanicked = errors.New("its driver has panicked")
	// ErrSwitchedOff refuses a subscription. Only the caller logs it.
	ErrSwitchedOff = errors.New("its driver has panicked three times in a minute: it is off until the server is restarted")
)

// call calls the driver, unless it has panicked since the given run.
func (l *Link) call(now time.Duration, run int, fn func()) {
	if run == l.run {
		defer l.caught(now)
		fn()
	}
}

// caught is deferred around every call into the driver.
func (l *Link) caught(now time.Duration) {
	if r := recover(); r != nil {
		l.crash(now, r)
	}
}

// crash is called when the driver has panicked. It may be in the middle of a call of
// another driver, whose device it observes; so that device is given back later.
func (l *Link) crash(now time.Duration, value any) {
	l.log.Error("driver has panicked", zap.String("panic", fmt.Sprintf("%.200v", value)), zap.String("stack", trace()))
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

// lose is called when the driver has failed while there are subscribers, who stay.
// It is set up again.
func (l *Link) lose(now time.Duration, err error) {
	l.Counts.Errors++
	l.state, l.lost, l.overdueAt, l.wake = Lost, true, 0, 0
	l.switchedOff = l.switchedOff || errors.Is(err, ErrSwitchedOff) // of a driver that it requires
	if l.switchedOff {
		l.log.Error("device is off", zap.Error(err))
	} else {
		l.overdueAt = l.retry.Failed(now, l.log, err)
	}
	l.arm()
}

// isOff reports whether the driver, or one that it requires, has been switched off.
func (l *Link) isSwitchedOff() bool {
	return l.switchedOff || slices.ContainsFunc(l.dependencies, dependency.isSwitchedOff)
}

// trace returns where a panic came from, innermost first.
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
