package transporttest_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/p2os"
	guard "player/devices/scale"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	"player/simulation/emulator/line"
	emulatedrobot "player/simulation/emulator/p2os"
)

// pioneer is a p2os whose block names all of its devices.
func pioneer(start starter) product {
	return product{kind: p2os.Kind(), start: start, named: []devices.Spec{
		devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc(), devices.Ranger(), devices.IO(),
		devices.IMU()}}
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

// TestUserIO: a client reads the inputs of a robot, and sets its outputs, one at a time and several at once. They keep
// their values, and have their first ones after a reset, which does not reset the odometry.
func TestUserIO(t *testing.T) {
	r := newRig(t, pioneer(robots(emulatedrobot.Options{})), line.Options{})
	r.strict = true
	h := r.hardware.(*robot)
	h.SetInputs(0xA5, 0x80)
	io := r.open(codec.IO)
	r.connect()
	r.Pass(time.Second)
	values := func() []int32 { return transporttest.Data[codec.IOData](t, io).Values }
	want := []int32{1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2510}
	if got := values(); !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	channels := io.AppendChannels(nil)
	if len(channels) != len(want) || channels[7].Role != codec.Input || channels[8].Role != codec.Output ||
		channels[16].Unit != "mV" || channels[16].Number != 16 || channels[16].Max != 5000 {
		t.Errorf("channels %+v", channels)
	}
	set := func(channel uint8, value int32) {
		io.SetCommand(r.Now(), codec.IOCommand{Channel: channel, Value: value}.Append(nil))
	}
	for _, step := range []struct {
		set  [][2]int32 // at once
		want byte
	}{
		{[][2]int32{{8, 1}}, 0x01},
		{[][2]int32{{15, 7}, {9, 1}, {9, 0}}, 0x81},
		{[][2]int32{{8, -1}, {0, 1}, {16, 5000}, {17, 1}, {127, 1}}, 0x80},
		{[][2]int32{{8, 1}, {15, 0}, {10, 1}, {8, 0}}, 0x04},
	} {
		for _, s := range step.set {
			set(uint8(s[0]), s[1])
		}
		r.Pass(300 * ms)
		if got := h.State().Outputs; got != step.want || values()[10] != int32(step.want>>2&1) {
			t.Errorf("after %d: outputs %08b, want %08b; data %d", step.set, got, step.want, values())
		}
	}
	before := h.State()
	must.Do(t, io.Configure(r.Now(), []byte{codec.ConfigOdometry}))
	r.Pass(300 * ms)
	if s := h.State(); s.Outputs != 0 || s.Counts["SETO"] != before.Counts["SETO"] || len(s.Objections) > 0 {
		t.Errorf("after a reset: %+v", s)
	}
	for _, d := range []*devices.Device{io, r.Link.Device(codec.Ranger), r.Link.Device(codec.IMU)} {
		if err := d.Configure(r.Now(), []byte{codec.ConfigMotors, 1}); err == nil || h.State().Motors {
			t.Errorf("%s switches the motors", d.Spec().Name)
		}
	}
}

// TestOutputsStay: nothing is set by itself in a robot that is found again.
func TestOutputsStay(t *testing.T) {
	r := newRig(t, pioneer(robots(emulatedrobot.Options{})), line.Options{})
	h := r.hardware.(*robot)
	io := r.open(codec.IO)
	r.connect()
	r.Pass(time.Second)
	h.Unplug()
	r.Pass(time.Second)
	io.SetCommand(r.Now(), codec.IOCommand{Channel: 8, Value: 1}.Append(nil))
	must.Do(t, h.Plug())
	r.Until(r.isUp, 10*time.Second)
	r.Pass(time.Second)
	if s := h.State(); s.Outputs != 0 || s.Counts["DIGOUT"] > 0 || !r.isUp() {
		t.Errorf("outputs %08b, %v", s.Outputs, s.Counts)
	}
}

// TestTurnRate: the gyroscope's turn rate is that of the robot, whose wheels slip. It is unknown until the robot has
// stood for a second, and all other fields always. Its heading is that of the wheels.
func TestTurnRate(t *testing.T) {
	r := newRig(t, pioneer(robots(emulatedrobot.Options{Subclass: "p3dx", Slip: 0.25, MotorsOn: true,
		Gyro: emulatedrobot.Gyro{Fitted: true}})), line.Options{})
	imu := r.open(codec.IMU)
	r.connect()
	r.Until(imu.HasData, time.Second)
	data := func() codec.IMUData { return transporttest.Data[codec.IMUData](t, imu) }
	if got := data(); got != codec.UnknownIMU() {
		t.Errorf("at first %+v", got)
	}
	for _, turn := range []int16{0, 40, -20} {
		for range 30 {
			r.Client.SetCommand(r.Now(), codec.PositionCommand{TurnRate: turn}.Append(nil))
			r.Pass(100 * ms)
		}
		got, want := data(), codec.UnknownIMU()
		want.YawRate = got.YawRate
		if off := float64(got.YawRate) - 750*float64(turn); got != want || math.Abs(off) > 800 { // a count is 0.95 deg/s
			t.Errorf("at %d deg/s of the wheels %+v", turn, got)
		}
	}
	heading := transporttest.Data[codec.PositionData](t, r.Client).Heading
	if want := r.hardware.(*robot).State().Odometry.Heading; math.Abs(math.Remainder(float64(heading)-want, 360)) > 2 {
		t.Errorf("heading %d, of the wheels %.0f", heading, want)
	}
}

// A unit in the configuration that cannot be right is warned of once, with the value that would fit.
func TestWrongUnits(t *testing.T) {
	for _, tt := range []struct {
		options map[string]any
		command codec.PositionCommand
		want    string // is, would fit
	}{
		{map[string]any{"distance": 0.84, "velocity": 1.0, "angle": 0.001534, "range": 0.268}, codec.PositionCommand{Speed: 300}, ""},
		{map[string]any{"distance": 8.4}, codec.PositionCommand{Speed: 300}, "distance 8.4, distance 0.84"},
		{map[string]any{"distance": 0.0084}, codec.PositionCommand{Speed: -200}, "distance 0.0084, distance 0.84"},
		{map[string]any{"velocity": 10.0}, codec.PositionCommand{Speed: 300}, "velocity 10, velocity 1"},
		{map[string]any{"vel2": 2.0, "commands": "wheels"}, codec.PositionCommand{Speed: 100}, "vel2 2, vel2 20"},
		{map[string]any{"vel2": 20.0, "commands": "wheels"}, codec.PositionCommand{Speed: 100}, ""},
		{map[string]any{"angle": 0.0001534}, codec.PositionCommand{TurnRate: 30}, "angle 0.0001534, angle 0.001534"},
		{map[string]any{"range": 26.8}, codec.PositionCommand{TurnRate: 30}, "range 26.8, range 0.268"},
	} {
		r := newRig(t, product{kind: p2os.Kind(), values: tt.options, start: robots(emulatedrobot.Options{Subclass: "p2dx"})}, line.Options{})
		r.connect()
		must.Do(t, r.Link.Device(codec.Position).Configure(r.Now(), []byte{codec.ConfigMotors, 1}))
		for range 200 {
			r.Link.Device(codec.Position).SetCommand(r.Now(), tt.command.Append(nil))
			r.Pass(100 * ms)
		}
		got := ""
		for _, e := range r.Log.FilterMessage(guard.LogScale).All() {
			f := e.ContextMap()
			got += f["is"].(string) + ", " + f["would fit"].(string)
		}
		if got != tt.want {
			t.Errorf("%v: %q, want %q", tt.options, got, tt.want)
		}
	}
}
