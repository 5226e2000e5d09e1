// Package reactor is the event loop: descriptors, timers and Post. Whoever owns
// a descriptor registers a handler for it. All handlers and timers run on one
// goroutine, so what they share needs no locks.
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
	// coalesce is how early a timer may be served when the loop is awake anyway.
	// It saves a wake-up for deadlines that lie close together. Frames come this
	// much early when a command wakes the loop just before a tick: with 500 us,
	// clients beside 500 commands a second saw it in the intervals of their frames.
	coalesce = 50 * time.Microsecond
	// timerSlice is how long timers may run before the loop looks at its
	// descriptors again. On a server that is asked for more than it can do,
	// frames are always due; without a limit new clients, commands and device
	// data would wait for all of them.
	timerSlice = time.Millisecond
	// late is how late timers must be to wait for input that has not been read: input
	// may prove them wrong, such as that of hardware that seems to be silent. It is less
	// than any deadline that input prevents. Timers that are not late cost no look.
	late = time.Millisecond
	// latest is how long late timers wait for input, and no longer than they are late
	// already: input that never ends delays them by as much again, at most. It is enough
	// to read from a thousand descriptors after a pause of the process.
	latest = 10 * time.Millisecond
)

// Handler is told what happens on a descriptor. Its methods run on the loop.
type Handler interface {
	// Receive is called with bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
	// Hangup is called when the descriptor is gone: closed by its peer,
	// unplugged, failed, or because the loop ends. It is not called after
	// Descriptor.Close.
	Hangup(now time.Duration, err error)
}

// Config is what a loop needs. The functions are called on the loop.
type Config struct {
	Addresses []string // host:port to listen on; empty host: all interfaces
	// Accept returns the handler of a new connection to Addresses[listener], or to a
	// listener of Loop.Listen; nil to refuse it.
	Accept func(now time.Duration, d *Descriptor, listener int) Handler
	// Started is called once, when descriptors can be opened.
	Started func(now time.Duration)
	// Settle is called when the outermost callback returns. It carries out what handlers
	// and timers have decided: there, all of them have returned.
	Settle      func(now time.Duration)
	Descriptors *descriptors.Share // for descriptors that are opened
	// LastWords are those of the descriptors, for whoever ends the process. Nil: they
	// are written if the loop ends or panics.
	LastWords *lastwords.Book
	Log       *zap.Logger
}

// yieldPeriod is how long the loop keeps the thread while it has work. Go itself takes the
// thread away after ten milliseconds or more. A stop from the dashboard passes half a dozen
// goroutines, each of which waits as long, while clients flood the loop.
const yieldPeriod = 2 * time.Millisecond

// Loop is the event loop. Its methods may be called on the loop only, except
// Post.
type Loop struct {
	// Timers are served by the loop. Deadlines are times as Now returns them.
	Timers timers.Queue

	config  Config
	clock   clock
	ends    endWatch
	until   time.Duration // timers wait for input, zero: they do not
	engine  engine
	started chan struct{} // closed when descriptors can be opened
	ended   chan struct{} // closed when the loop has ended
	wakes   uint64
	yielded time.Duration // when goroutines had the thread last
	depth   int           // of callbacks: a failing write calls Hangup within another one
	stopped bool
	// proceed reports whether timers may go on. It is made once: a function made in each
	// run would be an allocation.
	proceed   func() (time.Duration, bool)
	sliceEnds time.Duration // until when they may
	onEnter   func()        // tests look at the goroutine here
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
		return now, now < l.sliceEnds
	}
	return l
}

// Run listens and runs the loop until Stop. Descriptors that are open at its end
// are closed. An *AddressError names an address that cannot be listened on.
func (l *Loop) Run() error {
	ports, err := ports(l.config.Addresses)
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

// Post has fn called on the loop. It is the one entrance for other goroutines.
// It waits until the loop has started, and reports false when it has ended.
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

// enter begins a callback and returns its time. The outermost one first looks for peers that
// have gone, however long the loop has slept: nothing more is done for them.
func (l *Loop) enter() time.Duration {
	l.depth++
	if l.onEnter != nil {
		l.onEnter()
	}
	now := l.clock.now()
	if l.depth == 1 {
		l.wakes++
		l.ends.lookAfterAbsence(now)
	}
	return now
}

// leave ends a callback. The outermost one settles, sets the timer, and now and then lets
// goroutines have the thread.
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

// Receive implements Handler for the clock's timer. After a pause of the process both timers
// and input wait: input is read first, because it may prove a timer wrong.
func (l *Loop) Receive(now time.Duration, _ []byte) {
	l.clock.armed = 0
	if l.inputFirst(now) {
		return // leave sets the clock's timer, which is due at once
	}
	l.sliceEnds = now + timerSlice
	l.Timers.RunWhile(now, coalesce, l.proceed)
}

// inputFirst reports whether the timers have to wait because they are late and other
// descriptors have something to read.
func (l *Loop) inputFirst(now time.Duration) bool {
	if l.until == 0 {
		at, armed := l.Timers.Next()
		if !armed || now-at < late {
			return false
		}
		l.until = now + min(now-at, latest)
	}
	if now < l.until && l.engine.epoll.hasEvents() {
		return true
	}
	l.until = 0
	return false
}

// Hangup implements Handler for the clock's timer.
func (l *Loop) Hangup(time.Duration, error) {}
