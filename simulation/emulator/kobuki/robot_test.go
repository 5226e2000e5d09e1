package kobuki

import (
	"bytes"
	"math"
	"testing"
	"time"

	"player/simulation/emulator/internal/rawhost"
)

// near reports whether two numbers differ by at most 1e-6.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// robot returns a robot without a cable.
func robot() *Robot { return &Robot{gyro: 0, next: period, gains: gains} }

// Frames have their length in the third byte. Bytes before one are junk.
func TestFrame(t *testing.T) {
	command := rawhost.Bytes(t, "AA 55 06 01 04 C8 00 01 00 CA")
	for cut := range command {
		if n, _ := robot().Frame(command[:max(cut, 1)]); n != 0 {
			t.Errorf("%d bytes of a command: framed %d", cut, n)
		}
	}
	for text, want := range map[string]int{
		"AA 55 06 01 04 C8 00 01 00 CA AA": 10, "AA 55 00 00": 4,
		"00 01 AA 55": 2, "AA 00 AA 55": 2, "01 02 03": 3, "AA AA 55": 1,
	} {
		if n, _ := robot().Frame(rawhost.Bytes(t, text)); n != want {
			t.Errorf("%s: framed %d, want %d", text, n, want)
		}
	}
}

// The command "base control" of Yujin's protocol has a speed in mm/s and a radius in mm: 0 is straight, 1 turns in
// place. Otherwise the speed is the outer wheel's. The wheels are 230 mm apart.
func TestCommands(t *testing.T) {
	for text, want := range map[string]struct {
		left, right float64
		commands    int
	}{
		"AA 55 06 01 04 C8 00 00 00 CB":                   {200, 200, 1},
		"AA 55 06 01 04 38 FF 00 00 C4":                   {-200, -200, 1},
		"AA 55 06 01 04 C8 00 01 00 CA":                   {-200, 200, 1},
		"AA 55 06 01 04 38 FF 01 00 C5":                   {200, -200, 1},
		"AA 55 06 01 04 C8 00 73 00 B8":                   {0, 200, 1},   // the radius is half the distance
		"AA 55 06 01 04 C8 00 8D FF B9":                   {200, 0, 1},   // the same, to the right
		"AA 55 06 01 04 C8 00 59 01 93":                   {100, 200, 1}, // three halves of it
		"AA 55 0A 03 02 01 02 01 04 C8 00 00 00 C5":       {200, 200, 1}, // behind a sound
		"AA 55 0C 01 04 64 00 00 00 01 04 C8 00 00 00 A0": {200, 200, 2}, // two
		"AA 55 06 01 04 C8 00 00 00 CA":                   {0, 0, 0},     // the checksum
		"AA 55 06 01 05 C8 00 00 00 CA":                   {0, 0, 0},     // a wrong length
		"AA 55 06 02 04 C8 00 00 00 C8":                   {0, 0, 0},     // another command
	} {
		r := robot()
		c := rawhost.Bytes(t, text)
		r.Receive(0, c)
		if s := r.State(); !near(s.Left, want.left) || !near(s.Right, want.right) || r.Commands() != want.commands {
			t.Errorf("%s: wheels %v and %v, %d commands; want %+v", text, s.Left, s.Right, r.Commands(), want)
		}
	}
}

// The robot moves as its wheels do, and its gyro as the robot.
func TestMotion(t *testing.T) {
	r := robot()
	r.drive(200, 0)
	r.advance(time.Second)
	if s := r.State(); !near(s.X, 200) || !near(s.Y, 0) || !near(s.Heading, 0) || !near(r.counts[0], 200*countsPerMM) {
		t.Errorf("straight: %+v, counts %v", s, r.counts)
	}
	r.drive(115*math.Pi/2, 1) // a quarter of a turn to the left in a second
	r.advance(2 * time.Second)
	if s := r.State(); !near(s.X, 200) || !near(s.Heading, math.Pi/2) || !near(r.gyro, math.Pi/2) {
		t.Errorf("in place: %+v, gyro %v", s, r.gyro)
	}
	r.drive(100, 0)
	r.advance(3 * time.Second)
	if s := r.State(); !near(s.X, 200) || !near(s.Y, 100) {
		t.Errorf("to the left: %+v", s)
	}
	slips := &Robot{opts: Options{Slip: 0.5}}
	slips.drive(115*math.Pi/2, 1)
	slips.advance(time.Second)
	if s := slips.State(); !near(s.Heading, math.Pi/4) || !near(slips.counts[1], 115*math.Pi/2*countsPerMM) {
		t.Errorf("with slip: %+v, counts %v", s, slips.counts)
	}
}

