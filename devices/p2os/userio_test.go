package p2os

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport/transporttest"
)

func TestAppendDigOut(t *testing.T) {
	for _, tt := range []struct {
		mask, values byte
		want         string
	}{
		{0x01, 0x01, "FA FB 06 1E 3B 01 01 1F 3C"}, {0x80, 0x00, "FA FB 06 1E 3B 00 80 1E BB"},
		{0xFF, 0x5A, "FA FB 06 1E 3B 5A FF 79 3A"},
	} {
		if got, want := AppendDigOut(nil, tt.mask, tt.values), devicetest.Hex(t, tt.want); !bytes.Equal(got, want) {
			t.Errorf("% X, want % X", got, want)
		}
	}
}

// Of two commands to one output that wait for the line the newer one counts.
func TestOutputs(t *testing.T) {
	var o outputs
	for _, s := range []struct {
		bit int
		on  bool
	}{{0, true}, {7, true}, {0, false}, {3, false}, {3, true}} {
		o.set(s.bit, s.on)
	}
	if o != (outputs{0x89, 0x88}) {
		t.Errorf("%+v", o)
	}
}

// The inputs of a recorded P2-DX (p2os-basic): digital 06, analogue 80, no output.
func TestRecordedInputs(t *testing.T) {
	b, r := ready(t, 9600, devices.IO())
	io := b.open(codec.IO)
	r.sip = devicetest.Hex(t, recorded[0])
	b.Pass(100 * ms)
	got := transporttest.Data[codec.IOData](t, io).Values
	if want := []int32{0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2510}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

func TestRate(t *testing.T) {
	m := byName("p3dx").model()
	g := newGyro(&m, gyroScaler)
	g.read(pack(400, 400), false)
	if _, ok := g.rate(); ok {
		t.Error("a rate without a centre")
	}
	rest(&g, 500)
	for _, tt := range []struct {
		readings []uint16
		want     int32
		ok       bool
	}{
		// 10 below the centre are 9.537 deg/s to the left: AROS manual, ARIA.
		{[]uint16{490, 490}, 9537, true}, {[]uint16{510, 520}, -14305, true}, {[]uint16{500}, 0, true}, {nil, 0, false},
	} {
		g.read(pack(tt.readings...), false)
		if got, ok := g.rate(); ok != tt.ok || max(got-tt.want, tt.want-got) > 1 {
			t.Errorf("%d: %d mdeg/s, %v, want %d", tt.readings, got, ok, tt.want)
		}
	}
}

// Nothing is asked of a gyroscope, and nothing is published, if no client has the devices open.
func TestClosedDevicesHaveNoWork(t *testing.T) {
	b, r := ready(t, 9600)
	b.Pass(200 * ms)
	if slices.Contains(r.heard, "command 58 3B 01 00") {
		t.Error("GYRO is sent though the block does not name the device")
	}
	b, r = ready(t, 9600, devices.Ranger(), devices.IO(), devices.IMU())
	b.Pass(200 * ms)
	r.saying(appendPacket(nil, pack(500, 500, 500, 500)...))
	if !slices.Contains(r.heard, "command 58 3B 01 00") {
		t.Error("GYRO is not sent")
	}
	for _, letter := range []byte{codec.Ranger, codec.IO, codec.IMU} {
		if d := b.Link.Device(letter); d.HasData() {
			t.Errorf("%s is published", d.Spec().Name)
		}
	}
}

func TestDevicesAllocateNothing(t *testing.T) {
	b, r := ready(t, 9600, devices.IO(), devices.IMU())
	io, imu := b.open(codec.IO), b.open(codec.IMU)
	r.switchOff() // the test itself plays it
	b.Heard = nil
	b.Pass(200 * ms)
	p, sip, before := b.Port(), devicetest.Hex(t, recorded[0]), io.Seq()+imu.Seq()
	readings := appendPacket(nil, pack(500, 501, 502, 500)...)
	command := codec.IOCommand{Channel: 9, Value: 1}.Append(nil)
	if n := testing.AllocsPerRun(100, func() {
		io.SetCommand(b.Now(), command)
		b.Pass(100 * ms)
		p.Wrote = p.Wrote[:0]
		p.Say(readings)
		p.Say(sip)
	}); n != 0 || io.Seq()+imu.Seq() < before+200 {
		t.Errorf("%v allocations for each packet", n)
	}
}

// An output that a full line has kept back is not set in a robot that is found again.
func TestOutputsAreForgotten(t *testing.T) {
	b, r := ready(t, 9600, devices.IO())
	io := b.open(codec.IO)
	b.Pass(100 * ms)
	b.Port().Stuck = true
	b.Port().Write(make([]byte, 1))
	io.SetCommand(b.Now(), codec.IOCommand{Channel: 8, Value: 1}.Append(nil))
	b.Pass(50 * ms)
	b.Port().HangUp()
	r.stage = 0
	b.Until(func() bool { return len(b.Ports) == 2 }, 5*time.Second)
	b.UntilUp()
	b.Pass(time.Second)
	if i := slices.IndexFunc(r.heard, func(s string) bool { return strings.HasPrefix(s, "command 30") }); i >= 0 {
		t.Errorf("the robot heard %q", r.heard[i])
	}
}
