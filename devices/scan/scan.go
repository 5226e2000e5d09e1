// Package scan turns range readings at any angles into the 361 readings of device
// laser (PROTOCOL 7.3).
package scan

import (
	"math"

	"player/codec"
)

// maxGap is how far away a reading may be that stands for an angle at which the
// sensor has not looked: 1 degree, in half degrees. The slowest sensors look about
// once a degree.
const maxGap = 2

// unseen is a half degree at which the sensor has not looked yet.
const unseen = -1

// Scan is one sweep of a sensor. Clear it before use.
type Scan struct {
	mm [codec.LaserCount]int32 // the nearest return; zero: there was none
}

// Clear begins a sweep.
func (s *Scan) Clear() {
	for i := range s.mm {
		s.mm[i] = unseen
	}
}

// Add adds a reading: the angle in degrees counterclockwise, 0 ahead of the robot,
// and the distance in mm, zero if there was no return. It reports whether the angle
// is one of device laser, -90 to 90 degrees. Of the readings in a half degree the
// nearest return counts.
func (s *Scan) Add(degrees float64, mm int) bool {
	i := int(math.Round((degrees + 90) * 2))
	if i < 0 || i >= len(s.mm) {
		return false
	}
	if d := int32(mm); s.mm[i] <= 0 || d > 0 && d < s.mm[i] {
		s.mm[i] = d
	}
	return true
}

// Readings sets dst to the sweep. Where the sensor has not looked, the next reading
// within a degree counts. Beyond far, and where there was no return, the reading is
// far.
func (s *Scan) Readings(dst *codec.LaserData, far uint16) {
	for i := range dst {
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
		dst[i] = far
		if mm > 0 && mm < int32(far) {
			dst[i] = uint16(mm)
		}
	}
}

// Normal returns an angle in degrees in the range of -180 to 180.
func Normal(degrees float64) float64 { return math.Remainder(degrees, 360) }
