package stage

import (
	"math"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
	"player/e2e/must"
)

// instant is a robot with wheels that reach any speed at once, so that its paths have a
// closed form.
const instant = robotWorld + `pioneer2dx ( acceleration_bounds [-1000 1000 0 0 0 0 -100000 100000] )`

// A robot with obstacle_return 0 drives through walls and robots, and they through it. Sensors detect it.
func TestRobotThatIsNotSolid(t *testing.T) {
	w := newWorld(t, `define ghost position ( obstacle_return 0 velocity_bounds [-1 1 0 0 0 0 -90 90] )
model ( pose [1 0 0 0] size [0.2 4 1] )
position ( name "solid" pose [2 0 0 180] ranger ( sensor ( samples 181 fov 180 ) ) )
ghost ( name "ghost" size [0.4 0.4 0.3] )`)
	solid, ghost := w.robots[0], w.robots[1]
	if d := w.SetPose(1, Pose{X: 1.2}); d != nil {
		t.Errorf("the ghost cannot be put into a wall: %v", d)
	}
	if scan := solid.readLaser(); scan[180] < 590 || scan[180] > 610 {
		t.Errorf("the solid robot sees the ghost at %d mm", scan[180])
	}
	must.Do(t, w.SetPose(1, Pose{}))
	ghost.drives(400, 0, 5*time.Second)
	solid.drives(300, 0, time.Second)
	var misc codec.MiscData
	ghost.readBumpers(&misc)
	if x := ghost.Pose().X; x < 1.7 || ghost.stalled() || misc.FrontBumpers|misc.RearBumpers != 0 {
		t.Errorf("the ghost is at x %v, stall %v, bumpers %b %b", x, ghost.stalled(), misc.FrontBumpers, misc.RearBumpers)
	}
	if x := solid.Pose().X; x > 1.75 {
		t.Errorf("the ghost stops the solid robot at x %v", x)
	}
	if size := floor.BoxOf(ghost.body.hull...).Size(); size != (Vec{X: 0.4, Y: 0.4}) {
		t.Errorf("the ghost is %v m large", size)
	}
}

func TestCommandsAreClipped(t *testing.T) {
	const rim = axle / 2
	for _, tt := range []struct {
		name           string
		separate       bool
		speed, turn    int16
		wantV, wantDeg float64
	}{
		{"within", false, 300, 40, 0.3, 40},
		{"fast", false, 1000, 0, 0.5, 0},
		{"fast back", false, -32768, 0, -0.5, 0},
		{"spin", false, 0, 180, 0, 100},
		{"spin right", false, 0, -32768, 0, -100},
		// 0.5 m/s and 100 deg/s need 0.779 m/s at the right wheel: both are
		// reduced.
		{"saturated", false, 500, 100, 0.5 * 0.5 / (0.5 + floor.Radians(100)*rim), 100 * 0.5 / (0.5 + floor.Radians(100)*rim)},
		{"saturated right, back", false, -500, 50, -0.5 * 0.5 / (0.5 + floor.Radians(50)*rim), 50 * 0.5 / (0.5 + floor.Radians(50)*rim)},
		{"separate", true, 500, 100, 0.5, 100},
		{"separate, fast", true, 900, -900, 0.5, -100},
	} {
		d := drive{speeds: span{-2, 2}, turns: span{-9, 9}, separate: tt.separate}
		d.command(tt.speed, tt.turn)
		if !near(d.wantSpeed, tt.wantV, 1e-9) || !near(d.wantTurn, floor.Radians(tt.wantDeg), 1e-9) {
			t.Errorf("%s: %v m/s, %v deg/s, want %v, %v", tt.name, d.wantSpeed, d.wantTurn*180/math.Pi, tt.wantV, tt.wantDeg)
		}
		if tt.separate || tt.wantV == 0 || tt.turn == 0 {
			continue
		}
		turn := max(-maxTurn, min(maxTurn, floor.Radians(float64(tt.turn))))
		if want := turn / (float64(tt.speed) / 1000); !near(d.wantTurn/d.wantSpeed, want, 1e-9) {
			t.Errorf("%s: the curvature changed from %v to %v", tt.name, want, d.wantTurn/d.wantSpeed)
		}
	}
	d := drive{speeds: span{-0.1, 0.2}, turns: span{-1, 0.5}}
	if d.command(500, 90); d.wantSpeed != 0.2 || d.wantTurn != 0.5 {
		t.Errorf("the world's bounds: %v m/s, %v rad/s", d.wantSpeed, d.wantTurn)
	}
	if d.command(-500, -90); d.wantSpeed != -0.1 || d.wantTurn != -1 {
		t.Errorf("the world's bounds: %v m/s, %v rad/s", d.wantSpeed, d.wantTurn)
	}
}