// A report has the parts of Yujin's specification: core sensors (1), docking (3), inertial sensor (4), cliffs (5),
// currents (6), raw gyro (13) and inputs (16), least significant byte first.
func TestReport(t *testing.T) {
	const rest = " 05 06 DC 05 DC 05 DC 05 06 02 00 00 0D 0E 07 06 00 00 00 00 00 00 00 00 00 00 00 00" +
		" 10 10 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
	r := robot()
	r.bumpers, r.cliffs, r.dropped, r.current = 4, 2, 1, 2
	r.counts = [2]float64{-1, 66000.7} // they wrap at 16 bits
	r.gyro, r.state.Left, r.state.Right = -math.Pi/2, 115, -115
	want := "AA 55 4D 01 0F 34 12 04 01 02 FF FF D0 01 14 14 00 00 A1 02 03 03 00 00 00" +
		" 04 07 D8 DC 9E E9 00 00 00" + rest + " BC"
	if got := r.report(0x1234 * time.Millisecond); !bytes.Equal(got, rawhost.Bytes(t, want)) {
		t.Errorf("% X, want %s", got, want)
	}
	r.opts.NoGyro = true
	want = "AA 55 44 01 0F 34 12 04 01 02 FF FF D0 01 14 14 00 00 A1 02 03 03 00 00 00" + rest + " C5"
	if got := r.report(0x1234 * time.Millisecond); !bytes.Equal(got, rawhost.Bytes(t, want)) {
		t.Errorf("without a gyro: % X, want %s", got, want)
	}
}

// A report has the answers for Yujin's own host, kobuki_core 1.4.0: it sends these requests with each command until it
// has the answers. Versions are hardware (10), firmware (11) and a number of the robot (19); gains are 21.
func TestAsked(t *testing.T) {
	for _, tt := range []struct{ ask, want string }{
		{"AA 55 04 09 02 0B 00 04", "0A 04 04 00 01 00 0B 04 00 02 01 00 13 0C 4C 00 3A 00 16 51 30 31 34 36 30 39"},
		{"AA 55 04 09 02 02 00 0D", "0B 04 00 02 01 00"},
		{"AA 55 03 0E 01 00 0C", "15 0D 00 A0 86 01 00 64 00 00 00 D0 07 00 00"},
		{"AA 55 0F 0D 0D 01 01 00 00 00 02 00 00 00 03 00 00 00 0E", ""},
	} {
		r := robot()
		plain := r.report(0)
		c := rawhost.Bytes(t, tt.ask)
		if n, _ := r.Frame(c); n != len(c) {
			t.Errorf("%s: framed %d", tt.ask, n)
		}
		r.Receive(0, c)
		asked := r.report(0)
		if got := asked[len(plain)-1 : len(asked)-1]; !bytes.Equal(got, rawhost.Bytes(t, tt.want)) {
			t.Errorf("%s: % X, want %s", tt.ask, got, tt.want)
		}
		if again := r.report(0); !bytes.Equal(again, plain) {
			t.Errorf("%s: once more: % X", tt.ask, again)
		}
	}
	r := robot()
	r.Receive(0, rawhost.Bytes(t, "AA 55 0F 0D 0D 01 01 00 00 00 02 00 00 00 03 00 00 00 0E"))
	if r.gains != [13]byte{1, 1, 0, 0, 0, 2, 0, 0, 0, 3} {
		t.Errorf("gains % X", r.gains)
	}
}
