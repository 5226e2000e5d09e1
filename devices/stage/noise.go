package stage

import (
	"math"
	"time"

	"player/devices/stage/floor"
	"player/formats/syntax"
)

// noise is a generator of random numbers: splitmix64 (Steele, Lea and Flood, Fast
// Splittable Pseudorandom Number Generators, 2014).
type noise uint64

// newNoise returns the generator of a robot in a world with a seed.
func newNoise(seed uint64, robot string) noise {
	n := noise(seed)
	for i := range len(robot) {
		n = noise(n.next()) ^ noise(robot[i])
	}
	return noise(n.next())
}

// at returns the generator for a reading of a robot's sensor at a simulated time: the
// reading does not depend on other readings, nor on the reader. number counts the sensors of an interface from 0.
func (n noise) at(sim time.Duration, letter byte, number int) noise {
	n ^= noise(sim)
	n = noise(n.next()) ^ noise(letter) ^ noise(number)<<8
	return noise(n.next())
}

func (n *noise) next() uint64 {
	*n += 0x9e3779b97f4a7c15
	z := uint64(*n)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// flaws are the errors in a ranger's measurements.
type flaws struct {
	constant     float64 // standard deviation of a range, metres
	proportional float64 // the same as a fraction of the range
	angular      float64 // standard deviation of the direction, radians
	dropout      float64 // probability that an echo is missed
	crosstalk    float64 // probability that a sonar hears the echo of the next one
	specular     float64 // the largest angle at which a plane reflects to a sonar, radians; 0: any
	flawed       bool    // some is not zero
}

// leastRange is the smallest reading with noise, metres: zero means that a sonar has
// not fired.
const leastRange = 0.001

// flaws reads the flaws of a sensor: a sonar has more than a laser.
func (l *loader) flaws(s *syntax.Section, sonar bool) flaws {
	n := s.Tuple("noise", "lna", 0, 0, 0)
	f := flaws{constant: n[0], proportional: n[1], angular: n[2], dropout: s.Float("dropout", 0)}
	if sonar {
		f.crosstalk, f.specular = s.Float("crosstalk", 0), s.Angle("specular", 0)
	}
	for _, v := range [...]float64{n[0], n[1], n[2], f.dropout, f.crosstalk, f.specular} {
		f.flawed = f.flawed || v > 0
		if v < 0 {
			l.fail(s, "noise", "noise, dropout, crosstalk, specular: write no negative numbers")
		}
	}
	return f
}

// apply adds noise and dropouts to a range in metres. normal is a normal number, and reach a
// range without an echo.
func (f *flaws) apply(random *random, normal, d, reach float64) float64 {
	if d >= reach || f.dropout > 0 && random.uniform() < f.dropout {
		return reach
	}
	return f.blur(normal, d, reach)
}

// blur is apply without dropouts, for a range below reach.
func (f *flaws) blur(normal, d, reach float64) float64 {
	deviation := f.constant
	if f.proportional > 0 {
		more := f.proportional * d
		deviation = math.Sqrt(deviation*deviation + more*more)
	}
	if d += normal * deviation; d < leastRange {
		return leastRange
	}
	return min(d, reach)
}

// echo returns the distance in metres to the nearest surface that reflects a beam
// back, or the beam's reach. heard is the distance to the nearest surface of all.
func (s *sonars) echo(r *Robot, sonar *sonar, b *floor.Beam, heard float64, near []*spot) float64 {
	at := r.body.carry(sonar.pose)
	at.Heading = r.body.pose.Heading + math.Atan2(b.Facing.Y, b.Facing.X)
	count := sonar.samples
	if count > 1 { // a ray for each degree finds a pole of 5 cm at 2.9 m
		count = max(count, int(math.Ceil(sonar.fov/floor.Radians(1)))+1)
	}
	nearest := sonar.reach
	for k := range count {
		angle := at.Heading
		if count > 1 {
			angle += sonar.fov * (float64(k)/float64(count-1) - 0.5)
		}
		if d := ray(s.walls, near, at, angle, s.height, nearest); d < nearest && s.reflects(at, angle, near, d, sonar.specular) {
			if nearest = d; nearest < heard+s.walls.Resolution() {
				break
			}
		}
	}
	return nearest
}

// reflects reports whether the surface that a ray meets at a distance in metres reflects it
// back: planes do up to a limit of the angle of incidence. Edges, corners and things
// narrower than the spot always do.
//
// Two rays next to the first find the surface. Along a plane at the distance r, the
// inverse of the distance is a sinusoid of the angle, and its slope is tan(incidence) /
// r.
func (s *sonars) reflects(at Pose, angle float64, near []*spot, r, limit float64) bool {
	const (
		spot  = 0.1  // half the width of the surface that counts, metres: several grid cells
		plane = 0.15 // how far the inverse distances of a plane differ from a sinusoid, as a fraction: grid cells
	)
	aside := max(math.Atan(spot/r), floor.Radians(3))
	inverse := func(angle float64) float64 {
		if d := ray(s.walls, near, at, angle, s.height, 2*s.reach); d < 2*s.reach {
			return r / max(d, leastRange)
		}
		return 0
	}
	left, right := inverse(angle+aside), inverse(angle-aside)
	if math.Abs((left+right)/2-math.Cos(aside)) > plane {
		return true
	}
	return math.Abs(math.Atan((left-right)/2/math.Sin(aside))) <= limit
}

// ray returns the distance in metres to the nearest echo at an angle and a height, or limit.
func ray(walls *floor.Grid, near []*spot, at Pose, angle, height, limit float64) float64 {
	o, d := at.Position(), floor.Direction(angle)
	limit = walls.Cast(o, d, limit)
	for _, n := range near {
		limit = n.body.cast(o, d, height, limit)
	}
	return limit
}
