package p2os

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

// A bench is a robot without a cable, on a clock that the test advances.
type bench struct {
	*Robot
	t    *testing.T
	now  time.Duration
	sent [][]byte
}

func newBench(t *testing.T, opts Options) *bench {
	b := &bench{Robot: newRobot(opts), t: t}
	b.send = func(p []byte, _ string) { b.sent = append(b.sent, p) }
	return b
}

// say sends a packet given as its body.
func (b *bench) say(body string) {
	b.t.Helper()
	b.Receive(b.now, packetOf(rawhost.Bytes(b.t, body)))
}

// run advances the clock by d and calls Advance at the robot's deadlines.
func (b *bench) run(d time.Duration) {
	for end := b.now + d; ; {
		next := b.Advance(b.now)
		if next == 0 || next > end {
			b.now = end
			b.Advance(end)
			return
		}
		b.now = next
	}
}

// opened returns a robot after the handshake and ENABLE, whose wheels reach
// any speed at once.
func opened(t *testing.T, opts Options) *bench {
	opts.Accel = 1e12
	b := newBench(t, opts)
	for _, body := range []string{"00", "01", "02", "01", "00", "04 3B 01 00"} {
		b.say(body)
	}
	b.sent = nil
	return b
}

func TestHandshake(t *testing.T) {
	const sync2 = "02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00"
	tests := []struct {
		name string
		say  []string
		want []string
		open bool
	}{
		{"in order", []string{"00", "01", "02", "01"}, []string{"00", "01", sync2}, true},
		{"repeated steps", []string{"00", "00", "01", "01", "02"}, []string{"00", "00", "01", "01", sync2}, false},
		{"again from the start", []string{"00", "01", "00", "01", "02"}, []string{"00", "01", "00", "01", sync2}, false},
		{"out of sequence, nothing before SYNC0", []string{"00", "02", "01", "02", "00", "01"}, []string{"00", "00", "01"}, false},
		{"steps out of order", []string{"01", "02", "20 3B 01 01", "1D"}, nil, false},
		{"host died before OPEN", []string{"00", "01", "02", "00", "01"}, []string{"00", "01", sync2, "00", "01"}, false},
		{"CLOSE and again", []string{"00", "01", "02", "01", "02", "00", "01", "02", "01"},
			[]string{"00", "01", sync2, "00", "01", sync2}, true},
		{"PULSE is not answered", []string{"00", "01", "02", "01", "00", "00"}, []string{"00", "01", sync2}, true},
	}
	for _, tt := range tests {
		b := newBench(t, Options{})
		for _, body := range tt.say {
			b.say(body)
		}
		var want [][]byte
		for _, body := range tt.want {
			want = append(want, packetOf(rawhost.Bytes(t, body)))
		}
		if got := fmt.Sprintf("% X", b.sent); got != fmt.Sprintf("% X", want) {
			t.Errorf("%s:\n got %s\nwant % X", tt.name, got, want)
		}
		if s := b.State(); s.Open != tt.open {
			t.Errorf("%s: open %v", tt.name, s.Open)
		}
	}
}

func TestStream(t *testing.T) {
	b := opened(t, Options{})
	b.run(time.Second)
	if len(b.sent) != 10 {
		t.Errorf("%d SIPs in a second", len(b.sent))
	}
	b.now += 950 * time.Millisecond // the robot was late: whole periods are skipped
	if next := b.Advance(b.now); next != 2*time.Second || len(b.sent) != 11 {
		t.Errorf("late: next at %v, %d SIPs", next, len(b.sent))
	}
	b.run(100 * time.Millisecond)
	b.say("02") // CLOSE
	b.run(time.Second)
	if len(b.sent) != 12 || b.Advance(b.now) != 0 {
		t.Errorf("%d SIPs at the end", len(b.sent))
	}
}

func TestBadChecksum(t *testing.T) {
	b := opened(t, Options{Faults: Faults{BadChecksum: 3}})
	b.run(900 * time.Millisecond)
	for i, p := range b.sent {
		body, ok := parsePacket(p)
		if bad := i%3 == 2; ok == bad || (body[11] == liar) != bad {
			t.Errorf("SIP %d: checksum right %v, battery %d", i, ok, body[11])
		}
	}
}

