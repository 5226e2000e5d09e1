package stage

import (
	"fmt"
	"math"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
	"player/e2e/must"
)

func fixOf(t testing.TB, d *devices.Device) (data codec.GPSData) {
	t.Helper()
	must.Do(t, data.Decode(d.Data()))
	return data
}

func imuOf(t testing.TB, d *devices.Device) (data codec.IMUData) {
	t.Helper()
	must.Do(t, data.Decode(d.Data()))
	return data
}

// The lengths of a degree are those that tables of WGS 84 give.
func TestPlacesOfReceivers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin            string
		x, y              float64 // metres
		north, east       float64 // degrees
		height, tolerance float64 // metres; units of 1e-7 degrees
	}{
		{"", 0, 0, 0, 0, 0.5, 0},
		{"gps_origin [0 0 0]", 111319.491 / 100, 110574.276 / 100, 0.01, 0.01, 0.5, 1},
		{"gps_origin [45 10 100]", 78848.0 / 100, 111133.4 / 100, 45.01, 10.01, 100.5, 12}, // both are 100 m higher
		{"gps_origin [60 -179.999 0]", -55800.3 / 100, -111412.3 / 100, 59.99, 179.991, 0.5, 12},
		{"gps_origin [-33.5 151 5]", 0, 10, -33.5 + 10/110912.0, 151, 5.5, 3},
	} {
		b := newBench(t, newWorld(t, fmt.Sprintf("%s\nposition ( pose [%v %v 0 30] size [0.4 0.4 0.4] gps ( pose [0 0 0.1 0] ) )", tt.origin, tt.x, tt.y)))
		d := b.subscribe(t, 0, codec.GPS, 1)[0]
		b.run(publishPeriod)
		got := fixOf(t, d)
		off := func(e7 int32, want float64) float64 { return math.Abs(float64(e7) - want*1e7) }
		if off(got.Latitude, tt.north) > tt.tolerance || off(got.Longitude, tt.east) > tt.tolerance || got.Height != int32(tt.height*1000) {
			t.Errorf("%s: %+v, want %v %v %v m", tt.origin, got, tt.north, tt.east, tt.height)
		}
		if got.Fix != codec.PlainFix || got.Speed != 0 || got.Course != codec.UnknownAmount || got.Time != 0 ||
			got.Satellites != codec.UnknownSatellites || got.Horizontal != 0 {
			t.Errorf("%s: %+v", tt.origin, got)
		}
	}
	for _, text := range []string{"gps_origin [90 0 0]", "gps_origin [0 181 0]", "position ( gps ( noise [-1 0] ) )", "position ( imu ( noise [0 0 -1] ) )"} {
		if _, err := parseWorld(text + "\nposition ( pose [3 0 0 0] )"); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// Speed and course are the antenna's.
func TestCoursesOfReceivers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		heading       float64 // degrees
		antenna       string
		speed, turn   int16
		moves, course float64 // mm/s, degrees
	}{
		{0, "", 200, 0, 200, 90},
		{90, "", 200, 0, 200, 0},
		{-90, "", 200, 0, 200, 180},
		{180, "", 200, 0, 200, 270},
		{0, "", -200, 0, 200, 270},
		{45, "", 300, 0, 300, 45},
	} {
		w, r := robotIn(t, fmt.Sprintf("position ( pose [0 0 0 %v] gps ( ) )", tt.heading))
		r.drives(tt.speed, tt.turn, time.Second)
		var got codec.GPSData
		r.readGPS(w.scanner(r), 0, &got)
		if got.Speed != uint32(tt.moves) || got.Course != uint32(tt.course*1000) {
			t.Errorf("heading %v at %d mm/s: %+v, want course %v", tt.heading, tt.speed, got, tt.course)
		}
	}
	// An antenna 0.5 m ahead of a robot that turns left on the spot moves to the left.
	w, r := robotIn(t, "position ( gps ( pose [0.5 0 0 0] ) )")
	r.drives(0, 60, time.Second)
	r.body.place(Pose{})
	var got codec.GPSData
	r.readGPS(w.scanner(r), 0, &got)
	if want := 500 * math.Pi / 3; math.Abs(float64(got.Speed)-want) > 1 || got.Course != 0 {
		t.Errorf("in front of a robot that turns: %+v, want %v mm/s", got, want)
	}
}

