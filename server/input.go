package server

import (
	"slices"
	"time"

	"player/server/fair"
)

// Clients that send much wait for each other (package fair). The socket of a client that
// waits is not read: the rest of its input stays in the kernel.
const (
	// sliceFrames is how many frames that it asked for a client gets before others
	// are served. They take the loop a quarter of a millisecond, and one read may
	// ask for 800.
	sliceFrames = 32
	// roundLimit is how long clients are served before the loop serves its timers
	// and descriptors again. It is what a flood adds to the delay of other clients.
	serveLimit = time.Millisecond
)

// take carries out a client's input at once if it is little. Otherwise the input waits.
func (c *client) processOrQueue(now time.Duration, p []byte) {
	if c.fair.AtOnce(now, len(p)) {
		if c.more = c.process(now, p); !c.more {
			return
		}
		p = nil
	}
	c.input = append(c.input, p...)
	c.server.queueInput(now, c)
}

// process carries out input of a client: a slice, or the bytes that a descriptor received.
// All input goes this way. It reports whether more of it can be carried out.
func (c *client) process(now time.Duration, p []byte) (more bool) {
	if c.tls != nil && !c.session.More() { // else p is empty
		return c.processRecords(now, p)
	}
	c.session.Receive(now, p)
	return c.tls != nil || c.session.More()
}

// wait puts a client into the queue.
func (s *Server) queueInput(now time.Duration, c *client) {
	if c.fair.Waits() {
		return
	}
	c.conn.Pause()
	s.inputQueue.Push(&c.fair)
	if !s.inputTimer.Armed() {
		s.timers.Set(s.inputTimer, now)
	}
}

// serveInput serves the queue until no client waits or roundLimit has passed.
func (s *Server) serveInputs(now time.Duration) time.Duration {
	for end := s.loop.Now() + serveLimit; !s.inputQueue.Empty() && s.cutOffAt == 0; {
		s.serveClient(now)
		if s.loop.Now() >= end {
			return now
		}
	}
	return 0
}

// serveNext serves a slice of the next client's input and of the frames that it asked for.
func (s *Server) serveClient(now time.Duration) {
	c := s.inputQueue.Next()
	n := min(len(c.input), fair.SliceBytes)
	if c.more {
		n = 0
	}
	c.more = c.process(now, c.input[:n])
	c.input = slices.Delete(c.input, 0, min(n, len(c.input)))
	c.SessionChanged() // for the frames that it asked for
	s.settle(now)
	switch {
	case c.closed:
		return
	case len(c.input) > 0 || c.more:
		s.queueInput(now, c)
	case !c.fair.Waits():
		c.conn.Resume()
	}
	if c.fair.Served() == fair.Flood {
		s.floods.Warn(now, c.Log(), "client sends more than its share: its input waits while others are served")
	}
}

// forget removes a client that is gone from the queue.
func (s *Server) dropInput(c *client) {
	s.inputQueue.Leave(&c.fair)
	c.more, c.input = false, nil
}
