package subsumption

import "slices"

// Pose is where the robot is, by its odometry.
type Pose struct {
	X, Y    int // mm
	Heading int // degrees
}

// Far is a range in mm that stands for nothing in reach, or nobody looking.
const Far = 1 << 16

// Directions is how many directions the robot looks in. They are those of the
// Pioneer's sonars, clockwise from the left: see Bearing.
const Directions = 16

// Bearing returns the middle of a direction, degrees counterclockwise from
// straight ahead.
func Bearing(direction int) int {
	return [Directions]int{90, 50, 30, 10, -10, -30, -50, -90, -90, -130, -150, -170, 170, 150, 130, 90}[direction]
}

// Bumpers is a set of pressed bumpers.
type Bumpers uint8

const (
	BumpLeft Bumpers = 1 << iota
	BumpRight
	BumpRear
)

// Light is the light that photo seeks: on SR04 two photo cells, here a lamp that
// the camera sees, or a simulated one.
type Light struct {
	Seen    bool
	Bearing int // degrees counterclockwise from straight ahead
}

// Stick is what a human, or another program, wants of the robot.
type Stick struct {
	On    bool // somebody holds it
	Speed int  // mm/s
	Turn  int  // deg/s
}

// Sensors is what the robot senses at one moment.
type Sensors struct {
	Pose    Pose
	Speed   int // measured, mm/s
	Turn    int // measured, deg/s
	Stalled bool

	Range   [Directions]int // from the hull to the nearest thing, mm; Far for nothing
	Bumpers Bumpers
	Light   Light
	Radio   Stick // a remote control
	User    Stick // the knobs on the robot
}

// NewSensors returns the senses of a robot with nothing around it.
func NewSensors() Sensors {
	var s Sensors
	for i := range s.Range {
		s.Range[i] = Far
	}
	return s
}

// Left, Right and Rear are the nearest thing in a lobe in front of the robot, to
// one side of straight ahead and out to 60 degrees, and behind it: mm.
func (s *Sensors) Left() int  { return slices.Min(s.Range[1:4]) }
func (s *Sensors) Right() int { return slices.Min(s.Range[4:7]) }
func (s *Sensors) Rear() int  { return slices.Min(s.Range[9:15]) }

// Ahead is the nearest thing in the robot's way: mm.
func (s *Sensors) Ahead() int { return slices.Min(s.Range[2:6]) }

// between brings an angle in degrees to -180..180.
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
