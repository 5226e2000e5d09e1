package stage

import (
	"slices"
	"time"
)

const (
	// stepBudget is the most steps of one robot in a call of Advance in real time, so
	// that a call does not hold the server for a millisecond: in a crowd a step
	// takes one microsecond per robot (docs/benchmarks/parts.md). The remaining
	// steps are made in calls that follow at once.
	stepBudget = 400
	// maxLag is how far the simulation may fall behind before it gives up the
	// lost time: after a delay or a sleep, the machine must not race to catch
	// up.
	maxLag = 200 * time.Millisecond
)

// clock relates simulated time to the server's time. Simulated time runs while a client
// needs it: a world without clients is paused, unless it runs headless.
type clock struct {
	speed  float64 // simulated seconds per second, zero for as fast as possible
	paused bool

	users    int // open drivers, and the headless run
	drivers  []*schedule
	headless bool
	lockstep lockstep

	wallBase, simBase time.Duration // the same instant
	target            time.Duration // simulated time at the last Advance
	last              time.Duration // server time of the last Advance
	epoch             time.Duration // start of the time that robots report, see Stamp
}

// join adds a driver that is being opened, unless it is still listed after a panic.
func (w *World) join(now time.Duration, d *schedule) {
	if !slices.Contains(w.drivers, d) {
		w.use(now)
		w.drivers = append(w.drivers, d)
	}
}

// leave removes a driver that is being closed.
func (w *World) leave(now time.Duration, d *schedule) {
	w.drivers = slices.DeleteFunc(w.drivers, func(o *schedule) bool { return o == d })
	if d.InStep() {
		w.lockstep.recount(now, &d.roll, nil)
		w.rearm(now)
	}
	w.unuse()
}

// nextReport returns the simulated time of the first report after the present, of a
// driver with the given phase.
func (w *World) nextReport(phase time.Duration) time.Duration {
	return phase + (w.sim+StepTime-phase+publishPeriod-1)/publishPeriod*publishPeriod
}

// use starts the simulated time.
func (w *World) use(now time.Duration) {
	if w.users++; w.users == 1 {
		w.rebase(now)
		if w.lockstep.need == 0 { // else every run has the same times
			w.epoch = max(w.epoch, now-w.sim)
		}
	}
}

// unuse ends a use. An unused world is paused. The cameras' heads are set to their home
// position: real ones would reach it in the pause.
func (w *World) unuse() {
	if w.users--; w.users == 0 {
		for _, r := range w.robots {
			r.drive.halt()
			for _, c := range r.cameras {
				c.head = head{}
			}
		}
	}
}

// rebase makes now the time of the present state.
func (w *World) rebase(now time.Duration) {
	w.wallBase, w.simBase, w.target = now, w.sim, w.sim
	w.lockstep.since = now
}

// goesOn reports whether a world in lockstep may pass the present: all clients that count
// have asked, and every driver has reported the present. Other worlds always may.
func (w *World) goesOn() bool {
	if w.lockstep.need == 0 {
		return true
	}
	for _, d := range w.drivers {
		if d.due <= w.sim {
			return false
		}
	}
	return w.lockstep.open()
}

// Advance brings the world to the server's time now, by a bounded number of
// steps. It reports whether steps remain; the caller then calls it again at
// once. Further calls with the same time do nothing, so that any number of
// robots may call it at their deadlines.
func (w *World) Advance(now time.Duration) (more bool) {
	switch {
	case w.paused || w.Finished():
		w.rebase(now)
		return false
	case !w.goesOn():
		return false
	case w.speed == 0:
		if now == w.last {
			return true
		}
		w.target = w.sim + StepTime
		if w.lockstep.need > 0 { // no client misses a report: make all steps up to it
			w.target = w.sim + publishPeriod
		}
	default:
		w.target = w.simBase + time.Duration(float64(now-w.wallBase)*w.speed)
	}
	w.last = now
	budget := max(1, stepBudget/max(1, len(w.robots)))
	if w.Fast() {
		budget = max(budget, int(publishPeriod/StepTime)) // the scans of all robots take longer
	}
	for budget > 0 && w.target-w.sim >= StepTime && !w.Finished() {
		n := min(budget, int(min(w.target-w.sim, publishPeriod-w.sim%publishPeriod)/StepTime))
		budget -= n
		w.Step(n)
		if w.lockstep.need > 0 && w.sim%publishPeriod == 0 {
			w.rearm(now) // all drivers report
			break
		}
	}
	if lag := w.target - w.sim; w.speed != 0 && lag > time.Duration(float64(maxLag)*max(1, w.speed)) {
		w.rebase(now)
	}
	return w.speed == 0 || w.target-w.sim >= StepTime
}

// wall returns the server's time at which the world will be past the simulated
// time at. An extra nanosecond keeps rounding from waking a robot just before
// it.
func (w *World) wall(at time.Duration) time.Duration {
	return w.wallBase + time.Duration(float64(at-w.simBase)/w.speed) + 1
}

// Stamp returns the time that robots report with their odometry: the server's time when the
// world was started, and simulated time from then on. In a world in lockstep it is the
// simulated time.
func (w *World) Stamp() time.Duration { return w.epoch + w.sim }

// Run advances a world without clients. Call it once at the start and then at
// the deadline that it returned, which is zero when the world has finished. Only
// drivers advance a world in lockstep: drivers that act on a report, as goto, do so
// before the driver that has made the report is called again.
func (w *World) Run(now time.Duration) (next time.Duration) {
	if !w.headless {
		w.headless = true
		w.use(now)
	}
	more := w.lockstep.need == 0 && w.Advance(now)
	switch {
	case w.Finished():
		return 0
	case w.lockstep.need > 0:
		return now + publishPeriod
	case more:
		return now
	case w.paused:
		return now + publishPeriod
	}
	return min(w.wall(w.sim+publishPeriod), now+publishPeriod)
}

// Speed returns the simulated seconds per second, zero for as fast as
// possible, and whether the world is paused.
func (w *World) Speed() (speed float64, paused bool) { return w.speed, w.paused }

// SetSpeed sets the speed; see Speed. Negative speeds count as zero.
func (w *World) SetSpeed(now time.Duration, speed float64) {
	w.rebase(now)
	w.speed = max(0, speed)
	if w.onFast != nil {
		w.onFast(w.Fast())
	}
	w.rearm(now)
}

// Pause stops or continues simulated time. Robots keep reporting their
// unchanged state meanwhile.
func (w *World) Pause(now time.Duration, paused bool) {
	w.rebase(now)
	w.paused = paused
	w.rearm(now)
}

// rearm notifies the drivers that the relation of simulated to server time
// changed.
func (w *World) rearm(now time.Duration) {
	for _, d := range w.drivers {
		d.link.WakeAt(d.deadline(now))
	}
}
