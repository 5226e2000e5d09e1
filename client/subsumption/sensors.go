package subsumption

import (
	"slices"

	"player/codec/pioneer"
)

// Pose is the robot's position and heading by its odometry.
type Pose struct {
	X, Y    int // mm
	Heading int // degrees
}

// Far is a range in mm that means nothing in reach, or no sensor.
const Far = 1 << 16

// Directions is the number of directions of Sensors.Range. They are the directions of the
// Pioneer's sonars, clockwise from the left: see Bearing.
const Directions = 16

// Bearing returns the middle of a direction, degrees counterclockwise from
// straight ahead.
func Bearing(direction int) int {
	return int(pioneer.Sonars()[direction].Heading)
}

// Bumpers is a set of pressed bumpers.
type Bumpers uint8

const (
	BumpLeft Bumpers = 1 << iota
	BumpRight
	BumpRear
)

// Light is the light that Photo seeks: on SR04 two photo cells, here a lamp
// seen by the camera, or a simulated one.
type Light struct {
	Seen    bool
	Bearing int // degrees counterclockwise from straight ahead
}

// Stick is the motion that a human or another program asks for.
type Stick struct {
	On    bool // the operator's hand is on the stick
	Speed int  // mm/s
	Turn  int  // deg/s
}

// Sensors is the robot's sensor data at one moment.
type Sensors struct {
	Pose    Pose
	Speed   int // measured, mm/s
	Turn    int // measured, deg/s
	Stalled bool

	Range   [Directions]int // from the hull to the nearest obstacle, mm; Far if there is none
	Bumpers Bumpers
	Light   Light
	Radio   Stick // a remote control
	User    Stick // the controls on the robot
}

// NewSensors returns the sensors of a robot with nothing around it.
func NewSensors() Sensors {
	var s Sensors
	for i := range s.Range {
		s.Range[i] = Far
	}
	return s
}

// Left, Right and Rear return the nearest range in mm in a lobe: in front of
// the robot from straight ahead to 60 degrees on one side, and behind it.
func (s *Sensors) Left() int  { return slices.Min(s.Range[1:4]) }
func (s *Sensors) Right() int { return slices.Min(s.Range[4:7]) }
func (s *Sensors) Rear() int  { return slices.Min(s.Range[9:15]) }

// Ahead returns the nearest range in the robot's way, mm.
func (s *Sensors) Ahead() int { return slices.Min(s.Range[2:6]) }

// between normalises an angle in degrees to -180..180.
func between(angle int) int {
	angle %= 360
	switch {
	case angle > 180:
		return angle - 360
	case angle < -180:
		return angle + 360
	}
	return angle
}
