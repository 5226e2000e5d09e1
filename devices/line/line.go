// Package line keeps a driver in touch with its hardware over a port that may
// vanish at any time: a serial line whose adapter is pulled out, a robot that
// is switched off, a program that ends. It opens the port, notices when the
// hardware is gone, and brings it back without anybody asking.
//
// What the two ends say to each other is the driver's business, the Hardware
// below; Framing finds where one thing said ends and the next begins. The rest
// is alike for all of them:
//
//   - A setup that fails ends with Link.Fail, and the next request tries again.
//   - Hardware that is lost later leaves its link ready: its devices keep their
//     data, which grows old, and forget their commands. The port is opened anew,
//     by the policy of package retry, until the handshake succeeds.
//   - Nothing moves by itself when the hardware is back: commands that came in
//     between are forgotten, too.
package line

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/devices"
	"player/devices/retry"
	"player/timers"
)

const (
	// silence is how long hardware that answers all the time (the slowest is
	// the laser, with 5 scans a second) may say nothing before it counts as
	// lost. Motors run on for at most that long.
	silence = 2 * time.Second
	// linger is how long the last words of Finish get to leave before the port is
	// closed: 48 bytes at 9600 baud, where closing with unsent bytes would block
	// the loop until they have gone.
	linger = 50 * time.Millisecond
)

var errSilent = errors.New("silent for 2 s")

// Hardware is the driver's half of the conversation. Its methods are called on
// the one thread of the server, none of them from within a call to Line except
// Open and Greet by Setup.
type Hardware interface {
	// Open opens the port with h as its handler. The error names the port.
	Open(h devices.PortHandler) (devices.Port, error)
	// Greet begins the handshake on a port that was just opened. It ends, then
	// or later, with Line.Up or Line.Down; there is no other limit to it.
	Greet(now time.Duration)
	// Receive brings bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
	// Timeout is called at the deadline set by Line.WakeAt.
	Timeout(now time.Duration)
}

type state uint8

const (
	off      state = iota // before Setup, and when the link has failed or stopped
	greeting              // the port is open, the handshake under way
	up                    // the port is open, the handshake done
	away                  // lost: the port is closed until reopenAt
	leaving               // the port is open, shutdown under way
	closing               // the port is open until wake, then all is done
)

// Line is a port and what is known of the hardware behind it. The zero value is
// ready for Setup, again and again.
type Line struct {
	name     string // of the port, for logs and errors
	hardware Hardware
	link     *devices.Link
	log      *zap.Logger

	state state
	port  devices.Port  // nil unless a state says it is open
	wake  time.Duration // the hardware's deadline, zero for none
	heard time.Duration // when the hardware last gave a sign of life

	retry    retry.Retry
	reopenAt time.Duration // if away

	// A failure is dealt with in the next Tick, for it comes from within a
	// Write or from deep within the driver, and its end may start a new setup.
	failure  error
	failedAt time.Duration

	complaints timers.Limiter
	noise      Noise // of which the log tells
}

// Noise counts what came in and was of no use, since whenever.
type Noise struct {
	Garbage uint64 // bytes that belong to no packet
	Broken  uint64 // packets with a wrong checksum, or contents that do not fit
}

// Setup implements the Setup of a driver: it opens the port and has hardware
// Greet. name is the port's in logs and errors.
func (l *Line) Setup(now time.Duration, link *devices.Link, name string, hardware Hardware) {
	l.close() // a shutdown that took too long may have left it open
	*l = Line{
		name: name, hardware: hardware, link: link,
		log:        link.Log().With(zap.String("port", name)),
		complaints: timers.Limiter{Period: time.Second},
		noise:      l.noise,
	}
	if err := l.open(now); err != nil {
		link.Fail(now, err)
	}
}

// Tick implements the Tick of a driver.
func (l *Line) Tick(now time.Duration) time.Duration {
	if l.state == up && l.failure == nil && l.heard+silence <= now {
		l.failure = errSilent
	}
	switch {
	case l.failure != nil:
		l.fall(now)
	case l.state == away && l.reopenAt <= now:
		l.reopen(now)
	case l.wake != 0 && l.wake <= now:
		l.wake = 0
		if l.state == closing {
			l.end(now)
		} else {
			l.hardware.Timeout(now)
		}
	}
	return l.next()
}

// Up ends a handshake well: the link is ready, or works again. Commands that were
// given while the hardware was away are forgotten, so none is carried out before
// Up. The call may lead to others of the driver, a Command or a Shutdown.
func (l *Line) Up(now time.Duration) {
	if l.state != greeting || l.failure != nil {
		return
	}
	l.state, l.heard = up, now
	if l.retry.Failing() {
		l.retry.Worked(now, l.log)
		l.forgetCommands() // those that came meanwhile
	}
	l.arm()
	l.link.Ready(now)
}

// Down says that the hardware does not do what it should, and why. The port is
// closed as soon as the driver has returned to its caller; nothing is received
// any more. If this was a setup it fails, else the hardware is lost.
func (l *Line) Down(now time.Duration, err error) {
	if l.port == nil || l.failure != nil {
		return
	}
	l.failure, l.failedAt = err, now
	l.arm()
}

