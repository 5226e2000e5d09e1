package stage

import (
	"math"
	"math/rand/v2"
	"slices"

	"player/codec"
)

// scan is a laser's scan while it is computed. It checks a ray only against what the ray
// may meet. The ranges are the same as if each ray were checked against everything.
type scan struct {
	at, facing Vec // of the scanner, in the world's frame
	height     float64
	rays       *[codec.LaserCount]Vec    // directions in the scanner's frame, the rightmost first
	astray     float64                   // no ray is further from half a degree times its number, radians
	ranges     [codec.LaserCount]float64 // so far, metres
}

// target is a body that a ray may meet.
type target struct {
	body       *body
	at, facing Vec     // in the frame of the sensor
	distance   float64 // within which no point of the body is, metres
}

// scanner has the buffers in which the scans of one robot after the other are computed.
// Those of different scanners may be computed at the same time.
type scanner struct {
	near   []*body // what the rangers of the robot may meet
	found  []target
	sorted []target // see targets
	random *rand.Rand
	source noise // of random
	rays   [codec.LaserCount]Vec
	angles [codec.LaserCount]float64
	order  [codec.LaserCount]int16 // see jitter
}

func newScanner() *scanner {
	c := &scanner{}
	c.random = rand.New(&c.source)
	return c
}

// seed starts the random numbers of a reading.
func (c *scanner) seed(r *Robot, sensor byte) { c.source = r.noise.at(r.world.sim, sensor) }

// prepare finds all that the rangers of a robot may meet: all movable bodies near it except
// the robot itself.
func (c *scanner) prepare(r *Robot) {
	c.near = r.world.beside(r.body, &r.seen, r.sight)
}

// targets returns the bodies that rays from a point on the robot may meet
// within reach: near ones first, to a metre, for they hide others. A body is left out if
// all of it is less than ahead metres in front of the sensor. The slice is valid until
// the next call.
func (c *scanner) targets(from, facing Vec, reach, ahead float64) []target {
	var ends [16]int // in the sorted list, by metres
	c.found = c.found[:0]
	for _, b := range c.near {
		spot := b.spot
		if !spot.within(from, reach+cullTolerance) {
			continue
		}
		at := spot.at.sub(from).rotateBack(facing)
		if at.X+spot.radius+cullTolerance < ahead {
			continue
		}
		t := target{b, at, b.facing.rotateBack(facing), math.Sqrt(at.dot(at)) - spot.radius - cullTolerance}
		c.found = append(c.found, t)
		ends[t.metres()]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	c.sorted = slices.Grow(c.sorted[:0], len(c.found))[:len(c.found)]
	for i := range c.found {
		end := &ends[c.found[i].metres()]
		*end--
		c.sorted[*end] = c.found[i]
	}
	return c.sorted
}

// jitter turns each ray by a normal error of that standard deviation in radians, and puts
// the rays in order again: ray i of the scan is reading order[i].
func (s *scan) jitter(c *scanner, deviation float64) {
	for i := range c.angles {
		e := deviation * c.random.NormFloat64()
		s.astray = max(s.astray, math.Abs(e))
		angle := radians(float64(i)/2-90) + e
		ray := s.rays[i].rotate(turn(e))
		k := i
		for ; k > 0 && c.angles[k-1] > angle; k-- {
			c.angles[k], c.rays[k], c.order[k] = c.angles[k-1], c.rays[k-1], c.order[k-1]
		}
		c.angles[k], c.rays[k], c.order[k] = angle, ray, int16(i)
	}
	s.rays = &c.rays
}

// turn returns the unit vector of an angle, which is most often small.
func turn(angle float64) Vec {
	if math.Abs(angle) > 0.02 {
		return direction(angle)
	}
	// The next terms of the series are below 1e-12.
	square := angle * angle
	return Vec{1 - square/2*(1-square/12), angle * (1 - square/6*(1-square/20))}
}

// metres returns the target's distance in whole metres, 0 to 15.
func (t *target) metres() int { return max(0, min(int(t.distance), 15)) }

// meetBodies shortens the rays that meet bodies.
func (s *scan) meetBodies(targets []target) {
	for i := range targets {
		s.meet(&targets[i])
	}
}

// meet shortens the rays that meet a body.
func (s *scan) meet(t *target) {
	first, last, apart := t.rays(s.astray)
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
	)
	// reach is how far a point of such a sector may be from the middle of its middle ray, as
	// a share of its radius: 0.503 if all rays are where they should be.
	reach := math.Sqrt(1.25 - math.Cos(min(math.Pi, radians((group-1)/4.)+2*s.astray)))
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
// whether it is apart: these rays and its corners are within less than half a turn. No ray
// is further than astray from where it should be, radians.
func (t *target) rays(astray float64) (first, last int, apart bool) {
	const perRadian, middle = 2 * 180 / math.Pi, codec.LaserCount / 2
	sin := t.body.radius / (t.distance + t.body.radius)
	if !(sin >= 0 && sin < 0.99 && astray < maxAstray) {
		return 0, codec.LaserCount - 1, false
	}
	// The arc sine of x is at most x + (pi/2 - 1) x^3.
	bearing, half := roughBearing(t.at)*perRadian, (sin+(math.Pi/2-1)*sin*sin*sin+bearingError+astray)*perRadian
	// A conversion truncates toward zero.
	return max(0, int(bearing-half)+middle-1), min(codec.LaserCount-1, int(bearing+half)+middle+1), true
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

// maxAstray is up to which error of the rays those that meet a body are looked for, radians.
const maxAstray = 0.2

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
