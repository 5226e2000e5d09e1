package boards

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/needs"
	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/line"
)

// Answers are lines as each firmware's sources or data sheet have them. Without an answer the next one is read.
func TestDialogues(t *testing.T) {
	needs.Programs(t)
	type exchange struct{ ask, answer string }
	for _, tt := range []struct {
		firmware  Firmware
		exchanges []exchange
		unknown   []string
	}{
		{&Bridge{}, []exchange{
			{"b\r", " 57600"}, {"e\r", "0 0"}, {"p 5\r", "42"}, {"a 3\r", "515"}, {"r\r", "OK"}, {"m 0 0\r", "OK"},
			{"x\r", "Invalid Command"},
		}, []string{"x"}},
		{&ODrive{}, []exchange{
			{"r vbus_voltage\n", "24.087744"}, {"f 0\n", "0.000000 0.000000"}, {"f 1!", "-0.000000 -0.000000"},
			{"f 2\n", "invalid motor 2"},
			{"r nothing\n", "invalid property"}, {"x\n", "unknown command"},
			{"sc\nw axis0.requested_state 8;x\nf 0\n", "0.000000 0.000000"},
		}, []string{"f 2", "r nothing", "x"}},
		{&Sabertooth{}, []exchange{
			{"M1: get\n", "M1: 0"}, {"M1: 1024\nM1: get\r\n", "M1: 1024"}, {"M2:-2047\nM2: get\n", "M2: -2047"},
			{"M1:getb\n", "M1:B118"},
			{"M2:getc\n", "M2:C-20"}, {"M1:gett\n", "M1:T30"}, {"M3:getb\nM1: 2048\nM1: get\n", "M1: 1024"},
		}, []string{"M3:getb", "M1: 2048"}},
	} {
		b, err := Start(tt.firmware, line.Options{Link: rawhost.Link(t)})
		h := rawhost.Open(t, rawhost.Plugged(t, b, err).Port(), tt.firmware.baud())
		for _, e := range tt.exchanges {
			h.Ask(hex.EncodeToString([]byte(e.ask)), hex.EncodeToString([]byte(e.answer+"\r\n")))
		}
		if got := b.State().Unknown; !slices.Equal(got, tt.unknown) {
			t.Errorf("%T: unknown %q, want %q", tt.firmware, got, tt.unknown)
		}
	}
}

// A wheel stops when the firmware's watchdog has heard nothing for its time, and not before.
func TestWatchdogs(t *testing.T) {
	odrive := &ODrive{}
	for i := range odrive.axes {
		odrive.axes[i].closed = true
	}
	for _, tt := range []struct {
		firmware Firmware
		limit    time.Duration // 0: none
	}{
		{&Bridge{}, 2 * time.Second}, {odrive, 500 * time.Millisecond}, {&UGV{silent: true}, 3 * time.Second},
		{&Sabertooth{}, 0},
	} {
		b := &Board{firmware: tt.firmware} // without a cable
		b.state.Speed = [2]float64{100, -100}
		b.Advance(tt.limit)
		if s := b.State(); s.Trips != 0 || s.Speed[0] != 100 {
			t.Errorf("%T at its limit: %+v", tt.firmware, s)
		}
		b.Advance(tt.limit + 10*time.Second)
		s, way := b.State(), 100*(tt.limit+2*time.Millisecond).Seconds()
		if tt.limit == 0 {
			way = 1000
		}
		if stopped := s.Speed == [2]float64{}; stopped != (tt.limit > 0) || s.Trips != int(min(tt.limit, 1)) ||
			math.Abs(s.Way[0]-way) > 0.2 || math.Abs(s.Way[1]+way) > 0.2 {
			t.Errorf("%T: %+v, want a way of %v mm", tt.firmware, s, way)
		}
	}
}

// A UGV takes JSON: the speeds of its wheels in m/s, or of the robot in m/s and rad/s. Faster commands are ignored.
func TestUGV(t *testing.T) {
	for text, want := range map[string]struct {
		left, right float64
		known       bool
	}{
		`{"T":1,"L":0.5,"R":-0.25}`: {500, -250, true},
		`{"T":13,"X":0.1,"Z":1}`:    {14, 186, true},
		`{"T":1,"L":2.01,"R":0}`:    {0, 0, true},
		`{"T":143,"cmd":0}`:         {0, 0, true},
		`{"T":99}`:                  {0, 0, false},
		`{"L":1}`:                   {0, 0, false},
		`{"T":1,`:                   {0, 0, false},
	} {
		b := &Board{firmware: &UGV{}}
		b.Receive(0, []byte(text+"\r\n"))
		s := b.State()
		moves := math.Abs(s.Speed[0]-want.left) < 1e-6 && math.Abs(s.Speed[1]-want.right) < 1e-6
		if !moves || want.known != (s.Unknown == nil) {
			t.Errorf("%s: %+v, want %+v", text, s, want)
		}
	}
}

// An ODrive drives an axis in closed loop only, and axis 1 the other way.
func TestODriveAxes(t *testing.T) {
	b := &Board{firmware: &ODrive{}}
	for _, tt := range []struct {
		commands    string
		left, right float64
	}{
		{"v 0 1", 0, 0},
		{"w axis0.requested_state 8", odriveTurn, 0},
		{"w axis1.requested_state 8,v 1 -0.5", odriveTurn, odriveTurn / 2},
		{"w axis0.requested_state 1", 0, odriveTurn / 2},
	} {
		for command := range strings.SplitSeq(tt.commands, ",") {
			b.Receive(0, []byte(command+"\n"))
		}
		if s := b.State().Speed; s != [2]float64{tt.left, tt.right} {
			t.Errorf("%s: %v, want %v and %v", tt.commands, s, tt.left, tt.right)
		}
	}
}

// atoi is C's: it ignores the text behind the digits.
func TestAtoi(t *testing.T) {
	for text, want := range map[string]int{"12": 12, "-3x": -3, "": 0, "x1": 0, "7 8": 7, "-": 0} {
		if got := atoi(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// An axis whose watchdog has expired does not turn before its error is cleared and it is in closed loop again.
func TestODriveError(t *testing.T) {
	b := &Board{firmware: &ODrive{}}
	b.Receive(0, []byte("w axis0.requested_state 8\n"))
	now := time.Second // the watchdogs have expired
	for _, tt := range []struct {
		command string
		speed   float64
	}{
		{"v 0 1", 0}, {"w axis0.requested_state 8", 0}, {"sc", 0}, {"v 0 1", 0}, {"w axis0.requested_state 8", odriveTurn},
	} {
		b.Receive(now, []byte(tt.command+"\n"))
		if s := b.State(); s.Speed[0] != tt.speed {
			t.Errorf("%s: %+v, want %v", tt.command, s, tt.speed)
		}
	}
}
