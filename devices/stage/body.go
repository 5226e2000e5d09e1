package stage

import (
	"math"
	"slices"

	"player/devices/stage/floor"
)

// material is how sensors and robots perceive a surface.
type material struct {
	color   Color
	channel int  // of the camera's colour tracker, -1 for none
	kept    bool // the channel does not follow the colour
	solid   bool // robots collide with it
	echo    bool // sonars and lasers detect it
}

// part is an upright prism, or for a picture many of one height.
type part struct {
	material
	shapes      [][]Vec // outlines, in the frame of the body
	bottom, top float64 // metres above the floor
	bitmap      bool    // drawn from a picture: too many outlines to check one by one
	rounds      [][]Vec // the shapes counterclockwise and twice around; nil if the shape is not convex
}

// at reports whether a level beam at that height meets the part.
func (p *part) at(height float64) bool { return p.bottom <= height && height <= p.top }

// body is a thing in the world: a fixture, whose pose is always the origin, an
// object that can be carried or pushed, or a robot.
type body struct {
	name  string
	parts []part
	own   int    // how many of the parts are not mounted on it: the first ones
	robot *Robot // nil for a thing
	grasp bool   // a gripper can hold it

	pushable   bool    // robots can push it
	resistance float64 // mass in kg times friction: to being pushed, and of a robot the grip to push

	pose    Pose
	start   Pose       // see begin
	spot    *spot      // where it is: in the world's list
	crowd   *crowd     // the bodies of the world; nil while it is loaded
	number  int32      // in the crowd
	around  neighbours // within reach of its hull
	grouped bool       // it is stepped with a group: the crowd learns afterwards that it has moved
	lifted  float64    // metres above its place on the floor
	holder  *gripper

	// hull is the convex outline of the solid parts in the body's frame, nil
	// if there is none; it extends from hullBottom to hullTop. here is the
	// hull in the world's frame. Two bodies collide when their hulls overlap.
	// A robot without solid parts has the hull of all parts, which is at no height.
	hull, here          []Vec
	hullBottom, hullTop float64
	hullRadius          float64     // about the pose, metres
	radius              float64     // the same for all parts
	walls               *floor.Grid // fixtures that the hull collides with

	middle Vec     // of the hull's corners, in the body's frame: taken for the centre of mass
	spin   float64 // mean distance of the hull's points from the middle, squared, m^2
}

// spot is where a body is. The world keeps the spots of all bodies together, because most
// checks need nothing else.
type spot struct {
	at, facing Vec // facing is the unit vector of the heading
	radius     float64
	body       *body
}

// within reports whether some point of the body may be within reach of p.
func (s *spot) within(p Vec, reach float64) bool {
	v := s.at.Sub(p)
	reach += s.radius
	return v.Dot(v) <= reach*reach
}

// shape computes the fields that depend on the parts.
func (b *body) shape() {
	var solid []Vec
	b.hullBottom, b.hullTop = math.Inf(1), math.Inf(-1)
	for i := range b.parts {
		p := &b.parts[i]
		for _, outline := range p.shapes {
			p.rounds = append(p.rounds, floor.ConvexRound(outline))
			for _, v := range outline {
				b.radius = max(b.radius, v.Length())
			}
			if p.solid {
				solid = append(solid, outline...)
				b.hullBottom, b.hullTop = min(b.hullBottom, p.bottom), max(b.hullTop, p.top)
			}
		}
	}
	if b.robot != nil && solid == nil {
		for i := range b.parts {
			solid = append(solid, slices.Concat(b.parts[i].shapes...)...)
		}
	}
	if b.hull = floor.ConvexHull(solid); len(b.hull) < 3 {
		b.hull = nil
	}
	fraction := 1 / float64(len(b.hull))
	for _, v := range b.hull {
		b.hullRadius = max(b.hullRadius, v.Length())
		b.middle = b.middle.Add(v.Scale(fraction))
		b.spin += v.Dot(v) * fraction
	}
	b.spin = meanDistance * meanDistance * (b.spin - b.middle.Dot(b.middle))
	b.here = make([]Vec, len(b.hull))
	b.spot = &spot{radius: b.radius, body: b}
	b.place(b.pose)
}

// place puts the body at a pose.
func (b *body) place(at Pose) {
	at.Heading = floor.Wrap(at.Heading)
	b.pose, b.spot.at, b.spot.facing = at, at.Position(), floor.Direction(at.Heading)
	for i, v := range b.hull {
		b.here[i] = v.Rotate(b.spot.facing).Add(at.Position())
	}
	if b.crowd != nil && !b.grouped {
		b.crowd.moved(b.number, b.spot.at)
	}
}

// carry transforms a pose on the body to the world's frame.
func (b *body) carry(p Pose) Pose {
	at := b.pose.Position().Add(p.Position().Rotate(b.spot.facing))
	return Pose{X: at.X, Y: at.Y, Heading: b.pose.Heading + p.Heading}
}

// cast returns the distance from o along the unit vector d, at a height, to the
// nearest part that gives an echo, or limit.
func (b *body) cast(o, d Vec, height, limit float64) float64 {
	return b.castFrom(b.pose.Position().Sub(o), b.spot.facing, d, height, limit)
}

// castFrom is cast in any frame that has its origin where the ray starts. at and facing are the
// position and the direction of the body there.
func (b *body) castFrom(at, facing, d Vec, height, limit float64) float64 {
	if along := at.Dot(d); along+b.radius < 0 || along-b.radius > limit || math.Abs(at.Cross(d)) > b.radius {
		return limit
	}
	o, d := at.Scale(-1).RotateBack(facing), d.RotateBack(facing)
	for i := range b.parts {
		if p := &b.parts[i]; p.echo && p.at(height-b.lifted) {
			for _, outline := range p.shapes {
				limit = floor.RayPolygon(o, d, outline, limit)
			}
		}
	}
	return limit
}

// castBeam is castFrom for the nearest point within a beam, which starts outside of the body if it is apart.
func (b *body) castBeam(at, facing Vec, beam *floor.Beam, height, limit float64, apart bool) float64 {
	o, turned := at.Scale(-1).RotateBack(facing), beam.Turned(Vec{X: facing.X, Y: -facing.Y})
	for i := range b.parts {
		if p := &b.parts[i]; p.echo && p.at(height-b.lifted) {
			for k, outline := range p.shapes {
				if apart && p.rounds[k] != nil {
					limit = turned.MeetRound(o, p.rounds[k], limit)
				} else {
					limit = turned.Meet(o, outline, limit)
				}
			}
		}
	}
	return limit
}

// overlaps reports whether the hulls of two bodies overlap.
func (b *body) overlaps(o *body) bool {
	if b.hull == nil || o.hull == nil || b.bottom() >= o.topmost() || o.bottom() >= b.topmost() {
		return false
	}
	return floor.ConvexOverlap(b.here, o.here)
}

func (b *body) bottom() float64  { return b.hullBottom + b.lifted }
func (b *body) topmost() float64 { return b.hullTop + b.lifted }

// inWall reports whether the body's hull overlaps a fixture. Walls are drawn
// conservatively, so it may report an overlap less than one cell too early.
func (b *body) inWall() bool {
	if b.hull == nil || b.walls.Clear(b.pose.Position(), b.hullRadius) {
		return false
	}
	a := b.here[len(b.here)-1]
	for _, p := range b.here {
		side := p.Sub(a)
		length := side.Length()
		if b.walls.Cast(a, side.Scale(1/length), length) < length {
			return true
		}
		a = p
	}
	return false
}
