package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// history is the clients' commands and the packets to the robot, with their times, while its line was
// open once. The newest command is a register: clients write it, a lost
// writer writes zero, and each packet with velocities reads it. The history must
// be linearizable: there is an order of all, each at one moment between its call
// and its return, in which every packet has the velocities of the newest command.
// So a command that was overwritten by a stop is not obeyed after it.
type history struct {
	robot  *simRobot
	writes []*op // all that may still matter
	reads  []*op // of this session
	open   bool
	closed bool          // no more is checked
	start  time.Duration // when the driver was seen to be ready
}

// op is an operation on the register.
type op struct {
	call, ret   time.Duration
	speed, turn int16
	maybe       bool       // a write that may have no effect
	by          *simClient // nil: an emergency stop
	stops       bool       // it writes zero if the newest command is of the same client (5.4)
	claims      bool       // it is the command to stop of a client that yields (5.5)
	message     int        // of the client: a reply to a later one ends it
	dropped     bool       // it was not carried out when its client was found silent

	read        bool
	separate    bool                                // VEL and RVEL
	left, right int                                 // of a read: VEL2's steps, or speed and turn rate; or as fits reads them
	apart       bool                                // the driver greets or parts: it has to be zero, whatever is commanded
	halts       bool                                // a packet that always stops
	fits        func(o *op, speed, turn int16) bool // reports whether a read shows a command; nil: as of a Pioneer
}

func (o *op) String() string {
	if o.read {
		return fmt.Sprintf("%v: the robot is sent %d, %d (separate: %v)", o.call, o.left, o.right, o.separate)
	}
	return fmt.Sprintf("%v to %v: %v commands %d mm/s, %d deg/s (only a stop: %v; perhaps: %v)", o.call, o.ret, o.by, o.speed, o.turn, o.stops, o.maybe)
}

func (o *op) end(now time.Duration) {
	if o.ret == never {
		o.ret = now
	}
}

func (h *history) write(now time.Duration, by *simClient, speed, turn int16, maybe bool) *op {
	maybe = maybe || h.robot.mayBeStopped() || h.robot.mayRefuse(by)
	return h.add(&op{call: now, ret: never, by: by, speed: speed, turn: turn, maybe: maybe})
}

// stop records that a client is lost or gives up writing.
func (h *history) stop(now time.Duration, by *simClient, maybe bool) *op {
	return h.add(&op{call: now, ret: never, by: by, stops: true, maybe: maybe})
}

func (h *history) add(o *op) *op {
	if !h.closed {
		h.writes = append(h.writes, o)
	}
	return o
}

func (h *history) begin() {
	h.open, h.reads, h.start = true, nil, 0
}

// jammed ends the session's history if the line took nothing when the driver became
// ready: nothing shows when that was.
func (h *history) jammed() {
	if h.start == 0 {
		h.open = false
	}
}

// observe records the velocities that the driver sends.
func (h *history) observe(s *sim, o *op) {
	if h.closed || !h.open || h.robot.lease != 0 || h.robot.reflexes {
		return
	}
	if o.halts {
		if h.start == 0 && !o.apart { // its driver is ready, although its motors are off
			h.start = s.now
		}
		return
	}
	if o.apart {
		if o.left != 0 || o.right != 0 {
			s.fail("%s: %v, when the driver greets or parts", h.robot.path, o)
		}
		return
	}
	s.summary.Observations++
	if h.start == 0 {
		h.start = s.now
	}
	// The first and the last of equal ones are enough.
	if n := len(h.reads); n >= 2 && h.reads[n-1].same(o) && h.reads[n-2].same(o) {
		h.reads[n-1] = o
		return
	}
	h.reads = append(h.reads, o)
}

// velocities returns the velocities of a packet, nil if it has none.
// rest is the input behind it.
func velocities(body, rest []byte) *op {
	o := &op{read: true}
	switch body[0] {
	case 32:
		o.left, o.right = int(int8(body[3])), int(int8(body[2]))
	case 11:
		o.separate = true
		turn, _ := p2Packet(rest)
		o.left, o.right = signed(body), signed(turn)
	default:
		return nil
	}
	return o
}

func signed(body []byte) int {
	v := int(body[2]) | int(body[3])<<8
	if body[1] == 0x1B {
		return -v
	}
	return v
}

func (o *op) same(p *op) bool {
	return o.separate == p.separate && o.left == p.left && o.right == p.right
}

