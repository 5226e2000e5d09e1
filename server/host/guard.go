package host

import (
	"errors"
	"os"
	"os/exec"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices/retry"
	"player/process/lastwords"
	"player/timers"
)

// Messages of the log, by which tests find lines.
const (
	LogNoGuard   = "no guard, trying again: until then motors run on if the server is killed"
	LogGuardBack = "guard is back"
	LogBusy      = "serial port is busy"
)

// GuardState is the state of the guard.
type GuardState uint8

const (
	GuardIdle    GuardState = iota // there is nothing to guard
	GuardReady                     // it runs
	GuardMissing                   // it has died, and is started again
)

// guard is the server's guard (lastwords.Guard), a process. It is started when there is something to
// guard, and again when it has died.
type guard struct {
	host       *Host
	book       *lastwords.Book
	path       string // of the program
	state      GuardState
	retry      retry.Retry
	startTimer *timers.Timer // starts the process
}

// newGuard returns the guard for the last words in a book. Without a path it never runs.
func newGuard(h *Host, book *lastwords.Book, path string) *guard {
	g := &guard{host: h, book: book, path: path, state: GuardIdle}
	g.startTimer = timers.NewTimer(g.start)
	if path != "" {
		book.Need = func() {
			if g.state == GuardIdle {
				h.timers.Set(g.startTimer, h.loop.Now())
			}
		}
	}
	return g
}

// start starts the process, unless there is nothing to guard any more. It returns when
// to try again, zero for never.
func (g *guard) start(now time.Duration) time.Duration {
	if g.book.Empty() {
		g.state = GuardIdle
		return 0
	}
	p, end, err := g.launch()
	if err != nil {
		return g.failed(now, err)
	}
	g.state = GuardReady
	if g.retry.Failing() {
		g.host.log.Info(LogGuardBack)
		g.retry.Worked(now, zap.NewNop())
	}
	g.book.Entrust(end, func() { p.Signal(unix.SIGKILL) })
	return 0
}

// launch starts the process, and returns the book's end of the connection to it.
func (g *guard) launch() (p *program, end int, err error) {
	ports := g.host.loop.Descriptors()
	if err := ports.Take(1); err != nil { // for end
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			ports.Return(1)
		}
	}()
	end, theirs, err := lastwords.Socketpair()
	if err != nil {
		return nil, 0, err
	}
	stdin := os.NewFile(uintptr(theirs), "guard")
	defer stdin.Close()
	p = &program{exited: g.exited, cmd: &exec.Cmd{
		Path: g.path, Args: []string{lastwords.GuardName}, Stdin: stdin, Stderr: os.Stderr,
		Env: []string{"GOMAXPROCS=1", "GOGC=off"}, // it makes no garbage
	}}
	if err := g.host.launch(p); err != nil {
		return nil, 0, errors.Join(err, unix.Close(end))
	}
	return p, end, nil
}

// exited is called when the process has ended.
func (g *guard) exited(now time.Duration, err error) {
	g.book.Disown()
	g.host.loop.Descriptors().Return(1)
	if err == nil {
		err = errors.New("exit status 0")
	}
	g.host.timers.Set(g.startTimer, g.failed(now, err))
}

// failed logs that there is no guard, and returns when to try again.
func (g *guard) failed(now time.Duration, err error) time.Duration {
	g.state = GuardMissing
	g.host.log.Warn(LogNoGuard, zap.Error(err))
	return g.retry.Failed(now, zap.NewNop(), err)
}
