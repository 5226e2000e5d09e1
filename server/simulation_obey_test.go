package server

import (
	"slices"
	"time"
)

// Commands take effect in the simulation: the history judges the commands to the robot, and this one that
// there are any.

// expectObeyed is called when a reply shows that the newest command of the client was carried out. Unless any
// other may have commanded the robot since, the newest packet to it has this command.
func (c *simClient) expectObeyed() {
	s, r, p, h := c.sim, c.robot, c.robot.port, &c.robot.history
	if len(c.ops) == 0 || p == nil || r.lease != 0 || r.reflexes || h.start == 0 {
		return
	}
	o := c.ops[len(c.ops)-1]
	if o.by != c || o.stops && !o.claims || h.start > o.call || r.faults > 0 || r.fault > o.call-time.Second {
		return
	}
	s.after(stopDelay, func() {
		switch {
		case p != r.port || p.gone || p.dead || p.parted || !h.open || r.fault > o.call: // it is another session
		case !s.awake(2*stopDelay) || s.now < s.busy:
		case o.maybe || o.stops && !h.isOwn(o) || h.isDisputed(o):
		case r.unpowered && p.newest != nil && p.newest.halts: // perhaps the motors are off: a Kobuki is sent only stops
		default:
			s.summary.Obeyed++
			if p.newest == nil || !p.newest.matches(o.speed, o.turn) {
				s.fail("%s: the newest packet is %v, and the newest command %v", r.path, p.newest, o)
			}
		}
	})
}

// isDisputed reports whether an operation may have come behind o, which has returned.
func (h *history) isDisputed(o *op) bool {
	return slices.ContainsFunc(h.writes, func(w *op) bool {
		before := w.by == o.by && w.message < o.message && (!w.stops || w.claims)
		return w != o && w.ret >= o.call && !before
	})
}

// isOwn reports whether the operation just before the stop o is surely a command of the same client: a command of another
// one that was given earlier may come through later, if a packet of it is lost and sent again.
func (h *history) isOwn(o *op) bool {
	i := slices.Index(h.writes, o) - 1
	if i < 0 || h.writes[i].by != o.by || h.writes[i].stops || h.writes[i].maybe {
		return false
	}
	before := h.writes[i]
	return !slices.ContainsFunc(h.writes[:i], func(w *op) bool { return w.by != o.by && w.ret >= before.call })
}
