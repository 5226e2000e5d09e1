package server

import (
	"encoding/binary"
	"strings"
	"time"
)

func message(kind, device byte, payload []byte) []byte {
	return append([]byte{kind, device, byte(len(payload) >> 8), byte(len(payload))}, payload...)
}

// send sends a message, cut anywhere.
func (c *simClient) send(b []byte) {
	c.sent++
	c.transmit(b, false)
}

func (c *simClient) transmit(b []byte, command bool) {
	b = c.seals(b)
	for len(b) > 0 {
		n := len(b)
		if c.sim.chance(3) {
			n = 1 + c.sim.random.IntN(n)
		}
		c.deliver(chunk{bytes: b[:n], command: command})
		b = b[n:]
	}
}

// deliver takes a chunk over the network.
func (c *simClient) deliver(k chunk) {
	s := c.sim
	jitter := time.Duration(0)
	if s.chance(4) {
		jitter = s.between(0, 10*time.Millisecond)
	}
	c.conn.last = max(c.conn.last+1, s.now+c.conn.wire.trip+jitter+c.conn.wire.resent(s))
	s.at(c.conn.last, func() {
		if len(c.stalled) > 0 || c.down {
			c.stalled = append(c.stalled, k)
			return
		}
		c.comes(k)
	})
}

// comes is called when a chunk has come to the server's kernel.
func (c *simClient) comes(k chunk) {
	if c.over {
		return
	}
	if k.end != nil {
		c.conn.finish(k.end)
		return
	}
	if k.arrives != nil {
		k.arrives()
		return
	}
	if k.command {
		c.robot.commanded = c.sim.now
	}
	c.conn.receive(k.bytes)
}

// request sends a device request.
func (c *simClient) request(pairs string) {
	s := c.sim
	if c.readOnly {
		pairs = strings.NewReplacer("w", "r", "a", "r").Replace(pairs)
	}
	c.requests = append(c.requests, simRequest{pairs: pairs, number: c.sent, sent: s.now, healthy: c.robot.healthy()})
	defer c.send(message('d', 'r', []byte(pairs)))
	s.summary.Requests++
	s.note("%v requests %q", c, pairs)
	if strings.Contains(pairs, "p") {

		if c.mayWrite() && strings.ContainsAny(pairs, "cr") {
			c.remember(c.robot.history.stop(s.now, c, !c.surely(pairs)))
		}
		c.setWriter()
	}
}

// remember keeps a command that the next message gives until a reply shows that
// it was carried out.
func (c *simClient) remember(o *op) {
	o.message = c.sent
	c.robot.mayMiss(c)
	c.ops = append(c.ops, o)
}

// surely reports whether a request certainly takes away the right to write.
func (c *simClient) surely(pairs string) bool {
	return len(c.requests) == 1 && writes(c.access('p')) && (pairs == "pc" || pairs == "pr" && c.access('p') == 'a')
}

// commands sends commands to position, all at once.
func (c *simClient) commands(n int) {
	var b []byte
	for range n {
		b = append(b, c.command()...)
	}
	c.transmit(b, true)
}

// nudge commands a motion and its end, all at once.
func (c *simClient) nudge() { c.transmit(append(c.give(100, 20), c.give(0, 0)...), true) }

// command returns a random command to position, and expects its effect.
func (c *simClient) command() []byte {
	s := c.sim
	speed, turn := int16(s.random.IntN(1001)-500), int16(s.random.IntN(201)-100)
	if s.chance(6) {
		speed, turn = 0, 0
	}
	return c.give(speed, turn)
}

// give returns a command to position, and expects its effect.
func (c *simClient) give(speed, turn int16) []byte {
	s := c.sim
	certain := len(c.requests) == 0 || !c.mayBeStale(c.requests[0])
	for _, r := range c.requests {
		certain = certain && !strings.Contains(r.pairs, "p")
	}
	may := c.mayWrite()
	if may {
		certain = certain && writes(c.access('p'))
		o := c.robot.history.write(s.now, c, speed, turn, !certain)
		o.stops = c.yields && speed == 0 && turn == 0
		o.claims = o.stops
		c.remember(o)
		s.summary.Commands++
		s.note("%v commands %d mm/s, %d deg/s", c, speed, turn)
	}
	c.sent++
	return message('c', 'p', binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(speed)), uint16(turn)))
}

func (c *simClient) setMode(code []byte, cancels bool, apply func(*mode)) {
	c.maybe = append(c.maybe, modeChange{c.sent, apply, cancels})
	c.send(message('x', 'y', code))
	c.request("")
}

// access returns the access that replies have confirmed.
func (c *simClient) access(letter byte) byte {
	for _, p := range c.slots {
		if p.letter == letter {
			return p.access
		}
	}
	return 0
}

// mayWrite reports whether the client may have the right to drive.
func (c *simClient) mayWrite() bool {
	if writes(c.access('p')) {
		return true
	}
	for _, r := range c.requests {
		if strings.Contains(r.pairs, "pw") || strings.Contains(r.pairs, "pa") || strings.Contains(r.pairs, "pr") {
			return true
		}
	}
	return false
}

// setWriter keeps the robot's count of writers up to date.
func (c *simClient) setWriter() {
	is := !c.over && c.left == 0 && !c.down && c.mayWrite()
	if is != c.writer {
		c.writer = is
		c.robot.writersChange(is)
	}
}
