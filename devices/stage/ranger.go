package stage

import (
	"math"

	"player/codec"
	"player/devices/stage/floor"
)

const (
	// noEcho is the reading of an LMS-200 in mm mode with nothing in range:
	// all thirteen bits of the range set.
	noEcho = 8191
	// cullTolerance absorbs rounding when bodies that no ray can meet are left out,
	// metres or steps of the scan. More than necessary costs a check, less a reading.
	cullTolerance = 1e-6
	// maxSonar is the largest range that fits the sonar payload, metres.
	maxSonar = 65.535
)

// sonar is one transducer: pose on the robot, and the beam.
type sonar struct {
	pose    Pose
	fov     float64 // radians
	samples int     // 1: the beam is its middle ray; more: it is the cone of fov
	reach   float64 // metres; also the reading without an echo
	flaws

	beam   floor.Beam // in the frame of the robot
	offset float64    // from the robot's position, metres
	edge   Vec        // along the left edge of the beam, in its own frame; straight back if it is wider than half around
}

// aim computes the fields that depend on pose, fov and samples.
func (s *sonar) aim() {
	s.edge, s.offset = Vec{X: 1}, s.pose.Position().Length()
	if s.samples == 1 || s.fov == 0 {
		s.beam = floor.NewBeam(s.pose.Heading, 0)
		return
	}
	s.beam = floor.NewBeam(s.pose.Heading, s.fov)
	if s.edge = (Vec{X: -1}); s.fov < math.Pi {
		s.edge = floor.Direction(s.fov / 2)
	}
}

// sonars is a ring of up to 16.
type sonars struct {
	ring   []sonar
	height float64
	reach  float64 // of the sonar with the longest range
	sight  float64 // how far they see from the robot's position, metres
	walls  *floor.Grid
	flawed bool // some sonar is
}

// laser is a scanner of 180 degrees in half degree steps.
type laser struct {
	pose   Pose
	facing Vec // unit vector of its heading
	height float64
	reach  float64
	fov    float64 // radians; readings outside have no echo
	walls  *floor.Grid
	flaws
}

// scanDirections returns the unit vectors of a scan, the rightmost first.
func scanDirections() *[codec.LaserCount]Vec {
	var d [codec.LaserCount]Vec
	for i := range d {
		d[i] = floor.Direction(floor.Radians(float64(i)/2 - 90))
	}
	return &d
}

// nearby returns the spots of the bodies that a ray from o on the robot may meet within
// reach: all movable bodies except the robot itself. The slice is valid until
// the next call.
func (w *World) nearby(r *Robot, o Vec, reach float64) []*spot {
	w.near = w.appendOthers(w.near[:0], r.body, o, reach)
	return w.near
}

// appendOthers is appendNear for all bodies except one.
func (w *World) appendOthers(dst []*spot, one *body, o Vec, reach float64) []*spot {
	dst = w.appendNear(dst, o, reach)
	for i, s := range dst {
		if s.body == one {
			last := len(dst) - 1
			dst[i] = dst[last]
			return dst[:last]
		}
	}
	return dst
}

// scanSonars measures all ranges in mm. Missing sonars read the reach. The scanner is
// prepared for the robot.
func (r *Robot) scanSonars(c *scanner, out *codec.SonarData) {
	s, b := r.sonars, r.body
	for i := range out {
		out[i] = millimetres(s.reach)
	}
	if s.flawed {
		c.seed(r, codec.Sonar, 0)
	}
	var heard [codec.SonarCount]float64
	free := s.walls.Free(b.pose.Position())
	for i := range s.ring {
		heard[i] = s.fire(r, c, &s.ring[i], free)
	}
	for i := range s.ring {
		sonar, d := &s.ring[i], heard[i]
		if sonar.flawed {
			if sonar.crosstalk > 0 && c.random.uniform() < sonar.crosstalk {
				d = min(d, heard[(i+1)%len(s.ring)])
			}
			d = sonar.apply(&c.random, c.random.normal(), d, sonar.reach)
		}
		out[i] = millimetres(d)
	}
}

