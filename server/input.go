package server

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"player/server/fair"
)

// How clients share the loop (package fair). The socket of a client that waits for its
// turn is not read: the rest of its input stays in the kernel.
const (
	// sliceFrames is how many frames that it asked for a client gets before others
	// are served. They take the loop a quarter of a millisecond, and one read may
	// ask for 800.
	sliceFrames = 32
	// turnsLimit is how long clients get turns before the loop looks at its timers
	// and descriptors again. It is what a flood adds to the delay of other clients.
	turnsLimit = time.Millisecond
)

// take carries out a client's input at once if it is little, otherwise in turns.
func (c *client) take(now time.Duration, p []byte) {
	if c.turn.AtOnce(now, len(p)) {
		if c.more = c.carryOut(now, p); !c.more {
			return
		}
		p = nil
	}
	c.input = append(c.input, p...)
	c.server.wait(now, c)
}

// wait makes a client wait for its turn.
func (s *Server) wait(now time.Duration, c *client) {
	if c.turn.Waits() {
		return
	}
	c.conn.Pause()
	s.queue.Wait(&c.turn)
	if !s.turns.Armed() {
		s.timers.Set(s.turns, now)
	}
}

// serveTurns gives turns until nobody waits or turnsLimit has passed.
func (s *Server) serveTurns(now time.Duration) time.Duration {
	for end := s.loop.Now() + turnsLimit; !s.queue.Empty() && s.stopAt == 0; {
		s.nextTurn(now)
		if s.loop.Now() >= end {
			return now
		}
	}
	return 0
}

// nextTurn serves a slice of the next client's input and of the frames that it asked for.
func (s *Server) nextTurn(now time.Duration) {
	c := s.queue.Next()
	n := min(len(c.input), fair.SliceBytes)
	if c.more {
		n = 0
	}
	c.more = c.carryOut(now, c.input[:n])
	c.input = slices.Delete(c.input, 0, min(n, len(c.input)))
	c.SessionChanged() // for the frames that it asked for
	s.settle(now)
	switch {
	case c.gone:
		return
	case len(c.input) > 0 || c.more:
		s.wait(now, c)
	case !c.turn.Waits():
		c.conn.Resume()
	}
	if c.turn.Taken() == fair.Flood {
		if repeats, ok := s.floods.Allow(now); ok {
			c.Log().Warn("client sends more than its share: its input waits while others are served",
				zap.Int("others since the last line", repeats))
		}
	}
}

// forget removes a client that is gone from the turns.
func (s *Server) forget(c *client) {
	s.queue.Leave(&c.turn)
	c.more, c.input = false, nil
}
