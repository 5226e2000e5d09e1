package stage

import (
	"math"
	"slices"

	"player/codec"
)

// scan is a laser's scan while it is computed. It checks a ray only against what the ray
// may meet. The ranges are the same as if each ray were checked against everything.
type scan struct {
	at, facing Vec // of the scanner, in the world's frame
	height     float64
	rays       *[codec.LaserCount]Vec    // directions in the scanner's frame, the rightmost first
	ranges     [codec.LaserCount]float64 // so far, metres
}

// target is a body that a ray may meet.
type target struct {
	body       *body
	at, facing Vec     // in the frame of the sensor
	distance   float64 // within which no point of the body is, metres
}

// targets returns the bodies, other than the robot, that rays from a point on it may meet
// within reach: near ones first, to a metre, for they hide others. A body is left out if
// all of it is less than ahead metres in front of the sensor. The slice is valid until
// the next call.
func (r *Robot) targets(from, facing Vec, reach, ahead float64) []target {
	w := r.world
	var ends [16]int // in the sorted list, by metres
	w.found = w.found[:0]
	for _, b := range w.nearby(r, from, reach) {
		at := b.pose.position().sub(from).rotateBack(facing)
		if at.X+b.radius+cullTolerance < ahead {
			continue
		}
		t := target{b, at, b.facing.rotateBack(facing), math.Sqrt(at.dot(at)) - b.radius - cullTolerance}
		w.found = append(w.found, t)
		ends[t.metres()]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	w.targets = slices.Grow(w.targets[:0], len(w.found))[:len(w.found)]
	for i := range w.found {
		end := &ends[w.found[i].metres()]
		*end--
		w.targets[*end] = w.found[i]
	}
	return w.targets
}

// metres returns the target's distance in whole metres, 0 to 15.
func (t *target) metres() int { return int(max(0, min(t.distance, 15))) }

// meetBodies shortens the rays that meet bodies.
func (s *scan) meetBodies(targets []target) {
	for i := range targets {
		s.meet(&targets[i])
	}
}

// meet shortens the rays that meet a body.
func (s *scan) meet(t *target) {
	first, last, apart := t.rays()
	for first <= last && s.ranges[first] <= t.distance {
		first++
	}
	for first <= last && s.ranges[last] <= t.distance {
		last--
	}
	if first > last {
		return
	}
	o := t.at.scale(-1).rotateBack(t.facing)
	for i := range t.body.parts {
		p := &t.body.parts[i]
		if !p.echo || !p.at(s.height-t.body.lifted) {
			continue
		}
		for k, outline := range p.shapes {
			if apart && p.rounds[k] != nil {
				s.sweep(t, p.rounds[k], o, first, last)
				continue
			}
			for i := first; i <= last; i++ {
				s.ranges[i] = rayPolygon(o, s.rays[i].rotateBack(t.facing), outline, s.ranges[i])
			}
		}
	}
}

// meetWalls shortens the rays that meet walls. Where no wall is near a whole group of
// rays, none of them enters the grid.
func (s *scan) meetWalls(walls *layer) {
	const (
		group = 19 // rays, 9 degrees: a scan has 19 such groups
		// reach is how far a point of such a sector may be from the middle of its middle
		// ray, as a share of its radius: sqrt(5/4 - cos 4.5 degrees) = 0.50307.
		reach = 0.5031
	)
	free := max(0, walls.free(s.at))
	for first := 0; first < codec.LaserCount; first += group {
		rays, ranges := s.rays[first:first+group], s.ranges[first:first+group]
		end := 0.0
		for _, limit := range ranges {
			if limit > end {
				end = limit
			}
		}
		if end <= free || walls.clear(s.at.add(rays[group/2].rotate(s.facing).scale(end/2)), end*reach+cullTolerance) {
			continue
		}
		for i, d := range rays {
			if ranges[i] > free {
				ranges[i] = walls.castFrom(s.at, d.rotate(s.facing), free, ranges[i])
			}
		}
	}
}

// rays returns the numbers of the first and the last ray that may meet the target, and
// whether it is apart: these rays and its corners are within less than half a turn.
func (t *target) rays() (first, last int, apart bool) {
	const perRadian, middle = 2 * 180 / math.Pi, codec.LaserCount / 2
	sin := t.body.radius / (t.distance + t.body.radius)
	if !(sin >= 0 && sin < 0.99) {
		return 0, codec.LaserCount - 1, false
	}
	// The arc sine of x is at most x + (pi/2 - 1) x^3.
	bearing, half := roughBearing(t.at)*perRadian, (sin+(math.Pi/2-1)*sin*sin*sin+bearingError)*perRadian
	return max(0, int(math.Floor(bearing-half))+middle), min(codec.LaserCount-1, int(math.Ceil(bearing+half))+middle), true
}

// sweep shortens the rays that meet a convex outline of a target that is apart. They start
// at o in the frame of the body. The outline's near sides follow each other from left to
// right, so each ray is checked against one or two of them.
func (s *scan) sweep(t *target, round []Vec, o Vec, first, last int) {
	far, swept := false, false
	p := round[0].sub(o).rotate(t.facing)
	for _, q := range round[1:] {
		q = q.sub(o).rotate(t.facing)
		switch near := p.cross(q) < 0; {
		case near && far:
			swept = true
			for ; last >= first; last-- {
				d := s.rays[last]
				cp, cq := d.cross(p), d.cross(q)
				if cq > 0 { // the ray passes the side on its right
					break
				}
				if cp > 0 {
					if t := (p.dot(d)*cq - q.dot(d)*cp) / (cq - cp); t >= 0 && t < s.ranges[last] {
						s.ranges[last] = t
					}
				}
			}
		case swept:
			return
		case !near:
			far = true
		}
		p = q
	}
}

// bearingError bounds the error of roughBearing, radians.
const bearingError = 0.005

// roughBearing returns the angle of a vector in radians, -pi to pi, in a fraction of the
// time of math.Atan2. (Rajan, Wang, Inkol and Joyal, Efficient Approximations for the
// Arctangent Function, 2006.)
func roughBearing(v Vec) float64 {
	x, y := math.Abs(v.X), math.Abs(v.Y)
	z := min(x, y) / max(x, y)
	angle := z * (0.97239411 - 0.19194795*z*z)
	if y > x {
		angle = math.Pi/2 - angle
	}
	if v.X < 0 {
		angle = math.Pi - angle
	}
	return math.Copysign(angle, v.Y)
}
