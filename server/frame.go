package server

import (
	"math"
	"time"

	"player/server/pacing"
	"player/timers"
)

// One frame, from the tick to write(2): timers.Ticks calls frameDue, pacing answers when the
// frame may go, AppendFrame copies the newest data of the client's devices, and Write hands the
// frame to the kernel.

// frameDue is called when a frame for a client is due, by its rate or its request. The frame is
// sent now, or when the client is next in the queue of a network that is full (3.6).
func (s *Server) frameDue(now time.Duration, c *client) {
	if c.pace.Waits() {
		c.skipped++ // the frame that waits already replaces this one
	}
	s.applyAnswer(now, c, c.pace.Due(now, c.session.Asked() > 0))
	if c.pace.Waits() {
		s.watch(now, c)
	}
}

// applyAnswer carries out an answer of pacing.
func (s *Server) applyAnswer(now time.Duration, c *client, answer pacing.Answer) {
	switch answer {
	case pacing.Now:
		c.pace.Sent(now, s.sendFrame(now, c))
	case pacing.Later:
		if !c.network.pollTimer.Armed() {
			s.timers.Set(c.network.pollTimer, now+pacing.PollPeriod)
		}
	case pacing.Aside:
		if c.retryTimer == nil {
			c.retryTimer = timers.NewTimer(func(now time.Duration) time.Duration { return s.retry(now, c) })
		}
		if !c.retryTimer.Armed() {
			s.timers.Set(c.retryTimer, c.pace.RetryAt(now))
		}
	}
}

// retry checks again whether a client that was set aside keeps up.
func (s *Server) retry(now time.Duration, c *client) time.Duration {
	answer := c.pace.Retry(now)
	if answer == pacing.Aside {
		return c.pace.RetryAt(now)
	}
	s.applyAnswer(now, c, answer)
	return 0
}

// serveNetwork sends frames to the clients in the queue of a network until the network is full. It
// returns when to go on, zero if no client is in the queue.
func (s *Server) serveNetwork(now time.Duration, n *network) time.Duration {
	n.pacing.Poll(now)
	for c, answer, ok := n.pacing.Next(now); ok; c, answer, ok = n.pacing.Next(now) {
		s.applyAnswer(now, c.(*client), answer)
	}
	if !n.pacing.Waits() {
		return 0
	}
	return now + pacing.PollPeriod
}

// sendFrame makes a frame of the newest data and writes it whole, in one write (1.6). It returns
// the frame's size on the wire, zero if the session has nothing to send.
func (s *Server) sendFrame(now time.Duration, c *client) (size int) {
	if c.flush(now); c.closed { // a setup may have ended since the last settle
		return 0
	}
	asked := c.session.Asked()
	c.session.SetCongested(c.pace.Congested(now))
	s.scratch = c.session.AppendFrame(s.scratch[:0], now)
	if len(s.scratch) > 0 {
		size = c.conn.WireSize(len(s.scratch))
		c.live.SentFrame(now, size)
		c.frames.Count(now)
		c.bytes += uint64(len(s.scratch))
		c.conn.Write(s.scratch)
	}
	if c.live.Unconfirmed() && (c.period == 0 || size == 0) || c.live.Unheard(now) {
		s.watch(now, c) // pacing may not find in time that the network is dead
	}
	if asked != 0 && c.session.Asked() == 0 {
		c.SessionChanged() // its period has changed: see Session.Period
	}
	return size
}

// unacknowledged returns how many bytes the client has not acknowledged.
func (c *client) unacknowledged() int {
	n := c.conn.Unacknowledged()
	c.live.Unacknowledged(n)
	return n
}

// Queued implements pacing.Connection.
func (c *client) Queued() bool { return c.conn.Queued() }

// Backlog implements pacing.Connection. A mover is sent no frame that its receive window has no
// room for (9.1).
func (c *client) Backlog() (unacknowledged, room int) {
	unacknowledged = c.unacknowledged()
	if !c.mover {
		return unacknowledged, math.MaxInt
	}
	if c.live.RoomIsLow() {
		if info, err := c.conn.TCPInfo(); err == nil { // else the next write fails as well
			c.live.UpdateWindow(factsOf(info))
		}
	}
	return unacknowledged, c.live.Room()
}