// matches reports whether a read shows a command.
func (o *op) matches(speed, turn int16) bool {
	if o.fits != nil {
		return o.fits(o, speed, turn)
	}
	if o.separate && o.left == max(-500, min(int(speed), 500)) && o.right == max(-100, min(int(turn), 100)) {
		return true // in separate mode
	}
	v, w := float64(speed), float64(turn)
	half := w * math.Pi / 180 / 0.0056 // mm/s, the wheelbase of a Pioneer 2-DX
	if fastest := math.Abs(v) + math.Abs(half); fastest > 500 {
		v, w, half = v*500/fastest, w*500/fastest, half*500/fastest
	}
	if o.separate { // truncated
		return math.Abs(float64(o.left)-v) < 1 && math.Abs(float64(o.right)-w) < 1 &&
			math.Abs(float64(o.left)) <= math.Abs(v)+1e-6 && math.Abs(float64(o.right)) <= math.Abs(w)+1e-6
	}
	left, right := v-half, v+half
	return math.Abs(float64(o.left)-left/20) < 1e-6 && math.Abs(float64(o.right)-right/20) < 1e-6
}

// end judges the history when the line is closed.
func (h *history) end(s *sim, now time.Duration) {
	if !h.open {
		return
	}
	h.open = false
	if !h.closed && len(h.reads) > 0 {
		s.summary.Histories++
		if i := h.illegal(); i >= 0 {
			h.print(s, h.reads[i].call)
			s.fail("%s was sent at %v a motion that no client commanded: the history above has no order", h.robot.path, h.reads[i].call)
		}
	}
	h.writes = slices.DeleteFunc(h.writes, func(o *op) bool { return o.ret < now })
	h.reads = nil
}

// register is a possible content of the register after a read: a write, and the latest
// moment at which it can have been written.
type register struct {
	op     *op
	moment time.Duration
}

// illegal returns the first read that no order explains, -1 if there is none. The
// reads are in order, so it is enough to know the possible contents of the register after each.
func (h *history) illegal() int {
	// Commands that were carried out before the robot was ready are forgotten. The effect of
	// those under way then is unknown.
	writes := slices.DeleteFunc(slices.Clone(h.writes), func(o *op) bool { return o.ret < h.start-300*time.Millisecond })
	writes = slices.DeleteFunc(writes, func(o *op) bool { return o.stops && !h.owned(o) })
	before := h.start - time.Second
	possible := []register{{&op{}, before}}
	for i, r := range h.reads {
		for len(writes) > 0 && writes[0].ret < before { // seen by an earlier read
			writes = writes[1:]
		}
		var live []*op
		for _, w := range writes {
			if w.call > r.call {
				break
			}
			live = append(live, w)
		}
		for _, w := range live {
			if w.ret >= before {
				possible = append(possible, register{w, min(w.ret, r.call)})
			}
		}
		possible = slices.DeleteFunc(possible, func(g register) bool {
			return !r.matches(g.op.speed, g.op.turn) || slices.ContainsFunc(live, func(w *op) bool {
				newer := w.call > max(g.moment, h.start) || w.call > h.start && w.overwrites(g.op)
				return !w.maybe && newer && w.ret < r.call && (!w.stops || g.op.by == w.by && !g.op.stops)
			})
		})
		if len(possible) == 0 {
			return i
		}
		before = r.call
	}
	return -1
}

// isOver reports whether a command came so long ago that its lifetime is surely over, zero for none. Later messages of
// its client do not make it younger.
func (o *op) isOver(lifetime time.Duration) bool {
	const longest = time.Second // until the server reads it
	if lifetime == 0 || o.by == nil || o.by.down || o.by.downUntil != 0 || o.by.conn.wire.loss != 0 {
		return false
	}
	s := o.by.sim
	return s.now > o.call+longest+lifetime && s.awake(longest+lifetime)
}

// overwrites reports whether a command came behind another one of the same client.
func (o *op) overwrites(before *op) bool {
	return !o.stops && !before.stops && o.by != nil && o.by == before.by && o.message > before.message
}

// owned reports whether a stop may have come while the newest command was of the
// same client.
func (h *history) owned(stop *op) bool {
	last := time.Duration(-1) // when its client's newest command must have been given
	for _, w := range h.writes {
		if w.by == stop.by && !w.stops && w.call <= stop.ret {
			last = max(last, w.ret)
		}
	}
	return last >= 0 && !slices.ContainsFunc(h.writes, func(x *op) bool {
		return !x.maybe && !x.stops && x.by != stop.by && x.call > last && x.ret < stop.call
	})
}

// print adds the three seconds of the history before a moment to the trace.
func (h *history) print(s *sim, at time.Duration) {
	all := append(slices.Clone(h.writes), h.reads...)
	slices.SortStableFunc(all, func(a, b *op) int { return cmp.Compare(a.call, b.call) })
	for _, o := range all {
		if o.ret > at-3*time.Second && o.call <= at {
			s.note("history: %v", o)
		}
	}
}
