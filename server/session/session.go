// Package session is the state of one client's connection: all that ends with it. Bytes in, bytes
// out: it has no socket and reads no clock. Numbers in comments are clauses of docs/PROTOCOL.md.
package session

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/config/rights"
	"player/devices"
	"player/timers/limited"
)

// Messages of the log, by which tests find lines.
const (
	LogAccessRefused = "access refused"
	LogExpired       = "no new command in time, the client's wheels are stopped"
)

const (
	// DefaultRate is the frame rate of a client that sets none, in Hz (manual
	// 3.6). Old clients depend on it: their control loops run at this rate.
	DefaultRate = 10
	// maxMalformed is the number of malformed messages in a row that ends a
	// connection (1.5): such a client does not speak the protocol.
	maxMalformed = 100
)

// Reasons to close a connection.
var (
	ErrForeign   = errors.New("this is not a Player client")
	ErrMalformed = errors.New("100 malformed messages in a row: this is not a Player client")
	errClosed    = errors.New("session is closed")
)

// Owner is notified when a session has something for its connection: output,
// an error, or a new schedule. It may be notified more than once for the same
// change.
type Owner interface {
	SessionChanged()
	// WatchEnd is called before the client's first command that moves something. From then on the
	// owner calls Leave when the client ends its connection, before any input that waits is carried
	// out. If the client has ended it already, the owner calls Leave within WatchEnd.
	WatchEnd(now time.Duration)
	// Silent reports whether the client is silent now. The session calls it after Halt, before a
	// command that moves something.
	Silent(now time.Duration) bool
	// String names the client, for people.
	String() string
	// Log returns a logger that names the client. It is called only when there
	// is something to log, so that most clients need no logger.
	Log() *zap.Logger
}

// Session is the state of one client.
type Session struct {
	owner   Owner
	table   *devices.Table
	maxRate int // Hz
	rights  rights.Set
	control *Control
	name    string // the name that the client gave itself
	path    string // the links that wait for the client (8.7)
	counts  Counts

	input    input
	lifetime lifetime
	frames   frames

	malformed int  // malformed messages in a row
	spoken    bool // at least one message was well formed
	slots     slots
	freshness access // of device y (8.1)
	agesShown bool   // it is read, and a reply has said so

	requests      uint64 // so far, with the current one
	request       []byte // the pairs of the current request, or of the last reply
	accessChanged bool   // of access, by the current request
	knowsCodes    bool   // the client has asked which devices there are (8.9.5)
	logged        string // Access when it was logged last

	watched bool // WatchEnd was called
	ended   bool // the client has ended its connection; its input may still come
	silent  bool // since Halt; earlier input of the client may still come

	output     []byte
	err        error
	complaints limited.Line
}

// New returns the session of a client that has just connected. maxRate is the
// highest frame rate, in Hz.
func New(owner Owner, table *devices.Table, maxRate int) *Session {
	return &Session{
		owner:   owner,
		table:   table,
		maxRate: maxRate,
		rights:  rights.All,
		control: &Control{},
		frames:  frames{period: time.Second / time.Duration(min(DefaultRate, maxRate))},
	}
}

// Restrict sets the client's rights (2.10), for requests to come. An unrestricted
// session has rights.All.
func (s *Session) Restrict(to rights.Set) { s.rights = to }

// SetControl sets the control of the robot, which is the same for all its clients. Call it
// before Receive. Otherwise the session has one of its own.
func (s *Session) SetControl(c *Control) { s.control = c }

// permits reports whether the client may have a device in the given state.
func (s *Session) permits(a access) bool {
	return (!a.reads() || s.rights.Has(rights.Read)) && (!a.writes() || s.rights.Has(rights.Write))
}

