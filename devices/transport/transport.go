// Package transport connects a driver to its hardware over a port that may vanish
// at any time: the adapter of a serial line is pulled out, a robot is switched
// off, a program ends. It opens the port, detects that the hardware is gone, and
// reconnects.
//
// The protocol is up to the driver: it implements Hardware, and uses Framing to
// find the packets in a stream of bytes. The rest is the same for all:
//
//   - A setup that fails ends with Link.Fail. The next request tries again.
//   - If a setup fails because nothing answers on a serial line, the hardware of another
//     driver may be there: ports are easily swapped. The Probes of all kinds look for it
//     when the port is closed. What they find goes to the log, and to the error of this
//     setup and of the next.
//   - Hardware that is lost later leaves its link ready. Its devices keep their
//     data, which grows old, and forget their commands. The port is opened again,
//     by the policy of package retry, until the handshake succeeds.
//   - Whoever gives up a line writes the last words first, and a new connection to
//     hardware that was lost begins with them: it may still hear, and move.
//   - Nothing moves by itself when the hardware is back: commands that came during
//     the outage are forgotten, too.
package transport

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/devices"
	"player/devices/retry"
	"player/timers"
)

const (
	// silence is how long hardware may send nothing before it counts as lost; the
	// slowest, the laser, sends 5 scans a second. Motors run on for at most that
	// long.
	silence = 2 * time.Second
	// linger is the time between the last bytes and closing the port: 48 bytes at 9600
	// baud. Closing with unsent bytes would block the loop until they have left.
	linger = 50 * time.Millisecond
	// yield is the pause before a line is opened again that the search for other hardware
	// gives up: it ends within some milliseconds.
	yield = 20 * time.Millisecond
	// mostLooks is how often other hardware is looked for on the line of an always-on
	// driver. Its next setup ends a look; after the third the pauses between the setups are
	// long enough for most finds.
	mostLooks = 4
)

var errSilent = errors.New("silent for 2 s")

// Hardware is the driver's half of the protocol. Its methods are called on the one
// thread of the server. None is called from within a call to Transport, except
// Open and Greet by Setup.
type Hardware interface {
	// Open opens the port with h as its handler. The error names the port.
	Open(h devices.PortHandler) (devices.Port, error)
	// Greet begins the handshake on a port that was just opened. The handshake
	// ends, then or later, with Transport.Up or Transport.Down; nothing else limits
	// it.
	Greet(now time.Duration)
	// Receive brings bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
}

// Timer is Hardware that sets deadlines with Transport.WakeAt.
type Timer interface {
	// Timeout is called at the deadline.
	Timeout(now time.Duration)
}

type state uint8

const (
	off      state = iota // before Setup, and when the link has failed or stopped
	waiting               // for the port until reopenAt: it is being probed
	greeting              // the port is open, the handshake under way
	up                    // the port is open, the handshake done
	away                  // lost: the port is closed until reopenAt
	leaving               // the port is open, shutdown under way
	closing               // the last bytes have been written; the port is open until wake
)

// Transport is a port and the state of the hardware behind it. The zero value is
// ready for Setup, which may be called again after each Shutdown.
type Transport struct {
	name     string // of the port, for logs and errors
	hardware Hardware
	timer    Timer // hardware, if it is one
	link     *devices.Link
	log      *zap.Logger

	state state
	port  devices.Port  // nil unless a state says it is open
	words []byte        // the last ones, for each port
	wake  time.Duration // the hardware's deadline, zero for none
	heard time.Duration // when the hardware last showed that it is alive

	retry    retry.Retry
	reopenAt time.Duration // if away or waiting

	// A failure is handled in the next Tick: it may be reported from within a Write
	// or deep within the driver, and handling it may start a new setup.
	failure    error
	failedAt   time.Duration
	unanswered bool // failure is that the hardware says nothing

	other devices.Finding // that answered instead, when it was looked for last
	looks int             // for it since the hardware has worked or failed otherwise

	complaints timers.Limiter
	noise      Stats // that was logged
}

// Setup implements the Setup of a driver: it opens the port and has hardware
// Greet. name is the port's in logs and errors.
func (t *Transport) Setup(now time.Duration, link *devices.Link, name string, hardware Hardware) {
	t.close() // a shutdown that took too long may have left it open
	*t = Transport{
		name: name, hardware: hardware, link: link,
		log:        link.Log().With(zap.String("port", name)),
		complaints: timers.Limiter{Period: time.Second},
		noise:      t.noise,
		other:      t.other, looks: t.looks,
	}
	t.timer, _ = hardware.(Timer)
	t.begin(now)
}

// begin opens the port for the link's setup.
func (t *Transport) begin(now time.Duration) {
	switch err := t.open(now); {
	case errors.Is(err, devices.ErrProbed):
		t.state, t.reopenAt = waiting, now+yield
		t.arm()
	case err != nil:
		t.state = off
		t.link.Fail(now, err)
	}
}