// Heard says that the hardware gave a sign of life. It is called for whatever
// the hardware sends all the time.
func (l *Line) Heard(now time.Duration) { l.heard = now }

// IsUp says whether the hardware can be commanded and configured.
func (l *Line) IsUp() bool { return l.state == up && l.failure == nil }

// IsOpen says whether the conversation may go on: the port is open and nobody
// has said that the hardware is down.
func (l *Line) IsOpen() bool { return l.port != nil && l.failure == nil }

// WasLost says whether this handshake is with hardware that was lost, and not
// the link's setup.
func (l *Line) WasLost() bool { return l.retry.Failing() }

// WakeAt sets the deadline of the hardware's next Timeout; zero cancels it. So
// does the end of the port.
func (l *Line) WakeAt(at time.Duration) {
	if l.port != nil && l.state != closing {
		l.wake = at
		l.arm()
	}
}

// Port is the open port, or one that takes everything and does nothing: a Write
// that fails may lead to the end of the line before it returns.
func (l *Line) Port() devices.Port {
	if l.port == nil {
		return noPort{}
	}
	return l.port
}

// Log is the link's logger; it names driver and port in every line.
func (l *Line) Log() *zap.Logger { return l.log }

// Noise reports what was of no use in what came so far; total only grows. It is
// called for all that comes and costs nothing while there is no news. The log
// tells of it once a second at most, in a handshake for debugging only: the
// speeds of the two ends may differ then.
func (l *Line) Noise(now time.Duration, total Noise) {
	if total == l.noise {
		return
	}
	if _, ok := l.complaints.Allow(now); !ok {
		return
	}
	level := zapcore.DebugLevel
	if l.state == up {
		level = zapcore.WarnLevel
	}
	l.log.Log(level, "noise on the line",
		zap.Uint64("garbage bytes", total.Garbage-l.noise.Garbage),
		zap.Uint64("broken packets", total.Broken-l.noise.Broken))
	l.noise = total
}

// Shutdown begins the Shutdown of a driver. If it is false all is done: there
// was no port to say anything to. Otherwise the driver says its last words and
// ends with Finish; what the hardware says comes in Receive, as before.
func (l *Line) Shutdown(now time.Duration) (open bool) {
	if !l.IsOpen() {
		l.end(now)
		return false
	}
	l.state, l.wake = leaving, 0
	return true
}

// Finish ends the Shutdown of a driver: it writes the last words, gives them
// time to leave and closes the port.
func (l *Line) Finish(now time.Duration, words []byte) {
	if l.state != leaving {
		return
	}
	l.state, l.wake = closing, now+linger
	l.port.Write(words)
	l.arm()
}

// Receive implements devices.PortHandler.
func (l *Line) Receive(now time.Duration, p []byte) {
	if l.IsOpen() && l.state != closing {
		l.hardware.Receive(now, p)
	}
}

// Hangup implements devices.PortHandler.
func (l *Line) Hangup(now time.Duration, err error) {
	l.Down(now, fmt.Errorf("unplugged or closed: %w", err))
}

// open opens the port and begins the handshake.
func (l *Line) open(now time.Duration) error {
	port, err := l.hardware.Open(l)
	if err != nil {
		return err
	}
	l.port, l.state, l.wake = port, greeting, 0
	l.hardware.Greet(now)
	return nil
}

// reopen tries to bring lost hardware back.
func (l *Line) reopen(now time.Duration) {
	if err := l.open(now); err != nil {
		l.reopenAt = l.retry.Failed(now, l.log, err)
	}
}

// fall deals with a failure.
func (l *Line) fall(now time.Duration) {
	err := l.failure
	l.close()
	switch l.link.State() {
	case devices.Starting:
		l.state = off
		l.link.Fail(now, fmt.Errorf("%s: %w", l.name, err))
	case devices.Ready:
		if l.state == up {
			l.forgetCommands()
		}
		l.state, l.reopenAt = away, l.retry.Failed(now, l.log, err)
	default:
		l.end(now)
	}
}

func (l *Line) forgetCommands() {
	for _, d := range l.link.Devices() {
		d.ForgetCommand()
	}
}

// end closes the port for good.
func (l *Line) end(now time.Duration) {
	l.close()
	l.state = off
	l.link.Stopped(now)
}

func (l *Line) close() {
	if l.port != nil {
		l.port.Close()
	}
	l.port, l.wake, l.failure = nil, 0, nil
}

// next is the earliest deadline, zero for none.
func (l *Line) next() time.Duration {
	switch {
	case l.failure != nil:
		return l.failedAt
	case l.state == away:
		return l.reopenAt
	case l.state == up && (l.wake == 0 || l.heard+silence < l.wake):
		return l.heard + silence
	}
	return l.wake
}

func (l *Line) arm() { l.link.WakeAt(l.next()) }

// noPort is the port of a line that has none.
type noPort struct{}

func (noPort) Write([]byte)       {}
func (noPort) Buffered() int      { return 0 }
func (noPort) SetSpeed(int) error { return errors.New("the port is closed") }
func (noPort) Discard()           {}
func (noPort) Close()             {}
