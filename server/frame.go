package server

import (
	"math"
	"time"
)

// One frame, from the tick to write(2): timers.Ticks calls due when the frame is
// due, pacing calls send when it may go, AppendFrame copies the newest data of
// the client's devices, Write hands it to the kernel.

// due is called when a frame for a client is due. It is sent now, or when the
// client's turn comes on a network that is full (3.6).
func (s *Server) due(now time.Duration, c *client) {
	if c.pace.Waits() {
		c.skipped++ // the waiting frame answers this request, too
	}
	c.pace.Due(now, c.session.Asked() > 0)
	if c.pace.Waits() {
		s.watch(now, c)
	}
}

// send makes the frame of this moment and writes it, whole and in one write
// (1.6). It returns its size on the wire, zero if the session has nothing to send.
func (s *Server) send(now time.Duration, c *client) (size int) {
	if c.flush(now); c.gone { // a setup may have ended since the last settle
		return 0
	}
	asked := c.session.Asked()
	c.session.NetworkFull(c.pace.Full(now))
	s.scratch = c.session.AppendFrame(s.scratch[:0], now)
	if len(s.scratch) > 0 {
		size = c.conn.WireSize(len(s.scratch))
		c.live.SentFrame(now, size)
		c.frames.Count(now)
		c.bytes += uint64(len(s.scratch))
		c.conn.Write(s.scratch)
	}
	if c.live.Unconfirmed() && (c.period == 0 || size == 0) || c.live.Unheard(now) {
		s.watch(now, c) // pacing may not look in time whether the network is dead
	}
	if asked != 0 && c.session.Asked() == 0 {
		c.SessionChanged() // its period is another one
	}
	return size
}

// Unacknowledged implements pacing.Connection.
func (c *client) Unacknowledged() int {
	n := c.conn.Unacknowledged()
	c.live.Unacknowledged(n)
	return n
}

// Queued implements pacing.Connection.
func (c *client) Queued() bool { return c.conn.Queued() }

// Room implements pacing.Connection. A client that drives is sent no frame that its
// receive window has no room for (9.1).
func (c *client) Room() int {
	if !c.driving {
		return math.MaxInt
	}
	if c.live.RoomIsLow() {
		if info, err := c.conn.TCPInfo(); err == nil { // else the next write fails as well
			c.live.LookAtWindow(factsOf(info))
		}
	}
	return c.live.Room()
}
