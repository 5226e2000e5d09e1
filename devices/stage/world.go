// Package stage is a simulator: robots in a world on a flat floor, each a
// complete set of Player devices. docs/STAGE.md is its manual.
// The World is a pure model: it uses simulated time only, and the same seed
// and commands give the same run. A Driver provides one of its robots to the
// server. Everything runs on the server's loop.
package stage

import (
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

// StepTime is the length of one step of the physics, simulated. A robot at
// full speed moves 5 mm in it, less than a grid cell, so it cannot jump over
// anything.
const StepTime = 10 * time.Millisecond

type (
	// Vec is a point or a direction on the floor, in metres.
	Vec = floor.Vec
	// Pose is a position on the floor and a heading, in metres and radians.
	Pose = floor.Pose
)

// World is a floor with everything on it.
type World struct {
	name       string
	origin     origin
	text       string     // of the main file
	source     string     // digest of the files that it was read from
	fixtures   []*body    // things that never move
	scenery    []figure   // the same, for the cameras
	pictures   []*picture // the pictures among them
	unpainted  *unpainted // nil: nothing was painted
	bodies     []*body    // things that move: robots first, then objects
	spots      []spot     // of the bodies
	crowd      *crowd     // the same, by place
	robots     []*Robot
	docks      []*dock
	overheads  []*overhead
	fiducials  []fiducial // the movers' first
	resolution float64
	place      place
	seed       uint64
	plan       *floor.Grid // everything solid or detectable
	size       size        // of all grids

	clock
	sim    time.Duration // simulated time of the present state
	quitAt time.Duration // simulated time to stop at, zero for never
	truth  *truth
	quit   func()
	onFast func(bool)

	warnings []string
	near     []*spot // see nearby
	scanning scanning
	groups   groups
	pool     pool
	moved    int     // number of moves by hand
	shoves   []shove // see makeRoom
	scan     *[codec.LaserCount]Vec
	tracker  tracker // of all cameras: one is drawn at a time
}

// picture is a fixture drawn from an image file, for the cameras.
type picture struct {
	*part
	cells *floor.Grid
}

// Name is the world file's name.
func (w *World) Name() string { return w.name }

// Source returns the digest of all files that the world was read from, of 32 bytes. Two worlds have the
// same one exactly if their files have the same contents.
func (w *World) Source() string { return w.source }

// Robots returns the robots in the order of the file.
func (w *World) Robots() []*Robot { return w.robots }

// Warnings returns warnings about the world file: one for each name without effect, at most maxNamed, and
// others about likely mistakes.
func (w *World) Warnings() []string { return w.warnings }

// Time returns the simulated time.
func (w *World) Time() time.Duration { return w.sim }

// Finished reports whether quit_time has passed. The world is then paused for good.
func (w *World) Finished() bool { return w.quitAt != 0 && w.sim >= w.quitAt }

// OnQuit sets a function that is called once, at quit_time.
func (w *World) OnQuit(quit func()) { w.quit = quit }

// OnFast sets a function that is called at once and at each change; fast is whether the world is
// Fast. A Fast world computes on all processors of the Go runtime.
func (w *World) OnFast(report func(fast bool)) {
	w.onFast = report
	report(w.Fast())
}

// Step advances n steps of StepTime, paused or not. The world stops at its quit_time.
func (w *World) Step(n int) {
	for n > 0 && !w.Finished() {
		n -= w.steps(n)
		if w.truth != nil {
			w.truth.sample(w)
		}
		if w.Finished() && w.quit != nil {
			w.quit()
		}
	}
}

// blocked reports whether a body overlaps anything.
func (w *World) blocked(b *body) bool { return b.inWall() || w.hit(b) != nil }

// hit returns the first movable body, in the world's order, that b overlaps, nil if there is
// none.
func (w *World) hit(b *body) (first *body) {
	for _, o := range w.neighbours(b, &b.around, b.hullRadius) {
		if !o.within(b.spot.at, b.hullRadius) {
			continue
		}
		if o := o.body; (first == nil || o.number < first.number) && o.holder == nil && b.overlaps(o) {
			first = o
		}
	}
	return first
}
