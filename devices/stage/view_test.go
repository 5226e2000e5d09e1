package stage

import (
	"math"
	"testing"
	"time"

	"player/e2e/must"
)

func TestView(t *testing.T) {
	w := loadRoom(t)
	movers, fixtures := w.Movers(), w.Fixtures()
	if w.Robot("r0") != w.Robots()[0] || w.Robot("r1") != nil {
		t.Errorf("robots %v", w.Robots())
	}
	if len(movers) != 2 || movers[0].Name != "r0" || !movers[0].Robot || movers[1].Name != "puck" || movers[1].Robot {
		t.Errorf("movers %v", movers)
	}
	if body := movers[0].Parts[0]; body.Color != (Color{255, 0, 0}) || len(body.Outlines[0]) != 8 || body.Bottom != 0 || body.Top != 0.22 {
		t.Errorf("the robot's body is %+v", body)
	}
	names := map[string]bool{}
	for _, f := range fixtures {
		names[f.Name] = true
	}
	if !names["red post"] {
		t.Errorf("fixtures %v", names)
	}
	if poses := w.AppendPoses(nil); len(poses) != 2 || poses[0] != (Pose{X: -2, Y: -1.5}) {
		t.Errorf("poses %v", poses)
	}
	plan := w.Plan()
	wall := func(x, y float64) bool {
		return plan.Wall(int(math.Floor((x-plan.Origin.X)/plan.Resolution)), int(math.Floor((y-plan.Origin.Y)/plan.Resolution)))
	}
	if !wall(4.05, 0) || wall(0, 0) || !wall(-4.05, -2.9) || wall(-3.95, -2.9) {
		t.Error("the plan is not the room")
	}
}

// A robot that is moved by hand detects other things, and its odometry does
// not change.
func TestSetPose(t *testing.T) {
	w := loadRoom(t)
	b := newBench(t, w)
	b.open(t, 0, "pl")
	b.run(time.Second)
	before := string(b.tables[0].Device('l').Data())
	w.Pause(b.now, true)
	must.Do(t, w.SetPose(0, Pose{X: 2, Heading: 3}))
	b.run(time.Second)
	if p := b.position(t, 0); p.X != 0 || p.Y != 0 || p.Heading != 0 || p.Compass != 172 {
		t.Errorf("position %+v", p)
	}
	if string(b.tables[0].Device('l').Data()) == before {
		t.Error("the laser scan is the same")
	}
	for name, bad := range map[string]Pose{
		"a wall": {X: 4}, "the puck": {X: 0.5, Y: -1.5}, "nowhere": {X: math.NaN()}, "infinity": {X: math.Inf(1)}, "far": {X: 1e9},
	} {
		if err := w.SetPose(0, bad); err == nil {
			t.Errorf("there is room in %s", name)
		}
	}
	if at := w.robots[0].Pose(); at != (Pose{X: 2, Heading: 3}) {
		t.Errorf("the robot is at %v", at)
	}
	if w.SetPose(-1, Pose{}) == nil || w.SetPose(2, Pose{}) == nil {
		t.Error("missing movers can be moved")
	}
	if err := w.SetPose(1, Pose{X: -1, Y: -1}); err != nil || w.AppendPoses(nil)[1] != (Pose{X: -1, Y: -1}) {
		t.Errorf("the puck: %v", err)
	}
}
