package stage

import "time"

const (
	// stepBudget is how many steps of one robot a call of Advance takes at
	// most, so that it does not hold the server for a millisecond: in a crowd a
	// step takes a robot a microsecond (docs/BENCHMARKS.md). What is left is made
	// up by calls that follow at once.
	stepBudget = 400
	// maxLag is how far the simulation may fall behind before the time is
	// given up: a machine that is too slow, or that slept, must not race after
	// it.
	maxLag = 200 * time.Millisecond
)

// clock ties simulated time to the server's time. Simulated time flows while
// somebody needs it: a world without clients stands still, unless it runs
// headless.
type clock struct {
	speed  float64 // simulated seconds a second, zero for as fast as possible
	paused bool

	users    int // drivers that are open, and the headless run
	drivers  []*Driver
	headless bool

	wallBase, simBase time.Duration // the same instant
	target            time.Duration // simulated time at the last Advance
	last              time.Duration // server time of the last Advance
	epoch             time.Duration // of the time that robots report, see Stamp
}

// use starts the flow of time.
func (w *World) use(now time.Duration) {
	if w.users++; w.users == 1 {
		w.rebase(now)
		w.epoch = max(w.epoch, now-w.sim)
	}
}

// unuse gives back a use. The world that nobody uses stands still.
func (w *World) unuse() {
	if w.users--; w.users == 0 {
		for _, r := range w.robots {
			r.drive.halt()
		}
	}
}

// rebase makes now the time of the present state.
func (w *World) rebase(now time.Duration) {
	w.wallBase, w.simBase, w.target = now, w.sim, w.sim
}

// Advance brings the world to the server's time now, by a bounded number of
// steps. It reports whether there is more to do: then it wants to be called
// again at once. Calls at the same time do nothing more than the first, so that
// any number of robots may call it at their deadlines.
func (w *World) Advance(now time.Duration) (more bool) {
	switch {
	case w.paused || w.Finished():
		w.rebase(now)
		return false
	case w.speed == 0:
		if now == w.last {
			return true
		}
		w.target = w.sim + StepTime
	default:
		w.target = w.simBase + time.Duration(float64(now-w.wallBase)*w.speed)
	}
	w.last = now
	for range max(1, stepBudget/max(1, len(w.robots))) {
		if w.target-w.sim < StepTime || w.Finished() {
			break
		}
		w.step()
	}
	if lag := w.target - w.sim; w.speed != 0 && lag > time.Duration(float64(maxLag)*max(1, w.speed)) {
		w.rebase(now)
	}
	return w.speed == 0 || w.target-w.sim >= StepTime
}

// wall is the server's time at which the world will be past the simulated time
// at. The nanosecond on top keeps rounding from waking a robot just before it.
func (w *World) wall(at time.Duration) time.Duration {
	return w.wallBase + time.Duration(float64(at-w.simBase)/w.speed) + 1
}

// Stamp is the time that robots report with their odometry: the server's time
// when the world was started, and from then on simulated time.
func (w *World) Stamp() time.Duration { return w.epoch + w.sim }

// Run drives a world that runs without clients. Call it once at the start and
// then at the deadline that it returned, zero when the world has finished.
func (w *World) Run(now time.Duration) (next time.Duration) {
	if !w.headless {
		w.headless = true
		w.use(now)
	}
	more := w.Advance(now)
	switch {
	case w.Finished():
		return 0
	case more:
		return now
	case w.paused:
		return now + publishPeriod
	}
	return min(w.wall(w.sim+publishPeriod), now+publishPeriod)
}

// Speed returns how many simulated seconds pass in one, zero for as fast as
// possible, and whether the world is paused.
func (w *World) Speed() (speed float64, paused bool) { return w.speed, w.paused }

// SetSpeed changes the speed; see Speed. Negative speeds are zero.
func (w *World) SetSpeed(now time.Duration, speed float64) {
	w.rebase(now)
	w.speed = max(0, speed)
	w.rearm(now)
}

// Pause stops time, or lets it go on. Robots keep reporting their unchanging
// state meanwhile.
func (w *World) Pause(now time.Duration, paused bool) {
	w.rebase(now)
	w.paused = paused
	w.rearm(now)
}

// Step lets n steps of StepTime pass, paused or not.
func (w *World) Step(n int) {
	for range n {
		w.step()
	}
}

// rearm tells the drivers that the way from simulated to server time changed.
func (w *World) rearm(now time.Duration) {
	for _, d := range w.drivers {
		d.link.WakeAt(d.deadline(now))
	}
}
