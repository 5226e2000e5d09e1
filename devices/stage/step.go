package stage

import (
	"math"
	"runtime"
)

// This file steps the robots. Robots that touch or push each other depend on the order, so
// these are stepped one after the other, in the order of the file. Before them go those that
// are apart: nothing can come into their way in this step. They depend on the walls only, so
// a world that is Fast steps them on all processors. What happens is the same for any number.

// stepping is the work of a step.
type stepping struct {
	apart, others []*Robot
}

const (
	// stepShare is how many robots that are apart a processor takes at a time: they need
	// some 10 us, longer than it takes to get them, and short enough that all processors end
	// at about the same time.
	stepShare = 32
	// stepReach is the longest way of a robot in a step, metres.
	stepReach = maxWheel * float64(StepTime) / 1e9
)

// stepRobots advances all robots by StepTime.
func (w *World) stepRobots() {
	s := &w.stepping
	s.apart, s.others = s.apart[:0], s.others[:0]
	// Since its anchors were set a body has moved by at most drift.
	needed := 2 * (math.Sqrt(w.crowd.drift) + stepReach + cullTolerance)
	for _, r := range w.robots {
		if r.body.apart = w.crowd.rooms[r.body.number] > needed && r.gripper.idle(); r.body.apart {
			s.apart = append(s.apart, r)
		} else {
			s.others = append(s.others, r)
		}
	}
	w.stepApart()
	for _, r := range s.others {
		r.step(StepTime)
	}
}

func (w *World) stepApart() {
	s := &w.stepping
	workers := 1
	if w.Fast() {
		workers = min(runtime.GOMAXPROCS(0), len(s.apart)/stepShare)
	}
	defer func() { // also if one has panicked
		for _, r := range s.apart {
			r.body.apart = false
			w.crowd.moved(r.body)
		}
	}()
	w.sharing.share(workers, len(s.apart), stepShare, s)
}

// do implements work: a step of robots that are apart.
func (s *stepping) do(_, first, end int) {
	for _, r := range s.apart[first:end] {
		r.step(StepTime)
	}
}
