package app

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/process/lastwords"
	"player/process/logging"
	"player/process/slack"
	"player/reactor"
)

// LogServerDied is a message of the log, by which tests find lines.
const LogServerDied = "the server has died: its guard stops motors and plugins"

// gcPercent is how much the heap may grow before it is collected, in per cent
// of the part in use. The loop makes no garbage, so collections stay rare. With
// Go's default of 100 a client would take up to twice the memory that it needs.
const gcPercent = 25

// ownSlack is the timer slack that the server runs with. The thread with which the Go
// runtime watches itself wakes after 20 us, again and again, while the loop blocks; with
// slack it wakes together with the loop. The price: other goroutines, for example the pages',
// wait as long for the processor in each of their steps.
const ownSlack = 20 * time.Millisecond

// executeWithSlack executes the program anew with slack, if wanted returns true: only threads that are
// started by a process with slack have it (docs/DECISIONS.md, "Timer slack"). It returns in the second
// program, in one that was started with another slack than the kernel's, and where the program cannot be
// executed: then it costs more time of the processor.
func executeWithSlack(wanted func() bool) {
	runtime.LockOSThread() // the slack is a thread's
	defer runtime.UnlockOSThread()
	has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil && has == int(ownSlack) && os.Getenv("GOMAXPROCS") == "1" {
		_ = os.Unsetenv("GOMAXPROCS") // the second program: Go has read it, and it is not for programs of drivers
	}
	if err != nil || has != slack.Default || !wanted() {
		return
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ownSlack), 0, 0, 0)
	if has, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && has == int(ownSlack) {
		env := os.Environ()
		if os.Getenv("GOMAXPROCS") == "" {
			// With a second processor a Go program begins with a thread that searches for
			// work and sleeps for the slack.
			env = append(env, "GOMAXPROCS=1")
		}
		// Not /proc/self/exe: it would be the name of the process.
		if path, err := os.Executable(); err == nil {
			_ = syscall.Exec(path, os.Args, env)
		}
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack.Default, 0, 0, 0)
}

// tuneRuntime sets up the Go runtime for the server. The environment variables
// GOMAXPROCS and GOGC take precedence.
func (p *processors) tuneRuntime() {
	p.set()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// processors sets on how many processors Go code runs, unless the environment sets
// GOMAXPROCS. One is enough while the loop does all the work: a second thread for Go code
// would only spin (docs/benchmarks/parts.md). A simulation that is faster than real time has work
// for all. While a camera runs, its goroutines have a second processor: on one they run when
// the runtime preempts the loop, which is when the loop has work, and a client's frame waits
// for their system calls.
type processors struct {
	mu      sync.Mutex
	fast    bool // a simulation is faster than real time
	cameras int  // running
}

// simulate sets whether a simulation is faster than real time.
func (p *processors) simulate(fast bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fast = fast
	p.set()
}

// see counts the cameras that run: one more, or one fewer.
func (p *processors) see(runs bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if runs {
		p.cameras++
	} else {
		p.cameras--
	}
	p.set()
}

// set sets the number. The caller holds the mutex.
func (p *processors) set() {
	switch {
	case os.Getenv("GOMAXPROCS") != "":
	case p.fast:
		resetSlack()
		runtime.SetDefaultGOMAXPROCS()
	case p.cameras > 0:
		resetSlack()
		runtime.GOMAXPROCS(2)
	default:
		runtime.GOMAXPROCS(1)
	}
}

// resetSlack sets the kernel's timer slack on all threads that run goroutines. They have the large one
// after a reload that brought the first camera or simulation, and if the slack is inherited. A thread
// that searches for work sleeps for 3 us before it takes a goroutine that another thread has just
// started; with slack it occupies a processor for that long, and the loop waits.
func resetSlack() {
	// More threads than goroutines of a camera and three viewers need: a thread that the
	// runtime's monitor starts later has the monitor's slack.
	const threads = 8
	var here sync.WaitGroup
	here.Add(threads)
	for range threads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			slack.TakeBack()
			here.Done()
			here.Wait() // until each has a thread of its own
		}()
	}
	here.Wait()
}

// hasTerminal reports whether the process has a controlling terminal, which sends
// SIGHUP when it is closed.
func hasTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd) // nothing was read
	return true
}

// untilSignal returns a context that ends with ctx, at the first signal to terminate,
// or when quit is called. A second one, or a signal that asks for a stack dump, kills
// the process as usual, but not before die was called: the loop may hang. SIGHUP
// terminates if reloads is nil; otherwise it is sent there, once until it is received.
// stop restores the default actions.
func untilSignal(ctx context.Context, die func(), reloads chan<- struct{}) (_ context.Context, quit context.CancelFunc, stop func()) {
	ctx, quit = context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		if !signal.Ignored(s) { // nohup ignores SIGHUP
			signal.Notify(signals, s)
		}
	}
	// A write to the log's closed pipe must not kill the process before the motors are
	// stopped.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		for s := range signals {
			if s == syscall.SIGHUP && reloads != nil {
				select {
				case reloads <- struct{}{}:
				default: // the reload to come reads the newest file
				}
				continue
			}
			if s == syscall.SIGQUIT || s == syscall.SIGABRT || ctx.Err() != nil {
				die()
				signal.Reset(s)
				_ = unix.Kill(os.Getpid(), s.(syscall.Signal)) // to this process: it cannot fail
			}
			quit()
		}
	}()
	return ctx, quit, func() { signal.Stop(signals); close(signals); quit() }
}

// isGuard reports whether name is the one with which a server starts this program as its guard.
func isGuard(name string) bool { return name == lastwords.GuardName }

// quiet ends the pools that the engine of the loop starts with each process, for processes without a
// loop: the pools would wake them.
func quiet() { reactor.ReleasePools() }

// guard is the program of a guard, whose standard input is the connection to the server.
func guard(stderr *os.File) {
	quiet()
	lastwords.Guard(0, func(words, groups int) {
		log := logging.New(stderr, logging.Auto, false)
		log.Warn(LogServerDied, zap.Int("last words", words), zap.Int("programs", groups))
		_ = log.Sync() // it can fail only because nothing reads the log
	})
}
