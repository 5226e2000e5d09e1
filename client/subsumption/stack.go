package subsumption

import (
	"fmt"
	"slices"
	"time"
)

// Stack is a robot's layers and their arbiter. One cycle is atomic: all layers
// act, then one wins, then its command is computed; no command is visible that
// a higher layer could still replace.
//
// It can be each of the article's three arbiters. Jones and Flynn let each layer, from the
// lowest to the highest, replace the output of the layers below: a stack of New works so.
// SR04's masks are the switches of a Layer. jBot's jobs are orders of priority over the same
// layers: see Switch.
type Stack struct {
	// Motor converts outputs to wheel commands. New sets it for a Pioneer 2;
	// the zero Motor passes outputs on unchanged.
	Motor Motor

	layers  []*Layer
	job     []*Layer // highest priority first; the last one is the default
	winner  *Layer
	command Command
}

// New returns a stack of layers, highest priority first. The last one is the
// default layer: it wins when no other does, whatever its flag.
func New(layers ...*Layer) *Stack {
	return &Stack{Motor: Pioneer(), layers: layers, job: layers}
}

// Switch gives the stack another job: an order of priority over some of its layers, highest
// first, the last one being the default. Omitted layers still run but cannot win. Without
// arguments the job is again the one of New. It takes effect in the next cycle. Switch
// panics on a layer that was not passed to New.
func (s *Stack) Switch(job ...*Layer) {
	for _, l := range job {
		if !slices.Contains(s.layers, l) {
			panic(fmt.Sprintf("subsumption: layer %q is not in the stack", l.Name))
		}
	}
	if s.job = job; len(job) == 0 {
		s.job = s.layers
	}
}

// Cycle lets every layer act and returns the command of the winner. now must
// not decrease. A stack without layers stops the robot.
func (s *Stack) Cycle(now time.Duration, sensors *Sensors) Command {
	for _, l := range s.layers {
		if l.Disabled {
			l.Output = Output{}
			continue
		}
		l.Output = l.Behavior.Act(now, sensors, Signals{s.winner, l.subsumed, l.Inverted, s.command})
	}
	s.winner = arbitrate(s.job)
	for _, l := range s.layers {
		l.subsumed = l.Flag && l != s.winner
	}
	var out Output
	if s.winner != nil {
		out = s.winner.Output
	}
	s.command = s.Motor.Command(now, out)
	return s.command
}

// arbitrate returns the first layer of a job with a flag that is set and not suppressed,
// otherwise the default.
func arbitrate(job []*Layer) *Layer {
	for i, l := range job {
		if i == len(job)-1 || l.Flag && !l.Suppressed {
			return l
		}
	}
	return nil
}

// Winner returns the layer that won the latest cycle, nil before the first.
func (s *Stack) Winner() *Layer { return s.winner }

// Layer returns the layer of that name, nil if there is none.
func (s *Stack) Layer(name string) *Layer {
	i := slices.IndexFunc(s.layers, func(l *Layer) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return s.layers[i]
}
