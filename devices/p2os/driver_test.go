package p2os

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"player/devices"
	"player/devices/devicetest"
	"player/devices/transport"
	"player/e2e/must"
)

func TestCommandGoesOutAtOnce(t *testing.T) {
	b, r := ready(t, 9600)
	b.Pass(50 * ms) // between two SIPs
	r.heard = nil
	b.command(200, 0)
	b.Pass(0)
	if want := []string{"VEL2 3B 0A 0A"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	// A client that commands much faster does not fill the line, and the last
	// command is there soon.
	for i := range int16(20) {
		b.command(20*i, 0)
	}
	b.Pass(commandGap)
	if want := []string{"VEL2 3B 0A 0A", "VEL2 3B 13 13"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	// While a line's buffer is full nothing is written to it; then it gets the newest command.
	b.Port().Stuck = true
	b.Port().Write(make([]byte, 1))
	b.command(100, 0)
	b.Pass(300 * ms)
	if n := b.Port().Buffered(); n > 1 {
		t.Fatalf("%d bytes wait for a line that takes nothing", n)
	}
}

func TestVelocitiesWithEverySIP(t *testing.T) {
	b, r := ready(t, 9600)
	b.Pass(50 * ms)
	r.heard = nil
	b.Pass(10 * time.Second)
	if len(r.heard) != 100 || slices.ContainsFunc(r.heard, func(s string) bool { return s != "VEL2 3B 00 00" }) {
		t.Fatalf("robot heard %d packets in 10 s: %q", len(r.heard), r.heard)
	}
}

func TestGripper(t *testing.T) {
	b, r := ready(t, 9600)
	b.Pass(50 * ms)
	for _, test := range []struct {
		command, argument byte
		want              []string
	}{
		{1, 99, []string{"GRIPPER 3B 01 00"}},
		{8, 0, []string{"GRIPPER 3B 08 00"}},
		{16, 40, []string{"GRIPPER 3B 10 00", "GRIPPERVAL 3B 28 00"}},
		{17, 200, []string{"GRIPPER 3B 11 00", "GRIPPERVAL 3B C8 00"}},
	} {
		r.heard = nil
		b.gripper.SetCommand(b.Now(), []byte{test.command, test.argument})
		b.Pass(100 * ms)
		got := slices.DeleteFunc(slices.Clone(r.heard), func(s string) bool { return s == "VEL2 3B 00 00" })
		if !slices.Equal(got, test.want) {
			t.Errorf("gripper %d %d: robot heard %q, want %q", test.command, test.argument, got, test.want)
		}
	}
}

// A SIP reports whether the motors have power. After ENABLE, one that was under way is not
// believed.
func TestMotors(t *testing.T) {
	b, r := ready(t, 9600)
	power := func(flags byte) {
		body := slices.Clone(Packet(r.sip).Body())
		body[16] = flags
		r.sip = appendPacket(nil, body...)
	}
	off := func(want bool) {
		t.Helper()
		if b.position.MotorsOff(b.Now()) != want {
			t.Errorf("the motors are off: %v", !want)
		}
	}
	b.Pass(100 * ms)
	off(true)
	power(1) // a person presses the button
	b.Pass(100 * ms)
	off(false)
	b.configure('m', 0)
	off(true)
	b.Pass(150 * ms)
	off(true)
	b.Pass(200 * ms) // the robot did not obey
	off(false)
	power(0)
	b.Pass(100 * ms)
	b.configure('m', 1)
	b.Pass(100 * ms)
	off(false)
}

// PROTOCOL 6
func TestConfigure(t *testing.T) {
	b, r := ready(t, 9600)
	if slices.ContainsFunc(r.heard, func(s string) bool { return strings.HasPrefix(s, "ENABLE") }) {
		t.Fatalf("motors were switched without being asked: %q", r.heard)
	}
	r.heard = nil
	for _, d := range []*devices.Device{b.position, b.sonar, b.gripper, b.misc} {
		must.Do(t, errors.Join(d.Configure(b.Now(), []byte("m\x01")), d.Configure(b.Now(), []byte("m\x00")), d.Configure(b.Now(), []byte("R"))))
	}
	b.Pass(0)
	want := slices.Repeat([]string{"ENABLE 3B 01 00", "ENABLE 3B 00 00", "SETO 3B"}, 4)
	if !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	b.Pass(time.Second)
	b.configure('v', 1)
	r.heard = nil
	b.command(-600, 120)
	b.Pass(20 * ms)
	if want := []string{"VEL 1B F4 01", "RVEL 3B 64 00"}; !slices.Equal(r.heard, want) {
		t.Fatalf("robot heard %q, want %q", r.heard, want)
	}
	for _, bad := range []string{"", "x", "m", "R\x00"} {
		if err := b.misc.Configure(b.Now(), []byte(bad)); err == nil {
			t.Errorf("configuration %q was taken", bad)
		}
	}
	// Too many at once are refused, before a command to stop has to wait for them.
	var err error
	var n int
	for n = 0; err == nil && n < 1000; n++ {
		err = b.misc.Configure(b.Now(), []byte("m\x01"))
	}
	if !errors.Is(err, errBusy) || n < 10 {
		t.Fatalf("%d requests at once: %v", n, err)
	}
}

func TestResetOdometry(t *testing.T) {
	b, r := ready(t, 9600)
	r.sip = devicetest.Hex(t, sipSpeed)
	b.Pass(200 * ms)
	if p := b.pose(); p.X != 40 || p.Speed != 400 {
		t.Fatalf("position %+v", p)
	}
	b.configure('R')
	r.sip = devicetest.Hex(t, sipZero) // the effect of SETO
	b.Pass(200 * ms)
	if p := b.pose(); p.X != 0 {
		t.Fatalf("position %+v after reset", p)
	}
}

// A SIP that was under way when SETO was sent neither moves the origin nor is
// reported, however far it is from the next one.
func TestResetOdometryWhileDriving(t *testing.T) {
	b, r := ready(t, 9600)
	for _, x := range []uint16{60, 109} { // units; 200 mm/s are 24 a packet
		r.at(x, 0, 0)
		b.Pass(100 * ms)
	}
	b.configure('R')
	for i, x := range []uint16{133, 24, 48} {
		r.at(x, 0, 0)
		b.Pass(100 * ms)
		if want := []int32{0, 20, 40}[i]; b.pose().X != want {
			t.Errorf("SIP %d after reset: x is %d mm, want %d", i, b.pose().X, want)
		}
	}
	if lines := b.Messages(); slices.ContainsFunc(lines, func(s string) bool { return strings.HasSuffix(s, " "+LogMissing) }) {
		t.Errorf("log %q", lines)
	}
}

// The first device to be opened is the origin, whatever the robot remembers
// (manual 3.6).
func TestOriginAtFirstOpening(t *testing.T) {
	b, r := newRobot(t, 9600)
	r.sip = devicetest.Hex(t, sipFar)
	b.Subscribe()
	if !b.Until(func() bool { return slices.Contains(r.heard, "SETO 3B") }, time.Minute) {
		t.Fatal("no SETO")
	}
	b.Port().Say(r.sip) // was on its way
	if b.position.HasData() {
		t.Fatalf("published %+v before SETO", b.pose())
	}
	r.sip = devicetest.Hex(t, sipZero)
	b.UntilUp()
	if p := b.pose(); p.X != 0 || p.Y != 0 || p.Time != uint32(b.Now().Milliseconds()) {
		t.Fatalf("position %+v at %v", p, b.Now())
	}
}

// On an always-on link the robot is up before a client opens a device.
func TestOriginOnAlwaysOnLink(t *testing.T) {
	b, r := newRobot(t, 9600)
	b.Link.KeepOn()
	b.Table.Start(b.Now())
	b.UntilUp()
	r.sip = devicetest.Hex(t, sipSpeed)
	b.Pass(time.Second)
	r.heard = nil
	b.Subscribe()
	b.Pass(110 * ms)
	if n := count(r.heard, "SETO 3B"); n != 1 {
		t.Fatalf("%d SETO at the first opening: %q", n, r.heard)
	}
	if p := b.pose(); p.X != 0 {
		t.Fatalf("position %+v", p)
	}
	b.Pass(time.Second)
	if n := count(r.heard, "SETO 3B"); n != 1 {
		t.Fatalf("%d SETO", n)
	}
}

func count(list []string, s string) (n int) {
	for _, v := range list {
		if v == s {
			n++
		}
	}
	return n
}

func TestNoiseIsNotPublished(t *testing.T) {
	b, _ := ready(t, 9600)
	b.Log.TakeAll()
	rnd := rand.New(rand.NewPCG(1, 2))
	before := b.position.Seq()
	bad := devicetest.Hex(t, sipSpeed)
	bad[len(bad)-1]++
	for range 100 { // of noise between 10 good SIPs a second
		for range 10 {
			noise := make([]byte, rnd.IntN(20))
			for i := range noise {
				noise[i] = byte(rnd.Uint32())
			}
			b.Port().Say(noise)
			b.Port().Say(bad)
			b.Port().Say(bad[:rnd.IntN(len(bad))])
		}
		b.Pass(100 * ms)
		if p := b.pose(); p.X != 0 || p.Speed != 0 {
			t.Fatalf("noise was published: %+v", p)
		}
	}
	if n := b.position.Seq() - before; n < 50 || n > 100 {
		t.Fatalf("%d of 100 SIPs published", n)
	}
	for _, e := range b.Log.All() {
		if e.Message != transport.LogDamaged || e.ContextMap()["port"] != "/dev/robot" || e.ContextMap()["device"] != "p2os" {
			t.Fatalf("log %q %v", e.Message, e.ContextMap())
		}
	}
	if n := b.Log.Len(); n < 5 || n > 11 {
		t.Fatalf("%d log lines in 10 s", n)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	b, r := ready(t, 9600)
	r.switchOff() // the test itself plays it
	b.Heard = nil
	b.configure('v', 1)
	b.Pass(200 * ms)
	p, sip, forward := b.Port(), devicetest.Hex(t, sipSpeed), []byte{0, 100, 0, 0}
	n := testing.AllocsPerRun(1000, func() {
		b.position.SetCommand(b.Now(), forward)
		b.gripper.SetCommand(b.Now(), []byte{16, 1})
		b.Pass(50 * ms)
		p.Say(sip)
		b.Pass(50 * ms)
		p.Wrote = p.Wrote[:0]
	})
	if n != 0 {
		t.Fatalf("%v allocations for each packet", n)
	}
}
