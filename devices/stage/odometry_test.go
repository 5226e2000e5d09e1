package stage

import (
	"math"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices/stage/floor"
)

// Slip makes the odometry count each axis wrong by a constant factor.
func TestSlip(t *testing.T) {
	o := odometry{slip: [3]float64{0.05, 0, -0.1}}
	for range 100 {
		o.add(floor.Arc(0.01, 0))
	}
	if !nearPose(o.pose, Pose{X: 1.05}, 1e-9) {
		t.Errorf("one metre counts as %v", o.pose)
	}
	o.reset(Pose{})
	for range 100 {
		o.add(floor.Arc(0, math.Pi/100))
	}
	if !nearPose(o.pose, Pose{Heading: 0.9 * math.Pi}, 1e-9) {
		t.Errorf("half a turn counts as %v", o.pose)
	}
}

// The slip of a robot depends on the world's seed, lies within its width, and
// differs between robots.
func TestSlipIsDrawn(t *testing.T) {
	load := func(seed string) *World {
		return newWorld(t, robotWorld+"seed "+seed+"\n"+`define drifting pioneer2dx ( odom_error [0.05 0.02 0.1] )
drifting ( ) drifting ( pose [2 0 0 0] ) pioneer2dx ( pose [4 0 0 0] )`)
	}
	one, again, other := load("1"), load("1"), load("2")
	for i, width := range []float64{0.05, 0.02, 0.1} {
		for k, r := range one.robots[:2] {
			slip := r.odometry.slip[i]
			if math.Abs(slip) > width/2 || slip == 0 || slip != again.robots[k].odometry.slip[i] || slip == other.robots[k].odometry.slip[i] {
				t.Errorf("axis %d: slip %v, again %v, other seed %v", i, slip, again.robots[k].odometry.slip[i], other.robots[k].odometry.slip[i])
			}
		}
		if one.robots[0].odometry.slip[i] == one.robots[1].odometry.slip[i] {
			t.Errorf("axis %d: both robots slip alike", i)
		}
	}
	if one.robots[2].odometry.slip != [3]float64{} {
		t.Error("a robot without odom_error slips")
	}
}

// Six numbers are of Stage 2.0 and of worlds for ROS. Stage 4 reads four of them, and localises robots perfectly
// unless a world says otherwise.
func TestSlipOfSixNumbers(t *testing.T) {
	for localization, want := range map[string][3]float64{
		``:                    {},
		`localization "odom"`: {0.03, 0.02, 0.05},
	} {
		w, err := parseWorld("position ( odom_error [0.03 0.02 0 0.05 99 99]\n" + localization + " )")
		warned(t, localization, w, err, "odom_error has 6 numbers: the first 4 count")
		if got := w.robots[0].start.slip; got != want {
			t.Errorf("%s: slip %v, want %v", localization, got, want)
		}
	}
}

func TestPerfectLocalisation(t *testing.T) {
	for _, tt := range []struct {
		fields      string
		start, then Pose
	}{
		{`localization "gps" localization_origin [0 0 0 0]`, Pose{X: 1, Y: 2, Heading: math.Pi / 2}, Pose{X: 1, Y: 3, Heading: math.Pi / 2}},
		{`localization "gps"`, Pose{}, Pose{X: 1}},
		{`localization "odom" odom_error [0 0 0 0]`, Pose{}, Pose{X: 1}},
		{``, Pose{}, Pose{X: 1}},
	} {
		w, r := robotIn(t, instant[:len(instant)-1]+` pose [1 2 0 90] `+"\n"+tt.fields+"\n"+` )`)
		if got := r.odometry.at(r.Pose()); !nearPose(got, tt.start, 1e-9) {
			t.Errorf("%s: starts at %v, want %v", tt.fields, got, tt.start)
		}
		r.drive.command(250, 0)
		r.drive.speed = r.drive.wantSpeed
		w.Step(steps(4 * time.Second))
		r.odometry.opened() // keeps the frame of the world file, if there is one
		want := tt.then
		if !r.odometry.gps {
			want = Pose{}
		}
		if got := r.odometry.at(r.Pose()); !nearPose(got, want, 1e-9) {
			t.Errorf("%s: after a metre and an opening at %v, want %v", tt.fields, got, want)
		}
		r.odometry.reset(r.Pose())
		if got := r.odometry.at(r.Pose()); !nearPose(got, Pose{}, 1e-9) {
			t.Errorf("%s: after a reset at %v", tt.fields, got)
		}
	}
}

