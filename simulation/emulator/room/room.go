// Package room is the room around emulated scanners.
package room

import "math"

// Or returns the function that gives a scanner the distance in mm in a direction in degrees, 0 ahead: the given one, or,
// for nil, Square.
func Or(given func(degrees float64) float64) func(degrees float64) float64 {
	if given != nil {
		return given
	}
	return Square
}

// Square has the distances from the middle of a square room, 2 m to each wall.
func Square(degrees float64) float64 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return 2000 / max(math.Abs(sin), math.Abs(cos))
}

// Door is the same room with an open door in the wall ahead, 20 degrees wide: 2 m behind it is another wall. A host's
// filter that joins neighbouring distances needs the edges: the filter of LDROBOT's SDK deletes a scan without one.
func Door(degrees float64) float64 {
	if cos := math.Cos(degrees * math.Pi / 180); cos > math.Cos(10*math.Pi/180) {
		return 4000 / cos
	}
	return Square(degrees)
}
