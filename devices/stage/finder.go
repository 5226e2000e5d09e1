package stage

import (
	"math"

	"player/devices/stage/floor"
	"player/formats/syntax"
)

// finder is a fiducial finder. The protocol has no device for it: its sightings are for the
// truth, and for programs that read the world.
type finder struct {
	pose        Pose
	height      float64
	near, reach float64 // metres, the range of its sight
	identifies  float64 // metres up to which it reads a fiducial's number
	fov         float64 // radians
	key         int
}

// fiducial is a tag on a body, which a finder can see.
type fiducial struct {
	body *body
	at   Vec // in the body's frame
	id   int // never zero
	key  int
}

// Sighting is a fiducial that a finder sees.
type Sighting struct {
	Name    string  // of the robot or thing that has it
	ID      int     // fiducial_return; zero: too far away to be identified
	Range   float64 // metres
	Bearing float64 // radians, counterclockwise from the direction of the finder
}

// AppendSightings appends the fiducials that the robot's finder sees, the movers first.
func (r *Robot) AppendSightings(dst []Sighting) []Sighting {
	f := r.finder
	if f == nil {
		return dst
	}
	w := r.world
	at := r.body.carry(f.pose)
	o, facing := at.Position(), floor.Direction(at.Heading)
	c := w.scanning.scanners[0]
	c.near = w.nearby(r, o, f.reach)
	c.findTargets(o, facing)
	for i := range w.fiducials {
		m := &w.fiducials[i]
		if m.body == r.body || m.key != f.key {
			continue
		}
		v := m.body.pose.Position().Add(m.at.Rotate(m.body.spot.facing)).Sub(o)
		far := v.Length()
		if far < f.near || far > f.reach || far == 0 {
			continue
		}
		ahead := v.RotateBack(facing)
		bearing := math.Atan2(ahead.Y, ahead.X)
		if math.Abs(bearing) > f.fov/2 {
			continue
		}
		d := v.Scale(1 / far)
		limit := m.body.cast(o, d, f.height, far) // the body's own surface
		if hides(c.targets(), ahead.Scale(1/far), f.height, limit, m.body) || w.wallHides(o, d, f.height, limit, m.body) {
			continue
		}
		s := Sighting{Name: m.body.name, Range: far, Bearing: bearing}
		if far <= f.identifies {
			s.ID = m.id
		}
		dst = append(dst, s)
	}
	return dst
}

// hides reports whether a moving body is in front of the body behind, whose surface is at
// limit along the unit vector d. The nearest ones hide the most, and come first.
func hides(targets []target, d Vec, height, limit float64, behind *body) bool {
	for i := range targets {
		t := &targets[i]
		if t.metres() >= limit {
			return false
		}
		if t.body != behind && t.body.castFrom(t.at, t.facing, d, height, limit) < limit {
			return true
		}
	}
	return false
}

// wallHides is hides for fixtures, on the way from o.
func (w *World) wallHides(o, d Vec, height, limit float64, behind *body) bool {
	for _, b := range w.fixtures {
		if b == behind {
			continue
		}
		for i := range b.parts {
			p := &b.parts[i]
			if p.bitmap || !p.echo || !p.at(height) {
				continue
			}
			for _, outline := range p.shapes {
				if floor.RayPolygon(o, d, outline, limit) < limit {
					return true
				}
			}
		}
	}
	for _, p := range w.pictures {
		if p.echo && p.at(height) && p.cells.Cast(o, d, limit) < limit {
			return true
		}
	}
	return false
}

// finder reads a fiducial finder.
func (l *loader) finder(s *syntax.Section, at Pose, base float64, r *Robot) {
	if r.finder != nil {
		l.warn(s, "a second fiducial finder is not supported: %s has the first", r.Name)
		return
	}
	f := &finder{
		pose: at, height: base, near: s.Length("range_min", 0), reach: s.Length("range_max", 8), identifies: s.Length("range_max_id", 5),
		fov: s.Angle("fov", math.Pi), key: s.Int("fiducial_key", 0),
	}
	l.check(f.near >= 0 && f.reach > f.near && f.reach <= maxReach, s, "range_max", "range_min %v m, range_max %v m: write 0 to %d", f.near, f.reach, maxReach)
	l.check(f.fov > 0, s, "fov", "fov: write more than 0")
	r.finder = f
}

// fiducial reads the tag on a section of b.
func (l *loader) fiducial(s *syntax.Section, frame Pose, b *body) {
	id, key := s.Int("fiducial_return", s.Int("fiducial_id", 0)), s.Int("fiducial_key", 0)
	if id != 0 {
		l.fiducials = append(l.fiducials, fiducial{b, frame.Position(), id, key})
	}
}
