package stage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
	"player/e2e/acceptance"
	"player/e2e/needs"
)

// pushed drives the first robot of a world at 200 mm/s for d and returns the world.
func pushed(t *testing.T, d time.Duration, text string) *World {
	t.Helper()
	w := newWorld(t, robotWorld+text)
	w.robots[0].drive.command(200, 0)
	w.Step(steps(d))
	return w
}

// nose is the front end of a Pioneer, metres before its pose.
const nose = 0.18

// A box stays at the robot's nose. Pushed off its middle it turns, by more the
// further off.
func TestBoxIsPushed(t *testing.T) {
	const box = `model ( size [0.3 0.3 0.3] pose [0.6 %v 0 0] pushable 1 )`
	w := pushed(t, 5*time.Second, `pioneer2dx ( ) `+fmt.Sprintf(box, 0))
	r, b := w.robots[0], w.bodies[1]
	if r.stalled() || r.Pose().X < 0.9 || !nearPose(b.pose, Pose{X: r.Pose().X + nose + 0.15}, 1e-4) {
		t.Errorf("robot at %v (stalled %v), box at %v", r.Pose(), r.stalled(), b.pose)
	}
	if at := r.odometry.at(r.Pose()); at != r.Pose() {
		t.Errorf("the odometry counts %v", at)
	}
	last := 0.0
	for _, off := range []float64{0.02, 0.06, 0.1} {
		w := pushed(t, 1800*time.Millisecond, `pioneer2dx ( ) `+fmt.Sprintf(box, off))
		if b := w.bodies[1]; b.pose.Heading <= last || b.pose.Y < off-0.01 {
			t.Errorf("pushed %v m right of its middle, the box is at %v", off, b.pose)
		} else {
			last = b.pose.Heading
		}
	}
}

// A few pushes part two things. A thing that is pushed off its middle turns, and its middle
// moves less.
func TestGivingWay(t *testing.T) {
	still := &body{parts: []part{{material: material{solid: true}, shapes: [][]Vec{floor.Rectangle(1, 0.2)}, top: 1}}}
	still.shape()
	for _, y := range []float64{-0.4, -0.1, 0, 0.3} {
		b := &body{parts: []part{{material: material{solid: true}, shapes: [][]Vec{floor.Rectangle(0.2, 1)}, top: 1}}}
		b.shape()
		b.place(Pose{X: 0.599, Y: y})
		for n := 0; b.overlaps(still); n++ {
			if !b.giveWay(still) || n == 8 {
				t.Fatalf("at %v: %v m deep after %d pushes", y, floor.Touch(still.here, b.here).Depth, n)
			}
		}
		if way := b.pose.X - 0.599; way <= 0 || way > 0.0011 || y == 0 && !near(way, 0.001, 1e-5) {
			t.Errorf("at %v it moved %v m", y, way)
		}
		if turned := b.pose.Heading; turned*y < 0 || (y == 0) != (turned == 0) {
			t.Errorf("at %v it turned by %v", y, turned)
		}
	}
	deep := &body{parts: still.parts}
	deep.shape()
	if deep.giveWay(still) {
		t.Error("things that were put into each other are parted")
	}
}

// A thing in the way of a pushed thing is also pushed, up to the limit of the robot's tyres:
// its own mass times its friction.
func TestPushIsLimited(t *testing.T) {
	const row = `pioneer2dx ( %s ) define box model ( size [0.2 0.2 0.3] pushable 1 %s )
		box ( pose [0.5 0 0 0] ) box ( pose [0.75 0 0 0] ) box ( pose [1.0 0 0 0] )`
	for _, tt := range []struct {
		robot, box string
		moves      bool
	}{
		{"", "", true},
		{"", "mass 3", true},
		{"", "mass 3.1", false},
		{"", "mass 30 friction 0.04", true},
		{"", "mass 3 friction 0.6", false},
		{"mass 20", "mass 6", true},
		{"friction 0.1", "mass 1", false},
	} {
		w := pushed(t, 6*time.Second, fmt.Sprintf(row, tt.robot, tt.box))
		if moves := w.bodies[3].pose.X > 1.1; moves != tt.moves || w.robots[0].stalled() == tt.moves {
			t.Errorf("robot %q, boxes %q: the last box is at %v, stalled %v", tt.robot, tt.box, w.bodies[3].pose, w.robots[0].stalled())
		}
	}
}

// A push that cannot be done moves nothing, wherever in the row it fails.
func TestPushEndsAtAWall(t *testing.T) {
	for name, end := range map[string]string{
		"wall":         `wall ( pose [1.35 0 0 90] size [2 0.1 1] )`,
		"fixed object": `model ( size [0.1 0.1 0.3] pose [1.35 0 0 0] gripper_return 1 pushable 0 )`,
		"fixed robot":  `pioneer2dx ( pose [1.5 0 0 180] )`,
	} {
		w := pushed(t, 8*time.Second, `pioneer2dx ( ) `+end+`
			puck ( pose [0.5 0 0 0] ) model ( size [0.2 0.2 0.3] pose [0.9 0 0 0] pushable 1 )`)
		r := w.robots[0]
		before := w.AppendPoses(nil)
		w.Step(100)
		after := w.AppendPoses(nil)
		if !r.stalled() || r.Pose().X < 0.7 {
			t.Errorf("%s: the robot is at %v, stalled %v", name, r.Pose(), r.stalled())
		}
		for i := range after {
			if !nearPose(after[i], before[i], 1e-4) {
				t.Errorf("%s: %s moves from %v to %v", name, w.bodies[i].name, before[i], after[i])
			}
		}
		noOverlaps(t, w)
	}
}

