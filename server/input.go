package server

import (
	"slices"
	"time"

	"player/server/fair"
)

// Clients that send much wait in a fair queue (package fair). The socket of a client in the queue
// is not read: the rest of its input stays in the kernel.
const (
	// sliceFrames is how many requested frames a client gets before others are served.
	// They take the loop a quarter of a millisecond. A client can request 800 frames in
	// one read.
	sliceFrames = 32
	// serveLimit is how long the queue is served before the loop serves its timers and
	// descriptors again. A flood delays other clients by this much.
	serveLimit = time.Millisecond
)

// processOrQueue carries out a client's input at once if it is little. Otherwise the client waits
// in the queue with the input.
func (c *client) processOrQueue(now time.Duration, p []byte) {
	if !c.holdsRecords() && c.fair.AtOnce(now, len(p)) {
		if c.more = c.process(now, p); !c.more {
			return
		}
		p = nil
	}
	c.input = append(c.input, p...)
	c.server.queueInput(now, c)
}

// holdsRecords reports whether records of the client have to wait: they are decrypted when the session has no input
// left. A setup that ends may leave it some.
func (c *client) holdsRecords() bool { return c.tls != nil && c.session.More() }

// process carries out input of a client: a slice, or bytes that have just come. All input passes
// through it. It reports whether the session or TLS has input left.
func (c *client) process(now time.Duration, p []byte) (more bool) {
	if c.tls != nil && !c.session.More() { // while the session has input left, p is empty
		return c.processRecords(now, p)
	}
	c.session.Receive(now, p)
	return c.tls != nil || c.session.More()
}

// queueInput puts a client into the queue and pauses its connection.
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

// serveInputs serves the queue until it is empty or serveLimit has passed.
func (s *Server) serveInputs(now time.Duration) time.Duration {
	for end := s.loop.Now() + serveLimit; !s.inputQueue.Empty() && s.cutOffAt == 0; {
		s.serveClient(now)
		if s.loop.Now() >= end {
			return now
		}
	}
	return 0
}

// serveClient serves the next client of the queue: a slice of its input, and frames that it asked
// for.
func (s *Server) serveClient(now time.Duration) {
	c := s.inputQueue.Next()
	n := min(len(c.input), fair.SliceBytes)
	if c.more || c.holdsRecords() {
		n = 0
	}
	c.more = c.process(now, c.input[:n])
	c.input = slices.Delete(c.input, 0, min(n, len(c.input)))
	c.SessionChanged() // settle sends the frames that it asked for
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
		s.floods.Warn(now, c.Log(), LogFloods)
	}
}

// dropInput removes a client whose connection is closed from the queue.
func (s *Server) dropInput(c *client) {
	s.inputQueue.Leave(&c.fair)
	c.more, c.input = false, nil
}
