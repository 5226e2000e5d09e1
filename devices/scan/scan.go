// Package scan converts range readings at any angles, of a sensor that is mounted in any
// way, to the 361 readings of device laser (PROTOCOL 7.3).
package scan

import (
	"math"

	"player/codec"
	"player/devices"
)

// maxGap is the largest distance of a reading that is used for an angle without one: 1
// degree, in half degrees. The slowest sensors measure about once a degree.
const maxGap = 2

// unseen is a half degree at which the sensor has not measured yet.
const unseen = -1

// Mount is how a sensor is mounted on the robot.
type Mount struct {
	Heading float64 // deg, counterclockwise: where the sensor's front points
	Flip    bool    // it is mounted upside down
}

// HeadingOption and FlipOption declare the options of NewMount.
func HeadingOption() devices.Option {
	return devices.Option{Name: "heading", Default: 0.0, Min: -360, Max: 360, Unit: "deg",
		Doc: "where the sensor's front points, counterclockwise from the robot's"}
}
func FlipOption() devices.Option {
	return devices.Option{Name: "flip", Default: false, Doc: "the sensor is mounted upside down"}
}

// NewMount returns the mount that a driver's block declares.
func NewMount(a devices.Args) Mount { return Mount{a.Float("heading"), a.Bool("flip")} }

// robot returns an angle of the sensor in the robot's frame. Angles are in degrees,
// counterclockwise, 0 ahead.
func (m Mount) robot(degrees float64) float64 {
	if m.Flip {
		degrees = -degrees
	}
	return normal(degrees + m.Heading)
}

// Ahead returns the sensor's angle for the direction straight ahead of the robot.
func (m Mount) Ahead() float64 {
	if m.Flip {
		return normal(m.Heading)
	}
	return normal(-m.Heading)
}

// Scan is one sweep of a sensor. Clear it before use.
type Scan struct {
	Mount
	mm [codec.LaserCount]int32 // the nearest return; zero: there was none
}

// Clear begins a sweep.
func (s *Scan) Clear() {
	for i := range s.mm {
		s.mm[i] = unseen
	}
}

// Add adds a reading: the angle in degrees counterclockwise, 0 ahead of the sensor,
// and the distance in mm, zero if there was no return. It reports whether the angle
// is one of device laser, -90 to 90 degrees of the robot. Of the readings in a half
// degree the nearest return counts.
func (s *Scan) Add(degrees float64, mm int) bool {
	i := int(math.Round((s.robot(degrees) + 90) * 2))
	if i < 0 || i >= len(s.mm) {
		return false
	}
	if d := int32(mm); s.mm[i] <= 0 || d > 0 && d < s.mm[i] {
		s.mm[i] = d
	}
	return true
}

// Append appends the sweep as data of device laser. Where the sensor has not measured,
// the next reading within a degree counts. Beyond far, and where there was no return,
// the reading is far.
func (s *Scan) Append(dst []byte, far uint16) []byte {
	var readings codec.LaserData
	for i := range readings {
		mm := s.mm[i]
		for gap := 1; mm == unseen && gap <= maxGap; gap++ {
			for _, at := range [...]int{i - gap, i + gap} {
				if at < 0 || at >= len(s.mm) {
					continue
				}
				if near := s.mm[at]; near > 0 && (mm <= 0 || near < mm) || near == 0 && mm == unseen {
					mm = near
				}
			}
		}
		readings[i] = far
		if mm > 0 && mm < int32(far) {
			readings[i] = uint16(mm)
		}
	}
	return readings.Append(dst)
}

// normal returns an angle in degrees in the range of -180 to 180. For nearly all samples that is the angle itself, or
// one turn less: math.Remainder, with the same result, takes ten times as long.
func normal(degrees float64) float64 {
	switch size := math.Abs(degrees); {
	case size < 180:
		return degrees
	case size > 180 && size < 540:
		return degrees - math.Copysign(360, degrees)
	}
	return math.Remainder(degrees, 360)
}
