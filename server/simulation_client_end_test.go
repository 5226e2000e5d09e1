package server

import (
	"io"
	"net"
	"slices"
	"time"
)

// misbehave disturbs the server as programs and networks should not.
func (c *simClient) misbehave() {
	s := c.sim
	if c.robot.lease != 0 && s.chance(4) { // few robots have a lifetime
		c.waitForSetup()
		return
	}
	switch s.random.IntN(11) {
	case 10:
		c.waitForSetup()
	case 9:
		if s.chance(3) {
			c.roam()
		}
	case 0:
		s.note("%v does not read", c)
		c.paused = true
		if s.chance(4) { // and fills its window
			c.excuse = "it asks and does not read"
			for range 300 {
				c.request("yrprsr")
			}
		}
		// A full window may be taken for silence (9.1).
		stop := c.robot.history.stop(s.now, c, true)
		s.after(s.wait(3*time.Second), func() {
			c.resume()
			s.after(3*time.Second, func() { stop.end(s.now) })
		})
	case 1, 2:
		c.cutNetwork(s.wait(2 * time.Second))
	case 3:
		if s.chance(3) {
			c.vanish()
		}
	case 4: // reset
		if s.chance(3) {
			c.reset()
		}
	case 5: // unknown kinds, and payloads that are too large
		for range 1 + s.random.IntN(20) {
			c.send(message("zqd"[s.random.IntN(3)], byte(s.random.IntN(256))|1, make([]byte, s.random.IntN(700))))
		}
		c.request("") // ends the row
	case 6:
		if s.chance(4) {
			s.note("%v sends only malformed messages", c)
			c.excuse = "it does not speak the protocol"
			c.send(slices.Repeat(message('z', 'z', nil), 150))
		}
	case 7: // half a message, then the end
		if s.chance(3) {
			c.send([]byte("cp\x00\x04\x00")[:1+s.random.IntN(4)])
			c.leave()
		}
	case 8: // wrong sizes, no rights, unknown codes
		c.send(message('c', 'p', make([]byte, s.random.IntN(4))))
		c.send(message('c', 's', nil))
		c.send(message('x', 'y', []byte{'f', 0, 0}))
		c.send(message('x', 'p', []byte{byte(s.random.IntN(256) | 128)}))
	}
}

// leave closes the connection in an orderly way.
func (c *simClient) leave() {
	if c.over || c.left != 0 || c.conn.handler == nil { // it leaves when it is accepted
		return
	}
	c.sim.note("%v leaves", c)
	if c.down {
		c.vanish()
		return
	}
	c.leaves()
	if c.tls != nil && c.sim.chance(2) {
		c.deliver(chunk{bytes: c.tls.Bye(nil)})
	}
	c.deliver(chunk{end: io.EOF})
}

// mayStop records that the server may find the client lost from now on.
func (c *simClient) mayStop() {
	if c.cut == nil {
		c.cut = c.robot.history.stop(c.sim.now, c, true)
	}
}

func (c *simClient) vanish() {
	c.cutNetwork(never)
	c.sim.note("%v vanishes", c)
	c.left, c.vanished = c.downSince, true
}

// cutNetwork cuts the client's network for some time.
func (c *simClient) cutNetwork(d time.Duration) {
	s := c.sim
	if c.down {
		return
	}
	s.note("the network of %v is cut for %v", c, d)
	c.down, c.downSince = true, s.now
	c.conn.cut()
	c.setWriter()
	c.mayStop()
	c.foundSilent()
	if d == never {
		return
	}
	s.after(d, func() {
		if c.over || c.vanished {
			return
		}
		s.note("the network of %v is back", c)
		c.down, c.downUntil = false, s.now
		c.setWriter()
		if d > 10*time.Second {
			c.excuse = "it was away for long"
		}
		c.conn.mend(d)
		s.after(s.between(0, min(d, 2*time.Second)), func() {
			if c.down || c.over {
				return
			}
			all := c.stalled
			c.stalled = nil
			for _, k := range all {
				c.comes(k)
			}
		})
		s.after(3*time.Second, func() {
			if !c.down && !c.over && c.cut != nil && s.now >= c.downUntil+3*time.Second {
				c.cut.end(s.now)
				c.cut = nil
			}
		})
	})
}

// wasWritten is called when the server writes: 1.6.
func (c *simClient) wasWritten(p []byte) {
	var blocks []byte
	replies := 0
	for b := p; len(b) > 0; {
		if len(b) < 3 || len(b) < 3+int(b[1])<<8+int(b[2]) {
			c.sim.fail("%v: a torn block %.20q", c, b)
		}
		switch b[0] {
		case 'r':
			replies++
			c.sim.causes++
		case 'Y':
			c.judgeAnswer(string(b[3 : 3+int(b[1])<<8+int(b[2])]))
			replies++
		default:
			blocks = append(blocks, b[0])
		}
		b = b[3+int(b[1])<<8+int(b[2]):]
	}
	if replies > 0 && len(c.ops) > 0 {
		c.robot.commanded = c.sim.now // the input behind a request is carried out with its reply (2.7)
	}
	if replies > 0 && len(blocks) > 0 {
		c.sim.fail("%v: replies and frames in one write", c)
	}
	for i, letter := range blocks {
		if slices.Contains(blocks[:i], letter) {
			c.sim.fail("%v: two frames in one write: %q", c, blocks)
		}
	}
}

// wasClosed is called when the server closes the connection.
func (c *simClient) wasClosed() {
	s := c.sim
	long := s.now-c.conn.heard > 12*time.Second
	c.judgeBye()
	if c.excuse == "" && !long {
		s.fail("%v has done nothing, and the server has closed its connection", c)
	}
}

// lost is called when the server's end of the connection is closed.
func (c *simClient) lost() {
	s := c.sim
	if c.over {
		return
	}
	s.note("the connection of %v has ended", c)
	c.over = true
	s.causes++
	c.setWriter()
	if c.conn.handler != nil {
		for _, o := range c.ops {
			o.maybe = true // it may not have come through
			o.end(s.now)
		}
		for _, o := range c.stops {
			o.maybe = true
			o.end(s.now)
		}
		stop := c.robot.history.stop(s.now, c, !(len(c.requests) == 0 && writes(c.access('p'))))
		stop.end(s.now)
		if c.cut != nil {
			c.cut.end(s.now)
		}
	}
	s.clients = slices.DeleteFunc(s.clients, func(o *simClient) bool { return o == c })
	c.robot.expectStop()
	if c.socket != nil {
		c.socket.ended()
		return
	}
	if !c.roamed { // else it has come already
		s.later(aClient, s.fate.IntN(len(s.robots)), 5*time.Second)
	}
}

// slowProbe is how the kernel probes connections that nothing was set for.
var slowProbe = net.KeepAliveConfig{Idle: 5 * time.Second, Interval: 3 * time.Second, Count: 3}

// ProbeSlowly implements connection.
func (c *simConn) ProbeSlowly() {
	c.idle, c.pause, c.count = slowProbe.Idle, slowProbe.Interval, slowProbe.Count
	c.schedule()
}