// Accelerating evenly to v takes v*v/2a metres.
func TestAccelerationBounds(t *testing.T) {
	for _, tt := range []struct {
		name     string
		separate bool
		a        float64 // that must result
	}{{"direct", false, 1}, {"separate", true, 0.3}} {
		d := drive{speeds: span{-1, 1}, turns: span{-9, 9}, accels: span{-2, 1}, turnRises: span{-9, 9},
			motors: true, separate: tt.separate}
		d.command(450, 0)
		way, n := 0.0, 0
		for d.speed < 0.45 {
			forward, _ := d.step(StepTime)
			way += forward
			n++
		}
		if !near(way, 0.45*0.45/2/tt.a, 0.005) || !near(float64(n)*StepTime.Seconds(), 0.45/tt.a, 0.011) {
			t.Errorf("%s: %v m in %d steps", tt.name, way, n)
		}
	}
	d := drive{accels: span{-2, 1}, turnRises: span{-9, 9}, motors: true, speed: 0.4}
	if d.step(100 * time.Millisecond); !near(d.speed, 0.2, 1e-9) {
		t.Errorf("slowed from 0.4 to %v m/s in 0.1 s", d.speed)
	}
}

func TestMotorsOff(t *testing.T) {
	w, r := robotIn(t, robotWorld+`pioneer2dx ( motors 0 )`)
	r.drive.command(500, 50)
	w.Step(100)
	if r.Pose() != (Pose{}) || r.drive.speed != 0 {
		t.Errorf("without power it drove to %v", r.Pose())
	}
	r.drive.motors = true
	w.Step(100)
	if r.Pose() == (Pose{}) {
		t.Error("with power it stands still")
	}
	r.drive.motors = false
	w.Step(1)
	stopped := r.Pose()
	if w.Step(10); r.Pose() != stopped {
		t.Error("it drives on without power")
	}
}

