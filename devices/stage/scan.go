package stage

import (
	"math"
	"slices"

	"player/codec"
	"player/devices/stage/floor"
)

// scan is a laser's scan while it is computed. It checks a ray only against the things that
// the ray may meet. The ranges are the same as if each ray were checked against everything.
//
// It has the inverse of the ranges: along the straight side of a body the inverse is a linear
// function of the ray's direction, so no ray needs a division.
type scan struct {
	at, facing Vec // of the scanner, in the world's frame
	height     float64
	reach      float64                   // metres
	rays       *[codec.LaserCount]Vec    // directions in the scanner's frame, the rightmost first
	astray     float64                   // no ray is further from half a degree times its number, radians
	inverses   [codec.LaserCount]float64 // of the ranges so far, 1/m; at least the inverse of reach
}

// target is a body that a ray may meet.
type target struct {
	body       *body
	at, facing Vec     // in the frame of the robot, or of a sensor
	distance   float64 // within which no point of the body is, metres
	radius     float64 // the body's, and a tolerance, metres
}

// scanner has the buffers in which the scans of one robot after the other are computed.
// Scans of different scanners may be computed at the same time.
type scanner struct {
	near    []*spot // things that the rangers of the robot may meet
	found   []target
	sorted  []target // see findTargets
	random  random
	scan    scan
	ranges  [codec.LaserCount]float64 // of the scan, metres
	rays    [codec.LaserCount]Vec
	normals [codec.LaserCount]float64 // the errors of a scan
	angles  [codec.LaserCount]float64
	order   [codec.LaserCount]int16 // see jitter

	// Of a ranger: the range of each of its cones, and the rays of a sensor, in metres and in the world's frame.
	heard, lengths []float64
	headings       []Vec
}

func newScanner() *scanner { return &scanner{random: newRandom()} }

// seed starts the random numbers of a reading.
func (c *scanner) seed(r *Robot, letter byte, number int) {
	c.random.noise = r.noise.at(r.world.sim, letter, number)
}

// prepare finds all that the rangers of a robot may meet: all movable bodies near it except
// the robot itself.
func (c *scanner) prepare(r *Robot) {
	c.near = r.world.neighbours(r.body, &r.seen, r.sight)
	c.findTargets(r.body.spot.at, r.body.spot.facing)
}

// findTargets makes targets of the things nearby, as seen from a point in a direction.
func (c *scanner) findTargets(from, facing Vec) {
	var ends [16]int // in the sorted list, by metres
	c.found = slices.Grow(c.found[:0], len(c.near))[:len(c.near)]
	for i, n := range c.near {
		t := &c.found[i]
		t.body, t.at, t.facing = n.body, n.at.Sub(from).RotateBack(facing), n.facing.RotateBack(facing)
		t.radius = n.radius + cullTolerance
		t.distance = math.Sqrt(t.at.Dot(t.at)) - t.radius
		ends[t.bin()]++
	}
	for i := 1; i < len(ends); i++ {
		ends[i] += ends[i-1]
	}
	c.sorted = slices.Grow(c.sorted[:0], len(c.found))[:len(c.found)]
	for i := range c.found {
		end := &ends[c.found[i].bin()]
		*end--
		c.sorted[*end] = c.found[i]
	}
}

// targets returns the bodies that rays may meet, in the frame of the robot: near ones first, to
// a metre, for they hide others. They are valid until the next prepare.
func (c *scanner) targets() []target { return c.sorted }

// bin returns the target's distance in whole metres, 0 to 15.
func (t *target) bin() int { return max(0, min(int(t.distance), 15)) }

// metres returns a distance in metres within which neither the target is nor any that follows it.
func (t *target) metres() float64 { return float64(t.bin()) }

// jitter rotates each ray by a normal error of that standard deviation in radians, and sorts
// the rays again: ray i of the scan is reading order[i].
func (s *scan) jitter(c *scanner, deviation float64) {
	for i := range c.angles {
		e := deviation * c.random.normal()
		s.astray = max(s.astray, math.Abs(e))
		angle := floor.Radians(float64(i)/2-90) + e
		ray := s.rays[i].Rotate(floor.Rotation(e))
		k := i
		for ; k > 0 && c.angles[k-1] > angle; k-- {
			c.angles[k], c.rays[k], c.order[k] = c.angles[k-1], c.rays[k-1], c.order[k-1]
		}
		c.angles[k], c.rays[k], c.order[k] = angle, ray, int16(i)
	}
	s.rays = &c.rays
}

// meetBodies shortens the rays that meet bodies. pose is the scanner's pose, and facing its
// direction on the robot: the targets are in the robot's frame.
func (s *scan) meetBodies(targets []target, pose Pose, facing Vec) {
	behind := -s.astray * s.reach // no ray goes farther back
	for i := range targets {
		t := &targets[i]
		at := t.at.Sub(pose.Position()).RotateBack(facing)
		if at.X+t.radius < behind {
			continue
		}
		if distance := math.Sqrt(at.Dot(at)) - t.radius; distance < s.reach {
			s.meet(&target{t.body, at, t.facing.RotateBack(facing), distance, t.radius})
		}
	}
}

