package server

import (
	"time"

	"player/timers"
)

// settle carries out what sessions have decided since the last settle. A write that fails
// closes its connection within the call, which may change other sessions.
func (s *Server) settle(now time.Duration) {
	s.goOn(now)
	for i := 0; i < len(s.changed); i++ {
		c := s.changed[i]
		c.changed = false
		if !c.gone {
			s.settleClient(now, c)
		}
	}
	clear(s.changed)
	s.changed = s.changed[:0]
}

func (s *Server) settleClient(now time.Duration, c *client) {
	c.flush(now)
	if err := c.session.Err(); err != nil && !c.gone {
		s.end(now, c, err)
	}
	s.sendAsked(now, c)
	if c.gone {
		return
	}
	if c.pace.Waits() {
		c.session.Collapse()
	}
	if c.session.More() {
		c.more = true
		s.wait(now, c)
	}
	s.schedule(now, c, c.session.Period())
	if c.live.Unconfirmed() && c.period == 0 {
		s.watch(now, c)
	}
	s.watchDriving(now, c)
	if at := c.session.Lapses(); at != 0 {
		if c.lapse == nil {
			c.lapse = timers.NewTimer(c.session.Lapse)
		}
		s.timers.Set(c.lapse, at)
	}
}

// flush writes the replies that are due.
func (c *client) flush(now time.Duration) {
	out := c.session.Output()
	if len(out) == 0 {
		return
	}
	c.conn.Write(out)
	c.session.Flushed()
	c.live.Sent(now)
	if !c.gone && c.conn.Buffered() > maxReplies {
		c.server.end(now, c, errNotReading)
	}
}

// sendAsked sends the frames that a client asked for (4.3), as many as a slice
// has.
func (s *Server) sendAsked(now time.Duration, c *client) {
	for n := 0; !c.gone && !c.pace.Waits() && c.session.Asked() > 0; n++ {
		if n == sliceFrames {
			s.wait(now, c)
			return
		}
		before := c.session.Asked()
		s.due(now, c)
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
