// Package reactor is the event loop: descriptors, timers and Post. The owner of
// a descriptor registers a handler for it. All handlers and timers run on one
// goroutine, so they need no locks.
package reactor

import (
	"errors"
	"runtime"
	"time"

	"go.uber.org/zap"

	"player/process/descriptors"
	"player/process/lastwords"
	"player/process/slack"
	"player/timers"
)

const (
	// coalesce is how early a timer may be served when the loop is awake anyway. It saves
	// wake-ups for deadlines that lie close together. A command that wakes the loop just before a
	// tick makes its frames early by this: with 500 us and 500 commands a second, other clients
	// saw it in the intervals of their frames.
	coalesce = 50 * time.Microsecond
	// timerLimit is how long timers may run before the loop serves its descriptors again. On an
	// overloaded server frames are always due; without a limit new clients, commands and device
	// data would wait for all of them.
	timerLimit = time.Millisecond
	// A timer that is later than lateAfter waits until input has been read. The input may prevent
	// it: hardware that seemed to be silent has sent something. lateAfter is shorter than any
	// deadline that input can prevent. For other timers the loop does not poll for input.
	lateAfter = time.Millisecond
	// inputWaitLimit bounds how long late timers wait for input. They also wait no longer than they
	// are late already, so endless input at most doubles their delay. 10 ms are enough to read
	// from a thousand descriptors after a pause of the process.
	inputWaitLimit = 10 * time.Millisecond
)

// Handler is the owner of a descriptor. Its methods run on the loop.
type Handler interface {
	// Receive is called with bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
	// Hangup is called when the descriptor was closed by its peer, was unplugged, has failed, or
	// the loop ends. It is not called after Descriptor.Close.
	Hangup(now time.Duration, err error)
}

// Config is the configuration of a loop. Its functions are called on the loop.
type Config struct {
	Addresses []string // host:port to listen on; empty host: all interfaces
	// Accept returns the handler of a new connection to Addresses[listener], or to a
	// listener of Loop.Listen; nil to refuse it.
	Accept func(now time.Duration, d *Descriptor, listener int) Handler
	// Started is called once, when descriptors can be opened.
	Started func(now time.Duration)
	// Settle is called when the outermost callback returns. All handlers and timers have returned
	// by then, so it can carry out their decisions.
	Settle      func(now time.Duration)
	Descriptors *descriptors.Share // for descriptors that are opened
	// LastWords gets the last words of the descriptors. Nil: only the loop writes them, when it ends
	// or panics.
	LastWords *lastwords.Book
	Log       *zap.Logger
}

// yieldPeriod is how long the loop keeps the thread while it has work. Go's scheduler takes the
// thread away only after ten milliseconds or more. While clients flood the loop, an emergency stop
// from the dashboard would wait that long for each of the half dozen goroutines that it passes.
const yieldPeriod = 2 * time.Millisecond

// Loop is the event loop. Its methods may be called on the loop only, except
// Post.
type Loop struct {
	// Timers are served by the loop. Deadlines are times as Now returns them.
	Timers timers.Queue

	config     Config
	clock      clock
	ends       endWatch
	inputUntil time.Duration // late timers wait for input until then; zero: none waits
	engine     engine
	started    chan struct{} // closed when descriptors can be opened
	ended      chan struct{} // closed when the loop has ended
	wakes      uint64
	yielded    time.Duration // when goroutines had the thread last
	depth      int           // of callbacks: a failing write calls Hangup within another one
	stopped    bool
	// proceed returns the time, and reports whether timers may go on: until timersUntil. It is made
	// once, because making a function in each run would allocate.
	proceed     func() (time.Duration, bool)
	timersUntil time.Duration
}

// New returns a loop that does not run yet.
func New(config Config) *Loop {
	if config.LastWords == nil {
		config.LastWords = &lastwords.Book{}
	}
	l := &Loop{config: config, started: make(chan struct{}), ended: make(chan struct{})}
	l.engine.loop = l
	l.proceed = func() (time.Duration, bool) {
		now := l.clock.now()
		return now, now < l.timersUntil
	}
	return l
}

// Run listens and runs the loop until Stop. Descriptors that are open at its end
// are closed. An *AddressError names an address that cannot be listened on.
func (l *Loop) Run() error {
	ports, err := probeAll(l.config.Addresses)
	if err != nil {
		return err
	}
	err = l.engine.run(ports)
	close(l.ended)
	l.clock.close()
	l.ends.close()
	if err == nil && !l.stopped {
		err = errors.New("the event loop ended by itself; the log says why")
	}
	return err
}

// Stop ends the loop when the outermost callback returns.
func (l *Loop) Stop() { l.stopped = true }

// Descriptors returns the share that Open takes descriptors from.
func (l *Loop) Descriptors() *descriptors.Share { return l.config.Descriptors }

// Wakes returns how many descriptors, timers and functions of Post the loop has
// served.
func (l *Loop) Wakes() uint64 { return l.wakes }

// Now returns the time since the loop was started. It is never zero, which
// stands for "no deadline".
func (l *Loop) Now() time.Duration { return l.clock.now() }

// Post has fn called on the loop. It is the only method that other goroutines may call.
// It waits until the loop has started, and reports false when the loop has ended.
func (l *Loop) Post(fn func(now time.Duration)) bool {
	select {
	case <-l.started:
	case <-l.ended:
		return false
	}
	return l.engine.post(func() {
		now := l.enter()
		fn(now)
		l.leave(now)
	})
}

// enter begins a callback and returns its time. The outermost callback first finds the connections
// that their peers have ended, because their commands must not be carried out any more.
func (l *Loop) enter() time.Duration {
	l.depth++
	now := l.clock.now()
	if l.depth == 1 {
		l.wakes++
		l.ends.checkOften(now)
	}
	return now
}

// leave ends a callback. The outermost one settles, sets the timer, and yields the thread to
// other goroutines once in yieldPeriod.
func (l *Loop) leave(now time.Duration) {
	if l.depth == 1 {
		if l.config.Settle != nil {
			l.config.Settle(now)
		}
		l.clock.arm(l.Timers.Next())
	}
	l.depth--
	if l.depth == 0 && now-l.yielded >= yieldPeriod {
		l.yielded = now
		runtime.Gosched()
	}
}

// start is called once the clock's timer is polled.
func (l *Loop) start(now time.Duration) {
	slack.TakeBack()
	l.clock.polled = true
	close(l.started)
	if l.config.Started != nil {
		l.config.Started(now)
	}
}

// Receive implements Handler for the clock's timer.
func (l *Loop) Receive(now time.Duration, _ []byte) {
	l.clock.armed = 0
	if l.inputFirst(now) {
		return // leave arms the clock's timer, which is due at once
	}
	l.timersUntil = now + timerLimit
	l.Timers.RunWhile(now, coalesce, l.proceed)
}

// inputFirst reports whether the timers have to wait for input: they are late, for example after a
// pause of the process, and other descriptors can be read.
func (l *Loop) inputFirst(now time.Duration) bool {
	if l.inputUntil == 0 {
		at, armed := l.Timers.Next()
		if !armed || now-at < lateAfter {
			return false
		}
		l.inputUntil = now + min(now-at, inputWaitLimit)
	}
	if now < l.inputUntil && l.engine.epoll.hasEvents() {
		return true
	}
	l.inputUntil = 0
	return false
}

// Hangup implements Handler for the clock's timer.
func (l *Loop) Hangup(time.Duration, error) {}
