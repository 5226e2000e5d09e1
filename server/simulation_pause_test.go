package server

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// Pauses of the server, clients that leave during them, and the judges of a promise that all of these must not break: when a client has ended, the robot is
// commanded to stop as soon as the server can send anything.

// stopDelay is how long after the end of the last client that may drive the robot may still not be commanded
// to stop; after a pause of the server it begins with the end of the pause. Configurations of clients may
// wait in the line for 200 ms in front of the stop.
const stopDelay = 350 * time.Millisecond

// pauseLater pauses the server from time to time, unless the story is given.
func (s *sim) pauseLater() {
	s.after(time.Duration(s.fate.ExpFloat64()*float64(25*time.Second)), func() {
		if s.pauses {
			s.later(aPause, 0, 0)
			s.pauseLater()
		}
	})
}

// pause pauses the server, as a signal, a virtual machine or a closed lid does: for as
// little as the scheduler does, or long enough for anything. Some clients end meanwhile, or all of a
// robot, most of them by vanishing.
func (s *sim) pause() {
	most := []time.Duration{2 * time.Millisecond, 50 * time.Millisecond, time.Second, 12 * time.Second, 12 * time.Second, 30 * time.Second}[s.random.IntN(6)]
	d := s.between(0, most)
	s.summary.Pauses++
	s.pauseFor(d)
	left, all := s.robots[s.random.IntN(len(s.robots))], d > 4*time.Second && s.chance(2)
	if i := slices.IndexFunc(s.robots, func(r *simRobot) bool { return r.port != nil && r.port.moves }); i >= 0 && s.chance(2) {
		left = s.robots[i] // those who drive matter
	}
	for _, c := range slices.Clone(s.clients) {
		switch {
		case c.conn.handler == nil:
		case all && c.robot == left:
			s.after(s.between(0, d/4), c.drop)
		case s.chance(3):
			s.after(s.between(0, d), c.end)
		}
	}
}

func (s *sim) pauseFor(d time.Duration) {
	s.note("the server is paused for %v", d)
	s.delay(d)
	s.woke = max(s.woke, s.busy)
	for _, r := range s.rigs() {
		r.fault = max(r.fault, s.woke) // its handshake may have been paused
	}
	s.at(s.woke, func() {
		for _, r := range s.robots {
			r.expectHalt()
		}
	})
}

// A client drives, and its computer vanishes while the server is paused: no end of its
// connection comes, but the kernel knows that the client does not answer (9.1).
func TestClientVanishesDuringAPause(t *testing.T) {
	c := simulateOne(noLease, 256<<10)
	s, r := c.sim, c.robot
	c.request("pa")
	s.run(s.now + 10*time.Second)
	c.drive()
	s.run(s.now + 500*time.Millisecond)
	if !r.turns() {
		t.Fatal("it does not drive")
	}
	s.pauseFor(5 * time.Second)
	s.run(s.now + time.Second)
	for range 1000 { // more than is carried out at once
		c.drive()
	}
	s.run(s.now + 100*time.Millisecond)
	c.vanish()
	s.run(s.woke + 300*time.Millisecond) // the loop may be delayed
	if r.port.moves {
		t.Error("it was not commanded to stop")
	}
}

// awake reports whether the server was not paused in the last time.
func (s *sim) awake(last time.Duration) bool { return s.now >= s.woke+last }

// end ends the client in one of the ways in which clients end.
func (c *simClient) end() {
	if c.over || c.left != 0 || c.socket != nil {
		return
	}
	s := c.sim
	if s.chance(2) {
		c.commands(1 + s.random.IntN(3))
	}
	if s.chance(8) {
		c.commands(700) // more than is read at once
	}
	switch s.random.IntN(5) {
	case 0:
		c.request("pcpa")
		c.commands(1)
		c.leave()
	case 1:
		c.reset()
	case 2:
		if !c.well {
			c.drop()
		}
	default:
		c.leave()
	}
}

// drop has the client command, and vanish when that has come, while it may not be carried out yet. A client whose network
// is well leaves.
func (c *simClient) drop() {
	if c.over || c.left != 0 || c.socket != nil {
		return
	}
	if c.well {
		c.leave()
		return
	}
	c.commands(1)
	c.sim.after(100*time.Millisecond, func() {
		if !c.over && c.left == 0 {
			c.vanish()
		}
	})
}