// open carries out a device request (2). The reply is made when all setups that the request has
// started have ended.
func (s *Session) open(now time.Duration, pairs []byte) {
	s.requests++
	s.request = append(s.request[:0], pairs...)
	for i := 0; i+1 < len(pairs); i += 2 {
		s.changeAccess(now, pairs[i], pairs[i+1])
	}
	if s.input.setups == 0 {
		s.reply(now)
		return
	}
	s.notify() // it may be a mover from now on: its commands wait, and must not move anything if it vanishes meanwhile
}

// changeAccess changes the client's access to one device as the request want says.
func (s *Session) changeAccess(now time.Duration, letter, want byte) {
	if letter == codec.Server {
		s.freshness = s.freshness.after(want)
		return
	}
	device := s.table.Device(letter)
	if device == nil {
		which := zap.String("letter", string(rune(letter)))
		if removed := s.table.Removed(letter); removed != "" {
			which = zap.String("device", removed)
		}
		s.complain(now, "no such device", which)
		return
	}
	sl := s.slots.of(device)
	if sl == nil {
		if none.after(want) == none {
			s.complain(now, "cannot close a device that is not open, or unknown access", zap.String("device", device.Spec().Name), zap.Uint8("access", want))
			return
		}
		s.slots = append(s.slots, slot{device: device})
		sl = &s.slots[len(s.slots)-1]
	}
	before, after := sl.access, sl.access.after(want)
	if !s.permits(after) {
		s.complain(now, LogAccessRefused, zap.String("device", device.Spec().Name), zap.String("access", string(rune(want))), zap.Stringer("rights", s.rights))
		after, sl.why = failed, errRight
	}
	if before.writes() && !after.writes() {
		s.stopDevice(now, sl)
		if device.Spec().Wheels {
			s.control.resign(s)
		}
	}
	sl.access = after
	s.accessChanged = s.accessChanged || before != after
	switch {
	case !before.open() && after.open():
		s.subscribe(now, sl)
	case before.open() && !after.open():
		s.unsubscribe(now, sl)
	}
}

func (s *Session) subscribe(now time.Duration, sl *slot) {
	s.input.changedDevices = true
	if sl.tried == s.requests {
		sl.access = failed
		return
	}
	pending, err := sl.device.Subscribe(now, s)
	if errors.Is(err, devices.ErrSwitchedOff) || errors.Is(err, devices.ErrRing) {
		s.complain(now, LogAccessRefused, zap.String("device", sl.device.Spec().Name), zap.Error(err))
	}
	if err != nil {
		sl.access, sl.why, sl.tried = failed, err, s.requests
		return
	}
	sl.since = now
	if sl.pending = pending; pending {
		s.input.setups++
	}
}

func (s *Session) unsubscribe(now time.Duration, sl *slot) {
	s.input.changedDevices = true
	if sl.pending {
		sl.pending = false
		s.input.setups--
	}
	sl.device.Unsubscribe(now, s)
}

// Path returns the links for which the client waits (8.7).
func (s *Session) Path() string { return s.path }

// SetupDone implements devices.Subscriber: a setup that this client waits for
// has ended.
func (s *Session) SetupDone(now time.Duration, d *devices.Device, err error) {
	sl := s.slots.of(d)
	if sl == nil || !sl.pending {
		return
	}
	sl.pending = false
	sl.since = now
	if err != nil {
		sl.access, sl.why = failed, err
	}
	if s.input.setups--; s.input.setups > 0 {
		return
	}
	s.reply(now)
	s.Receive(now, nil)
	s.notify()
}

// reply answers the current request with the access to its devices after the whole request (2.4).
func (s *Session) reply(now time.Duration) {
	s.agesShown = s.freshness.reads()
	for i := range s.slots {
		s.slots[i].shown = s.slots[i].access.reads()
	}
	pairs := s.request
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i+1] = s.state(pairs[i]).reply()
	}
	s.output = codec.AppendBlock(s.output, codec.KindReply, pairs)
	s.logAccess()
	s.awaitNews(now)
	s.notify()
}

