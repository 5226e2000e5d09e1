// Package pioneer has the shape of the Pioneer 2-DX. Robots have it that declare no other.
package pioneer

import "player/codec"

// Mount is where a sensor is and faces: mm ahead and to the left of the centre of rotation, and
// degrees counterclockwise.
type Mount struct{ X, Y, Heading float64 }

var sonars = Mirrored([8][3]float64{
	{69, 136, 90}, {114, 119, 50}, {148, 78, 30}, {166, 27, 10},
	{-157, -136, -90}, {-203, -119, -130}, {-237, -78, -150}, {-255, -27, -170},
})

// Sonars returns the mounts of the sonars, in the order of PROTOCOL 7.2.
func Sonars() [codec.SonarCount]Mount { return sonars }

// Mirrored returns the mounts of the sonars of a symmetric robot. half has x, y and heading of the
// sonars of its left front and its right rear.
func Mirrored(half [8][3]float64) (all [codec.SonarCount]Mount) {
	for i, m := range half {
		at, mirror := i, 7-i
		if i >= 4 {
			at, mirror = i+4, 19-i
		}
		all[at], all[mirror] = Mount{m[0], m[1], m[2]}, Mount{m[0], -m[1], -m[2]}
	}
	return all
}

// Bumpers returns the directions of the bumpers from the middle of the hull in degrees, by their bits
// (PROTOCOL 7.4).
func Bumpers() (front, rear [5]float64) {
	return [5]float64{52, 19, 0, -19, -52}, [5]float64{-128, -161, 180, 161, 128}
}