// Robots are pushed only if the world says so. Things that they hold go along, and their
// odometry does not notice.
func TestRobotIsPushed(t *testing.T) {
	const two = `pioneer2dx ( ) pioneer_full ( %s pose [0.8 0 0 0] ) puck ( pose [1.035 0 0 0] )`
	for _, pushable := range []bool{false, true} {
		field := ""
		if pushable {
			field = "pushable 1"
		}
		w := newWorld(t, robotWorld+fmt.Sprintf(two, field))
		a, b, puck := w.robots[0], w.robots[1], w.bodies[2]
		b.grippers[0].command(codec.GripperCommand{Code: codec.GripClose})
		w.Step(steps(paddleTime))
		if b.grippers[0].gripped != puck {
			t.Fatal("not gripped")
		}
		gripped := puck.pose.From(b.Pose())
		a.drives(200, 0, 5*time.Second)
		if moved := b.Pose().X > 1.1; moved != pushable || a.stalled() == pushable {
			t.Errorf("pushable %v: it is at %v", pushable, b.Pose())
		}
		if !nearPose(puck.pose.From(b.Pose()), gripped, 1e-9) {
			t.Errorf("pushable %v: the puck is at %v, the robot at %v", pushable, puck.pose, b.Pose())
		}
		if got := b.odometry.at(b.Pose()); got != (Pose{}) {
			t.Errorf("pushable %v: its odometry counts %v", pushable, got)
		}
	}
}

// Robots of equal grip that drive against each other push each other back alternately:
// neither wins, though they may turn aside.
func TestRobotsPushAgainstEachOther(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer2dx ( pushable 1 ) pioneer2dx ( pushable 1 pose [0.5 0 0 180] )`)
	for _, r := range w.robots {
		r.drive.command(200, 0)
	}
	w.Step(steps(2 * time.Second))
	met := w.AppendPoses(nil)
	w.Step(steps(10 * time.Second))
	for i, r := range w.robots {
		if r.Pose().Position().Sub(met[i].Position()).Length() > 0.05 || r.stalled() {
			t.Errorf("%s went from %v to %v, stalled %v", r.Name, met[i], r.Pose(), r.stalled())
		}
	}
	noOverlaps(t, w)
}

// noOverlaps fails if a body overlaps a wall, checked as a polygon, or another body.
func noOverlaps(t *testing.T, w *World) {
	t.Helper()
	for i, b := range w.bodies {
		if b.holder != nil {
			continue
		}
		for _, f := range w.fixtures {
			if depth := floor.Touch(b.here, f.parts[0].shapes[0]).Depth; depth > 1e-9 {
				t.Fatalf("after %v %s is %v m in %s", w.sim, b.name, depth, f.name)
			}
		}
		for _, o := range w.bodies[:i] {
			if depth := floor.Touch(b.here, o.here).Depth; o.holder == nil && depth > 1e-9 {
				t.Fatalf("after %v %s is %v m in %s", w.sim, b.name, depth, o.name)
			}
		}
	}
}

// In random worlds with random commands, no body ends in a wall, checked as a polygon, or in
// another thing, whether it can be pushed or not, and every thing stays within the walls around.
func TestPushingNeverPenetrates(t *testing.T) {
	acceptance.Alone(t)
	t.Parallel()
	needs.Time(t)
	moved, stalls := 0, 0
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 21))
		between := func(low, high float64) float64 { return low + (high-low)*random.Float64() }
		var text strings.Builder
		text.WriteString(robotWorld + `
wall ( pose [ 0  2.05 0 0] size [4.2 0.1 1] ) wall ( pose [ 0 -2.05 0 0] size [4.2 0.1 1] )
wall ( pose [ 2.05 0 0 90] size [4.2 0.1 1] ) wall ( pose [-2.05 0 0 90] size [4.2 0.1 1] )
`)
		for i := range 16 { // one thing in each square metre
			at := fmt.Sprintf("pose [%v %v 0 %v]", float64(i%4)-1.5+between(-0.2, 0.2), float64(i/4)-1.5+between(-0.2, 0.2), between(0, 360))
			switch random.IntN(5) {
			case 0:
				fmt.Fprintf(&text, "crate ( %s size [%v %v 1] )\n", at, between(0.02, 0.4), between(0.02, 0.4))
			case 1:
				fmt.Fprintf(&text, "model ( %s size [%v %v 0.5] pushable 1 mass %v )\n", at, between(0.05, 0.5), between(0.05, 0.5), between(0, 5))
			case 2:
				fmt.Fprintf(&text, "puck ( %s )\n", at)
			default:
				fmt.Fprintf(&text, "pioneer_full ( %s pushable %d )\n", at, random.IntN(2))
			}
		}
		w := newWorld(t, text.String())
		if len(w.robots) == 0 {
			continue
		}
		start := w.AppendPoses(nil)
		for range 300 {
			r := w.robots[random.IntN(len(w.robots))]
			r.drive.command(int16(random.IntN(1400)-600), int16(random.IntN(240)-120))
			if random.IntN(10) == 0 {
				r.grippers[0].command(codec.GripperCommand{Code: codec.GripClose})
			}
			w.Step(5)
			noOverlaps(t, w) // a robot inside another thing would be stuck there
			if r.stalled() {
				stalls++
			}
		}
		for i, b := range w.bodies {
			if b.robot == nil && b.holder == nil && !nearPose(b.pose, start[i], 0.05) {
				moved++
			}
			if max(math.Abs(b.pose.X), math.Abs(b.pose.Y)) > 2 {
				t.Errorf("seed %d: %s left the room: %v", seed, b.name, b.pose)
			}
		}
	}
	if moved < 20 || stalls < 400 {
		t.Errorf("%d things moved, %d stalls: the test proves nothing", moved, stalls)
	}
}
