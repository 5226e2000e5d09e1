package transporttest_test

import (
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/create"
	"player/devices/kobuki"
	"player/devices/transport/transporttest"
	"player/e2e/must"
	emulatedcreate "player/simulation/emulator/create"
	emulatedkobuki "player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
)

// newIO returns a robot whose block names all of its devices, with a client of its io, and a function that sets an
// output.
func newIO(t *testing.T, p product, named ...devices.Spec) (
	r *rig, io *devices.Device, set func(channel uint8, value int32)) {
	t.Helper()
	p.named = named
	r = newRig(t, p, line.Options{Baud: append(p.speeds, 0)[0]})
	io = r.open(codec.IO)
	r.connect()
	r.Pass(100 * ms)
	return r, io, func(channel uint8, value int32) {
		io.SetCommand(r.Now(), codec.IOCommand{Channel: channel, Value: value}.Append(nil))
		r.Pass(100 * ms)
	}
}

// values has the values of the newest data.
func (r *rig) values(io *devices.Device) []int32 {
	r.T.Helper()
	return transporttest.Data[codec.IOData](r.T, io).Values
}

// repeated is a value, so many times.
func repeated(value int32, count int) []int32 { return slices.Repeat([]int32{value}, count) }

// checkChannels tests whether a channel is described for each value, and those from first on as outputs.
func checkChannels(t *testing.T, io *devices.Device, count, first int) {
	t.Helper()
	channels := io.AppendChannels(nil)
	if len(channels) != count {
		t.Fatalf("%d channels, want %d", len(channels), count)
	}
	names := map[string]bool{}
	for i, c := range channels {
		if c.Number != i || (c.Role == codec.Output) != (i >= first) || c.Name == "" || names[c.Name] {
			t.Errorf("channel %d: %+v", i, c)
		}
		names[c.Name] = true
	}
}

// TestCreateIO: cliffs, wheel drops and buttons, and the LEDs, which the robot has for itself unless it obeys.
func TestCreateIO(t *testing.T) {
	for _, baud := range []int{115200, 19200} {
		r, io, set := newIO(t, product{kind: create.Kind(), speeds: []int{baud}, start: creates(emulatedcreate.Options{})},
			devices.Position(), devices.Misc(), devices.IO())
		h := r.hardware.(*createRobot)
		checkChannels(t, io, 20, 14)
		h.Cliff(0, true)
		h.Cliff(2, true)
		h.Press(0x85)
		r.Pass(100 * ms)
		want := slices.Concat([]int32{1, 0, 1, 0, 0, 0}, []int32{1, 0, 1, 0, 0, 0, 0, 1}, repeated(codec.Unknown, 6))
		if got := r.values(io); !slices.Equal(got, want) {
			t.Errorf("%d, want %d", got, want)
		}
		h.Cliff(0, false)
		h.Cliff(2, false)
		h.Press(0)
		set(16, 1)   // dock
		set(18, 300) // colour
		set(19, 128)
		set(14, 1) // debris
		set(16, 0)
		set(3, 1)  // an input
		set(20, 1) // none
		want = slices.Concat(repeated(0, 14), []int32{1, 0, 0, 0, 255, 128})
		if got := r.values(io); !slices.Equal(got, want) || h.State().LEDs != [3]byte{1, 255, 128} || h.Count(139) != 5 {
			t.Errorf("%d, want %d; LEDs %v after %d commands", got, want, h.State().LEDs, h.Count(139))
		}
		must.Do(t, io.Configure(r.Now(), []byte{codec.ConfigOdometry}))
		r.Pass(100 * ms)
		if got := r.values(io); h.State().LEDs != [3]byte{} || !slices.Equal(got, repeated(0, 20)) {
			t.Errorf("after a reset %d, LEDs %v", got, h.State().LEDs)
		}
		set(14, 1)
		h.Lift(true)
		r.Pass(100 * ms)
		set(15, 1)
		want = slices.Concat([]int32{0, 0, 0, 0, 1, 1}, repeated(0, 8), repeated(codec.Unknown, 6))
		if got := r.values(io); !slices.Equal(got, want) || h.Count(139) != 7 {
			t.Errorf("lifted %d, want %d; %d commands", got, want, h.Count(139))
		}
		if err := io.Configure(r.Now(), []byte{codec.ConfigMotors, 0}); err == nil {
			t.Error("io switches the motors")
		}
	}
}