// reset resets the connection.
func (c *simClient) reset() {
	if c.down || len(c.stalled) > 0 {
		return
	}
	c.sim.note("%v resets the connection", c)
	c.leaves()
	c.deliver(chunk{end: errors.New("connection reset by peer")})
}

// leaves records that the client ends its connection now: messages that it has sent and the
// server has not carried out yet move nothing any more (5.4).
func (c *simClient) leaves() {
	c.left, c.excuse = c.sim.now, "it has left"
	for _, o := range c.ops {
		o.maybe = true
	}
	for _, o := range c.stops {
		o.maybe = true
	}
	c.mayStop()
}

// drivesOn reports whether the client may move its robot: its end has not come to the
// server's kernel, its connection stands, and the lifetime of its commands has not passed.
func (c *simClient) drivesOn() bool {
	return c.conn.handler != nil && !c.conn.closed && !c.conn.fin && !c.lapsed
}

// hasDriver reports whether any client may drive the robot.
func (r *simRobot) hasDriver() bool {
	return slices.ContainsFunc(r.sim.clients, func(c *simClient) bool { return c.robot == r && c.drivesOn() && c.mayWrite() })
}

// checkMotion checks that a packet which moves the robot has the command of a client that is still
// connected.
func (r *simRobot) checkMotion(o *op) {
	if r.history.closed || o.left == 0 && o.right == 0 {
		return
	}
	s := r.sim
	s.summary.Motions++
	r.checkStop(o)
	if r.pilot { // the client of a late command may have gone
		return
	}
	r.checkCommander(o)
	for _, w := range slices.Backward(r.history.writes) { // mostly the newest is it
		if !w.stops && !w.dropped && w.by != nil && (r.reflexes || o.matches(w.speed, w.turn)) && !w.isOver(r.lease) && w.by.drivesOn() {
			return
		}
	}
	s.fail("%s: %v, for no client that is still there", r.path, o)
}

// expectHalt is called at the end of a pause. If all clients that may drive have been silent for so long that the
// kernel knows it, the robot must be commanded to stop as soon as after the end of a client (9.1).
func (r *simRobot) expectHalt() {
	s, p, woke := r.sim, r.port, r.sim.now
	if p == nil || !p.moves || woke != s.woke || r.jammed {
		return
	}
	silent := func(c *simClient) bool {
		c.conn.reap()
		return c.down && c.isMover() && max(c.conn.heard, c.downSince)+kernelTime < woke
	}
	var gone []*simClient
	for _, c := range s.clients {
		if c.robot == r && c.drivesOn() && c.mayWrite() {
			gone = append(gone, c)
		}
	}
	back := func(c *simClient) bool { return !c.over && !silent(c) }
	if slices.ContainsFunc(gone, back) {
		return
	}
	s.after(stopDelay, func() {
		newer := func(w *op) bool { return w.by != nil && w.call >= woke && !slices.Contains(gone, w.by) }
		switch {
		case p != r.port || p.gone || p.dead || r.jammed || !s.awake(stopDelay) || s.now < s.busy:
		case slices.ContainsFunc(gone, back) || slices.ContainsFunc(r.history.writes, newer):
		case p.moves:
			s.fail("%s: all who may drive it were silent at the end of the pause, and it was not commanded to stop", r.path)
		default:
			s.summary.Halts++
		}
	})
}

// kernelTime is after how much silence the kernel surely knows that a client which drives is not there: its second probe
// is not answered.
const kernelTime = 2500 * time.Millisecond

// expectStop is called when a client has ended. If no other client may drive, the robot must be commanded
// to stop as soon as the loop runs and the line takes bytes.
func (r *simRobot) expectStop() {
	s := r.sim
	p, ended := r.port, s.now
	if r.ended = ended; p == nil || !p.moves {
		return
	}
	s.at(max(s.now, s.busy)+stopDelay, func() {
		switch {
		case p != r.port || p.gone || p.dead || r.hasDriver() || r.ended != ended:
		case r.jammed || !s.awake(stopDelay) || s.now < s.busy:
			r.expectStop()
		case p.moves:
			s.fail("%s: no client is there that may drive it, and it was not commanded to stop", r.path)
		default:
			s.summary.InTime++
		}
	})
}
