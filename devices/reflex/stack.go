package reflex

import (
	"time"

	"player/client/subsumption"
)

// calm is the time without reflexes after which escape considers the robot free: longer than
// one bump recovery and the next collision after it.
const calm = 4 * time.Second

// pace in mm/s is the full speed of the ballistic reflexes, which mostly use half of
// it. It is low because people next to the robot do not expect the movement.
const pace = 200

// newStack returns the layers, and which of them are reflexes. reach is the distance
// at which avoid acts, mm.
func newStack(reach int) (stack *subsumption.Stack, reflexes []*subsumption.Layer) {
	radio := subsumption.NewLayer("radio", subsumption.Radio{})
	reflexes = []*subsumption.Layer{
		subsumption.NewLayer("escape", &escape{Escape: subsumption.Escape{Speed: pace}, radio: radio}),
		subsumption.NewLayer("bump", &subsumption.Bump{Speed: pace}),
		subsumption.NewLayer("avoid", &avoid{ir: subsumption.IR{Range: reach}, rear: reach / 2}),
	}
	stack = subsumption.New(append(reflexes, radio, subsumption.NewLayer("stop", subsumption.Stop{}))...)
	stack.Motor = subsumption.Motor{} // passes commands on unchanged
	return stack, reflexes
}

// avoid keeps a client from driving into obstacles that the sensors see. Forward it steers
// like IR, at half of the client's speed at most; backward it stops. It does not change
// rotations on the spot.
type avoid struct {
	ir   subsumption.IR
	rear int // mm
}

func (a *avoid) Act(now time.Duration, s *subsumption.Sensors, to subsumption.Signals) subsumption.Output {
	switch {
	case s.Radio.Speed > 0:
		a.ir.Speed = s.Radio.Speed
		return a.ir.Act(now, s, to)
	case s.Radio.Speed < 0 && s.Rear() < a.rear:
		return subsumption.Output{Turn: s.Radio.Turn, Flag: true}
	}
	return subsumption.Output{}
}

// escape is subsumption.Escape for a robot that a client drives: a robot that moves slowly
// or in a small circle by command is not trapped. Only where reflexes had to act it can be
// trapped.
type escape struct {
	subsumption.Escape
	radio   *subsumption.Layer
	trouble time.Duration // when a reflex acted last
}

func (e *escape) Act(now time.Duration, s *subsumption.Sensors, to subsumption.Signals) subsumption.Output {
	if to.Winner != nil && to.Winner != e.radio || s.Stalled || s.Bumpers != 0 {
		e.trouble = now
	}
	if now-e.trouble > calm {
		to.Command = subsumption.Command{} // as if it stood: Escape waits
	}
	return e.Escape.Act(now, s, to)
}
