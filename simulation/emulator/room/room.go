// Package room is where emulated scanners stand.
package room

import "math"

// Or returns the function by which a scanner sees distances in mm, by the direction in degrees:
// the given one, or for nil that of the middle of a square room, 2 m from each wall.
func Or(given func(degrees float64) float64) func(degrees float64) float64 {
	if given != nil {
		return given
	}
	return func(degrees float64) float64 {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return 2000 / max(math.Abs(sin), math.Abs(cos))
	}
}