// Paths that have a closed form: straight lines, rotations on the spot, circles.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		name        string
		speed, turn int16
		d           time.Duration
		want        Pose
	}{
		{"one metre", 250, 0, 4 * time.Second, Pose{X: 1}},
		{"one metre back", -250, 0, 4 * time.Second, Pose{X: -1}},
		{"full turn", 0, 90, 4 * time.Second, Pose{}},
		{"full turn right", 0, -60, 6 * time.Second, Pose{}},
		{"quarter circle left", 200, 30, 3 * time.Second, Pose{X: 1.2 / math.Pi, Y: 1.2 / math.Pi, Heading: math.Pi / 2}},
		{"quarter circle right", 200, -30, 3 * time.Second, Pose{X: 1.2 / math.Pi, Y: -1.2 / math.Pi, Heading: -math.Pi / 2}},
		{"quarter circle left, back", -200, 30, 3 * time.Second, Pose{X: -1.2 / math.Pi, Y: -1.2 / math.Pi, Heading: math.Pi / 2}},
		{"full circle", 300, 45, 8 * time.Second, Pose{}},
	} {
		w, r := robotIn(t, instant)
		r.drive.command(tt.speed, tt.turn)
		r.drive.speed, r.drive.turn = r.drive.wantSpeed, r.drive.wantTurn
		w.Step(steps(tt.d))
		if !nearPose(r.Pose(), tt.want, 1e-6) {
			t.Errorf("%s: at %v, want %v", tt.name, r.Pose(), tt.want)
		}
		if got := r.odometry.at(r.Pose()); !nearPose(got, tt.want, 1e-6) {
			t.Errorf("%s: odometry says %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A square leads back: without slip the odometry equals the true pose.
func TestSquareCloses(t *testing.T) {
	_, r := robotIn(t, robotWorld+`pioneer2dx ( pose [3 4 0 30] )`)
	start := r.Pose()
	for range 4 {
		for _, leg := range []struct{ speed, turn int16 }{{300, 0}, {0, 0}, {0, 45}, {0, 0}} {
			r.drives(leg.speed, leg.turn, 2*time.Second)
		}
	}
	if !nearPose(r.Pose(), start, 1e-6) || !nearPose(r.odometry.at(r.Pose()), Pose{}, 1e-6) {
		t.Errorf("at %v, odometry says %v", r.Pose(), r.odometry.at(r.Pose()))
	}
}

func TestWallStops(t *testing.T) {
	w, r := robotIn(t, robotWorld+`wall ( pose [2 0 0 90] size [2 0.2 1] ) pioneer2dx ( )`)
	// The wall's face is at 1.90, the robot's nose at 0.18.
	r.drive.command(500, 0)
	for range steps(5 * time.Second) {
		if r.stalled() {
			break
		}
		w.Step(1)
	}
	for range 100 { // keeps pushing
		if w.Step(1); !r.stalled() {
			t.Fatal("the stall flickers")
		}
	}
	if nose := r.Pose().X + 0.18; nose > 1.9 || nose < 1.9-0.0002 {
		t.Errorf("the nose is at %v, the wall at 1.9", nose)
	}
	if got := r.odometry.at(r.Pose()).X; got != r.Pose().X {
		t.Errorf("the odometry counts %v, the robot went %v", got, r.Pose().X)
	}
	r.drives(-200, 0, time.Second)
	if r.stalled() || r.Pose().X > 1.6 {
		t.Errorf("backing off: stalled %v at %v", r.stalled(), r.Pose())
	}
}

func TestTurnsOnTheSpotAtAWall(t *testing.T) {
	_, r := robotIn(t, robotWorld+`wall ( pose [2 0 0 90] size [6 0.2 1] ) pioneer2dx ( )`)
	r.drives(500, 0, 5*time.Second)
	r.drives(-200, 0, 500*time.Millisecond)
	r.drives(0, 90, 3*time.Second)
	if h := r.Pose().Heading; near(h, 0, 1) {
		t.Errorf("heading %v after turning", h)
	}
}

// A hassock that sonars and lasers do not detect is still solid; a light is
// neither detected nor solid.
func TestReturns(t *testing.T) {
	_, r := robotIn(t, robotWorld+`
model ( name "hassock" color "black" size [0.5 0.5 0.4] pose [1 0 0 0] ranger_return -1 )
model ( name "lamp" light 1 size [0.2 0.2 2] pose [-1 0 0 0] )
model ( name "ghost" size [0.2 0.2 1] pose [0 1 0 0] obstacle_return 0 )
pioneer_full ( )`)
	scan, ranges := r.readLaser(), r.readSonars()
	if scan[180] != noEcho {
		t.Errorf("the laser sees the hassock at %d mm", scan[180])
	}
	if scan[360] > 1000 {
		t.Errorf("the laser does not see the ghost: %d", scan[360])
	}
	if ranges[3] != 5000 || ranges[11] != 5000 {
		t.Errorf("sonars see the hassock or the lamp: %v", ranges)
	}
	r.drives(500, 0, 3*time.Second)
	if !r.stalled() || r.Pose().X > 0.6 {
		t.Errorf("it drove into the hassock: %v", r.Pose())
	}
	r.body.place(Pose{})
	r.drives(-500, 0, 3*time.Second)
	if r.stalled() || r.Pose().X > -1 {
		t.Errorf("the lamp is in the way: %v", r.Pose())
	}
}

// Robots of one name get different ones.
func TestNameTaken(t *testing.T) {
	w := must.Get(parseWorld(`position ( name "a" ) position ( name "a" pose [2 0 0 0] ) position ( name "a" pose [4 0 0 0] )`))(t)
	for i, want := range []string{"a", "a-2", "a-3"} {
		if got := w.robots[i].Name; got != want {
			t.Errorf("robot %d is %q, want %q", i, got, want)
		}
	}
	if warned := w.Warnings(); len(warned) != 2 || !strings.Contains(warned[0], `already called "a": this one is "a-2"`) {
		t.Errorf("warnings %q", warned)
	}
}
