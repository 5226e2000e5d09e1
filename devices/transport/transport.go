// Package transport connects a driver to its hardware over a port that may vanish at any
// time: for example when the adapter of a serial line is pulled out, a robot is switched
// off, or a program ends. It opens the port, detects that the hardware is gone, and
// reconnects.
//
// A driver embeds a Transport, and describes the rest in its Protocol: the table of its
// handshake, the function that reads the input, and the last bytes. Framing finds the
// packets in a stream of bytes. Package transport does the rest for all drivers alike:
//
//   - A setup that fails ends with Link.Fail. The next request tries again.
//   - If a setup fails because nothing answers on a serial line, the hardware of another
//     driver may be there: ports are easily swapped. The Probes of all kinds search for it
//     when the port is closed. The result goes to the log, and into the error of this setup
//     and of the next.
//   - Hardware that is lost later leaves its link ready. Its devices keep their
//     data, which grows old, and forget their commands. The port is opened again,
//     by the policy of package retry, until the handshake succeeds.
//   - Before a line is closed, the last words are written to it. A new connection to lost
//     hardware begins with them: it may still receive, and move.
//   - Nothing moves by itself when the hardware is back: commands that came during
//     the outage are also forgotten.
package transport

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/codec"
	"player/devices"
	"player/devices/retry"
	"player/timers/limited"
)

// LogDamaged is a message of the log, by which tests find lines.
const LogDamaged = "damaged input"

const (
	// silence is how long hardware may send nothing before it counts as lost; the
	// slowest, the laser, sends 5 scans a second. Motors run on for at most that
	// long.
	silence = 2 * time.Second
	// stray is how many bytes that do not fit the protocol count as a transmission: a line
	// that is opened, plugged in or switched on causes a few.
	stray = 16
	// mostOverheard is how many bytes are kept to recognise other hardware: two scans of a SICK
	// laser, the longest packets of all, so that one of them is complete.
	mostOverheard = 2048
	// linger is the time between the last bytes and closing the port: enough for 48 bytes at 9600 baud. A line that is
	// closed with unsent bytes cannot be opened again until they have left.
	linger = 50 * time.Millisecond
	// mostSearches bounds the searches for other hardware on the line of an always-on driver.
	// Its next setup ends a search; after the third the pauses between the setups are long
	// enough for most of them.
	mostSearches = 4
)

type state uint8

const (
	off      state = iota // before Setup, and when the link has failed or stopped
	opening               // the port is being opened
	greeting              // the port is open, the handshake under way
	up                    // the port is open, the handshake done
	away                  // lost: the port is closed until reopenAt
	leaving               // the port is open, shutdown under way
	closing               // the last bytes have been written; the port is open until wake
	parting               // the port is being opened for the last words
)

// Transport is a port and the state of the hardware behind it. It implements
// devices.Driver. A driver sets only Protocol, when it is made.
type Transport struct {
	Protocol Protocol

	link *devices.Link
	log  *zap.Logger

	state state
	port  devices.Port  // open unless a state implies nil
	line  devices.Line  // the same; nil over the network
	begun time.Duration // when opening it was begun
	first int           // baud: where the search begins, which is where the hardware was last
	wake  time.Duration // the deadline of the handshake or the driver, zero for none
	heard time.Duration // when the hardware last showed that it is alive
	handshake

	retry    retry.Retry
	reopenAt time.Duration // if away

	// A failure is handled in the next Tick: it may be reported from within a Write
	// or deep within the driver, and handling it may start a new setup.
	failure    error
	failedAt   time.Duration
	unanswered bool // the failure is that the hardware does not answer

	other    devices.Finding // that answered instead, in the last search
	searches int             // for it since the hardware has worked or failed otherwise

	complaints limited.Line
	noise      Stats // that was logged
}

// Setup implements devices.Driver: it opens the port and begins the handshake.
func (t *Transport) Setup(now time.Duration, link *devices.Link) {
	t.close() // a shutdown that took too long may have left it open
	*t = Transport{
		Protocol: t.Protocol, link: link,
		log:       link.Log().With(zap.String("port", t.Protocol.Address)),
		first:     t.first,
		handshake: handshake{overheard: t.overheard, out: t.out},
		noise:     t.noise,
		other:     t.other, searches: t.searches,
	}
	if t.first == 0 && len(t.Protocol.Speeds) > 0 {
		t.first = t.Protocol.Speeds[0]
	}
	t.open(now, opening)
}

func (t *Transport) Tick(now time.Duration) time.Duration {
	if t.state == up && t.failure == nil && t.heard+silence <= now {
		t.failure = cmp.Or(t.strange(), ErrSilent)
	}
	switch {
	case t.failure != nil:
		t.fall(now)
	case t.state == away && t.reopenAt <= now:
		t.link.Counts.Retries++
		t.open(now, opening)
	case t.wake != 0 && t.wake <= now:
		t.wake = 0
		switch {
		case t.state == closing:
			t.leave(now)
		case t.state == greeting && t.Protocol.Limit != 0:
			t.timeout(now)
		default:
			t.Protocol.Wake(now)
		}
	}
	return t.next()
}

