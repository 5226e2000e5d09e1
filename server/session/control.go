package session

import (
	"time"

	"player/config/rights"
	"player/timers/limited"
)

// controlTime is how long a client keeps control of a robot after its last command,
// with control "first". Clients command at 10 Hz or more; one that has ended without
// closing its connection delays the others that long.
const controlTime = time.Second

// Control knows who drives a robot: the client that has commanded its position last.
// All sessions of the robot have the same.
type Control struct {
	// First lets a client keep control until it has not commanded for a second, has
	// left, or a client with the right rights.Take commands. Otherwise the newest
	// command counts, as in the original.
	First bool

	commander *Session // nil: none
	passed    uint64   // how often it has changed
	at        time.Duration
	changes   limited.Line
}

// Holds reports whether a session is of the client that has control.
func (c *Control) IsCommander(s *Session) bool { return c.commander == s }

// Passed returns how often control has passed to another client, or to none.
func (c *Control) Passed() uint64 { return c.passed }

// take reports whether s may command position now. If so, it has control from now
// on.
func (c *Control) claim(now time.Duration, s *Session) bool {
	if c.commander != s {
		if c.refuses(now, s) {
			return false
		}
		c.passTo(now, s)
	}
	c.at = now
	return true
}

// refuses reports whether s may not command position now, because another client has
// control.
func (c *Control) refuses(now time.Duration, s *Session) bool {
	return c.First && c.commander != nil && c.commander != s && now-c.at < controlTime && !s.rights.Has(rights.Take)
}

func (c *Control) passTo(now time.Duration, to *Session) {
	from := c.commander
	c.passed++
	c.commander = to
	if !c.changes.Allow(now) {
		return
	}
	if from != nil {
		from.owner.Log().Info("client has lost control of position")
	}
	to.owner.Log().Info("client has taken control of position", c.changes.Suppressed())
}

// leave takes control from a client that has left.
func (c *Control) resign(s *Session) {
	if c.commander == s {
		c.commander = nil
		c.passed++
	}
}
