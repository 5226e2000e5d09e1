package server

import (
	"encoding/binary"
	"slices"
	"strings"
	"time"
)

// visit is the further state of a client that is a connection of the server for programs.
type visit struct {
	socket   *simSocket
	program  *simProgram // that it is for; nil: its name has not come yet
	lifetime time.Duration
	driven   velocity      // its newest command
	took     time.Duration // of its newest stop of any driver
	lapsed   bool          // the lifetime of its newest command has passed
	lapse    *op           // of its newest command
}

// says takes messages of the server for programs, whose effects the client expects.
func (c *simClient) says(b []byte) {
	for len(b) > 0 && !c.over && c.left == 0 {
		size := 4 + int(binary.BigEndian.Uint16(b[2:]))
		m := b[:size]
		b = b[size:]
		payload := m[4:]
		switch {
		case m[0] == 'd':
			c.request(string(payload))
			continue
		case m[0] == 'c' && m[1] == 'p':
			c.commanded(int16(binary.BigEndian.Uint16(payload)), int16(binary.BigEndian.Uint16(payload[2:])))
			c.sent++
			c.transmit(m, true)
			continue
		case m[0] == 'x' && m[1] == 'y':
			c.configured(payload)
		}
		c.send(m)
	}
}

// configured expects the effect of a configuration of the connection.
func (c *simClient) configured(payload []byte) {
	s := c.sim
	switch code, rest := payload[0], payload[1:]; code {
	case 'f':
		period := time.Second / time.Duration(binary.BigEndian.Uint16(rest))
		c.maybe = append(c.maybe, modeChange{c.sent, func(m *mode) { m.period = period }, false})
	case 'n':
		on := rest[0] != 0
		c.maybe = append(c.maybe, modeChange{c.sent, func(m *mode) { m.onlyNew = on }, false})
	case 'l':
		c.lifetime = time.Duration(binary.BigEndian.Uint16(rest)) * time.Millisecond
	case 'q':
		c.questions = append(c.questions, simQuestion{rest[0], c.sent})
	case 'w':
		name := string(rest)
		for _, p := range c.socket.site.programs {
			if strings.HasSuffix(strings.TrimSpace(name), " "+p.address) { // pages have none of their own
				c.program = p
			}
		}
	default:
		s.fail("%v: configuration %q", c, payload)
	}
}

// commanded judges a command to the wheels: its program has published it just now. It expects its effect.
func (c *simClient) commanded(speed, turn int16) {
	s, p := c.sim, c.program
	s.note("%v commands %d mm/s, %d deg/s for %v", c, speed, turn, p)
	certain := c.isReady()
	switch {
	case c.lifetime == 0 && (p == nil || p.taken == 0 || speed != 0 || turn != 0):
		s.fail("%v of %v commands, and its commands have no lifetime", c, p)
	case c.lifetime == 0 && s.now-max(p.taken, s.woke, c.changed) > programDelay: // it waits for the wheels to start
		s.fail("%v of %v stops any driver, and the page has asked for it at %v", c, p, p.taken)
	case p == nil: // it ended when the connection was made, which ends as well
		c.remember(c.robot.history.write(s.now, c, speed, turn, true))
		return
	}
	if c.lapse != nil {
		c.lapse.maybe = true
	}
	if c.lifetime == 0 {
		c.took = s.now
		c.driven, c.lapsed = velocity{at: c.driven.at}, false
		c.remember(c.robot.history.write(s.now, c, 0, 0, !certain))
		return
	}
	if speed == 0 && turn == 0 {
		c.driven, c.lapsed = velocity{at: c.driven.at}, false
		c.remember(c.robot.history.stop(s.now, c, !certain || c.robot.mayBeStopped()))
		return
	}
	i := len(p.published) - 1
	for i >= 0 && (p.published[i].speed != speed || p.published[i].turn != turn) {
		i--
	}
	switch {
	case i < 0 || p.published[i].at < c.driven.at-programDelay:
		s.fail("%v: %v has not published %d mm/s, %d deg/s", c, p, speed, turn)
	case s.now-max(p.published[i].at, s.woke) > p.hand.silence()+programDelay: // a call waits in front of it during a pause
		s.fail("%v: a command that %v has published at %v", c, p, p.published[i].at)
	case p.left != 0 && s.now > p.left+p.patience && s.awake(2*time.Second):
		s.fail("%v: a command of %v, which has gone at %v", c, p, p.left)
	}
	heard := p.published[i]
	c.driven, c.lapsed = heard, false
	o := c.robot.history.write(s.now, c, speed, turn, !certain)
	c.remember(o)
	s.summary.Commands++
	switch p.hand.(type) {
	case *viewerHand:
		s.summary.Viewed++
	case *pageHand:
		s.summary.Paged++
	}
	s.at(o.call+c.lifetime, func() { c.lapses(o) })
	c.expectRest(s.now + p.hand.silence() + programDelay)
}

