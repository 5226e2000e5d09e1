package subsumption

import (
	"cmp"
	"time"
)

// Cruise always drives straight ahead at full speed: the default layer of Jones and Flynn.
// Inverted it stops, so that the robot moves only when a reflex moves it.
type Cruise struct {
	Speed int // mm/s; zero: 300
}

func (c Cruise) Act(_ time.Duration, _ *Sensors, to Signals) Output {
	if to.Inverted {
		return want(0, 0)
	}
	return want(cmp.Or(c.Speed, topSpeed), 0)
}

// Stop always stops the robot.
type Stop struct{}

func (Stop) Act(time.Duration, *Sensors, Signals) Output { return want(0, 0) }

// Radio lets a human drive while a hand is on the stick: jBot's R/C receiver.
type Radio struct{}

func (Radio) Act(_ time.Duration, s *Sensors, _ Signals) Output { return s.Radio.output() }

// User is Radio for the controls on the robot itself.
type User struct{}

func (User) Act(_ time.Duration, s *Sensors, _ Signals) Output { return s.User.output() }

func (s Stick) output() Output { return Output{s.Speed, s.Turn, s.On} }
