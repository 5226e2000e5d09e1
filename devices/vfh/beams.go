package vfh

import (
	"math"

	"player/codec"
)

// Beam is a reading of a sensor, in mm and half degrees in the robot's frame.
type Beam struct {
	X, Y    int // of the sensor
	Bearing int
	Range   int // of the free space; 0: it is unknown
	Echo    bool
}

// AppendLaser appends the beams of a scan by a laser with this mount: one for each degree,
// which at laserFar is less than a cell. A reading of the laser's range, if that is known, is no echo.
func AppendLaser(dst []Beam, mount codec.Part, scan *codec.LaserData) []Beam {
	x, y, heading := whole(mount.X), whole(mount.Y), whole(2*mount.Heading)
	far := laserFar
	if mount.Range > 0 {
		far = min(far, whole(mount.Range))
	}
	for i := 0; i < codec.LaserCount; i += 2 {
		r := int(scan[i])
		dst = append(dst, Beam{x, y, heading - 180 + i, min(r, far), r < far})
	}
	return dst
}

// AppendSonar appends the beams of sonars with these mounts.
func AppendSonar(dst []Beam, mounts []codec.Part, ranges *codec.SonarData) []Beam {
	for _, m := range mounts {
		if m.Number >= 0 && m.Number < codec.SonarCount {
			r := int(ranges[m.Number])
			dst = append(dst, Beam{whole(m.X), whole(m.Y), whole(2 * m.Heading), min(r, sonarFar), r < sonarFar})
		}
	}
	return dst
}

const (
	// cone is the width of a beam in degrees from which on it is as wide as a sonar's, and not used beyond sonarFar.
	cone = 5
	// mostBeams is how many beams a ranger has at most, so that the time of a report is bounded. All around that is
	// one for each half degree: at laserFar they are less than a cell apart.
	mostBeams = 720
)

// AppendRanger appends the beams of a ranger whose readings look along rays: at most one for each degree, and mostBeams in
// all.
func AppendRanger(dst []Beam, rays []codec.Rays, data *codec.RangerData) []Beam {
	all := 1 // so that each is never 0
	for _, r := range rays {
		all += r.Count
	}
	for _, r := range rays {
		far := laserFar
		if r.Cone >= cone {
			far = sonarFar
		}
		each := (all + mostBeams - 1) / mostBeams
		if r.Step != 0 {
			each = max(each, int(min(1/math.Abs(r.Step), mostBeams)))
		}
		x, y := whole(r.X), whole(r.Y)
		// The number of the reading counts, so that rings of many sonars, one in a line, are thinned out as well.
		for i := (each - r.First%each) % each; i < r.Count && r.First+i < len(data.Ranges); i += each {
			b := Beam{X: x, Y: y, Bearing: whole(2 * (r.Heading + float64(i)*r.Step)), Range: far}
			if mm, is := data.MM(r.First + i); is {
				b.Range, b.Echo = min(mm, far), mm < far
			} else if data.Ranges[r.First+i] != codec.NothingInRange {
				continue
			} else if r.Far > 0 {
				b.Range = min(far, whole(r.Far))
			}
			dst = append(dst, b)
		}
	}
	return dst
}