// The errors have the deviations that the world gives. Several readers get the same errors.
func TestErrorsOfNavigation(t *testing.T) {
	t.Parallel()
	const text = `position ( name "r0" gps ( noise [2 3] ) gps ( noise [2 3] ) imu ( noise [2 3 0.5] ) )`
	read := func(gps int) (fixes [][2]codec.GPSData, readings []codec.IMUData) {
		b := newBench(t, newWorld(t, text))
		receivers, unit := b.subscribe(t, 0, codec.GPS, gps), b.subscribe(t, 0, codec.IMU, 1)[0]
		for range 2000 {
			b.run(publishPeriod)
			var both [2]codec.GPSData
			for i, d := range receivers {
				both[i] = fixOf(t, d)
			}
			fixes, readings = append(fixes, both), append(readings, imuOf(t, unit))
		}
		return fixes, readings
	}
	fixes, readings := read(2)
	alone, _ := read(1)
	for i := range fixes {
		if fixes[i][0] != alone[i][0] {
			t.Fatal("the errors depend on who reads")
		}
	}
	if fixes[5][0] == fixes[5][1] || fixes[5][0] == fixes[6][0] || fixes[5][0].Horizontal != 2000 || fixes[5][0].Vertical != 3000 {
		t.Errorf("fixes %+v", fixes[5:7])
	}
	// The standard errors are a fiftieth and a sixtieth of the deviations.
	const degree = 1e7 / 110574.276 // of latitude, 1e-7 for each metre
	for name, of := range map[string]struct {
		deviation, mean float64
		value           func(i int) float64
	}{
		"latitude":     {2 * degree, 0, func(i int) float64 { return float64(fixes[i][0].Latitude) }},
		"longitude":    {2 * 1e7 / 111319.491, 0, func(i int) float64 { return float64(fixes[i][0].Longitude) }},
		"height":       {3000, 0.22 * 1000, func(i int) float64 { return float64(fixes[i][0].Height) }},
		"roll":         {2000, 0, func(i int) float64 { return float64(readings[i].Roll) }},
		"yaw":          {2000, 0, func(i int) float64 { return float64(readings[i].Yaw) }},
		"yaw rate":     {3000, 0, func(i int) float64 { return float64(readings[i].YawRate) }},
		"acceleration": {500, 9807, func(i int) float64 { return float64(readings[i].Z) }},
	} {
		mean, deviation := moments(len(fixes), of.value)
		if !near(mean, of.mean, of.deviation/10) || !near(deviation, of.deviation, of.deviation/12) {
			t.Errorf("%s: mean %v, deviation %v, want %v and %v", name, mean, deviation, of.mean, of.deviation)
		}
	}
}

// The readings of an inertial measurement unit add up to the turn and to the speed of the robot, whatever it does: also
// where odometry does not notice.
func TestInertialReadingsAddUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, newWorld(t, robotWorld+`wall ( pose [2.5 0 0 90] size [9 0.1 1] )
		pioneer2dx ( name "pushed" pushable 1 imu ( ) ) pioneer2dx ( name "pusher" pose [-0.9 0.15 0 0] )`))
	d := b.subscribe(t, 0, codec.IMU, 1)[0]
	b.open(t, 0, "p")
	b.open(t, 1, "p")
	r := b.world.robots[0]
	b.run(StepTime)
	if first := imuOf(t, d); first.X != codec.Unknown || first.Z != 9807 || first.Roll != 0 || first.YawRate != 0 {
		t.Errorf("the first reading: %+v", first)
	}
	turned, gained, seq := 0.0, 0.0, d.Seq()
	run := func(what string, d2 time.Duration) {
		for end := b.now + d2; b.now < end; {
			b.run(StepTime)
			if d.Seq() == seq {
				continue
			}
			seq = d.Seq()
			m := imuOf(t, d)
			turned, gained = turned+float64(m.YawRate)/1000/10, gained+float64(m.X)/10
			heading, speed := r.body.pose.Heading*180/math.Pi, r.drive.speed*1000
			if math.Abs(math.Remainder(turned-heading, 360)) > 0.05 || math.Abs(gained-speed) > 5 ||
				math.Abs(math.Remainder(float64(m.Yaw)/1000-heading, 360)) > 0.001 {
				t.Fatalf("%s: yaw %v and sum %v, heading %v; sum of accelerations %v, speed %v", what, m.Yaw, turned, heading, gained, speed)
			}
		}
	}
	run("at rest", time.Second)
	b.drive(0, 300, 40)
	run("on a circle", 9*time.Second)
	// The readings of a steady circle: the turn, and the force to its centre.
	if m := imuOf(t, d); m.X != 0 || m.YawRate != 40000 || math.Abs(float64(m.Y)-300*floor.Radians(40)) > 1 {
		t.Errorf("on a circle: %+v", m)
	}
	b.drive(0, 500, 0)
	run("into a wall", 12*time.Second)
	if !r.stalled() {
		t.Error("it does not stand at the wall")
	}
	b.drive(0, 0, 0)
	run("after it", time.Second)
	r.body.place(Pose{Y: 0})
	b.world.moved++
	turned = 0
	odometry := b.position(t, 0).Heading
	b.drive(1, 300, 0)
	b.run(publishPeriod) // moved by hand: not a turn
	seq, turned = d.Seq(), r.body.pose.Heading*180/math.Pi
	run("pushed", 3*time.Second)
	if math.Abs(turned) < 3 || b.position(t, 0).Heading != odometry {
		t.Errorf("pushed: it has turned by %v degrees; odometry from %d to %d", turned, odometry, b.position(t, 0).Heading)
	}
}

