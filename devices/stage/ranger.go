package stage

import (
	"math"

	"player/codec"
)

const (
	// noEcho is the reading of an LMS-200 in mm mode with nothing in range:
	// all thirteen bits of the range set.
	noEcho = 8191
	// maxSonar is the largest range that fits the sonar payload, metres.
	maxSonar = 65.535
)

// sonar is one transducer: pose on the robot, and the beam.
type sonar struct {
	pose    Pose
	fov     float64 // radians
	samples int     // rays over fov; the nearest counts
	reach   float64 // metres; also the reading without an echo
}

// sonars is a ring of up to 16.
type sonars struct {
	ring   []sonar
	height float64
	reach  float64 // of the sonar with the longest range
	walls  *layer
}

// laser is a scanner of 180 degrees in half degree steps.
type laser struct {
	pose   Pose
	height float64
	reach  float64
	fov    float64 // radians; readings outside have no echo
	walls  *layer
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
	w.near = w.near[:0]
	for i := range w.spots {
		if b := w.bodies[i]; w.spots[i].within(o, reach) && b != r.body {
			w.near = append(w.near, b)
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
	for i := range s.ring {
		beam := &s.ring[i]
		at := r.body.pose.then(beam.pose)
		o, best := at.position(), beam.reach
		for k := range beam.samples {
			angle := at.Heading
			if beam.samples > 1 {
				angle += beam.fov * (float64(k)/float64(beam.samples-1) - 0.5)
			}
			d := direction(angle)
			best = s.walls.cast(o, d, best)
			for _, b := range near {
				best = b.cast(o, d, s.height, best)
			}
		}
		out[i] = millimetres(best)
	}
}

// readLaser measures a scan in mm.
func (r *Robot) readLaser(out *codec.LaserData) {
	l := r.laser
	at := r.body.pose.then(l.pose)
	o, facing := at.position(), direction(at.Heading)
	near := r.world.nearby(r, o, l.reach)
	for i := range out {
		if math.Abs(radians(float64(i)/2-90)) > l.fov/2+1e-9 {
			out[i] = noEcho
			continue
		}
		d := r.world.scan[i].rotate(facing)
		best := l.walls.cast(o, d, l.reach)
		for _, b := range near {
			best = b.cast(o, d, l.height, best)
		}
		if out[i] = noEcho; best < l.reach {
			out[i] = millimetres(best)
		}
	}
}

func millimetres(metres float64) uint16 { return uint16(math.Round(min(metres, maxSonar) * 1000)) }