// Tick implements the Tick of a driver.
func (t *Transport) Tick(now time.Duration) time.Duration {
	if t.state == up && t.failure == nil && t.heard+silence <= now {
		t.failure = errSilent
	}
	switch {
	case t.failure != nil:
		t.fall(now)
	case t.state == waiting && t.reopenAt <= now:
		t.begin(now)
	case t.state == away && t.reopenAt <= now:
		t.reopen(now)
	case t.wake != 0 && t.wake <= now:
		t.wake = 0
		if t.state == closing {
			t.leave(now)
		} else {
			t.timer.Timeout(now)
		}
	}
	return t.next()
}

// LastWords hands over bytes that stop the motors (devices.Port). Hardware with motors
// calls it in Greet.
func (t *Transport) LastWords(words []byte) {
	t.words = slices.Clone(words)
	t.port.LastWords(words)
}

// Up ends a handshake with success: the link is ready, or works again. Commands
// that were given during an outage are forgotten, so the driver must carry out
// none before Up. The call may lead to a Command or Shutdown of the driver.
func (t *Transport) Up(now time.Duration) {
	if t.state != greeting || t.failure != nil {
		return
	}
	t.state, t.heard = up, now
	t.other, t.looks = devices.Finding{}, 0
	if t.retry.Failing() {
		t.retry.Worked(now, t.log)
		t.forgetCommands() // those that came meanwhile
	}
	t.arm()
	t.link.Ready(now)
}

// Down reports that the hardware has failed, and why. The port is closed as soon as
// the driver has returned to its caller; nothing is received any more. During
// setup the setup fails, later the hardware is lost.
func (t *Transport) Down(now time.Duration, err error) {
	if t.port == nil || t.failure != nil {
		return
	}
	t.failure, t.failedAt = err, now
	t.arm()
}

// Unanswered reports, as Down does, that the hardware says nothing on a serial line, or
// nothing that makes sense. If that ends a setup, what does answer there is looked for.
func (t *Transport) Unanswered(now time.Duration, err error) {
	if t.port != nil && t.failure == nil {
		t.unanswered = true
		t.Down(now, err)
	}
}

// Heard reports that the hardware is alive. The driver calls it for whatever the
// hardware sends all the time.
func (t *Transport) Heard(now time.Duration) { t.heard = now }

// IsUp reports whether the hardware can be commanded and configured.
func (t *Transport) IsUp() bool { return t.state == up && t.failure == nil }

// IsOpen reports whether the port is open and the hardware was not reported down.
func (t *Transport) IsOpen() bool { return t.port != nil && t.failure == nil && t.state != closing }

// WasLost reports whether this handshake is with hardware that was lost, and not
// the link's setup.
func (t *Transport) WasLost() bool { return t.retry.Failing() }

// WakeAt sets the deadline of the hardware's next Timeout; zero cancels it. So does
// closing the port.
func (t *Transport) WakeAt(at time.Duration) {
	if t.port != nil && t.state != closing {
		t.wake = at
		t.arm()
	}
}

// Port returns the open port, or one that discards everything: a Write that fails
// may close the port before it returns.
func (t *Transport) Port() devices.Port {
	if t.port == nil || t.state == closing {
		return noPort{}
	}
	return t.port
}

// SetSpeed changes the speed of a serial line, in baud. If the line cannot do it, the
// hardware is down, and SetSpeed returns false.
func (t *Transport) SetSpeed(now time.Duration, baud int) bool {
	err := t.Port().SetSpeed(baud)
	if err != nil {
		t.Down(now, fmt.Errorf("cannot set %d baud: %w", baud, err))
	}
	return err == nil
}

// Log returns the link's logger, which names driver and port.
func (t *Transport) Log() *zap.Logger { return t.log }

// Noise takes the driver's counts of garbage and broken packets so far, which only
// grow. The driver calls it after each Receive; it is cheap while neither has grown.
// The log gets one line a second at most, during a handshake at level debug only: the
// speeds of the two ends may differ then.
func (t *Transport) Noise(now time.Duration, total Stats) {
	if total.Garbage == t.noise.Garbage && total.Broken == t.noise.Broken {
		return
	}
	t.link.Counts.Dropped = total.Garbage + total.Broken
	if _, ok := t.complaints.Allow(now); !ok {
		return
	}
	level := zapcore.DebugLevel
	if t.state == up {
		level = zapcore.WarnLevel
	}
	t.log.Log(level, "damaged input",
		zap.Uint64("garbage bytes", total.Garbage-t.noise.Garbage),
		zap.Uint64("broken packets", total.Broken-t.noise.Broken))
	t.noise = total
}

// Shutdown begins the Shutdown of a driver. If it returns false, the driver has nothing
// to do: the hardware is lost, and gets its last words if they can be written. Otherwise
// the driver sends its last requests and ends with Finish; until then input comes in
// Receive as before.
func (t *Transport) Shutdown(now time.Duration) (open bool) {
	switch {
	case t.IsOpen():
		t.state, t.wake = leaving, 0
		return true
	case t.state == closing: // leave does the rest
		return false
	case t.state == away && len(t.words) > 0:
		if port, err := t.hardware.Open(t); err == nil {
			t.port = port
		}
	}
	t.part(now)
	return false
}

