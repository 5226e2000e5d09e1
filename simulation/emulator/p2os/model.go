package p2os

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A model is a type of robot: its units and its sensors. The figures are from the parameter
// files of ARIA, the sonars in the order of the robot's own numbers.
type model struct {
	unit     float64 // mm, of x and y
	axle     float64 // mm: 2 / DiffConvFactor
	turn     int     // units of a revolution
	velocity float64 // mm/s, of the reported wheel speeds
	echo     float64 // mm, of a sonar reading
	wheels   float64 // mm/s, of VEL2
	bits     int     // of x and y
	sonars   []Pose
	later    bool // AROS or ARCOS, with a longer SIP
}

// ringDX and ringAT are the sonars around a DX and an AT.
var (
	ringDX = append(slices.Clone(frontDX), rearDX...)
	ringAT = append(row(147, 136, 90, 193, 119, 50, 227, 79, 30, 245, 27, 10), row(-144, -136, -90, -189, -119, -130, -223, -79, -150, -241, -27, -170)...)

	frontDX = row(69, 136, 90, 114, 119, 50, 148, 78, 30, 166, 27, 10)
	rearDX  = row(-157, -136, -90, -203, -119, -130, -237, -78, -150, -255, -27, -170)
	upper   = row(-20, 136, 90, 24, 119, 50, 58, 78, 30, 77, 27, 10)

	amigoSonars = poses(76, 100, 90, 125, 75, 41, 150, 30, 15, 150, -30, -15, 125, -75, -41, 76, -100, -90, -140, -58, -145, -140, 58, 145)

	pion1Sonars = poses(100, 100, 90, 120, 80, 30, 130, 40, 15, 130, 0, 0, 130, -40, -15, 120, -80, -30, 100, -100, -90)

	// Numbers 7, 15 and 23 of a PowerBot are not there.
	powerSonars = slices.Concat(
		poses(152, 278, 90, 200, 267, 65, 241, 238, 45, 274, 200, 35, 300, 153, 25, 320, 96, 15, 332, 33, 5), none,
		poses(332, -33, -5, 320, -96, -15, 300, -153, -25, 274, -200, -35, 241, -238, -45, 200, -267, -65, 152, -278, -90), none,
		poses(-298, -278, -90, -347, -267, -115, -388, -238, -135, -420, -200, -145, -447, -153, -155, -467, -96, -165, -478, -33, -175), none,
		poses(-478, 33, 175, -467, 96, 165, -447, 153, 155, -420, 200, 145, -388, 238, 135, -347, 267, 115, -298, 278, 90))
	none = []Pose{{math.NaN(), 0, 0}}
)

// poses are triples of x, y and heading.
func poses(v ...float64) (list []Pose) {
	for ; len(v) > 0; v = v[3:] {
		list = append(list, Pose{v[0], v[1], v[2]})
	}
	return list
}

// row are poses and, after them, their mirror images in reverse.
func row(v ...float64) []Pose {
	list := poses(v...)
	for _, p := range slices.Backward(list) {
		list = append(list, Pose{p.X, -p.Y, -p.Heading})
	}
	return list
}

// pioneer returns a Pioneer 2 or a later one; the Pioneer 1 has other units.
func pioneer(unit, diff, echo float64, sonars []Pose) model {
	return model{unit: unit, axle: 2 / diff, turn: 4096, velocity: 1, echo: echo, wheels: 20, bits: 15, sonars: sonars}
}

func oldPioneer(unit float64) model {
	return model{unit: unit, axle: 2 / 0.00333333, turn: 1024, velocity: 2.5332, echo: 0.1734, wheels: 4, bits: 15, sonars: pion1Sonars}
}

// catalogue returns the robots that can be played, by subclass.
func catalogue() map[string]model {
	amigo := pioneer(0.5083, 0.011, 1, amigoSonars)
	amigo.velocity = 0.6154
	twoRings := slices.Concat(frontDX, upper, rearDX)
	return map[string]model{
		"p2dx": pioneer(0.84, 0.0056, 0.268, ringDX), "p2de": pioneer(0.969, 0.0056, 0.268, ringDX),
		"p2ce": pioneer(0.826, 0.0057, 0.268, ringDX),
		"p2d8": pioneer(0.485, 0.0056, 1, ringDX), "p2dx8": pioneer(0.485, 0.0056, 1, ringDX),
		"p2at": pioneer(1.32, 0.0034, 0.268, ringAT), "p2at8": pioneer(1.32, 0.0034, 1, ringAT),
		"p2pb": pioneer(0.424, 0.0056, 0.268, twoRings), "perfpb": pioneer(0.485, 0.006, 1, twoRings),
		"p3dx": pioneer(0.485, 0.0056, 1, ringDX), "p3dx-sh": pioneer(1, 0.0056, 1, ringDX),
		"p3at": pioneer(0.465, 0.0034, 1, ringAT), "p3at-sh": pioneer(1, 0.0034, 1, ringAT),
		"peoplebot-sh": pioneer(1, 0.006, 1, slices.Concat(ringDX, upper)),
		"amigo":        amigo, "amigo-sh": pioneer(1, 0.011, 1, amigoSonars),
		"powerbot": pioneer(0.5813, 0.00373, 1, powerSonars), "powerbot-sh": pioneer(1, 0.00373, 1, powerSonars),
		"pion1m": oldPioneer(0.05066), "pion1x": oldPioneer(0.05066), "psos1m": oldPioneer(0.05066), "pionat": oldPioneer(0.07),
	}
}

// Models returns the subclasses that can be played.
func Models() []string { return slices.Sorted(maps.Keys(catalogue())) }

// findModel returns the model of a subclass. For one that is not in the catalogue the units
// are a Pioneer 2-DX's.
func findModel(subclass string) model {
	known := catalogue()
	if m, ok := known[subclass]; ok {
		return m
	}
	return known["p2dx"]
}

// CheckModel returns an error that lists the models if subclass is none of them.
func CheckModel(subclass string) error {
	if !slices.Contains(Models(), subclass) {
		return fmt.Errorf("no model %q, choose from %s", subclass, strings.Join(Models(), ", "))
	}
	return nil
}
