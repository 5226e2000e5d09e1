package reactor

import (
	"os"
	"time"

	gneterrors "github.com/panjf2000/gnet/v2/pkg/errors"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/timers"
	"player/timers/limited"
)

// acceptPause is how long no connection is accepted after one could be neither served nor closed.
// Without a pause the loop would try again at once, and for ever.
const acceptPause = 100 * time.Millisecond

// acceptance decides whether connections are accepted.
//
// When accept fails, for example because no descriptor is free, gnet ends its engine: its poller
// compares the error with ErrAcceptSocket. That variable is replaced by a value that equals no
// error, so the engine goes on. It learns of the failure from the line that gnet logs. Then it
// accepts the connection with a descriptor that is kept for this, and closes it.
type acceptance struct {
	spare       int           // the descriptor that is kept; -1: none
	acceptTimer *timers.Timer // accepts again after acceptPause
	failed      bool          // accept has failed, and acceptPause has not passed
	paused      bool          // Loop.Accepting(false) was called
	failures    limited.Line
}

// acceptLine is the beginning of the line that gnet logs when accept fails.
const acceptLine = "Accept() failed"

// acceptError takes the place of gnet's ErrAcceptSocket. Its values cannot be
// compared, so that errors.Is, by which gnet knows it, is never true.
type acceptError struct{ _ []byte }

func (acceptError) Error() string { return "accept failed" }

// prepareAccepting keeps gnet from ending when accept fails.
func (e *engine) prepareAccepting() {
	e.acceptTimer = timers.NewTimer(e.acceptAgain)
	e.openSpare()
	if _, replaced := gneterrors.ErrAcceptSocket.(acceptError); !replaced {
		gneterrors.ErrAcceptSocket = acceptError{}
	}
}

// acceptFailed is called when gnet could not accept a connection. The connection
// still waits at its listener, and its client for an answer.
func (e *engine) acceptFailed(reason any) {
	now := e.loop.enter()
	closed := 0
	e.closeSpare()
	for _, listener := range e.listening() {
		if fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC); err == nil {
			unix.Close(fd)
			closed++
		}
	}
	e.openSpare()
	e.failures.Log(now, e.loop.config.Log, zap.ErrorLevel, "clients cannot be accepted and are disconnected",
		zap.Any("reason", reason))
	if closed == 0 {
		e.failed = true
		e.pollListeners()
		e.loop.Timers.Set(e.acceptTimer, now+acceptPause)
	}
	e.loop.leave(now)
}

// acceptAgain accepts connections after a pause.
func (e *engine) acceptAgain(time.Duration) time.Duration {
	e.failed = false
	e.pollListeners()
	return 0
}

func (e *engine) openSpare() {
	var err error
	if e.spare, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		e.spare = -1
	}
}

func (e *engine) closeSpare() {
	if e.spare >= 0 {
		unix.Close(e.spare)
	}
}

// Accepting sets whether connections are accepted. If not, new ones wait in the kernel.
func (l *Loop) Accepting(on bool) {
	l.engine.paused = !on
	l.engine.pollListeners()
}

// pollListeners sets the events for which gnet polls the listeners.
func (e *engine) pollListeners() {
	for _, listener := range e.listening() {
		_ = e.epoll.set(listener, e.acceptEvents()) // cannot fail: gnet polls it
	}
}

// acceptEvents returns the events for which gnet polls a listener.
func (e *engine) acceptEvents() uint32 {
	if e.paused || e.failed {
		return 0
	}
	return inputEvents
}
