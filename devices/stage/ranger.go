package stage

import (
	"math"

	"player/codec"
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
	*flaws

	beam   beam    // in the frame of the robot
	offset float64 // from the robot's position, metres
	edge   Vec     // along the left edge of the beam, in its own frame; straight back if it is wider than half around
}

// beam is a cone from a point, or a ray.
type beam struct {
	facing Vec   // unit vector of its middle
	rays   []Vec // its edges, or the one ray
	cosine float64
}

// aim computes the fields that depend on pose, fov and samples.
func (s *sonar) aim() {
	s.beam = beam{facing: direction(s.pose.Heading), cosine: math.Cos(min(s.fov/2, math.Pi))}
	s.edge, s.offset = Vec{1, 0}, s.pose.position().length()
	if s.samples == 1 || s.fov == 0 {
		s.beam.rays = []Vec{s.beam.facing}
		return
	}
	s.beam.rays = []Vec{direction(s.pose.Heading + s.fov/2), direction(s.pose.Heading - s.fov/2)}
	if s.edge = (Vec{-1, 0}); s.fov < math.Pi {
		s.edge = direction(s.fov / 2)
	}
}

// turned returns the beam in a frame in which its own frame has a direction. Its rays are
// in the buffer.
func (b *beam) turned(by Vec, rays *[2]Vec) beam {
	for i, d := range b.rays {
		rays[i] = d.rotate(by)
	}
	return beam{b.facing.rotate(by), rays[:len(b.rays)], b.cosine}
}

// has reports whether the direction of v, of that length, is within the cone.
func (b *beam) has(v Vec, length float64) bool { return v.dot(b.facing) >= length*b.cosine }

// sonars is a ring of up to 16.
type sonars struct {
	ring   []sonar
	height float64
	reach  float64 // of the sonar with the longest range
	sight  float64 // how far they see from the robot's position, metres
	walls  *layer
	flawed bool // some sonar is
}

// laser is a scanner of 180 degrees in half degree steps.
type laser struct {
	pose   Pose
	height float64
	reach  float64
	fov    float64 // radians; readings outside have no echo
	walls  *layer
	*flaws
}

// scanDirections returns the unit vectors of a scan, the rightmost first.
func scanDirections() *[codec.LaserCount]Vec {
	var d [codec.LaserCount]Vec
	for i := range d {
		d[i] = direction(radians(float64(i)/2 - 90))
	}
	return &d
}

// nearby returns the bodies that a ray from o on the robot may meet within
// reach: all movable bodies except the robot itself. The slice is valid until
// the next call.
func (w *World) nearby(r *Robot, o Vec, reach float64) []*body {
	w.near = w.appendOthers(w.near[:0], r.body, o, reach)
	return w.near
}

// appendOthers appends the bodies of appendNear except one.
func (w *World) appendOthers(dst []*body, one *body, o Vec, reach float64) []*body {
	dst = w.appendNear(dst, o, reach)
	for i, b := range dst {
		if b == one {
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
	targets := c.targets(b.pose.position(), b.facing, s.sight, math.Inf(-1))
	var heard [codec.SonarCount]float64
	var rays [2]Vec
	if s.flawed {
		c.seed(r, codec.Sonar)
	}
	for i := range s.ring {
		sonar := &s.ring[i]
		beam := sonar.beam
		if sonar.flaws.any() && sonar.angular > 0 {
			beam = beam.turned(turn(sonar.angular*c.random.NormFloat64()), &rays)
		}
		heard[i] = s.hear(r, sonar, &beam, targets)
		if heard[i] < sonar.reach && sonar.flaws.any() && sonar.specular > 0 {
			heard[i] = s.echo(r, sonar, &beam, heard[i], c.near)
		}
	}
	for i := range s.ring {
		sonar, d := &s.ring[i], heard[i]
		if sonar.flaws.any() {
			if sonar.crosstalk > 0 && c.random.Float64() < sonar.crosstalk {
				d = min(d, heard[(i+1)%len(s.ring)])
			}
			d = sonar.apply(c.random, d, sonar.reach)
		}
		out[i] = millimetres(d)
	}
}

// hear returns the distance in metres to what is nearest within a beam, or the sonar's
// reach.
func (s *sonars) hear(r *Robot, sonar *sonar, b *beam, targets []target) float64 {
	o, best := sonar.pose.position(), sonar.reach
	for k := range targets {
		t := &targets[k]
		if t.distance-sonar.offset >= best {
			if float64(t.metres())-sonar.offset >= best {
				break // all others are as far
			}
			continue
		}
		at := t.at.sub(o)
		// Bodies within the beam. The left side is the distance from its edge, negative within.
		if math.Abs(at.cross(b.facing))*sonar.edge.X-at.dot(b.facing)*sonar.edge.Y <= t.body.radius+cullTolerance {
			best = t.body.castBeam(at, t.facing, b, s.height, best)
		}
	}
	o = r.body.pose.position().add(o.rotate(r.body.facing))
	if free := max(0, s.walls.free(o)); best > free {
		var rays [2]Vec
		world := b.turned(r.body.facing, &rays)
		best = s.walls.castBeam(o, &world, free, best)
	}
	return best
}

// scanLaser measures a scan in mm. The scanner is prepared for the robot.
func (r *Robot) scanLaser(c *scanner, out *codec.LaserData) {
	l := r.laser
	at := r.body.carry(l.pose)
	s := scan{at: at.position(), facing: direction(at.Heading), height: l.height, rays: r.world.scan}
	for i := range s.ranges {
		s.ranges[i] = l.reach
	}
	flawed := l.flaws.any()
	if flawed {
		if c.seed(r, codec.Laser); l.angular > 0 {
			s.jitter(c, l.angular)
		}
	}
	s.meetBodies(c.targets(s.at, s.facing, l.reach, -s.astray*l.reach))
	// Walls are last, because a ray that a body has shortened is cheaper.
	s.meetWalls(l.walls)
	// Rays of half a degree on each side of the middle one.
	side := int(math.Floor(l.fov*(180/math.Pi) + 1e-6))
	for i := range s.ranges {
		best, k := s.ranges[i], i
		if s.astray > 0 {
			k = int(c.order[i])
		}
		if out[k] = noEcho; best < l.reach && k-codec.LaserCount/2 <= side && codec.LaserCount/2-k <= side {
			if flawed {
				if best = l.apply(c.random, best, l.reach); best >= l.reach {
					continue
				}
			}
			out[k] = millimetres(best)
		}
	}
}

// millimetres rounds a range in metres.
func millimetres(metres float64) uint16 {
	if metres >= maxSonar {
		return maxSonar * 1000
	}
	return uint16(int32(metres*1000 + 0.5)) // by way of a type that the processor converts to
}
