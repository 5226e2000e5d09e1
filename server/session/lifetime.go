package session

import (
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// lifetime is for how long the client's commands to position are good (4.10, 5.5).
type lifetime struct {
	longest time.Duration // the longest lifetime that the robot allows; zero: for ever
	length  time.Duration // of this client's commands, at most longest; zero: for ever
	yields  bool          // its stop does not stop a device that another client commands (5.5)
	heard   time.Duration // when the message was received that is being carried out
	ends    time.Duration // when the client's command ends unless repeated, zero: never
}

// set sets the length (4.10).
func (l *lifetime) set(arg uint16) {
	l.yields = arg != 0
	l.length = 0
	if arg != codec.LifetimeEndless {
		l.length = time.Duration(arg) * time.Millisecond
	}
	if l.longest != 0 && (l.length == 0 || l.length > l.longest) {
		l.length = l.longest
	}
}

// isOver reports whether the command that is being carried out is too old.
func (l *lifetime) isOver(now time.Duration) bool { return l.length != 0 && now-l.heard >= l.length }

// begin begins the lifetime of a command that the client has just given. It reports whether Lapse is
// to be scheduled: the command before had no lifetime.
func (l *lifetime) begin(stops bool) (first bool) {
	before := l.ends
	l.ends = 0
	if l.length == 0 || stops {
		return false
	}
	l.ends = l.heard + l.length
	return before == 0
}

// renew begins the lifetime of the client's newest command anew, when its message was received: a message that has
// waited for a setup proves no more than that the client was there then.
func (l *lifetime) renew(all slots) {
	l.ends = 0
	for i := range all {
		sl := &all[i]
		stop := sl.device.Spec().Stop
		if l.length != 0 && stop != "" && sl.isNewest() && string(sl.device.Command()) != stop {
			l.ends = l.heard + l.length
		}
	}
}

// Limit sets the longest lifetime of the client's later commands to position. Zero is for ever.
func (s *Session) Limit(longest time.Duration) {
	s.lifetime.longest = longest
	s.lifetime.set(0)
}

// Lapses returns when Lapse is due, zero for never. The owner is notified when that changes from
// never, or to an earlier time.
func (s *Session) Lapses() time.Duration { return s.lifetime.ends }

// Lapse stops the devices that the client commands if it has not repeated its command in time, like
// the loss of the client does (5.5). It returns when it is due again, zero for never.
func (s *Session) Lapse(now time.Duration) time.Duration {
	if at := s.lifetime.ends; now < at || at == 0 {
		return at
	}
	if s.stopCommanded(now) {
		s.complain(now, LogExpired, zap.Duration("lifetime", s.lifetime.length))
	}
	s.lifetime.ends = 0
	s.control.resign(s)
	return 0
}