// Up ends a handshake with success: the link is ready, or works again. Commands
// that were given during an outage are forgotten, so the driver must carry out
// none before Up. The call may lead to a Command or Shutdown of the driver.
func (t *Transport) Up(now time.Duration) {
	if t.state != greeting || t.failure != nil {
		return
	}
	t.state, t.heard = up, now
	if t.Protocol.Limit != 0 {
		t.wake = 0 // it was the handshake's
	}
	t.first, t.overheard = t.baud, nil
	if f := t.Protocol.Framing; f != nil {
		t.noise = f.Stats // input of the handshake may be the rest of another packet
	}
	t.other, t.searches = devices.Finding{}, 0
	if t.retry.Failing() {
		t.retry.Worked(now, t.log)
		t.link.ForgetCommands() // those that came meanwhile
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

// Heard reports that the hardware is alive. The driver calls it for everything that the
// hardware sends continuously.
func (t *Transport) Heard(now time.Duration) {
	t.heard = now
	t.understood()
}

// IsUp reports whether the hardware can be commanded and configured.
func (t *Transport) IsUp() bool { return t.state == up && t.failure == nil }

// IsOpen reports whether the port is open and the hardware was not reported down.
func (t *Transport) IsOpen() bool { return t.port != nil && t.failure == nil && t.state != closing }

// WasLost reports whether this handshake is with hardware that was lost, and not
// the link's setup.
func (t *Transport) WasLost() bool { return t.retry.Failing() }

// WakeAt sets the deadline of the next Protocol.Wake; zero cancels it. So does
// closing the port, and Up where the handshake is a table.
func (t *Transport) WakeAt(at time.Duration) {
	if t.port != nil && t.state != closing {
		t.wake = at
		t.arm()
	}
}

// Port returns the open port, or one that discards everything: a failed Write may close the
// port before it returns.
func (t *Transport) Port() devices.Port {
	if t.port == nil || t.state == closing {
		return noPort{}
	}
	return t.port
}

// SetModemLines asserts or releases DTR and RTS, if the port has these lines.
func (t *Transport) SetModemLines(dtr, rts bool) {
	if t.line != nil && t.state != closing {
		t.line.SetModemLines(dtr, rts)
	}
}

// Discard drops input that was received but not read.
func (t *Transport) Discard() {
	if t.line != nil && t.state != closing {
		t.line.Discard()
	}
}

// Link returns the link of the last Setup.
func (t *Transport) Link() *devices.Link { return t.link }

// ErrAway refuses a request to lost hardware.
var ErrAway = errors.New("the robot is not connected at the moment")

// RobotConfig reads the payload of a configuration of the robot (PROTOCOL 6). It fails
// unless the hardware is up.
func (t *Transport) RobotConfig(payload []byte) (codec.Config, error) {
	c, err := codec.DecodeRobotConfig(payload)
	if err == nil && !t.IsUp() {
		err = ErrAway
	}
	return c, err
}

// Log returns the link's logger, which names driver and port.
func (t *Transport) Log() *zap.Logger { return t.log }

// complain logs new garbage and broken packets, at most once a second. During a handshake it
// logs at level debug only: the speeds of the two ends may differ then.
func (t *Transport) complain(now time.Duration, total Stats) {
	if total.Garbage == t.noise.Garbage && total.Broken == t.noise.Broken {
		return
	}
	t.link.Counts.Dropped = total.Garbage + total.Broken
	level := zapcore.DebugLevel
	if t.state == up {
		level = zapcore.WarnLevel
	}
	if t.complaints.Log(now, t.log, level, LogDamaged,
		zap.Uint64("garbage bytes", total.Garbage-t.noise.Garbage),
		zap.Uint64("broken packets", total.Broken-t.noise.Broken)) {
		t.noise = total
	}
}

// Shutdown implements devices.Driver: it writes Protocol.Bye and closes the port.
func (t *Transport) Shutdown(now time.Duration) {
	if t.Leave(now) {
		t.Finish(now, t.Protocol.Bye)
	}
}

// Leave begins the Shutdown of a driver that has more to do than to write some last bytes.
// If it returns false, there is nothing to do: the hardware is lost, and gets its last
// words if they can be written. Otherwise the driver sends its last requests and ends with
// Finish; until then input comes in Receive as before.
func (t *Transport) Leave(now time.Duration) (open bool) {
	switch {
	case t.IsOpen():
		t.state, t.wake = leaving, 0
		return true
	case t.state == closing: // leave does the rest
	case t.state == away && len(t.Protocol.LastWords) > 0:
		t.open(now, parting)
	case t.state == opening && t.WasLost() && len(t.Protocol.LastWords) > 0:
		t.state = parting
	default:
		t.part(now)
	}
	return false
}

// Finish ends the Shutdown of a driver: it writes the last bytes, if there are any, gives
// them time to leave and closes the port.
func (t *Transport) Finish(now time.Duration, last func(dst []byte) []byte) {
	if t.state != leaving {
		return
	}
	t.out = t.out[:0]
	if last != nil {
		t.out = last(t.out)
	}
	t.finish(now, t.out)
}

func (t *Transport) finish(now time.Duration, last []byte) {
	t.state, t.wake, t.failure = closing, now+linger, nil
	t.port.Write(last)
	t.arm()
}

// part writes the last words, if there are any, and closes the port.
func (t *Transport) part(now time.Duration) {
	if t.port == nil || len(t.Protocol.LastWords) == 0 {
		t.leave(now)
		return
	}
	t.finish(now, t.Protocol.LastWords)
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

func (t *Transport) Receive(now time.Duration, p []byte) {
	if !t.IsOpen() {
		return
	}
	if t.state == greeting && !t.found {
		t.noisy, t.overheard = true, append(t.overheard, p...)
		t.overheard = t.overheard[max(0, len(t.overheard)-mostOverheard):]
	}
	t.unread += len(p)
	t.Protocol.Receive(now, p)
	if f := t.Protocol.Framing; f != nil {
		t.complain(now, f.Stats)
	}
}

func (t *Transport) Hangup(now time.Duration, err error) {
	why := devices.Unreachable(err)
	switch {
	case why != nil:
	case errors.Is(err, devices.ErrNoAnswer):
		why = err
	default:
		why = fmt.Errorf("unplugged or closed: %w", err)
	}
	t.Down(now, why)
}

// open begins to open the port, to greet (opening) or for the last words (parting).
func (t *Transport) open(now time.Duration, why state) {
	t.state, t.begun = why, now
	if t.OverNetwork() {
		t.dial(now)
		return
	}
	t.link.Host().OpenSerial(t.Protocol.Address, t.first, t, func(now time.Duration, l devices.Line, err error) {
		if err != nil {
			t.unopened(now, err)
			return
		}
		t.line = l
		t.opened(now, l)
	})
}

// opened goes on with the open port.
func (t *Transport) opened(now time.Duration, port devices.Port) {
	t.port, t.wake = port, 0
	if t.state == parting {
		t.part(now)
		return
	}
	t.state = greeting
	if t.WasLost() {
		port.Write(t.Protocol.LastWords)
	}
	t.greet(now)
}

// unopened goes on without the port.
func (t *Transport) unopened(now time.Duration, err error) {
	switch {
	case t.state == parting:
		t.end(now)
	case t.link.State() == devices.Starting:
		t.state = off
		t.link.Fail(now, err)
	default:
		t.link.Counts.Errors++
		t.state, t.reopenAt = away, t.retry.Failed(now, t.log, err)
		t.arm()
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
			t.other, t.searches = devices.Finding{}, 0
		}
		t.link.Fail(now, fmt.Errorf("%s: %w", t.Protocol.Address, t.hinted(err)))
		if unanswered {
			t.identify(err)
		}
	case t.link.State() != devices.Ready || t.state == closing: // the last bytes were under way
		t.leave(now)
	default:
		if t.state == up {
			t.link.ForgetCommands()
		}
		t.link.Counts.Errors++
		t.reopenAt = t.retry.Failed(now, t.log, err)
		t.part(now)
	}
}

// identify searches for other hardware on the port after a setup that has failed by err: for
// each that a client asked for, and mostSearches times for an always-on driver.
func (t *Transport) identify(err error) {
	if t.state != off || t.searches >= mostSearches && t.link.AlwaysOn() {
		return // a client has begun another setup, or all is known
	}
	t.searches++
	t.link.Host().Identify(t.Protocol.Address, func(_ time.Duration, f devices.Finding) {
		if f.Kind != "" && f != t.other {
			t.log.Warn("other hardware answers on the port", zap.Stringer("found", f), zap.String("advice", t.advice(f.Kind)))
		}
		t.other, t.searches = f, mostSearches
		t.link.Explain(fmt.Errorf("%s: %w", t.Protocol.Address, t.hinted(err)))
	})
}

// hinted adds to an error the kind of hardware that answered instead.
func (t *Transport) hinted(err error) error {
	if t.other.Kind == "" {
		return err
	}
	return fmt.Errorf("%s answered here, at %d baud: %s; %w", t.other.Kind, t.other.Baud, t.advice(t.other.Kind), err)
}

// advice returns a sentence for the user about hardware of another kind than the driver's.
func (t *Transport) advice(kind string) string {
	switch {
	case kind == t.link.Name():
		return "try again"
	case t.link.HasDriver(kind):
		return fmt.Sprintf("swap the ports of %s and %s", t.link.Name(), kind)
	}
	return "is it the right port?"
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
	t.port, t.line, t.wake, t.failure, t.unanswered = nil, nil, 0, nil, false
}

// next is the earliest deadline, zero for none.
func (t *Transport) next() time.Duration {
	switch {
	case t.failure != nil:
		return t.failedAt
	case t.state == away:
		return t.reopenAt
	case t.state == up && (t.wake == 0 || t.heard+silence < t.wake):
		return t.heard + silence
	}
	return t.wake
}

func (t *Transport) arm() { t.link.WakeAt(t.next()) }

// noPort replaces a closed port.
type noPort struct{}

func (noPort) Write([]byte)     {}
func (noPort) LastWords([]byte) {}
func (noPort) Buffered() int    { return 0 }
func (noPort) Close()           {}