func TestBattery(t *testing.T) {
	full := battery{joules: capacity, capacity: capacity, idle: idleWatts}
	if full.decivolt() != 126 {
		t.Errorf("full: %d", full.decivolt())
	}
	standing, driving := full, full
	standing.drain(time.Hour, 0, 0)
	driving.drain(time.Hour, 0.5, 0)
	if !(driving.decivolt() < standing.decivolt() && standing.decivolt() < full.decivolt()) {
		t.Errorf("after an hour: standing %d, driving %d", standing.decivolt(), driving.decivolt())
	}
	standing.drain(1000*time.Hour, 0, 0)
	if standing.decivolt() != 110 || standing.joules != 0 {
		t.Errorf("empty: %d", standing.decivolt())
	}
}

// A robot with a limited amount of energy stops when it is used up. A robot that touches a
// dock is charged, with the lower power of the two.
func TestDocks(t *testing.T) {
	const dock = `define charger model ( size [0.1 0.4 0.5] joules -1 give_watts 1000 ) `
	for name, tt := range map[string]struct {
		fields string
		joules float64 // after 10 s
	}{
		"far from the dock":   {`pose [1 0 0 180] joules 500 watts 20`, 300},
		"at the dock":         {`pose [0.245 0 0 180] joules 500 watts 20`, 10300},
		"takes less":          {`pose [0.245 0 0 180] joules 500 watts 20 take_watts 100`, 1300},
		"its probe takes":     {`pose [0.245 0 0 180] joules 500 watts 20 model ( obstacle_return 0 take_watts 100 )`, 1300},
		"sideways":            {`pose [0 0.42 0 0] joules 500 watts 20`, 10300},
		"full":                {`pose [0.245 0 0 180] joules 500 joules_capacity 600 watts 20`, 600 - 0.2},
		"past the corner":     {`pose [0.35 0.35 0 0] joules 500 watts 20`, 300},
		"on a plate":          {`pose [3 3 0 0] joules 500 watts 20`, 10300},
		"nothing but a plate": {`pose [3 4 0 0] joules 500 watts 20`, 300},
	} {
		w := newWorld(t, robotWorld+dock+`charger ( ) charger ( pose [3 3 0 0] obstacle_return 0 ) pioneer2dx ( `+strings.ReplaceAll(tt.fields, " model", "\nmodel")+` )`)
		w.Step(1000)
		if got := w.robots[0].battery.joules; !near(got, tt.joules, 1e-6) {
			t.Errorf("%s: %v J, want %v", name, got, tt.joules)
		}
	}
}

func TestEmptyBatteryStopsTheRobot(t *testing.T) {
	for fields, stops := range map[string]bool{``: false, `joules 100`: true, `joules_capacity 100`: true} {
		w, r := robotIn(t, robotWorld+`pioneer_full ( `+fields+` )`)
		r.drive.command(200, 0)
		if fields == `` {
			r.battery.joules = 100
		}
		w.Step(500)
		r.grippers[0].command(codec.GripperCommand{Code: codec.GripClose})
		at := r.Pose()
		w.Step(100)
		if moves := r.Pose() != at || r.grippers[0].paddles.at != 1; moves == stops || r.battery.joules != 0 || r.battery.decivolt() != 110 {
			t.Errorf("%q: it moves %v with %v J, %v dV", fields, moves, r.battery.joules, r.battery.decivolt())
		}
		r.battery.joules = 1000
		if w.Step(100); r.Pose() == at {
			t.Errorf("%q: charged again it stands still", fields)
		}
	}
}
