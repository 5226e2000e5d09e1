package session

import (
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// Limit sets the longest time for which a command of the client to position is good,
// for commands to come. Zero is for ever.
func (s *Session) Limit(longest time.Duration) {
	s.longest = longest
	s.setLifetime(0)
}

// setLifetime sets for how long the client's commands are good (4.10).
func (s *Session) setLifetime(arg uint16) {
	s.yields = arg != 0
	s.lifetime = 0
	if arg != codec.LifetimeEndless {
		s.lifetime = time.Duration(arg) * time.Millisecond
	}
	if s.longest != 0 && (s.lifetime == 0 || s.lifetime > s.longest) {
		s.lifetime = s.longest
	}
}

// renew begins the lifetime of the client's newest command anew.
func (s *Session) renew(now time.Duration) {
	s.lapses = 0
	for i := range s.slots {
		p := &s.slots[i]
		stop := p.device.Spec().Stop
		if s.lifetime != 0 && stop != "" && p.isNewest() && string(p.device.Command()) != stop {
			s.lapses = now + s.lifetime
		}
	}
}

// gave begins the lifetime of a command that the client has just given.
func (s *Session) gave(stops bool) {
	before := s.lapses
	s.lapses = 0
	if s.lifetime == 0 || stops {
		return
	}
	if s.lapses = s.heard + s.lifetime; before == 0 {
		s.changed()
	}
}

// isNewest reports whether the newest command of p's device is of this client.
func (p *slot) isNewest() bool { return p.command != 0 && p.command == p.device.Commands() }

// Lapses returns when Lapse is due, zero for never. The owner is notified when it was
// never before, or is earlier.
func (s *Session) Lapses() time.Duration { return s.lapses }

// Lapse ends what the client drives if it has not repeated its command in time, as if
// the client had left (5.5). It returns when it is due again, zero for never.
func (s *Session) Lapse(now time.Duration) time.Duration {
	if now < s.lapses || s.lapses == 0 {
		return s.lapses
	}
	if s.stopAll(now) {
		s.complain(now, "no new command in time, what the client drives is stopped", zap.Duration("lifetime", s.lifetime))
	}
	s.lapses = 0
	s.control.leave(s)
	return 0
}
