package stage

import (
	"math"
	"testing"

	"player/devices/stage/floor"
)

func TestRoughBearing(t *testing.T) {
	for i := -3600; i <= 3600; i++ {
		want := float64(i) / 3600 * math.Pi
		if got := roughBearing(floor.Direction(want).Scale(3), 3); math.Abs(math.Remainder(got-want, 2*math.Pi)) > bearingError {
			t.Fatalf("the bearing %v is %v", want, got)
		}
	}
}

// Bodies that are not convex, and outlines in both directions: TestScansMissNoBody checks
// only convex ones.
func TestScanOfAnyOutline(t *testing.T) {
	w, r := robotIn(t, robotWorld+`pioneer_full ( )
define odd model ( size [0.6 0.6 1] gripper_return 1 )
odd ( pose [1 0.5 0 20] block ( points 5 point[0] [0 0] point[1] [2 0] point[2] [2 2] point[3] [1 0.3] point[4] [0 2] z [0 1] ) )
odd ( pose [1.2 -0.6 0 70] block ( points 4 point[0] [0 0] point[1] [0 1] point[2] [1 1] point[3] [1 0] z [0 1] ) )
odd ( pose [0.5 0 0 10] block ( points 4 point[0] [0 0] point[1] [1 1] point[2] [1 0] point[3] [0 1] z [0 1] ) )`)
	for i := range 200 {
		w.bodies[1].place(Pose{X: 1, Y: 0.5, Heading: float64(i)})
		w.bodies[2].place(Pose{X: 0.6, Y: float64(i)*0.01 - 1, Heading: float64(2 * i)})
		w.bodies[3].place(Pose{X: float64(i)*0.01 - 0.3, Heading: float64(3 * i)}) // also over the scanner
		checkScan(t, r)
	}
}
