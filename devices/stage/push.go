package stage

import "player/devices/stage/floor"

// Pushing. A movable thing in the way of a moving robot gives way, and so does the next
// thing in that thing's way, as long as the robot's tyres hold.
//
// The model has no speeds and no time: a thing moves only as far as it is pushed, and
// nothing glides on. A push goes through one point, at right angles to the face that is
// touched, without friction between the two. Its line passes the middle of the thing at some
// distance, so the thing also turns. Its weight rests evenly on the floor.
//
// Every change is tried first: if the things would be too heavy, or if one would end in a
// wall, in something fixed or in the robot, none moves. So bodies without contact to walls
// and to each other stay without it.

const (
	// floorFriction is the coefficient of friction of rubber on a smooth floor, and of
	// things without the field friction.
	floorFriction = 0.5
	// robotMass is the mass of a Pioneer 2-DX, thingMass the mass of a thing without the
	// field mass, kg.
	robotMass = 9
	thingMass = 1
	// maxShoves bounds the work of one push: a robot before a longer row of things
	// stalls. It allows for a few corrections of each thing in a row of ten.
	maxShoves = 64
	// maxDepth is how far a thing may reach into the body that pushes it, metres. A step of
	// a Pioneer is 10 mm at most. Things with a larger overlap were placed into each other:
	// parting them might carry one through a thin wall.
	maxDepth = 0.05
	// clearance is the gap that is left after a push, metres: it must exceed the
	// rounding errors of coordinates.
	clearance = 1e-6
	// meanDistance is the mean distance of the points of a shape from its middle, as a
	// fraction of the corners' mean distance: 0.54 for a square and 0.67 for a disc.
	meanDistance = 0.6
)

// shove is a body that was pushed, and its pose before.
type shove struct {
	body *body
	from Pose
}

// makeRoom pushes away the things that the body overlaps and reports whether it could. If
// not, nothing has moved. Groups of robots call it at the same time: without a movable thing
// in the way it changes nothing.
func (w *World) makeRoom(pusher *body) bool {
	if o := w.hit(pusher); o == nil || !o.pushable {
		return o == nil
	}
	w.shoves = append(w.shoves[:0], shove{pusher, pusher.pose})
	grip := pusher.resistance
	for i := 0; i < len(w.shoves); i++ {
		b := w.shoves[i].body
		for o := w.hit(b); o != nil; o = w.hit(b) {
			if !w.pushed(o) {
				grip -= o.resistance
			}
			w.shoves = append(w.shoves, shove{o, o.pose})
			if !o.pushable || o == pusher || grip < 0 || len(w.shoves) > maxShoves || !o.giveWay(b) || o.inWall() {
				for i := len(w.shoves) - 1; i > 0; i-- {
					w.shoves[i].body.place(w.shoves[i].from)
				}
				return false
			}
		}
	}
	for _, s := range w.shoves[1:] {
		s.body.robot.carry()
	}
	return true
}

// pushed reports whether the current push has moved o.
func (w *World) pushed(o *body) bool {
	for i := range w.shoves {
		if w.shoves[i].body == o {
			return true
		}
	}
	return false
}

// giveWay moves o out of b, if they overlap, and reports whether that was possible. Because o
// also turns, a small overlap may remain; the next call removes it.
//
// If the line of a push of unit size along out passes the middle at arm, o turns by arm /
// spin for each metre that it moves (limit surface as an ellipsoid: Howe and Cutkosky,
// Practical Force-Motion Models for Sliding Manipulation, 1996). The touched point then moves
// by 1 + arm^2 / spin. This must be the depth.
func (o *body) giveWay(b *body) bool {
	c := floor.Touch(b.here, o.here)
	if c.Depth > maxDepth {
		return false
	}
	middle := o.pose.Apply(o.middle)
	arm := c.At.Sub(middle).Cross(c.Out)
	way := (c.Depth + clearance) / (1 + arm*arm/o.spin)
	heading := o.pose.Heading + way*arm/o.spin
	at := middle.Add(c.Out.Scale(way)).Sub(o.middle.Rotate(floor.Direction(heading)))
	o.place(Pose{X: at.X, Y: at.Y, Heading: heading})
	return true
}
