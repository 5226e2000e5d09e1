package p2os

import "math"

const (
	sonars       = 16
	sonarsPerSIP = 4     // every sonar fires once in four packets
	sonarUnit    = 0.268 // mm, Pioneer 2-DX
	sonarMax     = 5000  // mm: no echo from farther away
)

// sonarPoses are the poses of the 16 sonars on a Pioneer 2-DX.
var sonarPoses = [sonars]Pose{
	{69, 136, 90}, {114, 119, 50}, {148, 78, 30}, {166, 27, 10},
	{166, -27, -10}, {148, -78, -30}, {114, -119, -50}, {69, -136, -90},
	{-157, -136, -90}, {-203, -119, -130}, {-237, -78, -150}, {-255, -27, -170},
	{-255, 27, 170}, {-237, 78, 150}, {-203, 119, 130}, {-157, 136, 90},
}

// sonarUnits returns the raw reading for a range in mm.
func sonarUnits(mm float64) uint16 {
	return uint16(math.Round(max(0, min(mm/sonarUnit, math.MaxUint16))))
}

// roomRange returns the range of a sonar of a robot at p, in mm, in a square
// room of the given side around the origin. The sonar is a ray straight ahead,
// without a cone. A sonar outside the room has no echo.
func roomRange(side float64, p Pose, sonar int) float64 {
	s := sonarPoses[sonar]
	sin, cos := math.Sincos(p.Heading * math.Pi / 180)
	x, y := p.X+s.X*cos-s.Y*sin, p.Y+s.X*sin+s.Y*cos
	if max(math.Abs(x), math.Abs(y)) > side/2 {
		return sonarMax
	}
	sin, cos = math.Sincos((p.Heading + s.Heading) * math.Pi / 180)
	return min(sonarMax, wall(side/2, x, cos), wall(side/2, y, sin))
}

// wall returns the distance along a ray to one of two walls at ±half, from a
// position at between them; share is the ray's component along that axis.
func wall(half, at, share float64) float64 {
	switch {
	case share > 0:
		return (half - at) / share
	case share < 0:
		return (-half - at) / share
	}
	return math.Inf(1)
}
