package server

import (
	"math"
	"time"
)

// One frame, from the tick to write(2): timers.Ticks calls due when the frame is
// due, pacing calls send when it may go, AppendFrame copies the newest data of
// the client's devices, Write hands it to the kernel.

// due is called when a frame for a client is due. It is sent now, or when the
// client's turn comes on a link that is full (3.6).
func (s *Server) due(now time.Duration, c *client) {
	if c.pace.Waits() {
		c.skipped++ // one frame serves both
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
	c.session.LinkFull(c.pace.Full(now))
	s.scratch = c.session.AppendFrame(s.scratch[:0], now)
	if len(s.scratch) > 0 {
		size = c.conn.WireSize(len(s.scratch))
		c.frame, c.room, c.sent, c.unconfirmed = size, c.room-size, now, true
		c.frames.Count(now)
		c.bytes += uint64(len(s.scratch))
		c.conn.Write(s.scratch)
	}
	if c.unconfirmed && (c.period == 0 || size == 0 || now-c.heard > unheardLimit) {
		s.watch(now, c) // pacing may not look in time whether the link is dead
	}
	if asked != 0 && c.session.Asked() == 0 {
		c.SessionChanged() // its period is another one
	}
	return size
}

// Unacknowledged implements pacing.Connection.
func (c *client) Unacknowledged() int {
	n := c.conn.Unacknowledged()
	c.unacknowledged = n
	if n == 0 {
		c.unconfirmed, c.heard = false, max(c.heard, c.sent)
	}
	return n
}

// Queued implements pacing.Connection.
func (c *client) Queued() bool { return c.conn.Queued() }

// Room implements pacing.Connection. A commander is sent no frame that its
// receive window has no room for: with a frame that waits for room, the kernel
// asks for room instead of probing, up to two minutes apart, and a link that dies
// meanwhile would be found dead as late (9.1).
func (c *client) Room() int {
	if !c.commander {
		return math.MaxInt
	}
	if c.room < roomLow*c.frame {
		c.lookAtWindow()
	}
	if c.room >= c.largest { // a frame larger than the whole window goes in pieces
		return max(c.room, c.frame)
	}
	return c.room
}
