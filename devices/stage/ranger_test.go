package stage

import (
	"math"
	"testing"

	"player/devices/stage/floor"
)

// hall is a room with inner faces at x = -5 and 5, y = -4 and 4.
const hall = robotWorld + `
wall ( pose [ 0  4.1 0 0] size [10.4 0.2 1] ) wall ( pose [ 0 -4.1 0 0] size [10.4 0.2 1] )
wall ( pose [ 5.1 0 0 90] size [8.0 0.2 1] ) wall ( pose [-5.1 0 0 90] size [8.0 0.2 1] )
`

// inHall returns the distance from o along d to the nearest face of the hall.
func inHall(o, d Vec) float64 {
	return min((math.Copysign(5, d.X)-o.X)/d.X, (math.Copysign(4, d.Y)-o.Y)/d.Y)
}

// Every reading at known poses is the distance to the wall in its direction.
func TestRangesInTheHall(t *testing.T) {
	_, r := robotIn(t, hall+`pioneer_full ( )`)
	for _, pose := range []Pose{{}, {X: 1, Y: 2, Heading: math.Pi / 2}, {X: -3, Y: -1, Heading: 2.5}, {X: 4, Y: 3, Heading: -0.7}} {
		r.body.place(pose)
		at := pose.Apply(Vec{X: 0.08})
		for i, got := range r.readLaser() {
			want := inHall(at, floor.Direction(pose.Heading+floor.Radians(float64(i)/2-90)))
			switch {
			case want > 8 && got != noEcho:
				t.Fatalf("at %v reading %d is %d, the wall is %v m away", pose, i, got, want)
			case want < 8 && math.Abs(float64(got)-want*1000) > 1:
				t.Fatalf("at %v reading %d is %d, want %v", pose, i, got, want*1000)
			}
		}
		ranges := r.readSonars()
		for i, s := range r.sonars.ring {
			want := math.Inf(1)
			for k := range 1501 {
				beam := pose.Then(s.pose).Heading + floor.Radians(float64(k-750)/100)
				want = min(want, inHall(pose.Then(s.pose).Position(), floor.Direction(beam)))
			}
			if want = min(want, 5); math.Abs(float64(ranges[i])-want*1000) > 1 {
				t.Fatalf("at %v sonar %d is %d, want %v", pose, i, ranges[i], want*1000)
			}
		}
	}
}

// Sonars are numbered clockwise from the front left, laser readings
// counterclockwise from the right (manual table 7).
func TestNumbering(t *testing.T) {
	_, r := robotIn(t, robotWorld+`crate ( pose [0 1 0 0] size [0.3 0.3 1] ) pioneer_full ( )`)
	for i, got := range r.readSonars() {
		if aside := i == 0 || i == 15; aside != (got < 1000) {
			t.Errorf("with a crate on the left sonar %d is %d", i, got)
		}
	}
	if scan := r.readLaser(); scan[360] > 900 || scan[0] != noEcho || scan[180] != noEcho {
		t.Errorf("with a crate on the left the laser reads right %d, ahead %d, left %d", scan[0], scan[180], scan[360])
	}
}

// Robots detect each other exactly, wherever they are.
func TestRobotsSeeOneAnother(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) pioneer2dx ( pose [3 0 0 180] )`)
	a, b := w.robots[0], w.robots[1]
	for _, tt := range []struct {
		pose Pose
		want float64 // from the laser at 0.08
	}{
		{Pose{X: 3, Heading: math.Pi}, 3 - 0.18 - 0.08},
		{Pose{X: 3}, 3 - 0.26 - 0.08},
		{Pose{X: 3, Y: 0.04, Heading: math.Pi / 2}, 3 - 0.19 - 0.08},
		{Pose{X: 3, Y: 0.5}, math.Inf(1)},
		{Pose{X: 9}, math.Inf(1)},
	} {
		b.body.place(tt.pose)
		want := uint16(noEcho)
		if tt.want < 8 {
			want = uint16(math.Round(tt.want * 1000))
		}
		if got := a.readLaser()[180]; got != want {
			t.Errorf("a robot at %v is %d mm ahead, want %d", tt.pose, got, want)
		}
	}
}

// Things lower than the beam are not detected.
func TestHeights(t *testing.T) {
	w := newWorld(t, robotWorld+`
model ( size [0.2 2 0.195] pose [1 0 0 0] ) model ( size [0.2 2 0.15] pose [0.6 0 0 0] )
model ( size [0.2 2 1] pose [0.7 0 0.5 0] ) pioneer_full ( )`)
	if got := w.robots[0].readLaser()[180]; got != noEcho {
		t.Errorf("the laser at 0.20 m reads %d", got)
	}
	if got := w.robots[0].readSonars()[3]; got < 700 || got > 780 {
		t.Errorf("the sonars at 0.19 m read %d, want the block at 0.9", got)
	}
}

func TestLaserWithANarrowFieldOfView(t *testing.T) {
	w := newWorld(t, hall+`pioneer2dx ( ranger ( sensor ( samples 200 fov 90 range [0 20] ) ) )`)
	for i, got := range w.robots[0].readLaser() {
		if inside := i >= 90 && i <= 270; inside == (got == noEcho) {
			t.Fatalf("reading %d is %d", i, got)
		}
	}
}

func TestMissingSonarsReadTheirReach(t *testing.T) {
	w := newWorld(t, hall+`position ( ranger ( sensor ( range [0 3] ) sensor ( range [0 2] pose [0 0 0 90] ) ) )`)
	ranges := w.robots[0].readSonars()
	if ranges[0] != 3000 || ranges[1] != 2000 || ranges[2] != 3000 || ranges[15] != 3000 {
		t.Errorf("%v", ranges)
	}
}

// A sonar detects all things in its cone, however thin, fixed or not, and its reading is the
// distance to the nearest point within the cone.
func TestSonarsSeeWhatIsInTheirCone(t *testing.T) {
	for _, kind := range []string{"", "pushable 1"} {
		_, r := robotIn(t, robotWorld+"resolution 0.005\nmodel ( pose [1.5 0 0 0] size [0.05 0.05 1] "+kind+` )
			position ( pose [0 0 0 0] ranger ( sensor ( range [0 5] fov 15 samples 3 ) sensor ( range [0 5] fov 15 samples 3 specular 30 ) ) )`)
		for k := range 380 {
			heading := floor.Radians(float64(k)/10 - 19)
			r.body.place(Pose{Heading: heading})
			// The nearest point of the pole's face that is within the cone.
			nearest := math.Inf(1)
			for y := -25.0; y <= 25; y++ {
				v := Vec{X: 1.475, Y: y / 1000}
				if math.Abs(math.Atan2(v.Y, v.X)-heading) <= floor.Radians(7.5) {
					nearest = min(nearest, v.Length())
				}
			}
			got := r.readSonars()
			// A grid cell, and the pole's side.
			edge := math.Abs(math.Abs(heading)-floor.Radians(7.5)-math.Atan2(0.025, 1.475)) < 0.01
			if edge {
				continue
			}
			if math.IsInf(nearest, 1) {
				if got[0] != 5000 || got[1] != 5000 {
					t.Fatalf("%sheading %.1f: %d and %d, and the pole is outside of the cone", kind, heading*180/math.Pi, got[0], got[1])
				}
			} else if math.Abs(float64(got[0])-1000*nearest) > 1.5 || math.Abs(float64(got[1])-1000*nearest) > 15 {
				t.Fatalf("%sheading %.1f: %d and %d, want %.1f", kind, heading*180/math.Pi, got[0], got[1], 1000*nearest)
			}
		}
	}
}
