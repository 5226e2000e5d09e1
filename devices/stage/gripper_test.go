package stage

import (
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
)

const (
	bothPaddlesOpen = codec.LeftPaddleOpen | codec.RightPaddleOpen
	bothBeams       = codec.OuterBeam | codec.InnerBeam
)

func readGripper(g *gripper) codec.GripperData {
	var d codec.GripperData
	g.read(&d)
	return d
}

func do(w *World, g *gripper, code uint8, d time.Duration) codec.GripperData {
	g.command(codec.GripperCommand{Code: code})
	w.Step(steps(d))
	return readGripper(g)
}

// Paddles and lift take their time, report it, and stop on command (manual
// table 7).
func TestGripperMoves(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( )`)
	g := w.robots[0].grippers[0]
	const open, closed, moving = codec.PaddlesOpen, codec.PaddlesClosed, codec.PaddlesMoving
	const up, down, lifting = codec.LiftUp, codec.LiftDown, codec.LiftMoving
	const grip, lift = codec.GripLimit, codec.LiftLimit
	for _, tt := range []struct {
		name         string
		code         uint8
		d            time.Duration
		state, beams uint8
	}{
		{"at the start", codec.GripHalt, 0, open | down, grip | lift | bothPaddlesOpen},
		{"closing", codec.GripClose, paddleTime / 2, moving | down, lift | bothPaddlesOpen},
		{"stopped", codec.GripStop, paddleTime, down, lift | bothPaddlesOpen},
		{"closed", codec.GripClose, paddleTime/2 + StepTime, closed | down, grip | lift},
		{"pressing", codec.GripPress, paddleTime, closed | down, grip | lift},
		{"raising", codec.LiftRaise, liftTime / 2, closed | lifting, grip},
		{"stopped half way", codec.LiftStop, liftTime, closed, grip},
		{"raised", codec.LiftRaise, liftTime/2 + StepTime, closed | up, grip | lift},
		{"deploying", codec.GripDeploy, paddleTime / 2, moving | lifting, bothPaddlesOpen},
		{"halted", codec.GripHalt, paddleTime, 0, bothPaddlesOpen},
		{"deployed", codec.GripDeploy, liftTime, open | down, grip | lift | bothPaddlesOpen},
		{"storing", codec.GripStore, liftTime + StepTime, closed | up, grip | lift},
		{"opened", codec.GripOpen, paddleTime + StepTime, open | up, grip | lift | bothPaddlesOpen},
		{"lowered", codec.LiftLower, liftTime + StepTime, open | down, grip | lift | bothPaddlesOpen},
		{"nonsense", 99, paddleTime, open | down, grip | lift | bothPaddlesOpen},
	} {
		if got := do(w, g, tt.code, tt.d); got.State != tt.state || got.Beams != tt.beams {
			t.Errorf("%s: state %08b, beams %08b, want %08b, %08b", tt.name, got.State, got.Beams, tt.state, tt.beams)
		}
	}
}

// LiftCarry moves the lift by steps of 20 ms, negative ones down.
func TestLiftCarry(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( )`)
	g := w.robots[0].grippers[0]
	for _, tt := range []struct {
		arg  int8
		want time.Duration // travel time from the bottom
	}{{50, time.Second}, {-20, 600 * time.Millisecond}, {-100, 0}, {127, 2540 * time.Millisecond}, {127, liftTime}} {
		g.command(codec.GripperCommand{Code: codec.LiftCarry, Arg: uint8(tt.arg)})
		w.Step(steps(4 * time.Second))
		if want := tt.want.Seconds() / liftTime.Seconds(); !near(g.lift.at, want, 1e-9) {
			t.Errorf("after %d the lift is at %v, want %v", tt.arg, g.lift.at, want)
		}
	}
}