// Finish ends the Shutdown of a driver: it writes the last bytes, gives them time
// to leave and closes the port.
func (t *Transport) Finish(now time.Duration, last []byte) {
	if t.state == leaving {
		t.finish(now, last)
	}
}

func (t *Transport) finish(now time.Duration, last []byte) {
	t.state, t.wake, t.failure = closing, now+linger, nil
	t.port.Write(last)
	t.arm()
}

// part writes the last words, if there are any, and closes the port.
func (t *Transport) part(now time.Duration) {
	if t.port == nil || len(t.words) == 0 {
		t.leave(now)
		return
	}
	t.finish(now, t.words)
}

// leave closes the port: for good if the link stops, else until it is opened again.
func (t *Transport) leave(now time.Duration) {
	if t.link.State() != devices.Ready {
		t.end(now)
		return
	}
	t.close()
	t.state = away
	t.arm()
}

// Receive implements devices.PortHandler.
func (t *Transport) Receive(now time.Duration, p []byte) {
	if t.IsOpen() {
		t.hardware.Receive(now, p)
	}
}

// Hangup implements devices.PortHandler.
func (t *Transport) Hangup(now time.Duration, err error) {
	t.Down(now, fmt.Errorf("unplugged or closed: %w", err))
}

// open opens the port and begins the handshake.
func (t *Transport) open(now time.Duration) error {
	port, err := t.hardware.Open(t)
	if err != nil {
		return err
	}
	t.port, t.state, t.wake = port, greeting, 0
	if t.WasLost() {
		port.Write(t.words)
	}
	t.hardware.Greet(now)
	return nil
}

// reopen tries to reconnect.
func (t *Transport) reopen(now time.Duration) {
	t.link.Counts.Retries++
	if err := t.open(now); err != nil {
		t.link.Counts.Errors++
		t.reopenAt = t.retry.Failed(now, t.log, err)
	}
}

// fall handles a failure.
func (t *Transport) fall(now time.Duration) {
	err := t.failure
	switch {
	case t.link.State() == devices.Starting:
		unanswered := t.unanswered
		t.close()
		t.state = off
		if !unanswered {
			t.other, t.looks = devices.Finding{}, 0
		}
		t.link.Fail(now, fmt.Errorf("%s: %w", t.name, t.hinted(err)))
		if unanswered {
			t.look(err)
		}
	case t.link.State() != devices.Ready || t.state == closing: // the last bytes were under way
		t.leave(now)
	default:
		if t.state == up {
			t.forgetCommands()
		}
		t.link.Counts.Errors++
		t.reopenAt = t.retry.Failed(now, t.log, err)
		t.part(now)
	}
}

// look looks for other hardware on the port after a setup that has failed by err: for
// each that a client asked for, and mostLooks times for an always-on driver.
func (t *Transport) look(err error) {
	if t.state != off || t.looks >= mostLooks && t.link.AlwaysOn() {
		return // a client has begun another setup, or all is known
	}
	t.looks++
	t.link.Host().Identify(t.name, func(_ time.Duration, f devices.Finding) {
		if f.Kind != "" && f != t.other {
			t.log.Warn("other hardware answers on the port", zap.Stringer("found", f), zap.String("advice", t.advice(f.Kind)))
		}
		t.other, t.looks = f, mostLooks
		t.link.Explain(fmt.Errorf("%s: %w", t.name, t.hinted(err)))
	})
}

// hinted adds to an error what answered instead of the hardware.
func (t *Transport) hinted(err error) error {
	if t.other.Kind == "" {
		return err
	}
	return fmt.Errorf("%s answered here, at %d baud: %s; %w", t.other.Kind, t.other.Baud, t.advice(t.other.Kind), err)
}

// advice is what to do about hardware of a kind that answers instead of the driver's.
func (t *Transport) advice(kind string) string {
	switch {
	case kind == t.link.Name():
		return "try again"
	case t.link.Beside(kind):
		return fmt.Sprintf("swap the ports of %s and %s", t.link.Name(), kind)
	}
	return "is it the right port?"
}

func (t *Transport) forgetCommands() {
	for _, d := range t.link.Devices() {
		d.ForgetCommand()
	}
}

// end closes the port for good.
func (t *Transport) end(now time.Duration) {
	t.close()
	t.state = off
	t.link.Stopped(now)
}

func (t *Transport) close() {
	if t.port != nil {
		t.port.Close()
	}
	t.port, t.wake, t.failure, t.unanswered = nil, 0, nil, false
}

// next is the earliest deadline, zero for none.
func (t *Transport) next() time.Duration {
	switch {
	case t.failure != nil:
		return t.failedAt
	case t.state == away, t.state == waiting:
		return t.reopenAt
	case t.state == up && (t.wake == 0 || t.heard+silence < t.wake):
		return t.heard + silence
	}
	return t.wake
}

func (t *Transport) arm() { t.link.WakeAt(t.next()) }

// noPort stands in for a port that is closed.
type noPort struct{}

func (noPort) Write([]byte)       {}
func (noPort) LastWords([]byte)   {}
func (noPort) Buffered() int      { return 0 }
func (noPort) SetSpeed(int) error { return errors.New("the port is closed") }
func (noPort) Discard()           {}
func (noPort) Close()             {}