func TestMotion(t *testing.T) {
	tests := []struct {
		name        string
		say         []string
		left, right float64
	}{
		{"VEL2", []string{"20 3B 04 FC"}, -80, 80},
		{"VEL2 back", []string{"20 3B E9 FA"}, -120, -460},
		{"VEL", []string{"0B 1B C8 00"}, -200, -200},
		{"RVEL", []string{"15 3B 1E 00"}, -93.500, 93.500},
		{"VEL and RVEL", []string{"0B 3B C8 00", "15 1B 1E 00"}, 293.500, 106.500},
		{"RVEL, then VEL keeps it", []string{"15 3B 1E 00", "0B 3B 64 00"}, 6.500, 193.500},
		{"STOP", []string{"20 3B 0A 0A", "1D"}, 0, 0},
		{"no argument", []string{"20 3B 0A 0A", "20", "0B 3B", "15 3B 01"}, 200, 200},
		{"motors off", []string{"20 3B 0A 0A", "04 3B 00 00"}, 0, 0},
		{"while the motors are off", []string{"04 3B 00 00", "20 3B 0A 0A", "0B 3B 64 00", "15 3B 1E 00", "04 3B 01 00"}, 0, 0},
		{"CLOSE", []string{"20 3B 0A 0A", "02"}, 0, 0},
		{"unknown command", []string{"20 3B 0A 0A", "63 3B 0A 0A"}, 200, 200},
	}
	for _, tt := range tests {
		b := opened(t, Options{})
		for _, body := range tt.say {
			b.say(body)
		}
		b.run(100 * time.Millisecond)
		if s := b.State(); !near(s.Left, tt.left, .001) || !near(s.Right, tt.right, .001) {
			t.Errorf("%s: left %v, right %v, want %v, %v", tt.name, s.Left, s.Right, tt.left, tt.right)
		}
	}
}

func TestMotors(t *testing.T) {
	b := newBench(t, Options{LeftOpen: true})
	if b.State().Motors {
		t.Error("motors on before any command")
	}
	b.PressMotorButton()
	b.say("0B 3B C8 00")
	b.run(time.Second)
	if s := b.State(); !s.Motors || s.Left != 200 {
		t.Errorf("after the button: %+v", s)
	}
	b.say("02")
	if s := b.State(); s.Motors || s.Sonar || s.Left != 0 { // at once, although braking takes time
		t.Errorf("after CLOSE: %+v", s)
	}
	if b := newBench(t, Options{LeftOpen: true, MotorsOn: true}); !b.State().Motors {
		t.Error("MotorsOn has no effect")
	}
}

func TestWatchdog(t *testing.T) {
	b := opened(t, Options{})
	b.say("20 3B 0A 0A")
	b.run(1500 * time.Millisecond)
	b.say("00") // PULSE
	b.run(1999 * time.Millisecond)
	if s := b.State(); s.WatchdogTrips != 0 || s.Left != 200 {
		t.Errorf("before: %+v", s)
	}
	b.run(10 * time.Second)
	s := b.State()
	if s.WatchdogTrips != 1 || !s.WatchdogTripped || s.Left != 0 || !near(s.World.X, 700, 1.1) {
		t.Errorf("after: %+v", s)
	}
	b.say("20 3B 0A 0A")
	b.run(time.Second)
	if s := b.State(); s.WatchdogTripped || s.Left != 200 {
		t.Errorf("again: %+v", s)
	}
	b.run(5 * time.Second)
	if s := b.State(); s.WatchdogTrips != 2 {
		t.Errorf("%d trips", s.WatchdogTrips)
	}
}

// TestWatchdogLate calls Advance long after the watchdog time: the result is
// the same.
func TestWatchdogLate(t *testing.T) {
	b := opened(t, Options{})
	b.say("20 3B 0A 0A")
	b.now = time.Minute
	b.Advance(b.now)
	if s := b.State(); s.WatchdogTrips != 1 || !near(s.World.X, 400, 1.1) {
		t.Errorf("%d trips, %v mm", s.WatchdogTrips, s.World.X)
	}
}

// TestOdometryCloses drives a path and adds up the SIPs, as a host has to: the
// result is the robot's pose.
func TestOdometryCloses(t *testing.T) {
	const unit = 0.84
	b := opened(t, Options{Odometry: Pose{X: 1234, Y: -999}})
	var host struct{ x, y float64 }
	var last [2]uint16
	for i, leg := range []string{
		"20 3B 19 19", "20 3B F8 08", "20 3B 14 14", "20 3B 0C 19", "20 3B 05 F0", "20 3B E7 E7", "20 3B 00 00",
	} {
		for range 30 {
			b.say(leg)
			b.sent = nil
			b.run(100 * time.Millisecond)
			body, ok := parsePacket(b.sent[0])
			if !ok || len(b.sent) != 1 {
				t.Fatalf("leg %d: % X", i, b.sent)
			}
			now := [2]uint16{binary.LittleEndian.Uint16(body[1:]), binary.LittleEndian.Uint16(body[3:])}
			if last != [2]uint16{} { // the first is the reference
				host.x += float64(int16((now[0]-last[0])<<1)>>1) * unit
				host.y += float64(int16((now[1]-last[1])<<1)>>1) * unit
			}
			last = now
			if now[0] > 0x7FFF || now[1] > 0x7FFF {
				t.Fatalf("position % X does not wrap", now)
			}
		}
	}
	s := b.State()
	first := 50.0 // mm driven before the first SIP, which is the reference
	if !near(host.x+first, s.World.X, 2*unit+3) || !near(host.y, s.World.Y, 2*unit) || s.World.Y < 1000 {
		t.Errorf("host %+v, robot %+v", host, s.World)
	}
	if !near(s.Odometry.X, s.World.X+1234, 1e-6) {
		t.Errorf("odometry %+v, world %+v", s.Odometry, s.World)
	}
	b.say("07 3B") // SETO
	if s := b.State(); s.Odometry != (Pose{}) || s.World == (Pose{}) {
		t.Errorf("after SETO: odometry %+v, world %+v", s.Odometry, s.World)
	}
}