// TestKobukiIO: all inputs of the robot and of its expansion port, and its outputs. The first command to one of them
// leaves the power of other hardware on.
func TestKobukiIO(t *testing.T) {
	r, io, set := newIO(t, product{kind: kobuki.Kind(), start: kobukis(emulatedkobuki.Options{})},
		devices.Position(), devices.Misc(), devices.IO(), devices.IMU())
	h := r.hardware.(*kobukiRobot)
	checkChannels(t, io, 28, 16)
	h.Cliff(4)
	h.Lift(true)
	h.Press(2)
	h.SetInputs(0x9, [4]uint16{4095, 0, 2048, 1})
	r.Pass(100 * ms)
	inputs := []int32{0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 3300, 0, 1650, 1}
	if got, want := r.values(io), slices.Concat(inputs, repeated(codec.Unknown, 12)); !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	if h.Outputs() != -1 {
		t.Errorf("outputs %#x are set by themselves", h.Outputs())
	}
	for _, step := range []struct {
		channel uint8
		value   int32
		want    int
	}{{24, 1, 0x1F0}, {16, 1, 0x1F1}, {27, 9, 0x9F1}, {24, 0, 0x8F1}, {22, -1, 0x8B1}, {15, 1, 0x8B1}, {28, 1, 0x8B1}} {
		set(step.channel, step.value)
		if h.Outputs() != step.want {
			t.Errorf("channel %d is %d: outputs %#x, want %#x", step.channel, step.value, h.Outputs(), step.want)
		}
	}
	outputs := []int32{1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1}
	if got, want := r.values(io), slices.Concat(inputs, outputs); !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
	must.Do(t, io.Configure(r.Now(), []byte{codec.ConfigOdometry}))
	if r.Pass(100 * ms); h.Outputs() != 0xF0 {
		t.Errorf("after a reset: outputs %#x", h.Outputs())
	}
	h.Reboot()
	r.Pass(3 * time.Second)
	r.Until(r.isUp, 10*time.Second)
	r.Pass(time.Second)
	if got := r.values(io); h.Outputs() != -1 || got[16] != codec.Unknown || !r.isUp() {
		t.Errorf("after a restart: outputs %#x, %d", h.Outputs(), got)
	}
	for _, d := range []*devices.Device{io, r.Link.Device(codec.IMU)} {
		if err := d.Configure(r.Now(), []byte{codec.ConfigMotors, 0}); err == nil || r.Client.MotorsOff(r.Now()) {
			t.Errorf("%s switches the motors", d.Spec().Name)
		}
	}
}

// TestKobukiIMU: heading and turn rate are those of the robot, whose wheels slip.
func TestKobukiIMU(t *testing.T) {
	r, _, _ := newIO(t, product{kind: kobuki.Kind(), start: kobukis(emulatedkobuki.Options{})},
		devices.Position(), devices.Misc(), devices.IO(), devices.IMU())
	imu := r.open(codec.IMU)
	r.Pass(100 * ms)
	data := func() codec.IMUData { return transporttest.Data[codec.IMUData](t, imu) }
	for _, turn := range []int16{0, 30, -60} {
		before := data().Yaw
		for range 20 {
			r.Client.SetCommand(r.Now(), codec.PositionCommand{TurnRate: turn}.Append(nil))
			r.Pass(100 * ms)
		}
		got, want := data(), codec.UnknownIMU()
		want.Yaw, want.YawRate = got.Yaw, got.YawRate
		turned := (got.Yaw - before + 5*360000) % 360000
		expected := (int32(turn)*2000 + 5*360000) % 360000
		if off := got.YawRate - 1000*int32(turn); got != want || max(off, -off) > 500 ||
			max(turned-expected, expected-turned) > 3000 || max(got.Yaw, -got.Yaw) > 180000 {
			t.Errorf("at %d deg/s: %+v, turned %d mdeg", turn, got, turned)
		}
	}
	r, _, _ = newIO(t, product{kind: kobuki.Kind(), start: kobukis(emulatedkobuki.Options{NoGyro: true})},
		devices.Position(), devices.Misc(), devices.IO(), devices.IMU())
	imu = r.open(codec.IMU)
	if r.Pass(100 * ms); data() != codec.UnknownIMU() {
		t.Errorf("without a gyroscope: %+v", data())
	}
}