// isReady reports whether the connection has the wheels, and waits for nothing.
func (c *simClient) isReady() bool { return len(c.requests) == 0 && writes(c.access('p')) }

// commanded returns when the program has published a command last, zero if it has not.
func (p *simProgram) commanded() time.Duration {
	if len(p.published) == 0 {
		return 0
	}
	return p.published[len(p.published)-1].at
}

// expectStands expects that the robot is commanded to stop, because the program has just given up the topic of the wheels,
// unless it publishes again.
func (p *simProgram) expectStands(asked time.Duration) {
	for _, c := range p.site.sim.clients {
		if c.program == p && c.isReady() && (c.driven.speed != 0 || c.driven.turn != 0) {
			c.expectStands(asked, asked)
		}
	}
}

func (c *simClient) expectStands(asked, from time.Duration) {
	s, p := c.sim, c.program
	s.at(from+programDelay, func() {
		switch {
		case p.left != 0 || c.left != 0 || c.over || p.commanded() > asked:
		case !s.awake(time.Second) || s.now < s.busy || !c.isReady():
			c.expectStands(asked, s.now)
		default:
			if s.summary.Stands++; c.driven.speed != 0 || c.driven.turn != 0 {
				s.fail("%v: %v has given up the topic of the wheels at %v, and the robot was not commanded to stop", c, p, asked)
			}
		}
	})
}

// expectRest expects that the server for programs stops the robot unless its program commands again. It does so
// behind a call that waits for the robot.
func (c *simClient) expectRest(at time.Duration) {
	s, driven := c.sim, c.driven
	s.at(at, func() {
		switch {
		case c.driven != driven || c.left != 0 || c.over:
		case len(c.requests) > 0:
			c.expectRest(s.now + programDelay)
		default:
			s.fail("%v: the program is silent since %v, and the robot was not commanded to stop", c, driven.at)
		}
	})
}

// carriedOut is called when the loop has read input of the client. It ends the operations of a connection of the
// server for programs: that does not wait for replies.
func (c *simClient) carriedOut() {
	if c.socket == nil || c.over || c.conn.closed {
		return
	}
	sv := c.conn.handler.(*client)
	if c.conn.last > c.sim.now || len(c.conn.in)+len(sv.input) > 0 || sv.more || len(c.requests) > 0 {
		return
	}
	for _, o := range c.ops {
		o.end(c.sim.now)
		c.lastClaim = c.sim.now
	}
	c.ops = nil
}

// lapses is called when the lifetime of a command may be over.
func (c *simClient) lapses(o *op) {
	s := c.sim
	newer := func(w *op) bool { return w != o && w.by == c && w.call > o.call }
	writes := c.robot.history.writes
	if c.over || slices.ContainsFunc(writes, func(w *op) bool { return newer(w) && !w.maybe && w.ret < s.now }) {
		return
	}
	l := c.robot.history.stop(s.now, c, slices.ContainsFunc(writes, newer))
	if c.lapse = l; l.maybe {
		c.lapse = nil
	}
	c.lapsing(o, l)
}

// lapsing waits until the loop must have noticed that the lifetime of a command is over.
func (c *simClient) lapsing(o, l *op) {
	s := c.sim
	due := s.now
	if o.ret != never {
		due = max(o.ret+c.lifetime, s.busy)
	}
	s.at(due+10*time.Millisecond, func() {
		at, armed := s.timers.Next()
		switch {
		case c.over:
			l.end(s.now)
		case o.ret == never || s.now < s.busy || armed && at <= due:
			c.lapsing(o, l)
		default:
			if l.end(s.now); !l.maybe {
				s.summary.Lapses++
				c.lapsed = true
				c.robot.expectStop()
			}
		}
	})
}
