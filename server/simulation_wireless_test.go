package server

import (
	"slices"
	"time"
)

// What wireless networks do to clients, besides being slow: they lose packets, they die and come back, and
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

// resent returns how much later a packet comes because it, or one in front of it, was lost and sent again:
// the sender waits for an acknowledgement for 200 ms and a round trip, then twice as long.
func (w *wire) resent(s *sim) (later time.Duration) {
	for wait := 200*time.Millisecond + 2*w.trip; w.loss != 0 && later < 500*time.Millisecond && s.chance(w.loss); wait *= 2 {
		later += wait
	}
	return later
}
