// Package stage is a simulator: robots in a world on a flat floor, each a
// complete set of Player devices. docs/STAGE.md is its manual.
//
// The World is a pure model: it knows simulated time only and is the same for
// the same seed and the same commands. A Driver gives one of its robots to the
// server. Everything is called on the one thread of the server.
package stage

import (
	"time"

	"player/codec"
)

// StepTime is how long one step of the physics takes, simulated. A robot at
// full speed moves 5 mm in it, less than a grid cell, so nothing is jumped
// over.
const StepTime = 10 * time.Millisecond

// World is a floor with everything on it.
type World struct {
	name       string
	fixtures   []*body    // what never moves
	pictures   []*picture // the pictures among them
	bodies     []*body    // what moves: robots first, then objects
	spots      []spot     // of the bodies
	robots     []*Robot
	resolution float64
	plan       *layer // all that is solid or seen

	clock
	sim    time.Duration // simulated time of the present state
	quitAt time.Duration // simulated time to stop at, zero for never
	truth  *truth
	quit   func()

	warnings []string
	near     []*body // see nearby
	scan     *[codec.LaserCount]Vec
	tracker  tracker // shared: one camera looks at a time
}

// picture is a fixture drawn from an image file, as the cameras see it.
type picture struct {
	*part
	cells *layer
}

// Name is the world file's name.
func (w *World) Name() string { return w.name }

// Robots returns the robots in the order of the file.
func (w *World) Robots() []*Robot { return w.robots }

// Warnings returns what a person should know about the world file: at most one
// line that lists what is not supported, and lines about what looks like a
// mistake.
func (w *World) Warnings() []string { return w.warnings }

// Time is the simulated time.
func (w *World) Time() time.Duration { return w.sim }

// Finished says that quit_time has come. The world then stands still for good.
func (w *World) Finished() bool { return w.quitAt != 0 && w.sim >= w.quitAt }

// OnQuit has quit called once, when quit_time comes.
func (w *World) OnQuit(quit func()) { w.quit = quit }

// step lets StepTime pass.
func (w *World) step() {
	if w.Finished() {
		return
	}
	w.sim += StepTime
	for _, r := range w.robots {
		r.step(StepTime)
	}
	if w.truth != nil {
		w.truth.sample(w)
	}
	if w.Finished() && w.quit != nil {
		w.quit()
	}
}

// blocked says whether a body overlaps anything.
func (w *World) blocked(b *body) bool {
	if b.inWall() {
		return true
	}
	for i := range w.spots {
		if !w.spots[i].within(b.spot.at, b.hullRadius) {
			continue
		}
		if o := w.bodies[i]; o != b && o.holder == nil && b.overlaps(o) {
			return true
		}
	}
	return false
}
