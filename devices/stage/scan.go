package stage

import (
	"math"
	"slices"

	"player/codec"
)

// scan is a laser's scan while it is computed. Its ranges are those of rays that are
// checked one by one against everything, but it checks a ray only against what it may
// meet.
type scan struct {
	at, facing Vec // of the scanner, in the world's frame
	height     float64
	rays       [codec.LaserCount]Vec     // directions in the world's frame, the rightmost first
	ranges     [codec.LaserCount]float64 // so far, metres
}

// target is a body that a scan may meet.
type target struct {
	body     *body
	at       Vec     // in the frame of the scanner
	distance float64 // within which no point of the body is, metres
}

// meetBodies shortens the rays that meet bodies other than the robot.
func (s *scan) meetBodies(r *Robot, reach float64) {
	w := r.world
	w.targets = w.targets[:0]
	for _, b := range w.nearby(r, s.at, reach) {
		if at := b.pose.position().sub(s.at).rotateBack(s.facing); at.X+b.radius+cullTolerance >= 0 {
			w.targets = append(w.targets, target{b, at, math.Sqrt(at.dot(at)) - b.radius - cullTolerance})
		}
	}
	// The nearest first: they hide others. They are few, so an insertion sort will do.
	for i, t := range w.targets {
		for ; i > 0 && w.targets[i-1].distance > t.distance; i-- {
			w.targets[i] = w.targets[i-1]
		}
		w.targets[i] = t
	}
	for i := range w.targets {
		s.meet(&w.targets[i])
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
	b := t.body
	o := b.local(s.at)
	for i := range b.parts {
		p := &b.parts[i]
		if !p.echo || !p.at(s.height-b.lifted) {
			continue
		}
		for k, outline := range p.shapes {
			if apart && p.rounds[k] != nil {
				s.sweep(b, p.rounds[k], o, first, last)
				continue
			}
			for i := first; i <= last; i++ {
				s.ranges[i] = rayPolygon(o, s.rays[i].rotateBack(b.facing), outline, s.ranges[i])
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
	free := walls.free(s.at)
	for first := 0; first < codec.LaserCount; first += group {
		rays, ranges := s.rays[first:first+group], s.ranges[first:first+group]
		end := slices.Max(ranges)
		if end <= free || walls.clear(s.at.add(rays[group/2].scale(end/2)), end*reach+cullTolerance) {
			continue
		}
		for i, d := range rays {
			if ranges[i] > free {
				ranges[i] = walls.cast(s.at, d, ranges[i])
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

// sweep shortens the rays that meet a convex outline of b. They start at o in the frame
// of b, which is apart. The outline's near sides follow each other from left to right, so
// each ray is checked against one or two of them.
func (s *scan) sweep(b *body, round []Vec, o Vec, first, last int) {
	far, swept := false, false
	p := round[0].sub(o)
	for _, q := range round[1:] {
		q = q.sub(o)
		switch near := p.cross(q) < 0; {
		case near && far:
			swept = true
			for ; last >= first; last-- {
				d := s.rays[last].rotateBack(b.facing)
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