// meet shortens the rays that meet a body.
func (s *scan) meet(t *target) {
	first, last, apart := t.rays(s.astray)
	if t.distance > 0 { // else none is shorter
		hidden := 1 / t.distance
		for first <= last && s.inverses[first] >= hidden {
			first++
		}
		for first <= last && s.inverses[last] >= hidden {
			last--
		}
		if first > last {
			return
		}
	}
	o := t.at.Scale(-1).RotateBack(t.facing)
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
				limit := 1 / s.inverses[i]
				if d := floor.RayPolygon(o, s.rays[i].RotateBack(t.facing), outline, limit); d < limit {
					s.inverses[i] = 1 / math.Abs(d) // it may be -0
				}
			}
		}
	}
}

// meetWalls shortens the rays that meet walls, and returns the ranges in metres. Where no wall is
// near a whole group of rays, none of them enters the grid.
func (s *scan) meetWalls(walls *floor.Grid, ranges *[codec.LaserCount]float64) {
	const group = 19 // rays, 9 degrees: a scan has 19 such groups
	least := 1 / s.reach
	for i, v := range &s.inverses {
		if ranges[i] = s.reach; v > least {
			ranges[i] = 1 / v
		}
	}
	free := max(0, walls.Free(s.at))
	if free >= s.reach {
		return
	}
	// reach is how far a point of a group may be from the middle of its middle ray, as a fraction of
	// the longest range: 0.503 if no ray deviates.
	reach := math.Sqrt(1.25 - math.Cos(min(math.Pi, floor.Radians((group-1)/4.)+2*s.astray)))
	for first := 0; first < codec.LaserCount; first += group {
		rays, ranges := s.rays[first:first+group], ranges[first:first+group]
		end := 0.0
		for _, limit := range ranges {
			if limit > end {
				end = limit
			}
		}
		if end <= free || walls.Clear(s.at.Add(rays[group/2].Rotate(s.facing).Scale(end/2)), end*reach+cullTolerance) {
			continue
		}
		for i, d := range rays {
			if ranges[i] > free {
				ranges[i] = walls.CastFrom(s.at, d.Rotate(s.facing), free, ranges[i])
			}
		}
	}
}

// rays returns the numbers of the first and the last ray that may meet the target, and
// whether it is apart: these rays and its corners are within less than half a revolution. No
// ray deviates from its direction by more than astray, radians.
func (t *target) rays(astray float64) (first, last int, apart bool) {
	const perRadian, middle = 2 * 180 / math.Pi, codec.LaserCount / 2
	length := t.distance + t.radius
	sin := t.radius / length
	if !(sin >= 0 && sin < 0.99 && astray < maxAstray) {
		return 0, codec.LaserCount - 1, false
	}
	// The arc sine of x is at most x + (pi/2 - 1) x^3.
	bearing, half := roughBearing(t.at, length)*perRadian, (sin+(math.Pi/2-1)*sin*sin*sin+bearingError+astray)*perRadian
	// A conversion truncates toward zero.
	return max(0, int(bearing-half)+middle-1), min(codec.LaserCount-1, int(bearing+half)+middle+1), true
}

// sweep shortens the rays that meet a convex outline of a target that is apart. They start
// at o in the frame of the body. The outline's near sides follow each other from left to
// right, so each ray is checked against one or two of them.
func (s *scan) sweep(t *target, round []Vec, o Vec, first, last int) {
	// edgeOn is twice the area of the triangle of the scanner and a side, m^2. With a smaller
	// triangle the side is seen edge-on, and no ray is between its ends.
	const edgeOn = 1e-9
	far, swept := false, false
	p := round[0].Sub(o).Rotate(t.facing)
	for _, q := range round[1:] {
		q = q.Sub(o).Rotate(t.facing)
		switch across := p.Cross(q); {
		case across >= 0:
			if swept {
				return
			}
			far = true
		case far && across < -edgeOn:
			if !swept {
				swept = true
				for last >= first && s.rays[last].Cross(p) <= 0 { // the ray passes the body on its left
					last--
				}
			}
			a, b := (q.Y-p.Y)/across, (p.X-q.X)/across
			for ; last >= first; last-- {
				d := s.rays[last]
				if d.Cross(q) > 0 { // the ray passes the side on its right
					break
				}
				if v := a*d.X + b*d.Y; v > s.inverses[last] {
					s.inverses[last] = v
				}
			}
		}
		p = q
	}
}

// maxAstray is up to which error of the rays those that meet a body are searched, radians.
const maxAstray = 0.2

// bearingError bounds the error of roughBearing, radians.
const bearingError = 0.0001

// roughBearing returns the angle of a vector of that length in radians, -pi to pi, in a fraction of
// the time of math.Atan2. (Abramowitz and Stegun, Handbook of Mathematical Functions, 4.4.45.)
func roughBearing(v Vec, length float64) float64 {
	x := min(1, math.Abs(v.Y)/length)
	angle := math.Pi/2 - math.Sqrt(1-x)*(1.5707288+x*(-0.2121144+x*(0.0742610-x*0.0187293)))
	if v.X < 0 {
		angle = math.Pi - angle
	}
	return math.Copysign(angle, v.Y)
}
