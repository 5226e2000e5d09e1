package stage

import (
	"time"

	"go.uber.org/zap"

	"player/devices"
)

// schedule is when a driver of a world reports, in simulated time.
type schedule struct {
	world *World
	link  *devices.Link
	robot *Robot        // the robot that reports
	due   time.Duration // simulated time of the next report
	roll  roll          // of a world in lockstep
	scans *Driver       // with rangers; nil for a camera on the ceiling
}

// join starts the reports. The first one comes at once.
func (s *schedule) join(now time.Duration, link *devices.Link) {
	s.link = link
	s.world.join(now, s)
	s.due = s.world.sim
	if l := &s.world.lockstep; l.need > 0 && !l.started {
		link.Log().Info("the world is in step: time stands still until enough clients in request/reply mode are here",
			zap.Int("clients", l.clients), zap.Int("needed", l.need))
	}
	link.Ready(now)
	link.WakeAt(now)
}

// tick advances the world to now and calls publish when a report is due. It returns the
// next deadline.
func (s *schedule) tick(now time.Duration, publish func(now time.Duration)) time.Duration {
	w := s.world
	more := w.Advance(now)
	if w.paused && !s.InStep() || s.due < w.sim+StepTime {
		publish(now)
		s.due = w.nextReport(w.phase(s.robot))
		s.recount(now)
	}
	if at := w.lockstep.deadline(); at != 0 && at <= now {
		w.giveUp()
	}
	if more && w.goesOn() {
		return now
	}
	return s.deadline(now)
}

// deadline returns when tick is due, in the server's time, zero for when a client has
// asked for data.
func (s *schedule) deadline(now time.Duration) time.Duration {
	w := s.world
	switch {
	case s.InStep() && s.due <= w.sim:
		return now
	case w.paused || w.Finished():
		return now + publishPeriod
	case !w.goesOn():
		return w.lockstep.deadline()
	case w.speed == 0:
		return now
	}
	return max(now, w.wall(s.due))
}

// giveUp goes on without the clients that delay the others.
func (w *World) giveUp() {
	for _, d := range w.drivers {
		if n := w.lockstep.giveUp(&d.roll); n > 0 {
			d.link.Log().Warn("clients in step have not asked for data in time: the world goes on without them",
				zap.Int("clients", n), zap.Duration("limit", stepLimit))
		}
	}
}

// InStep implements devices.Stepper.
func (s *schedule) InStep() bool { return s.world.lockstep.need > 0 }

// Asked implements devices.Stepper.
func (s *schedule) Asked(now time.Duration) {
	s.recount(now)
	s.link.WakeAt(s.deadline(now))
}

func (s *schedule) recount(now time.Duration) {
	if s.InStep() {
		s.roll.waiters = s.link.AppendWaiters(s.roll.waiters[:0])
		s.world.lockstep.recount(now, &s.roll, s.roll.waiters)
	}
}