// The robot drives up to a puck, which breaks the beams, grips it, lifts it,
// carries it away and puts it down.
func TestGripAndCarry(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) puck ( pose [0.8 0.02 0 0] )`)
	r, puck := w.robots[0], w.bodies[1]
	g := r.grippers[0]
	drive := func(speed, turn int16, d time.Duration) {
		r.drives(speed, turn, d)
		r.drives(0, 0, time.Second)
	}
	beams := func() uint8 { return readGripper(g).Beams & bothBeams }
	if beams() != 0 {
		t.Fatalf("the puck is far away: beams %08b", beams())
	}
	// The outer beam is at 0.255, the inner at 0.205, the puck's near side at 0.765.
	drive(100, 0, 5300*time.Millisecond)
	if beams() != codec.OuterBeam {
		t.Fatalf("at %v: beams %08b", r.Pose(), beams())
	}
	drive(100, 0, 400*time.Millisecond)
	if beams() != bothBeams {
		t.Fatalf("at %v: beams %08b", r.Pose(), beams())
	}
	got := do(w, g, codec.GripClose, paddleTime)
	if got.State != codec.PaddlesClosed|codec.LiftDown || got.Beams&(codec.GripLimit|bothPaddlesOpen) != codec.GripLimit {
		t.Fatalf("gripped: state %08b, beams %08b", got.State, got.Beams)
	}
	if !near(puck.pose.Y, 0, 1e-9) || !near(g.gap(), 0.07, 1e-9) {
		t.Errorf("the paddles left the puck at %v and %v m apart", puck.pose, g.gap())
	}
	do(w, g, codec.LiftRaise, liftTime+StepTime)
	if !near(puck.lifted, liftHeight, 1e-9) {
		t.Errorf("lifted to %v", puck.lifted)
	}
	before := puck.pose.From(r.Pose())
	drive(-200, 30, 2*time.Second)
	if after := puck.pose.From(r.Pose()); !nearPose(before, after, 1e-9) || near(puck.pose.X, 0.8, 0.1) {
		t.Errorf("the puck went from %v to %v in the gripper, and is at %v", before, after, puck.pose)
	}
	if err := w.SetPose(0, Pose{X: -3, Y: 2, Heading: 1}); err != nil || !nearPose(puck.pose.From(r.Pose()), before, 1e-9) {
		t.Errorf("a robot that is moved by hand (error %v) leaves its puck at %v", err, puck.pose)
	}
	do(w, g, codec.GripOpen, paddleTime)
	put := puck.pose
	drive(-200, 0, 2*time.Second)
	if puck.pose != put || puck.lifted != 0 || g.gripped != nil || puck.holder != nil {
		t.Errorf("put down at %v, now at %v, lifted %v", put, puck.pose, puck.lifted)
	}
}

func TestGripperLeavesWhatItCannotGrip(t *testing.T) {
	for name, thing := range map[string]string{
		"a fixture":    `model ( size [0.05 0.05 0.3] pose [0.23 0 0 0] )`,
		"a wide thing": `model ( size [0.05 0.3 0.3] pose [0.23 0 0 0] gripper_return 1 )`,
		"a low thing":  `model ( size [0.05 0.05 0.02] pose [0.23 0 0 0] gripper_return 1 )`,
		"nothing":      ``,
	} {
		w := newWorld(t, robotWorld+`pioneer_full ( )`+"\n"+thing)
		g := w.robots[0].grippers[0]
		got := do(w, g, codec.GripClose, paddleTime+StepTime)
		if g.gripped != nil {
			t.Errorf("%s: gripped %v", name, g.gripped.name)
		}
		if name == "nothing" && got.State != codec.PaddlesClosed|codec.LiftDown {
			t.Errorf("%s: state %08b", name, got.State)
		}
	}
}

// The puck is taken out of the gripper by hand.
func TestPuckIsTakenAway(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( ) puck ( pose [0.235 0 0 0] )`)
	g := w.robots[0].grippers[0]
	if do(w, g, codec.GripClose, paddleTime); g.gripped == nil {
		t.Fatal("not gripped")
	}
	must.Do(t, w.SetPose(1, Pose{X: 2, Y: 2}))
	if w.Step(10); g.gripped != nil || w.bodies[1].pose != (Pose{X: 2, Y: 2}) {
		t.Errorf("gripped %v, the puck is at %v", g.gripped, w.bodies[1].pose)
	}
	if got := do(w, g, codec.GripClose, paddleTime); got.State != codec.PaddlesClosed|codec.LiftDown || g.paddles.at != 0 {
		t.Errorf("state %08b", got.State)
	}
}

// A thing that is not solid may be wider than the gripper, as in worlds of Stage: the paddles hold it where they are.
func TestGripWideThing(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( )`+"\n"+`model ( size [0.05 0.5 0.3] pose [0.23 0 0 0] gripper_return 1 obstacle_return 0 )`)
	g := w.robots[0].grippers[0]
	if got := do(w, g, codec.GripClose, paddleTime); g.gripped == nil || got.State != codec.PaddlesClosed|codec.LiftDown {
		t.Fatalf("gripped %v, state %08b", g.gripped, got.State)
	}
	if got := do(w, g, codec.GripOpen, paddleTime); g.gripped != nil || got.State != codec.PaddlesOpen|codec.LiftDown {
		t.Errorf("gripped %v, state %08b", g.gripped, got.State)
	}
}

// A gripper of Stage 3 and 4 is a box around its pose, of which the paddles are a part.
func TestGripperOfStage(t *testing.T) {
	w := must.Get(parseWorld(robotWorld + `position ( gripper ( pose [0.5 0 0 0] size [0.2 0.3 0.2] paddle_size [0.6 0.1 0.4] paddle_state ["closed" "up"] autosnatch 1 ) )`))(t)
	g := w.robots[0].grippers[0]
	if !near(g.length, 0.12, 1e-9) || !near(g.opening, 0.24, 1e-9) || !near(g.pose.X, 0.48, 1e-9) {
		t.Errorf("paddles of %v m, %v m apart, at %v", g.length, g.opening, g.pose)
	}
	if got := readGripper(g); got.State != codec.PaddlesClosed|codec.LiftUp {
		t.Errorf("state %08b", got.State)
	}
	if warned := w.Warnings(); len(warned) != 1 || !strings.Contains(warned[0], "autosnatch is not supported") {
		t.Errorf("warnings %q", warned)
	}
	for _, wrong := range []string{`paddle_size [0.5]`, `paddle_size [0 0.1 1]`, `paddle_size [0.5 0.5 1]`, `paddle_state ["open"]`, `paddle_state ["ajar" "up"]`} {
		if _, err := parseWorld(`position ( gripper ( ` + wrong + ` ) )`); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}