// A paused world repeats the last reading, and a robot that is moved by hand was not turned by its wheels.
func TestInertialReadingsOfAWorldThatIsChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t, newWorld(t, `position ( imu ( ) )`))
	d := b.subscribe(t, 0, codec.IMU, 1)[0]
	b.open(t, 0, "p")
	b.drive(0, 200, 30)
	b.run(2 * time.Second)
	b.world.Pause(b.now, true)
	b.run(2 * publishPeriod)
	paused, seq := imuOf(t, d), d.Seq()
	b.run(time.Second)
	if again := imuOf(t, d); again != paused || paused.YawRate != 30000 || paused.X != 0 || d.Seq() == seq {
		t.Errorf("paused: %+v, then %+v", paused, again)
	}
	must.Do(t, b.world.SetPose(0, Pose{X: 3, Heading: 2}))
	b.world.Pause(b.now, false)
	for range 3 {
		b.run(publishPeriod)
		if m := imuOf(t, d); m.YawRate < 29000 || m.YawRate > 31000 {
			t.Errorf("moved by hand: %+v", m)
		}
	}
	b.world.Reset(b.now, 1)
	b.run(publishPeriod)
	if m := imuOf(t, d); m.YawRate != 0 || m.X != codec.Unknown && m.X != 0 {
		t.Errorf("after a reset: %+v", m)
	}
}

// A block may name receivers and inertial measurement units of a robot whose world has none.
func TestNavigationThatABlockNames(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "a.world", `position ( gps ( ) )`)
	for _, tt := range []struct {
		named     []devices.Spec
		gps, imus int
	}{
		{nil, 1, 0},
		{[]devices.Spec{devices.Position(), devices.GPS(), devices.IMU()}, 1, 1},
		{[]devices.Spec{devices.GPS(), devices.GPS().At(1)}, 2, 0},
	} {
		values := map[string]any{"world": path, "seed": FileSeed}
		made := must.Get(Kind().NewAll(devices.Args{Name: "stage", Provides: tt.named, Values: values}))(t)
		count := map[byte]int{}
		for _, spec := range made[0].Provides {
			count[spec.Letter]++
		}
		if count[codec.GPS] != tt.gps || count[codec.IMU] != tt.imus {
			t.Errorf("%v: %v", tt.named, made[0].Provides)
		}
	}
}

// Navigation that no client reads costs nothing, and reports allocate nothing.
func TestNavigationCostsNothing(t *testing.T) {
	b := newBench(t, newWorld(t, `position ( gps ( noise [1 1] ) imu ( noise [1 1 1] ) )`))
	b.open(t, 0, "p")
	b.run(time.Second)
	if b.find(t, 0, codec.GPS, 0).Seq() != 0 || b.find(t, 0, codec.IMU, 0).Seq() != 0 {
		t.Error("they were published")
	}
	b.subscribe(t, 0, codec.GPS, 1)
	b.subscribe(t, 0, codec.IMU, 1)
	b.run(time.Second)
	if n := testing.AllocsPerRun(50, func() { b.run(publishPeriod) }); n != 0 {
		t.Errorf("%v allocations a report", n)
	}
}
