package server

import (
	"net/netip"
	"slices"
	"time"

	"go.uber.org/zap"
)

// How clients share the loop. There are no limits of rate: a client may ask for as
// much as the loop can do. A client that sends a little is served when it comes.
// One that sends more than a slice at once, or anything behind a request that has
// opened or closed devices, waits for its turns, and meanwhile its connection is not
// read: what else it has sent stays in the kernel.
const (
	// sliceBytes is how much of a client's input is carried out before others are
	// served: 64 commands, or one message of the largest size. It takes the loop
	// about 50 us.
	sliceBytes = 512
	// sliceFrames is how many frames that it asked for a client gets before others
	// are served. They take the loop a quarter of a millisecond, and one read may
	// ask for 800.
	sliceFrames = 32
	// turnsLimit is how long clients get turns before the loop looks at its timers
	// and descriptors again. It is what a flood adds to the delay of other clients.
	turnsLimit = time.Millisecond
	// addressBytes is how much input of all clients of an address is carried out
	// when it comes, in each addressPeriod: 1000 clients that send 250 commands a
	// second each. Without it, many clients with a little input each would take the
	// loop from the clients of other addresses.
	addressBytes  = 4 << 10
	addressPeriod = 2 * time.Millisecond
	// floodTurns is how many turns a client must take before its flood is logged:
	// 64 KiB of input, far more than a program sends that has something to say.
	floodTurns = 128
)

// address is a computer that clients connect from. It has one turn at a time,
// however many clients it has.
type address struct {
	from    netip.Addr
	clients int
	waiting []*client // in turn

	period time.Duration // when the current addressPeriod began
	spent  int           // bytes carried out in it when they came
}

// allow reports whether n bytes of input may be carried out now, without a turn.
func (a *address) allow(now time.Duration, n int) bool {
	if now-a.period >= addressPeriod {
		a.period, a.spent = now, 0
	}
	a.spent += n
	return a.spent <= addressBytes
}

// take carries out a client's input at once if it is little, otherwise in turns.
func (c *client) take(now time.Duration, p []byte) {
	if !c.waits && len(p) <= sliceBytes && c.address.allow(now, len(p)) {
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
	if c.waits {
		return
	}
	c.waits = true
	c.conn.Pause()
	if len(c.address.waiting) == 0 {
		s.queue = append(s.queue, c.address)
	}
	c.address.waiting = append(c.address.waiting, c)
	if !s.turns.Armed() {
		s.timers.Set(s.turns, now)
	}
}

// serveTurns gives turns until nobody waits or turnsLimit has passed.
func (s *Server) serveTurns(now time.Duration) time.Duration {
	for end := s.loop.Now() + turnsLimit; len(s.queue) > 0 && s.stopAt == 0; {
		s.nextTurn(now)
		if s.loop.Now() >= end {
			return now
		}
	}
	return 0
}

// nextTurn gives the next address a turn, and in it the client that has waited
// longest.
func (s *Server) nextTurn(now time.Duration) {
	a := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	c := a.waiting[0]
	a.waiting = slices.Delete(a.waiting, 0, 1)
	if len(a.waiting) > 0 {
		s.queue = append(s.queue, a)
	}
	s.turn(now, c)
}

// turn serves a slice of a client's input and of the frames that it asked for.
func (s *Server) turn(now time.Duration, c *client) {
	c.waits = false
	n := min(len(c.input), sliceBytes)
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
	case !c.waits:
		c.conn.Resume()
	}
	if c.taken++; c.taken == floodTurns {
		if repeats, ok := s.floods.Allow(now); ok {
			c.Log().Warn("client sends more than its share: its input waits while others are served",
				zap.Int("others since the last line", repeats))
		}
	}
}

// forget removes a client that is gone from the turns.
func (s *Server) forget(c *client) {
	a := c.address
	c.waits, c.more, c.input = false, false, nil
	a.waiting = slices.DeleteFunc(a.waiting, func(o *client) bool { return o == c })
	if len(a.waiting) == 0 {
		s.queue = slices.DeleteFunc(s.queue, func(o *address) bool { return o == a })
	}
}
