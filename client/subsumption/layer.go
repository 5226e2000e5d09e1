package subsumption

import "time"

// Output is a layer's command to the robot for one cycle.
type Output struct {
	Speed int  // of the robot's centre, mm/s forward: the article's command
	Turn  int  // about the centre, deg/s counterclockwise: its argument
	Flag  bool // the layer wants control of the wheels
}

// want returns an output with the flag set.
func want(speed, turn int) Output { return Output{speed, turn, true} }

// Behavior is a function of the sensors and the time, or a state machine with
// timers (the article's AFSM). Act is called once in every cycle, subsumed or
// not. It must return at once and must not keep s.
type Behavior interface {
	Act(now time.Duration, s *Sensors, to Signals) Output
}

// Signals is the input of a layer from the stack.
type Signals struct {
	// Winner is the layer that won the last cycle, nil in the first: Jones'
	// feedback from the arbiter.
	Winner *Layer
	// Subsumed reports that the layer had its flag set in the last cycle and
	// another layer won. A ballistic behaviour then aborts.
	Subsumed bool
	// Inverted asks for the opposite response: seek dark instead of light.
	Inverted bool
	// Command is the command to the wheels in the last cycle.
	Command Command
}

// Layer is a behaviour in a stack. The switches are SR04's masks, one bit
// each; they may be changed between cycles.
type Layer struct {
	Name     string
	Behavior Behavior

	Disabled   bool // the behaviour does not run and has no flag
	Suppressed bool // it runs, but its flag is ignored
	Inverted   bool // it is asked for the opposite response

	Output        // its output in the latest cycle
	subsumed bool // see Signals
}

// NewLayer returns an enabled layer.
func NewLayer(name string, b Behavior) *Layer { return &Layer{Name: name, Behavior: b} }
