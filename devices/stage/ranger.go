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
	facing Vec // of the heading
	edge   Vec // along the left edge of the beam; straight back if it is wider than half around
}

// aim computes the fields that depend on pose, fov and samples.
func (s *sonar) aim() {
	s.facing = direction(s.pose.Heading)
	switch {
	case s.samples == 1:
		s.edge = Vec{1, 0}
	case s.fov < math.Pi:
		s.edge = direction(s.fov / 2)
	default:
		s.edge = Vec{-1, 0}
	}
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
	s := r.sonars
	near := r.world.nearby(r, r.body.pose.position(), s.reach+r.body.radius)
	for i := range out {
		out[i] = millimetres(s.reach)
	}
	if s.flawed {
		s.readFlawed(r, near, out)
		return
	}
	for i := range s.ring {
		beam := &s.ring[i]
		at, best := r.body.carry(beam.pose), beam.reach
		o := at.position()
		touched, free := r.world.inBeam(near, o, r.body.facing, beam), s.walls.free(o)
		if len(touched) == 0 && best <= free {
			out[i] = millimetres(best)
			continue
		}
		for k := range beam.samples {
			angle := at.Heading
			if beam.samples > 1 {
				angle += beam.fov * (float64(k)/float64(beam.samples-1) - 0.5)
			}
			d := direction(angle)
			for _, b := range touched {
				best = b.cast(o, d, s.height, best)
			}
			if best > free {
				best = s.walls.cast(o, d, best)
			}
		}
		out[i] = millimetres(best)
	}
}

// inBeam returns the bodies that the rays of a sonar at o on a robot may meet. facing is
// that of the robot. The slice is valid until the next call.
func (w *World) inBeam(near []*body, o, facing Vec, beam *sonar) []*body {
	ahead, edge := beam.facing.rotate(facing), beam.edge
	w.touched = w.touched[:0]
	for _, b := range near {
		v := b.pose.position().sub(o)
		// The distance from the edge of the beam, negative within.
		if math.Abs(v.cross(ahead))*edge.X-v.dot(ahead)*edge.Y <= b.radius+cullTolerance {
			w.touched = append(w.touched, b)
		}
	}
	return w.touched
}

// readLaser measures a scan in mm.
func (r *Robot) readLaser(out *codec.LaserData) {
	l := r.laser
	if l.flaws.any() {
		l.readFlawed(r, out)
		return
	}
	at := r.body.carry(l.pose)
	s := scan{at: at.position(), facing: direction(at.Heading), height: l.height}
	for i := range s.rays {
		s.rays[i], s.ranges[i] = r.world.scan[i].rotate(s.facing), l.reach
	}
	s.meetBodies(r, l.reach)
	s.meetWalls(l.walls) // last: a ray that a body has shortened is cheaper
	for i, best := range s.ranges {
		if out[i] = noEcho; best < l.reach && math.Abs(radians(float64(i)/2-90)) <= l.fov/2+1e-9 {
			out[i] = millimetres(best)
		}
	}
}

func millimetres(metres float64) uint16 { return uint16(math.Round(min(metres, maxSonar) * 1000)) }
