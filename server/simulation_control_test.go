package server

import (
	"slices"
	"time"

	"player/server/status"
)

// The control of a robot in the simulation (8.6), and its judges.

// controlTime is how long a commander keeps control after its last command.
const controlTime = time.Second

// mayRefuse reports whether a command of the client may be dropped because another client has control.
func (r *simRobot) mayRefuse(by *simClient) bool {
	return r.keeps && slices.ContainsFunc(r.sim.clients, func(c *simClient) bool {
		return c != by && c.robot == r && c.mayControl()
	})
}

// mayControl reports whether the client may be the commander that keeps control now.
func (c *simClient) mayControl() bool {
	open := slices.ContainsFunc(c.ops, func(o *op) bool { return o.by == c && (!o.stops || o.claims) })
	return open || c.lastClaim != 0 && c.sim.now-c.lastClaim < controlTime+100*time.Millisecond
}

// mayMiss is called when a client commands: commands of others that are under way may be dropped.
func (r *simRobot) mayMiss(by *simClient) {
	if !r.keeps {
		return
	}
	for _, c := range r.sim.clients {
		if c != by && c.robot == r {
			for _, o := range c.ops {
				o.maybe = o.maybe || !o.stops
			}
		}
	}
}

// state returns the robot as the status shows it, nothing if it has gone.
func (r *simRobot) state() status.Robot {
	all := r.sim.shown
	if all == nil {
		all = r.sim.server.Status(r.sim.now).Robots
	}
	i := slices.IndexFunc(all, func(o status.Robot) bool { return o.Port == 6665+r.index })
	if i < 0 {
		return status.Robot{}
	}
	return all[i]
}

// commander returns the commander that the status shows, nil if there is none.
func (r *simRobot) commander() *simClient {
	address := r.state().Commander
	if address == nil {
		return nil
	}
	s := r.sim
	i := slices.IndexFunc(s.clients, func(c *simClient) bool {
		return c.robot == r && !c.conn.closed && c.conn.handler != nil && addressOf(c.conn.remote) == *address
	})
	if i < 0 {
		s.fail("%s: the commander of the status is %v, which is not connected", r.path, address)
	}
	return s.clients[i]
}

// inControl returns the client that the server takes for the commander, nil if there is none. The status, which takes long,
// must show the same (watchControl).
func (r *simRobot) inControl() *simClient {
	for _, c := range r.sim.clients {
		if sv, connected := c.conn.handler.(*client); connected && c.robot == r && !c.conn.closed && sv.robot.control.IsCommander(sv.session) {
			return c
		}
	}
	return nil
}

// checkCommander checks that the commander is whose command moves the robot, and that
// it had not taken over a robot whose commander keeps control.
func (r *simRobot) checkCommander(o *op) {
	s := r.sim
	s.summary.Commanders++
	c := r.inControl()
	if c == nil {
		s.fail("%s: %v, and it has no commander", r.path, o)
	}
	first := never                                        // when it has commanded this for the first time
	for _, w := range slices.Backward(r.history.writes) { // mostly the newest is it
		if w.by == c && !w.stops && w.call <= s.now && (r.reflexes || o.matches(w.speed, w.turn)) {
			if first = w.call; !r.keeps {
				break
			}
		}
	}
	if first == never {
		s.fail("%s: %v, which %v has not commanded, and it is the commander", r.path, o, c)
	}
	if r.reflexes || r.lease != 0 {
		return
	}
	if before := r.driver; r.keeps && before != nil && before != c && !before.over && before.writer &&
		first > r.claimed && s.now-r.claimed < controlTime && !before.hasGivenUp(r.claimed) {
		s.fail("%s: %v has taken control at %v, and %v has commanded at %v", r.path, c, s.now, before, r.claimed)
	} else if r.keeps && before != c {
		s.summary.Takeovers++
	}
	r.driver, r.claimed = c, first // it has claimed control then at the earliest
}

// hasGivenUp reports whether the client may have given up control since a moment.
func (c *simClient) hasGivenUp(since time.Duration) bool {
	return slices.ContainsFunc(c.robot.history.writes, func(o *op) bool { return o.by == c && o.stops && o.ret >= since })
}

// watchControl checks the commander of the status.
func (r *simRobot) watchControl() {
	c := r.commander()
	if in := r.inControl(); c != in {
		r.sim.fail("%s: the commander of the status is %v, and %v has control", r.path, c, in)
	}
	if c != nil && !c.mayWrite() {
		r.sim.fail("%s: the commander of the status is %v, which may not write", r.path, c)
	}
}
