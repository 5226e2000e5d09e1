package stage

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// This file steps the robots. The step of a robot depends on the robots that it touches and pushes, and on
// which of them is stepped first: the sequence is the file's. Robots that are too far from each other to
// touch are in different groups. Groups depend on the walls only, so a world that is Fast steps them on
// all processors. The results are the same for any number of processors.
//
// Pushed or gripped things may move far in a step. Movable robots, and robots near such things, are
// stepped after the groups, one after the other.

// groups are the robots of a world that may be stepped at the same time. They are valid for
// an epoch of the crowd.
type groups struct {
	members []*Robot      // group by group, each in the order of the file
	ends    []int         // of the groups in members
	grips   bool          // some robot has a gripper
	steps   int           // that each group makes at once
	from    time.Duration // simulated time before these
	stepped []bool        // by robot: with its group, in this step
	rest    []*Robot      // that are in no group, or cannot be stepped with it now
	nodes   []node        // by robot, see group
}

// node is one robot in a union-find of the groups: it refers to a robot of the same group that comes
// before it, or to itself if it is the first.
type node struct {
	before  int32
	late    bool // of the first: the group is stepped with the rest
	members int  // of the first: how many
	place   int  // of the first: in members, for the next one
}

const (
	// stepPortion is how many groups a processor takes at a time: they need about 10 us, longer
	// than it takes to get them, and short enough that all processors end at the same time.
	stepPortion = 32
	// stepReach is the longest way of a robot in a step, metres.
	stepReach = maxWheel * float64(StepTime) / 1e9
)

// first returns the first robot of the group of robot i.
func (g *groups) first(i int32) *node {
	for g.nodes[i].before != i {
		g.nodes[i].before = g.nodes[g.nodes[i].before].before
		i = g.nodes[i].before
	}
	return &g.nodes[i]
}

// group makes the groups, at the start of an epoch.
func (w *World) group() {
	g := &w.groups
	g.nodes, g.grips = g.nodes[:0], false
	for i, r := range w.robots {
		g.grips = g.grips || r.grippers != nil
		g.nodes = append(g.nodes, node{before: int32(i), late: r.body.pushable})
	}
	for i, r := range w.robots {
		one := g.first(int32(i))
		for _, o := range w.neighbours(r.body, &r.body.around, r.body.hullRadius) {
			if o.body.robot == nil {
				one.late = true
				continue
			}
			other := g.first(o.body.number - 1)
			first, second := one, other
			if other.before < one.before {
				first, second = other, one
			}
			first.late = first.late || second.late
			second.before, one = first.before, first
		}
	}
	g.ends, g.stepped = g.ends[:0], slices.Grow(g.stepped[:0], len(w.robots))[:len(w.robots)]
	end := 0
	for i := range w.robots {
		g.first(int32(i)).members++
	}
	for i := range g.nodes {
		if n := &g.nodes[i]; n.members > 0 && !n.late {
			n.place = end
			end += n.members
			g.ends = append(g.ends, end)
		}
	}
	g.members = slices.Grow(g.members[:0], end)[:end]
	for i, r := range w.robots {
		if n := g.first(int32(i)); !n.late {
			g.members[n.place] = r
			n.place++
		}
	}
}

// steps advances the robots and the time by at most n steps, and returns by how many.
func (w *World) steps(n int) int {
	w.settle()
	g := &w.groups
	if g.grips || len(g.members) < len(w.robots) {
		n = 1
	}
	// Groups may make several steps at once until they have used up maxDrift.
	n = max(1, min(n, int((maxDrift-math.Sqrt(w.crowd.drift))/stepReach)))
	if w.truth != nil {
		n = max(1, min(n, int((w.truth.next-w.sim)/StepTime)))
	}
	if w.quitAt != 0 {
		n = max(1, min(n, int((w.quitAt-w.sim)/StepTime)))
	}
	g.steps, g.from = n, w.sim
	w.stepGroups()
	w.sim += time.Duration(n) * StepTime
	for _, r := range g.rest {
		r.step(w.sim)
	}
	return n
}

// stepGroups steps the robots that are in groups.
func (w *World) stepGroups() {
	g := &w.groups
	workers := 1
	if w.Fast() {
		workers = min(runtime.GOMAXPROCS(0), len(g.ends)/stepPortion)
	}
	defer func() { // also if one has panicked
		g.rest = g.rest[:0]
		for i, r := range w.robots {
			if g.stepped[i] {
				g.stepped[i] = false
				w.crowd.moved(int32(i+1), w.spots[i].at)
			} else {
				g.rest = append(g.rest, r)
			}
		}
	}()
	w.pool.run(workers, len(g.ends), stepPortion, g)
}

// do implements work: the steps of groups.
func (g *groups) do(_, first, end int) {
	var b *body
	defer func() {
		if b != nil { // its robot has panicked
			b.grouped = false
		}
	}()
	from := 0
	if first > 0 {
		from = g.ends[first-1]
	}
	for _, to := range g.ends[first:end] {
		group := g.members[from:to]
		from = to
		if slices.ContainsFunc(group, (*Robot).grips) {
			continue
		}
		for k := range g.steps {
			for _, r := range group {
				b = r.body
				b.grouped, g.stepped[b.number-1] = true, true
				r.step(g.from + time.Duration(k+1)*StepTime)
				b.grouped, b = false, nil
			}
		}
	}
}

// grips reports whether a gripper of the robot may touch something.
func (r *Robot) grips() bool {
	for _, g := range r.grippers {
		if g.gripped != nil || g.paddles.moving() {
			return true
		}
	}
	return false
}
