package stage

import (
	"math"
	"time"

	"player/codec"
	"player/config/syntax"
)

// noise is a generator of random numbers: splitmix64 (Steele, Lea and Flood, Fast
// Splittable Pseudorandom Number Generators, 2014). Each sensor has its own, so what a
// sensor reads does not depend on who reads the others.
type noise uint64

// newNoise returns the generator of a sensor in a world with a seed.
func newNoise(seed uint64, robot, sensor string) noise {
	n := noise(seed)
	for _, c := range []byte(robot + "\x00" + sensor) {
		n = noise(n.next()) ^ noise(c)
	}
	return n
}

// at returns the generator for a reading at a simulated time: the reading is the same
// whether or not there were others before.
func (n noise) at(sim time.Duration) noise {
	n ^= noise(sim)
	return noise(n.next())
}

func (n *noise) next() uint64 {
	*n += 0x9e3779b97f4a7c15
	z := uint64(*n)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number from 0 to below 1.
func (n *noise) uniform() float64 { return float64(n.next()>>11) / (1 << 53) }

// chance reports true with probability p.
func (n *noise) chance(p float64) bool { return p > 0 && n.uniform() < p }

// normal returns a number of mean 0 and standard deviation 1 (Box and Muller).
func (n *noise) normal() float64 {
	return math.Sqrt(-2*math.Log(1-n.uniform())) * direction(2*math.Pi*n.uniform()).X
}

// flaws are what keeps a ranger from measuring exactly. The zero value is exact.
type flaws struct {
	constant     float64 // standard deviation of a range, metres
	proportional float64 // the same as a share of the range
	angular      float64 // standard deviation of the direction, radians
	dropout      float64 // probability that an echo is missed
	crosstalk    float64 // probability that a sonar hears a neighbour's echo
	specular     float64 // the largest angle at which a plane reflects to a sonar, radians; 0: any
}

// leastRange is the smallest reading with noise, metres: zero means that a sonar has
// not fired.
const leastRange = 0.001

// flaws reads those of a sensor: a sonar has more than a laser.
func (l *loader) flaws(s *syntax.Section, sonar bool) flaws {
	n := s.Tuple("noise", "lna", 0, 0, 0)
	f := flaws{constant: n[0], proportional: n[1], angular: n[2], dropout: s.Float("dropout", 0)}
	if sonar {
		f.crosstalk, f.specular = s.Float("crosstalk", 0), s.Angle("specular", 0)
	}
	if least := min(n[0], n[1], n[2], f.dropout, f.crosstalk, f.specular); !(least >= 0 && max(f.dropout, f.crosstalk) <= 1) {
		l.fail(s, "noise", "noise, specular: write no negative numbers; dropout, crosstalk: write probabilities, 0 to 1")
	}
	return f
}

// apply returns a reading in mm with what noise and dropouts make of it. none is the
// reading without an echo.
func (f *flaws) apply(n *noise, reading, none uint16, reach float64) uint16 {
	if reading == none || n.chance(f.dropout) {
		return none
	}
	if f.constant == 0 && f.proportional == 0 {
		return reading
	}
	v := float64(reading) / 1000
	v += n.normal() * math.Hypot(f.constant, f.proportional*v)
	return millimetres(max(leastRange, min(reach, v)))
}

// disturb makes the readings of flawed sonars from the exact ones.
func (s *sonars) disturb(r *Robot, out *codec.SonarData) {
	n := s.noise.at(r.world.sim)
	near := r.world.nearby(r, r.body.pose.position(), s.reach+r.body.radius)
	for i := range s.ring {
		beam := &s.ring[i]
		if beam.angular != 0 || beam.specular != 0 {
			at := r.body.pose.then(beam.pose)
			at.Heading += beam.angular * n.normal()
			out[i] = millimetres(s.echo(beam, at, near))
		}
	}
	heard := *out
	for i := range s.ring {
		beam := &s.ring[i]
		if n.chance(beam.crosstalk) {
			other := (i + 1 + int(n.next()%2)*(len(s.ring)-2)) % len(s.ring)
			out[i] = min(heard[i], heard[other])
		}
		out[i] = beam.apply(&n, out[i], millimetres(beam.reach), beam.reach)
	}
}

// echo returns the distance in metres to the nearest surface that reflects a beam
// back, or the beam's reach.
func (s *sonars) echo(beam *sonar, at Pose, near []*body) float64 {
	nearest := beam.reach
	for k := range beam.samples {
		angle := at.Heading
		if beam.samples > 1 {
			angle += beam.fov * (float64(k)/float64(beam.samples-1) - 0.5)
		}
		if d := ray(s.walls, near, at, angle, s.height, nearest); d < nearest && (beam.specular == 0 || s.reflects(at, angle, near, d, beam.specular)) {
			nearest = d
		}
	}
	return nearest
}

// reflects reports whether what a ray meets at a distance in metres reflects it back:
// planes do up to a limit of the angle of incidence. Edges, corners and things that are
// narrower than the spot always do.
//
// Two rays beside the first find the surface. Along a plane at the distance r, the
// inverse of the distance is a sinusoid of the angle, and its slope is tan(incidence) /
// r.
func (s *sonars) reflects(at Pose, angle float64, near []*body, r, limit float64) bool {
	const (
		spot  = 0.1  // half the width of the surface that counts, metres: several grid cells
		plane = 0.15 // how far the inverse distances of a plane differ from a sinusoid, as a share: grid cells
	)
	aside := max(math.Atan(spot/r), radians(3))
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

// ray returns the distance in metres to what gives an echo at an angle and a height, or
// limit.
func ray(walls *layer, near []*body, at Pose, angle, height, limit float64) float64 {
	o, d := at.position(), direction(angle)
	limit = walls.cast(o, d, limit)
	for _, b := range near {
		limit = b.cast(o, d, height, limit)
	}
	return limit
}

// disturb makes the scan of a flawed laser from the exact one.
func (l *laser) disturb(r *Robot, out *codec.LaserData) {
	n := l.noise.at(r.world.sim)
	at := r.body.pose.then(l.pose)
	near := r.world.nearby(r, at.position(), l.reach)
	for i := range out {
		if half := radians(float64(i)/2 - 90); l.angular != 0 && math.Abs(half) <= l.fov/2+1e-9 {
			best := ray(l.walls, near, at, at.Heading+half+l.angular*n.normal(), l.height, l.reach)
			if out[i] = noEcho; best < l.reach {
				out[i] = millimetres(best)
			}
		}
		out[i] = l.apply(&n, out[i], noEcho, l.reach)
	}
}
