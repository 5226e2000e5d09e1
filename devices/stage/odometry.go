package stage

import "math/rand/v2"

// odometry is where the robot thinks it is.
type odometry struct {
	// gps: the robot knows its true pose in the frame of origin. Else it adds
	// up what its wheels travel, each axis off by its slip.
	gps    bool
	origin Pose
	slip   [3]float64 // forward, sideways, turning: 0.05 counts 5 % too much
	pose   Pose       // dead reckoning since the reset
}

// draw takes the slip of one robot from the width that the world gives: evenly
// between -width/2 and width/2.
func (o *odometry) draw(width [3]float64, random *rand.Rand) {
	for i, w := range width {
		o.slip[i] = (random.Float64() - 0.5) * w
	}
}

// add counts one step of the wheels: metres and radians.
func (o *odometry) add(forward, turned float64) {
	step := Pose{}.arc(forward, turned)
	step.X *= 1 + o.slip[0]
	step.Y *= 1 + o.slip[1]
	step.Heading *= 1 + o.slip[2]
	o.pose = o.pose.then(step)
	o.pose.Heading = wrap(o.pose.Heading)
}

// reset makes the robot's present place the origin.
func (o *odometry) reset(truth Pose) {
	o.pose = Pose{}
	if o.gps {
		o.origin = truth
	}
}

// opened is what happens when a robot's microcontroller is opened: dead
// reckoning starts anew (manual 3.6), but a robot that knows the truth keeps
// the frame that the world gave.
func (o *odometry) opened() { o.pose = Pose{} }

// at returns the pose to report.
func (o *odometry) at(truth Pose) Pose {
	if o.gps {
		return truth.from(o.origin)
	}
	return o.pose
}
