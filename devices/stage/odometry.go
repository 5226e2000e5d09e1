package stage

import (
	"math/rand/v2"

	"player/devices/stage/floor"
)

// odometry is the robot's estimate of its pose.
type odometry struct {
	// gps: the robot knows its true pose in the frame of origin. Otherwise it
	// integrates the travel of its wheels, each axis wrong by its slip.
	gps    bool
	origin Pose
	slip   [3]float64 // forward, sideways, turning: 0.05 counts 5 % too much
	pose   Pose       // dead reckoning since the reset
}

// draw chooses the slip of one robot: evenly between -width/2 and width/2, the
// widths of the world file.
func (o *odometry) draw(width [3]float64, random *rand.Rand) {
	for i, w := range width {
		o.slip[i] = (random.Float64() - 0.5) * w
	}
}

// add counts one step of the wheels, in the robot's frame.
func (o *odometry) add(step Pose) {
	step.X *= 1 + o.slip[0]
	step.Y *= 1 + o.slip[1]
	step.Heading *= 1 + o.slip[2]
	o.pose = o.pose.Then(step)
	o.pose.Heading = floor.Wrap(o.pose.Heading)
}

// reset makes the robot's present pose the origin.
func (o *odometry) reset(truth Pose) {
	o.pose = Pose{}
	if o.gps {
		o.origin = truth
	}
}

// opened is called when a robot's microcontroller is opened: dead reckoning
// starts again (manual 3.6), but a robot with gps keeps the frame of the world
// file.
func (o *odometry) opened() { o.pose = Pose{} }

// at returns the pose to report.
func (o *odometry) at(truth Pose) Pose {
	if o.gps {
		return truth.From(o.origin)
	}
	return o.pose
}
