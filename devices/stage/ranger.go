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
	samples int     // rays over fov; the nearest counts
	reach   float64 // metres; also the reading without an echo
	*flaws

	// Unit vectors, in the frame of the robot and in that of the sonar.
	facing Vec   // of the heading
	edge   Vec   // along the left edge of the beam; straight back if it is wider than half around
	rays   []Vec // in the frame of the robot
}

// aim computes the fields that depend on pose, fov and samples.
func (s *sonar) aim() {
	s.facing = direction(s.pose.Heading)
	s.rays = make([]Vec, s.samples)
	for k := range s.rays {
		s.rays[k] = direction(s.pose.Heading + s.bearing(k))
	}
	switch {
	case s.samples == 1:
		s.edge = Vec{1, 0}
	case s.fov < math.Pi:
		s.edge = direction(s.fov / 2)
	default:
		s.edge = Vec{-1, 0}
	}
}

// bearing returns the angle between a ray of the beam and its middle, radians.
func (s *sonar) bearing(ray int) float64 {
	if s.samples == 1 {
		return 0
	}
	return s.fov * (float64(ray)/float64(s.samples-1) - 0.5)
}

// sonars is a ring of up to 16.
type sonars struct {
	ring   []sonar
	height float64
	reach  float64 // of the sonar with the longest range
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
	w.near = w.appendNear(w.near[:0], o, reach)
	for i, b := range w.near {
		if b == r.body {
			last := len(w.near) - 1
			w.near[i] = w.near[last]
			w.near = w.near[:last]
			break
		}
	}
	return w.near
}

// readSonars measures all ranges in mm. Missing sonars read the reach.
func (r *Robot) readSonars(out *codec.SonarData) {
	s, b := r.sonars, r.body
	for i := range out {
		out[i] = millimetres(s.reach)
	}
	if s.flawed {
		s.readFlawed(r, r.world.nearby(r, b.pose.position(), s.reach+b.radius), out)
		return
	}
	targets := r.targets(b.pose.position(), b.facing, s.reach+b.radius, math.Inf(-1))
	for i := range s.ring {
		beam := &s.ring[i]
		o, best := beam.pose.position(), beam.reach
		for k := range targets {
			t := &targets[k]
			at := t.at.sub(o)
			// Bodies within the beam. The left side is the distance from its edge, negative within.
			if math.Abs(at.cross(beam.facing))*beam.edge.X-at.dot(beam.facing)*beam.edge.Y <= t.body.radius+cullTolerance {
				best = t.body.castAll(at, t.facing, beam.rays, s.height, best)
			}
		}
		o = b.pose.position().add(o.rotate(b.facing))
		if free := max(0, s.walls.free(o)); best > free {
			for _, d := range beam.rays {
				best = s.walls.castFrom(o, d.rotate(b.facing), free, best)
			}
		}
		out[i] = millimetres(best)
	}
}

// readLaser measures a scan in mm.
func (r *Robot) readLaser(out *codec.LaserData) {
	l := r.laser
	if l.flaws.any() {
		l.readFlawed(r, out)
		return
	}
	at := r.body.carry(l.pose)
	s := scan{at: at.position(), facing: direction(at.Heading), height: l.height, rays: r.world.scan}
	for i := range s.ranges {
		s.ranges[i] = l.reach
	}
	s.meetBodies(r.targets(s.at, s.facing, l.reach, 0))
	// Walls are last, because a ray that a body has shortened is cheaper.
	s.meetWalls(l.walls)
	// Rays of half a degree on each side of the middle one.
	side := int(math.Floor(l.fov*(180/math.Pi) + 1e-6))
	for i, best := range s.ranges {
		if out[i] = noEcho; best < l.reach && i-codec.LaserCount/2 <= side && codec.LaserCount/2-i <= side {
			out[i] = millimetres(best)
		}
	}
}

// millimetres rounds a range in metres.
func millimetres(metres float64) uint16 { return uint16(min(metres, maxSonar)*1000 + 0.5) }
