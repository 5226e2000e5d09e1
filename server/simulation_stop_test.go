package server

import (
	"slices"
	"time"
)

// The emergency stop in the simulation (8.5), by clients and by visitors, and its judges: while it must
// hold, no packet moves the robot, whichever client commands it.

// stopOp is an emergency stop or a release. It was carried out at one moment from call to ret.
type stopOp struct {
	on        bool
	maybe     bool // it may have had no effect
	call, ret time.Duration
	by        *simClient // nil: a visitor
	message   int        // of the client
}

func (o *stopOp) end(now time.Duration) {
	if o.ret == never {
		o.ret = now
	}
}

// follows reports whether the operation was carried out behind another one.
func (o *stopOp) follows(before *stopOp) bool {
	return o.call > before.ret || o.by != nil && o.by == before.by && o.message > before.message
}

// addStop records a stop or a release that begins now.
func (r *simRobot) addStop(on bool) *stopOp {
	s := r.sim
	s.causes++
	o := &stopOp{on: on, call: s.now, ret: never}
	r.stops = append(r.stops, o)
	if on {
		s.summary.EmergencyStops++
		for _, w := range r.history.writes {
			w.maybe = w.maybe || w.ret == never // the stop may drop it
		}
	}
	return o
}

// emergencyStop has the client stop or release its robot.
func (c *simClient) emergencyStop(on bool) {
	s := c.sim
	if c.readOnly { // it may have the right by now
		return
	}
	s.note("%v: emergency stop %v", c, on)
	o := c.robot.addStop(on)
	o.by, o.message = c, c.sent
	c.stops = append(c.stops, o)
	if on {
		w := c.robot.history.write(s.now, nil, 0, 0, true)
		w.message = c.sent
		c.ops = append(c.ops, w)
	}
	b := message('x', 'y', []byte{'e', bit(on)})
	c.sent++
	c.transmit(b, false)
	if on {
		c.deliver(chunk{arrives: func() { c.robot.expectHeld(c, o) }})
	}
	c.request("")
}

// confirmStops is called when a request was answered: the messages in front of it were carried out.
func (c *simClient) confirmStops(number int) {
	for _, o := range c.stops {
		if o.message <= number {
			o.end(c.sim.now)
		}
	}
	c.stops = slices.DeleteFunc(c.stops, func(o *stopOp) bool { return o.message <= number })
}

// visitor stops the robot, releases it, and then does something more.
func (r *simRobot) visitor(then func()) {
	s := r.sim
	s.onLoop(func(time.Duration) { r.byVisitor(true) })
	s.after(s.wait(4*time.Second), func() {
		s.onLoop(func(time.Duration) { r.byVisitor(false) })
		then()
	})
}

// nextVisitor has a visitor stop the robot some time later.
func (r *simRobot) nextVisitor() { r.sim.later(aVisitor, r.index, 20*time.Second) }

// byVisitor stops or releases the robot for a visitor.
func (r *simRobot) byVisitor(on bool) {
	s := r.sim
	s.note("%s: a visitor's emergency stop: %v", r.path, on)
	o := r.addStop(on)
	if on {
		r.history.write(s.now, nil, 0, 0, true).end(s.now)
	}
	if known := s.server.EmergencyStop(s.now, 6665+r.index, on, "a visitor"); s.accepting && known == r.gone {
		s.fail("%s: it is known: %v, and it has gone: %v", r.path, known, r.gone)
	}
	o.maybe = r.gone
	if o.end(s.now); on {
		r.expectHeld(nil, o)
	}
}

// mustBeStopped returns the emergency stop that must have held all the time from from to until, nil
// if there is none.
func (r *simRobot) mustBeStopped(from, until time.Duration) *stopOp {
	for _, o := range r.stops {
		if o.on && !o.maybe && o.ret < from && !r.mayBeReleased(o, until) {
			return o
		}
	}
	return nil
}

// mayBeReleased reports whether a release may have come behind a stop, until a moment.
func (r *simRobot) mayBeReleased(stop *stopOp, until time.Duration) bool {
	return slices.ContainsFunc(r.stops, func(f *stopOp) bool { return !f.on && f.ret >= stop.call && f.call <= until })
}

// mayBeStopped reports whether an emergency stop may hold now.
func (r *simRobot) mayBeStopped() bool { return r.mayHaveBeenStopped(r.sim.now) }

func (r *simRobot) mayHaveBeenStopped(at time.Duration) bool {
	return slices.ContainsFunc(r.stops, func(o *stopOp) bool {
		return o.on && o.call <= at && !slices.ContainsFunc(r.stops, func(f *stopOp) bool {
			return !f.on && !f.maybe && f.follows(o) && f.ret < at
		})
	})
}

// checkStop checks that a packet which moves the robot is not sent during an emergency stop.
func (r *simRobot) checkStop(o *op) {
	if stop := r.mustBeStopped(r.sim.now, r.sim.now); stop != nil {
		r.sim.fail("%s: %v, during the emergency stop of %v to %v", r.path, o, stop.call, stop.ret)
	}
}

// expectHeld is called when an emergency stop has come to the server's kernel: the robot must be stopped
// as soon as the loop runs, also if its client waits for a setup.
func (r *simRobot) expectHeld(c *simClient, o *stopOp) {
	s := r.sim
	p := r.port
	s.at(max(s.now, s.busy)+stopDelay, func() {
		switch {
		case s.stopped != 0 || o.maybe || r.gone || c != nil && (c.over || c.conn.fin) || r.mayBeReleased(o, s.now):
		case !s.awake(stopDelay) || s.now < s.busy || (r.jammed || s.now < r.fault+stopDelay) && p == r.port: // the line takes bytes again
			r.expectHeld(c, o)
		default:
			s.summary.Held++
			if !r.state().Stopped {
				s.fail("%s: the emergency stop of %v has no effect", r.path, o.call)
			}
			if p != nil && p == r.port && p.moves && !p.gone && !p.dead {
				s.fail("%s: the emergency stop of %v has not stopped the wheels", r.path, o.call)
			}
		}
	})
}

// watchStop checks that the status shows the emergency stop.
func (r *simRobot) watchStop() {
	s := r.sim
	if s.stopped != 0 {
		return
	}
	shown := r.state().Stopped
	if o := r.mustBeStopped(s.now, s.now); o != nil && !shown {
		s.fail("%s: the status does not show the emergency stop of %v", r.path, o.call)
	}
	if shown && !r.mayBeStopped() {
		s.fail("%s: the status shows an emergency stop, and there is none", r.path)
	}
	r.forgetStops()
}

// forgetStops forgets the stops that do not matter any more.
func (r *simRobot) forgetStops() {
	if !r.mayBeStopped() {
		r.stops = slices.DeleteFunc(r.stops, func(o *stopOp) bool { return o.ret < r.sim.now-time.Minute })
	}
}
