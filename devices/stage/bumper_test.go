package stage

import (
	"fmt"
	"math"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

// Bits count clockwise: at the front from left to right, at the rear from
// right to left (manual C.3).
func TestBumperBits(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer2dx ( ) post ( pose [5 0 0 0] size [0.06 0.06 1] gripper_return 1 )`)
	r, post := w.robots[0], w.bodies[1]
	centre := Vec{X: -0.04}
	for _, tt := range []struct {
		angle       float64 // of the post, from the middle of the robot
		front, rear uint8
	}{
		{52, 1, 0}, {19, 2, 0}, {0, 4, 0}, {-19, 8, 0}, {-52, 16, 0},
		{-128, 0, 1}, {-161, 0, 2}, {180, 0, 4}, {161, 0, 8}, {128, 0, 16},
		{90, 0, 0}, {-90, 0, 0},
	} {
		d := floor.Direction(floor.Radians(tt.angle))
		touching := floor.RayPolygon(centre, d, r.body.hull, 1)
		at := func(gap float64) codec.MiscData {
			p := centre.Add(d.Scale(touching + gap))
			post.place(Pose{X: p.X, Y: p.Y})
			var m codec.MiscData
			r.readBumpers(&m)
			return m
		}
		// At the radius of the post plus the travel of the bumper.
		if m := at(0.03); m.FrontBumpers != tt.front || m.RearBumpers != tt.rear {
			t.Errorf("post at %v: front %05b, rear %05b, want %05b, %05b", tt.angle, m.FrontBumpers, m.RearBumpers, tt.front, tt.rear)
		}
		if m := at(0.06); m != (codec.MiscData{}) {
			t.Errorf("post at %v, 2 cm away: front %05b, rear %05b", tt.angle, m.FrontBumpers, m.RearBumpers)
		}
	}
}

// A collision at the front or the rear presses a bumper there, and backing off
// releases it.
func TestCollisionsPressBumpers(t *testing.T) {
	for _, what := range []string{`wall ( pose [1 0 0 %v] size [6 0.2 1] )`, `pioneer2dx ( pose [1.3 0.1 0 %v] )`,
		`post ( pose [1 0.15 0 %v] size [0.05 0.05 1] )`} {
		for angle := 60.0; angle <= 120; angle += 7 {
			for _, speed := range []int16{500, -500} {
				w, r := robotIn(t, robotWorld+`pioneer2dx ( )`+fmt.Sprintf(what, angle))
				if speed < 0 {
					r.body.place(Pose{Heading: math.Pi})
				}
				r.drive.command(speed, 0)
				for range steps(5 * time.Second) {
					if w.Step(1); r.stalled() {
						break
					}
				}
				var m codec.MiscData
				r.readBumpers(&m)
				if !r.stalled() || (m.FrontBumpers != 0) != (speed > 0) || (m.RearBumpers != 0) != (speed < 0) {
					t.Errorf("%s at %v, %d mm/s: stalled %v at %v, front %05b, rear %05b", what, angle, speed,
						r.stalled(), r.Pose(), m.FrontBumpers, m.RearBumpers)
				}
				r.drives(-speed, 0, time.Second)
				if r.readBumpers(&m); m != (codec.MiscData{}) {
					t.Errorf("%s at %v: still pressed %v", what, angle, m)
				}
			}
		}
	}
}
