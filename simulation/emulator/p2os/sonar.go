package p2os

import "math"

const (
	sonarsPerSIP = 4    // the 16 sonars of a DX fire once in four packets
	sonarMax     = 5000 // mm: no echo from farther away
)

// sonarUnits returns the raw reading for a range in mm, in units of so many mm.
func sonarUnits(mm, unit float64) uint16 {
	return uint16(math.Round(max(0, min(mm/unit, math.MaxUint16))))
}

// roomRange returns the range of sonar s of a robot at p, in mm, in a square
// room of the given side around the origin. The sonar is a ray straight ahead,
// without a cone. A sonar outside the room has no echo.
func roomRange(side float64, p, s Pose) float64 {
	sin, cos := math.Sincos(p.Heading * math.Pi / 180)
	x, y := p.X+s.X*cos-s.Y*sin, p.Y+s.X*sin+s.Y*cos
	if max(math.Abs(x), math.Abs(y)) > side/2 {
		return sonarMax
	}
	sin, cos = math.Sincos((p.Heading + s.Heading) * math.Pi / 180)
	return min(sonarMax, wall(side/2, x, cos), wall(side/2, y, sin))
}

// wall returns the distance along a ray to one of two walls at ±half, from a
// position at between them; slope is the ray's component along that axis.
func wall(half, at, slope float64) float64 {
	switch {
	case slope > 0:
		return (half - at) / slope
	case slope < 0:
		return (-half - at) / slope
	}
	return math.Inf(1)
}