// fire returns the distance in metres from which a sonar has an echo, or its reach. No wall is within free metres of the
// robot's position.
func (s *sonars) fire(r *Robot, c *scanner, sonar *sonar, free float64) float64 {
	beam := sonar.beam
	if sonar.angular > 0 {
		beam = beam.Turned(floor.Rotation(sonar.angular * c.random.normal()))
	}
	d := s.hear(r, sonar, &beam, c.targets(), free)
	if d < sonar.reach && sonar.specular > 0 {
		d = s.echo(r, sonar, &beam, d, c.near)
	}
	return d
}

// hear returns the distance in metres to the nearest surface within a beam, or the sonar's
// reach. No wall is within free metres of the robot's position.
func (s *sonars) hear(r *Robot, sonar *sonar, b *floor.Beam, targets []target, free float64) float64 {
	o, best := sonar.pose.Position(), sonar.reach
	ahead, aside := o.Dot(b.Facing), b.Facing.Cross(o)
	end := best + sonar.offset
	for k := range targets {
		t := &targets[k]
		if t.distance >= end {
			if t.metres() >= end {
				break // all others are as far
			}
			continue
		}
		// Bodies within the beam. The left side is the distance from its edge, negative within.
		if math.Abs(b.Facing.Cross(t.at)-aside)*sonar.edge.X-(t.at.Dot(b.Facing)-ahead)*sonar.edge.Y <= t.radius {
			best = t.body.castBeam(t.at.Sub(o), t.facing, b, s.height, best, t.distance > sonar.offset)
			end = best + sonar.offset
		}
	}
	if end <= free {
		return best
	}
	o = r.body.pose.Position().Add(o.Rotate(r.body.spot.facing))
	if free := max(0, s.walls.Free(o)); best > free {
		world := b.Turned(r.body.spot.facing)
		best = s.walls.CastBeam(o, &world, free, best)
	}
	return best
}

// scanLaser measures a scan of a laser of the robot in mm. The scanner is prepared for the robot.
func (r *Robot) scanLaser(c *scanner, number int, out *codec.LaserData) {
	l := r.lasers[number]
	at, s := r.body.carry(l.pose), &c.scan
	s.at, s.facing, s.height, s.reach = at.Position(), floor.Direction(at.Heading), l.height, l.reach
	s.rays, s.astray = r.world.scan, 0
	least := 1 / l.reach
	for i := range s.inverses {
		s.inverses[i] = least
	}
	flawed := l.flawed
	if flawed {
		if c.seed(r, codec.Laser, number); l.angular > 0 {
			s.jitter(c, l.angular)
		}
	}
	s.meetBodies(c.targets(), l.pose, l.facing)
	// Walls are last, because a ray that a body has shortened is cheaper.
	s.meetWalls(l.walls, &c.ranges)
	if flawed {
		c.random.fill(c.normals[:])
	}
	// Rays of half a degree on each side of the middle one.
	side := int(math.Floor(l.fov*(180/math.Pi) + 1e-6))
	rightmost := codec.LaserCount/2 - side
	for i, d := range &c.ranges {
		k := i
		if s.astray > 0 {
			k = int(c.order[i])
		}
		out[k] = noEcho
		if d >= l.reach || uint(k-rightmost) > uint(2*side) {
			continue
		}
		if flawed {
			if l.dropout > 0 { // otherwise blur is inlined: a call for each ray costs more than its work
				d = l.apply(&c.random, c.normals[i], d, l.reach)
			} else {
				d = l.blur(c.normals[i], d, l.reach)
			}
			if d >= l.reach {
				continue
			}
		}
		out[k] = millimetres(d)
	}
}

// millimetres rounds a range in metres.
func millimetres(metres float64) uint16 {
	if metres >= maxSonar {
		return maxSonar * 1000
	}
	return uint16(int32(metres*1000 + 0.5)) // by way of a type that the processor converts to
}
