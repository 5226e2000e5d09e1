package transporttest_test

import (
	"math"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/p2os"
	"player/devices/transport/transporttest"
	"player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
)

// pioneer is a p2os whose block names all of its devices.
func pioneer(start starter) product {
	return product{kind: p2os.Kind(), start: start, named: []devices.Spec{
		devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc(), devices.Ranger()}}
}

// TestSonarRings: each sonar of a robot measures the room from its place, also those for which Player has no place.
func TestSonarRings(t *testing.T) {
	for subclass, count := range map[string]int{
		"p2dx": 16, "p3at-sh": 16, "amigo": 8, "p2pb": 24, "powerbot": 28, "pion1m": 7,
	} {
		t.Run(subclass, func(t *testing.T) {
			r := newRig(t, pioneer(robots(emulatedrobot.Options{Subclass: subclass})), line.Options{})
			ranger := r.open(codec.Ranger)
			r.connect()
			r.Pass(2 * time.Second) // all have fired: four a packet
			data := transporttest.Data[codec.RangerData](t, ranger)
			rays := ranger.AppendRays(nil)
			if len(rays) != count || len(data.Ranges) != count {
				t.Fatalf("%d readings, %d rays, want %d", len(data.Ranges), len(rays), count)
			}
			for i, ray := range rays {
				const wall = 4000 // mm from the middle of the room, where the robot is
				want := math.Inf(1)
				sin, cos := math.Sincos(ray.Heading * math.Pi / 180)
				for _, axis := range [][2]float64{{ray.X, cos}, {ray.Y, sin}} {
					if math.Abs(axis[1]) > 1e-9 {
						want = min(want, (math.Copysign(wall, axis[1])-axis[0])/axis[1])
					}
				}
				if want > ray.Far {
					want = codec.NothingInRange
				}
				if got := float64(data.Ranges[ray.First]); math.Abs(got-want) > 1.5 {
					t.Errorf("sonar %d at %v, %v, %v degrees: %v mm, want %.0f", i, ray.X, ray.Y, ray.Heading, got, want)
				}
			}
		})
	}
}
