// Package room is the room around emulated scanners.
package room

import "math"

// Or returns the function that gives a scanner the distance in mm in a direction in degrees:
// the given one, or, for nil, the distances from the middle of a square room, 2 m to each wall.
func Or(given func(degrees float64) float64) func(degrees float64) float64 {
	if given != nil {
		return given
	}
	return func(degrees float64) float64 {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return 2000 / max(math.Abs(sin), math.Abs(cos))
	}
}
