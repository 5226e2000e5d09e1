package server

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Faults of wireless networks, besides being slow: they lose packets, they die and come back, and
// clients roam.

// outage cuts a network for all of its clients, and later another one.
func (s *sim) outage() {
	w := s.wires[2+s.random.IntN(len(s.wires)-2)]
	lasts := s.wait(3 * time.Second)
	s.note("%s is dead for %v", w.name, lasts)
	s.summary.Outages++
	for _, c := range slices.Clone(s.clients) {
		if c.conn.wire == w && c.conn.handler != nil && c.left == 0 && !c.over {
			c.cutNetwork(lasts)
		}
	}
	s.later(anOutage, 0, 40*time.Second)
}

// roam takes the client to another network: the old connection ends without a word, and a new one comes
// from elsewhere.
func (c *simClient) roam() {
	s := c.sim
	s.summary.Roamed++
	c.vanish()
	c.roamed = true
	s.later(aClient, c.robot.index, 300*time.Millisecond)
}

// waitForSetup has commands of the client wait for a long setup. Then it cuts the client's network for so long that it is
// found silent, but is back before the end of the setup; commands with a lifetime wait until that is over, though their
// client goes on to send.
func (c *simClient) waitForSetup() {
	s := c.sim
	if scanner, ok := c.robot.scanner.(*simpleScanner); ok {
		scanner.run.slow = true
	}
	if c.robot.lease != 0 {
		c.request("palclr")
		c.commands(2)
		c.keepAsking()
		return
	}
	c.request("lclr")
	c.commands(2)
	c.request("")
	s.after(100*time.Millisecond, func() {
		if !c.over && c.left == 0 {
			c.cutNetwork(s.between(3*time.Second, 4*time.Second))
		}
	})
}

// A client asks for the wheels and for a scanner that takes long to start, commands, and vanishes: nothing moves when the
// scanner is ready (9.1).
func TestClientVanishesBehindASetup(t *testing.T) {
	const slowScanner = 3 // a seed whose first robot has a simulated scanner, no lease, and nothing in front of its wheels
	c := simulateOne(slowScanner, 256<<10)
	s, r := c.sim, c.robot
	r.scanner.(*simpleScanner).run.slow = true
	c.request("palr")
	s.run(s.now + time.Second)
	c.drive()
	s.run(s.now + 200*time.Millisecond)
	c.vanish()
	for range 100 {
		if s.run(s.now + 100*time.Millisecond); r.turns() {
			t.Fatalf("the wheels turn %v after it has vanished", s.now-c.downSince)
		}
	}
}

// keepAsking has the client send requests until all are answered.
func (c *simClient) keepAsking() {
	c.sim.after(100*time.Millisecond, func() {
		if !c.over && c.left == 0 && len(c.requests) > 0 {
			c.request("")
			c.keepAsking()
		}
	})
}

// foundSilent is called when the network of a client is cut: once the server must have found it silent,
// its waiting input is not carried out any more (9.1).
func (c *simClient) foundSilent() {
	const limit = stopTime + 500*time.Millisecond
	s, since, sent := c.sim, c.downSince, c.sent
	if c.conn.last > s.now || len(c.stalled) > 0 || c.conn.handler == nil {
		return
	}
	s.after(limit, func() {
		unread := c.conn.paused || len(c.conn.in) > 0
		if !c.down || c.downSince != since || c.over || !s.awake(limit) || s.now < s.busy || unread || !c.isMover() {
			return
		}
		for _, o := range c.ops {
			if o.message < sent && !o.stops && o.by == c {
				s.summary.Dropped++
				o.dropped, o.maybe = true, true
				o.end(s.now)
			}
		}
	})
}

// mayBeStale reports whether input that waits with a request may be dropped: the input that waits when the client is
// found silent is, with all further input until the setups have ended.
func (c *simClient) mayBeStale(r simRequest) bool {
	return c.down || c.downUntil != 0 && r.sent < c.downUntil+3*time.Second
}

// isMover reports whether the server surely knows that the client may drive.
func (c *simClient) isMover() bool {
	if !writes(c.access('p')) {
		return false
	}
	return !slices.ContainsFunc(c.requests, func(r simRequest) bool { return strings.Contains(r.pairs, "p") })
}

// resent returns how much later a packet comes because it, or one in front of it, was lost and sent again:
// the sender waits for an acknowledgement for 200 ms and a round trip, then twice as long.
func (w *wire) resent(s *sim) (later time.Duration) {
	wait := 200*time.Millisecond + 2*w.trip
	for w.loss != 0 && later < 500*time.Millisecond && s.chance(w.loss) {
		later += wait
		wait *= 2
	}
	return later
}
