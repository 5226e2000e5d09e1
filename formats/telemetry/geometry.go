package telemetry

import (
	"math"

	"player/codec"
	"player/codec/pioneer"
)

// The shape that is drawn where the configuration has none: a Pioneer 2-DX, in metres
// forward and to the left of the centre of rotation, and degrees.

// place is a pose on the robot.
type place struct{ x, y, heading float64 }

var (
	laserPlace, cameraPlace, gripperPlace = place{x: 0.08}, place{x: 0.08}, place{x: 0.18}
	hullCentre                            = place{x: -0.04}
)

const (
	bumpers       = 5    // at each end
	bumperRadius  = 0.24 // metres from hullCentre
	sonarCone     = 15   // degrees
	noEcho        = 5.0  // metres; a sonar's reading from which on nothing was detected
	paddleLength  = 0.10 // metres
	paddlesOpen   = 0.10 // metres of each paddle from the middle
	paddlesClosed = 0.01
	// The camera: a Sony EVI-D30 with the images of ACTS.
	viewWide, viewNarrow    = 48.8, 4.4 // degrees, at zoom 0 and 1023
	mostZoom                = 1023
	imageWidth, imageHeight = 160.0, 120.0
	imageDistance           = 1.0 // metres from the camera to its image in the scene
)

// rad converts degrees to radians.
func rad(degrees float64) float64 { return degrees * math.Pi / 180 }

// or returns the declared place, or if none was declared another.
func (g Geometry) or(other place) place {
	if g == (Geometry{}) {
		return other
	}
	return place{g.X / 1000, g.Y / 1000, g.Heading}
}

// sonarPlace returns the place of the sonar with a number on a part.
func sonarPlace(number int, part place) place {
	m := pioneer.Sonars()[number]
	return place{m.X / 1000, m.Y / 1000, m.Heading}.on(part)
}

// sonar returns the place of the sonar with a number of a part.
func (p part) sonar(number int) place {
	for _, r := range p.Rays {
		if r.First == number {
			return middle(r)
		}
	}
	return sonarPlace(number, p.Geometry.or(place{}))
}

// middle returns the point that rays look from, with the direction of the middle one.
func middle(r codec.Rays) place {
	heading := math.Remainder(r.Heading+r.Step*float64(r.Count-1)/2, 360)
	return place{r.X / 1000, r.Y / 1000, heading}
}

// on returns the place of p, which is on a part at part.
func (p place) on(part place) place {
	s, c := math.Sincos(rad(part.heading))
	return place{part.x + c*p.x - s*p.y, part.y + s*p.x + c*p.y, part.heading + p.heading}
}

// ahead returns the place at a distance in the direction of p.
func (p place) ahead(distance float64) place { return place{x: distance}.on(p) }

func (p place) vector() Vector3      { return Vector3{X: p.x, Y: p.y} }
func (p place) rotation() Quaternion { return turned(rad(p.heading), 0) }
func (p place) pose() Pose           { return Pose{p.vector(), p.rotation()} }
