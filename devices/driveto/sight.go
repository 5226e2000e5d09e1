package driveto

import (
	"math"

	"player/codec"
	"player/devices"
	"player/devices/vfh"
)

// best returns the devices of the best interface among eyes: lasers, rangers, sonars. A laser that is a ranger as well
// is not read twice, and the wide cones of sonars, which see more than lasers, would close doors.
func best(eyes []*devices.Device) (best []*devices.Device) {
	for _, letter := range [...]byte{codec.Laser, codec.Ranger, codec.Sonar} {
		for _, e := range eyes {
			if e.Letter() == letter {
				best = append(best, e)
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

// laserAhead is where the laser of a robot is that does not say so, mm ahead of the centre, as on a Pioneer.
const laserAhead = 80

// sight makes beams of the readings of sensors.
type sight struct {
	parts [][]codec.Part // of each laser and sonar
	rays  [][]codec.Rays // of each ranger
	beams []vfh.Beam

	// Kept here so that a step does not allocate.
	laser  codec.LaserData
	sonar  codec.SonarData
	ranger codec.RangerData
}

// survey asks where the sensors look. Their drivers may have learned it when they were opened. It reports false if a
// driver does not know.
func (s *sight) survey(eyes []*devices.Device) (known bool) {
	s.parts, s.rays = make([][]codec.Part, len(eyes)), make([][]codec.Rays, len(eyes))
	for i, e := range eyes {
		if e.Letter() == codec.Ranger {
			s.rays[i] = e.AppendRays(nil)
		} else {
			s.parts[i] = e.AppendParts(nil)
		}
		if e.Letter() == codec.Laser && s.parts[i] == nil {
			s.parts[i] = []codec.Part{{X: laserAhead}}
		}
		if s.parts[i] == nil && s.rays[i] == nil {
			return false
		}
	}
	return true
}

// look makes beams of the newest readings. It reports false while a sensor has none.
func (s *sight) look(eyes []*devices.Device) bool {
	s.beams = s.beams[:0]
	for i, e := range eyes {
		if !e.HasData() {
			return false
		}
		switch e.Letter() {
		case codec.Laser:
			if s.laser.Decode(e.Data()) == nil {
				s.beams = vfh.AppendLaser(s.beams, s.parts[i][0], &s.laser)
			}
		case codec.Sonar:
			if s.sonar.Decode(e.Data()) == nil {
				s.beams = vfh.AppendSonar(s.beams, s.parts[i], &s.sonar)
			}
		case codec.Ranger:
			if s.ranger.Decode(e.Data()) == nil {
				s.beams = vfh.AppendRanger(s.beams, s.rays[i], &s.ranger)
			}
		}
	}
	return true
}

// distance returns how far two poses are apart, mm.
func distance(a, b *codec.PositionData) float64 {
	return math.Hypot(float64(a.X)-float64(b.X), float64(a.Y)-float64(b.Y))
}

// apart returns by how many degrees the headings of two poses differ, 0 to 180.
func apart(a, b *codec.PositionData) int {
	d := (int(a.Heading) - int(b.Heading) + 720) % 360
	return min(d, 360-d)
}
