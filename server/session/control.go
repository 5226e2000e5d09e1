package session

import (
	"time"

	"player/config/rights"
	"player/timers/limited"
)

// controlTime is how long a client remains the commander after its last command, with control
// "first". Clients command at 10 Hz or more. A client that has vanished without closing its
// connection keeps the others from commanding for that time.
const controlTime = time.Second

// Control knows the commander of a robot: the client that has commanded position last and is still
// connected. All sessions of the robot have the same Control.
type Control struct {
	// First lets the commander keep control until it has not commanded for a second, has
	// disconnected, or a client with the right rights.Take commands. Otherwise the newest
	// command counts, like in the original Player.
	First bool

	commander *Session      // nil: none
	passed    uint64        // how often the commander has changed
	at        time.Duration // when it has commanded last
	changes   limited.Line
}

// IsCommander reports whether s is the session of the commander.
func (c *Control) IsCommander(s *Session) bool { return c.commander == s }

// Passed returns how often the commander has changed, to another client or to none.
func (c *Control) Passed() uint64 { return c.passed }

// claim reports whether s may command position now. If it may, it is the commander from now on.
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

// refuses reports whether s may not command position now, because another client is the commander
// and keeps control.
func (c *Control) refuses(now time.Duration, s *Session) bool {
	return c.First && c.commander != nil && c.commander != s && now-c.at < controlTime && !s.rights.Has(rights.Take)
}

// passTo makes a session the commander.
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

// resign ends the control of s: it is not the commander from now on.
func (c *Control) resign(s *Session) {
	if c.commander == s {
		c.commander = nil
		c.passed++
	}
}