// logAccess logs which devices the client has open, if that has changed.
func (s *Session) logAccess() {
	if !s.accessChanged {
		return
	}
	s.accessChanged = false
	open := s.Access()
	if open == s.logged {
		return
	}
	s.logged = open
	if open == "" {
		s.owner.Log().Info("client has no device open")
		return
	}
	s.owner.Log().Info("client has devices open", zap.String("devices", open))
}

// state returns the client's access to the device of a letter.
func (s *Session) state(letter byte) access {
	if letter == codec.Server {
		return s.freshness
	}
	if sl := s.slots.of(s.table.Device(letter)); sl != nil {
		return sl.access
	}
	return none
}

// Close ends the session: it stops the devices that the client commands (5.4), and ends its
// subscriptions.
func (s *Session) Close(now time.Duration) {
	s.Halt(now)
	s.control.resign(s)
	for i := range s.slots {
		if sl := &s.slots[i]; sl.access.open() {
			s.unsubscribe(now, sl)
			sl.access = closed
		}
	}
	s.awaitNews(now)
	s.err = errors.Join(s.err, errClosed)
}

// Halt stops the devices that this client commands, and keeps its access: the client is silent but
// still connected (9.1). Its earlier commands would move the robot again. So commands that wait for
// a setup are dropped, and so are commands that come while the client is silent.
func (s *Session) Halt(now time.Duration) {
	s.input.stale, s.silent = s.input.waits(), true
	s.stopCommanded(now)
}

// stopCommanded stops the devices whose newest command is this client's. It reports whether there
// was one.
func (s *Session) stopCommanded(now time.Duration) (stopped bool) {
	for i := range s.slots {
		if sl := &s.slots[i]; sl.access.writes() && s.stopDevice(now, sl) {
			stopped = true
		}
	}
	return stopped
}

// Leave stops the devices that this client commands when it has ended its connection. Its earlier
// input is still answered, but moves nothing any more (5.4).
func (s *Session) Leave(now time.Duration) {
	s.ended = true
	s.stopCommanded(now)
	s.control.resign(s)
}

// isAbsent reports whether the client has ended its connection, or is silent since Halt. It is
// called before a command that moves something, so it has the owner watch the connection's end.
func (s *Session) isAbsent(now time.Duration) bool {
	if !s.watched {
		s.watched = true
		s.owner.WatchEnd(now)
	}
	s.silent = s.silent && s.owner.Silent(now)
	return s.ended || s.silent
}

// stopDevice gives a device its stop command (5.4) if its newest command is this client's. It
// reports whether it did.
func (s *Session) stopDevice(now time.Duration, sl *slot) (stopped bool) {
	stop := sl.device.Spec().Stop
	if stopped = stop != "" && sl.isNewest(); stopped {
		sl.device.SetCommand(now, []byte(stop))
		s.lifetime.ends = 0
	}
	sl.command = 0
	return stopped
}

// IsMover reports whether the client has write access to a device that must be stopped when the
// client is lost.
func (s *Session) IsMover() bool {
	return slices.ContainsFunc(s.slots, func(sl slot) bool { return sl.access.writes() && sl.device.Spec().Stop != "" })
}

// Uses reports whether the client has a device of a link open.
func (s *Session) Uses(l *devices.Link) bool {
	return slices.ContainsFunc(s.slots, func(sl slot) bool { return sl.access.open() && sl.device.Link() == l })
}

// Output returns the bytes to write to the client, whole and before any frame.
func (s *Session) Output() []byte { return s.output }

// Flushed empties Output after it was written.
func (s *Session) Flushed() { s.output = s.output[:0] }

// Err returns the reason to close the connection, or nil.
func (s *Session) Err() error { return s.err }

func (s *Session) fail(err error) {
	s.err = err
	s.notify()
}

func (s *Session) notify() { s.owner.SessionChanged() }

// complain logs a client's mistake, at most one message a second (1.5).
func (s *Session) complain(now time.Duration, what string, fields ...zap.Field) {
	s.complaints.Warn(now, s.owner.Log(), what, fields...)
}