func TestCounts(t *testing.T) {
	b := opened(t, Options{})
	for _, body := range []string{"1D", "1D", "1C 3B 00 00", "63", "2C 3B 03 00", "21 3B 02 00", "24 3B 10 00", "05 3B 64 00"} {
		b.say(body)
	}
	b.Receive(b.now, rawhost.Bytes(t, "FA FB 03 1D 00 1E"))
	s := b.State()
	want := map[string]int{"SYNC0": 1, "SYNC1": 1, "SYNC2": 1, "OPEN": 1, "PULSE": 1, "ENABLE": 1,
		"STOP": 2, "SONAR": 1, "99": 1, "BUMP_STALL": 1, "GRIPPER": 1, "GRIPPERVAL": 1, "SETA": 1}
	if fmt.Sprint(s.Counts) != fmt.Sprint(want) || s.BadPackets != 1 {
		t.Errorf("%v, %d bad", s.Counts, s.BadPackets)
	}
	if s.Sonar || s.Gripper != 0x14 || b.drive.accel != 100 {
		t.Errorf("commands without effect: %+v, accel %v", s, b.drive.accel)
	}
}

// start plugs a robot into a cable.
func start(t *testing.T, opts Options) *Robot {
	t.Helper()
	needs.Programs(t)
	opts.Line.Link = rawhost.Link(t)
	r, err := Start(opts)
	return rawhost.Plugged(t, r, err)
}

func wait(t *testing.T, r *Robot, what string, cond func(State) bool) {
	t.Helper()
	rawhost.Until(t, r, what, func() bool { return cond(r.State()) })
}

func TestSessionOnTheCable(t *testing.T) {
	r := start(t, Options{Line: line.Options{Baud: 38400}})
	h := rawhost.Open(t, r.Port(), 9600)
	h.Say("FA FB 03 00 00 00") // at the wrong speed
	rawhost.Until(t, r, "a packet", func() bool { return len(r.Heard(line.HostToDevice)) == 6 })
	h.Speed(38400)
	h.Ask("00 FA 17 FA FB 03 00 00 00", "FA FB 03 00 00 00")
	h.Ask("FA FB 03 01 00 01", "FA FB 03 01 00 01")
	h.Ask("FA FB 03 02 00 02", "FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55")
	h.Say("FA FB 03 01 00 01")
	h.Expect("FA FB 27 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 04 00 E8 03 01 4C 04 02 B0 04 03 14 05 01 11 80 00 00")
	h.Read(2)
	h.Say("FA FB 06 04 3B 01 00 05 3B FA FB 06 1C 3B 00 00 1C 3B FA FB 06 20 3B 0A 0A 2A 45")
	wait(t, r, "full speed", func(s State) bool { return s.Left == 200 })
	h.Say("FA FB 03 1D 00 1D FA FB 03 02 00 02")
	wait(t, r, "closed", func(s State) bool { return !s.Open && s.Counts["STOP"] == 1 && s.Counts["CLOSE"] == 1 })
}

func TestLeftOpen(t *testing.T) {
	r := start(t, Options{LeftOpen: true})
	h := rawhost.Open(t, r.Port(), 9600)
	if sip := h.Read(42); sip[0] != 0xFA || sip[2] != 0x27 || sip[3] != 0x32 {
		t.Errorf("first bytes % X", sip)
	}
	h.Say("FA FB 03 02 00 02")
	wait(t, r, "closed", func(s State) bool { return !s.Open })
	h.Say("FA FB 03 00 00 00")
	for last := [6]byte{}; last != [6]byte{0xFA, 0xFB, 3, 0, 0, 0}; { // after the last SIPs
		copy(last[:], last[1:])
		last[5] = h.Read(1)[0]
	}
}

func TestRobotSurvivesUnplugging(t *testing.T) {
	r := start(t, Options{LeftOpen: true, MotorsOn: true})
	h := rawhost.Open(t, r.Port(), 9600)
	h.Say("FA FB 06 20 3B 0A 0A 2A 45")
	wait(t, r, "drives", func(s State) bool { return s.Left == 200 })
	r.Unplug()
	h.HungUp()
	wait(t, r, "watchdog", func(s State) bool { return s.WatchdogTrips == 1 && s.Left == 0 })
	must.Do(t, r.Plug())
	h = rawhost.Open(t, r.Port(), 9600)
	h.Read(60)
}

func TestSetWhileStreaming(t *testing.T) {
	r := start(t, Options{LeftOpen: true, Room: 5000})
	h := rawhost.Open(t, r.Port(), 9600)
	var all sync.WaitGroup
	for i := range byte(8) {
		all.Go(func() {
			for range 100 {
				r.SetSonar(int(i), 100)
				r.SetCharge(i)
				r.State()
			}
		})
	}
	h.Say("FA FB 06 04 3B 01 00 05 3B")
	all.Wait()
	h.Read(42)
}
