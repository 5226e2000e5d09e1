package arduino

import (
	"math"
	"strings"
	"testing"
	"time"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

// robot returns a robot without a cable.
func robot() *Robot {
	r := &Robot{next: tick, watchdog: 500 * time.Millisecond}
	r.state.Motors = true
	return r
}

// A unit is a line. A line without an end is junk when it is too long.
func TestFrame(t *testing.T) {
	for text, want := range map[string]int{
		"V 1 2\nE": 6, "V 1 2": 0, "\n": 1, strings.Repeat("x", 64): 0, strings.Repeat("x", 65): 65,
	} {
		if n, _ := robot().Frame([]byte(text)); n != want {
			t.Errorf("%q: framed %d, want %d", text, n, want)
		}
	}
}

// The commands are those at the top of the sketch: V with the speeds of both wheels in mm/s, E with 0 or 1.
func TestCommands(t *testing.T) {
	for script, want := range map[string]State{
		"V 200 -100\n":               {Left: 200, Right: -100, Motors: true, Lines: 1},
		"V 200 200\nE 0\n":           {Lines: 2},
		"E 0\nV 200 200\n":           {Lines: 2}, // without motors
		"E 0\nE 1\nV 9 8\n":          {Left: 9, Right: 8, Motors: true, Lines: 3},
		"V 9 8\nV 200\nX\nv 1 1\n\n": {Left: 9, Right: 8, Motors: true, Lines: 5, Unknown: 4},
	} {
		r := robot()
		for text := range strings.Lines(script) {
			r.Receive(0, []byte(text))
		}
		if got := r.State(); got != want {
			t.Errorf("%q: %+v, want %+v", script, got, want)
		}
	}
}

// The robot stops when its watchdog has heard no command for 500 ms, wherever the time is looked at.
func TestWatchdog(t *testing.T) {
	r := robot()
	r.Receive(0, []byte("V 100 100\n"))
	r.move(400 * time.Millisecond)
	r.Receive(400*time.Millisecond, []byte("V 100 100\n"))
	r.move(900 * time.Millisecond)
	if s := r.State(); s.Trips != 0 || s.Left != 100 || math.Abs(s.X-90) > 1e-6 {
		t.Errorf("after 500 ms: %+v", s)
	}
	r.move(5 * time.Second)
	if s := r.State(); s.Trips != 1 || s.Left != 0 || math.Abs(s.X-90) > 1e-6 {
		t.Errorf("later: %+v", s)
	}
}

// A quarter of a turn to the left: the wheels are 150 mm apart.
func TestTurn(t *testing.T) {
	r := robot()
	r.state.Left, r.state.Right = -75, 75
	r.drive(1570796327 * time.Nanosecond) // pi / 2 s
	if s := r.State(); math.Abs(s.Heading-math.Pi/2) > 1e-6 || math.Abs(s.X) > 1e-6 {
		t.Errorf("%+v", s)
	}
	if way, want := r.State().Way, 75*math.Pi/2; math.Abs(way[1]-want) > 1e-6 || math.Abs(way[0]+want) > 1e-6 {
		t.Errorf("ways %v", way)
	}
}

// Reports are lines: counts (O) each 50 ms, sonar (S) each second time, the battery (B) and the bumper (K) each
// twentieth time.
func TestReports(t *testing.T) {
	needs.Programs(t)
	d, err := Start(Options{Line: line.Options{Link: rawhost.Link(t)}})
	h := rawhost.Open(t, rawhost.Plugged(t, d, err).Port(), 115200)
	next := func() string {
		var text strings.Builder
		for !strings.HasSuffix(text.String(), "\r\n") {
			text.Write(h.Read(1))
		}
		return strings.TrimSuffix(text.String(), "\r\n")
	}
	for next() != "B 11640" {
	}
	for i, want := range []string{"K 0", "O 0 0", "O 0 0", "S 120 80 350", "O 0 0", "O 0 0", "S 120 80 350"} {
		if got := next(); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	d.Bump(true)
	for got := next(); got != "K 1"; got = next() {
		if got[0] == 'K' {
			t.Fatalf("%q", got)
		}
	}
}
