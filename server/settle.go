package server

import (
	"time"

	"player/timers"
)

// settle carries out the decisions of the sessions since the last settle. A write that fails
// closes its connection within the call, which may change other sessions.
func (s *Server) settle(now time.Duration) {
	s.continueShutdown(now)
	for i := 0; i < len(s.unsettled); i++ {
		c := s.unsettled[i]
		c.unsettled = false
		if !c.closed {
			s.settleClient(now, c)
		}
	}
	clear(s.unsettled)
	s.unsettled = s.unsettled[:0]
}

// settleClient writes the client's replies, disconnects it after an error, and sets its tick and
// timers.
func (s *Server) settleClient(now time.Duration, c *client) {
	c.flush(now)
	if err := c.session.Err(); err != nil && !c.closed {
		s.disconnect(now, c, err)
	}
	s.sendAsked(now, c)
	if c.closed {
		return
	}
	if c.pace.Waits() {
		c.session.Collapse()
	}
	if c.session.More() {
		c.more = true
		s.queueInput(now, c)
	}
	s.schedule(now, c, c.session.Period())
	if c.live.Unconfirmed() && c.period == 0 {
		s.watch(now, c)
	}
	s.watchMover(now, c)
	if at := c.session.Lapses(); at != 0 {
		if c.lapseTimer == nil {
			c.lapseTimer = timers.NewTimer(c.session.Lapse)
		}
		s.timers.Set(c.lapseTimer, at)
	}
}

// flush writes the session's replies.
func (c *client) flush(now time.Duration) {
	out := c.session.Output()
	if len(out) == 0 {
		return
	}
	c.conn.Write(out)
	c.session.Flushed()
	c.live.Sent(now)
	if !c.closed && c.conn.Buffered() > maxReplies {
		c.server.disconnect(now, c, errNotReading)
	}
}

// sendAsked sends the frames that a client asked for (4.3), at most sliceFrames of them. For the
// rest the client waits in the queue.
func (s *Server) sendAsked(now time.Duration, c *client) {
	for n := 0; !c.closed && !c.pace.Waits() && c.session.Asked() > 0; n++ {
		if n == sliceFrames {
			s.queueInput(now, c)
			return
		}
		before := c.session.Asked()
		s.frameDue(now, c)
		if c.session.Asked() == before { // it waits for a device's first data
			return
		}
	}
}

// schedule puts a client on a tick of the given period, zero for none.
func (s *Server) schedule(now time.Duration, c *client, period time.Duration) {
	if c.period == period {
		return
	}
	if c.tick != nil {
		s.ticks.Leave(c, c.tick)
		c.tick = nil
	}
	if c.period = period; period != 0 {
		c.tick = s.ticks.Join(c, period, now)
	}
}
