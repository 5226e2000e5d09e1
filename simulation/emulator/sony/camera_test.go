package sony

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"player/simulation/emulator/internal/rawhost"
)

const (
	position = "81 09 06 12 FF"
	origin   = "90 50 00 00 00 00 00 00 00 00 FF"
	home     = "81 01 06 02 18 14 00 00 00 00 00 00 00 00 FF"
	right    = "81 01 06 02 18 14 00 02 0C 00 00 00 00 00 FF" // pan 704: 1 s at 80 deg/s
	rightUp  = "81 01 06 02 18 14 00 02 0C 00 00 01 02 0C FF" // and tilt 300: 0.5 s at 50 deg/s
	tele     = "81 01 04 47 00 02 0B 0C FF"                   // zoom 700: 1 s
)

// A bench is a camera without a cable, on a clock that the test advances.
type bench struct {
	*Camera
	t    *testing.T
	now  time.Duration
	sent []string // "at hex", at in ms
}

func newBench(t *testing.T, opts Options) *bench {
	b := &bench{Camera: newCamera(opts), t: t}
	b.send = func(p []byte, _ string) { b.sent = append(b.sent, fmt.Sprintf("%d % X", b.now.Milliseconds(), p)) }
	return b
}

// run advances the clock to ms and calls Advance at the camera's deadlines.
func (b *bench) run(ms int) {
	for end := time.Duration(ms) * time.Millisecond; ; {
		next := b.Advance(b.now)
		if next == 0 || next > end {
			b.now = end
			return
		}
		b.now = next
	}
}

func TestDialogues(t *testing.T) {
	type say struct {
		at  int // ms
		hex string
	}
	tests := []struct {
		name string
		opts Options
		say  []say
		want []string
		then func(s State) bool
	}{
		{"inquiries", Options{}, []say{{0, "81 09 00 02 FF"}, {0, "81 09 04 00 FF"}, {0, position}, {0, "81 09 04 47 FF"}},
			[]string{"0 90 50 00 20 04 02 00 01 02 FF", "0 90 50 02 FF", "0 " + origin, "0 90 50 00 00 00 00 FF"}, nil},
		{"already there", Options{}, []say{{0, home}, {5, home}},
			[]string{"0 90 41 FF", "0 90 51 FF", "5 90 41 FF", "5 90 51 FF"}, nil},
		{"move and inquire", Options{}, []say{{0, rightUp}, {250, position}, {900, position}, {2000, position}},
			[]string{"0 90 41 FF", "250 90 50 00 00 0B 00 00 00 09 06 FF", "900 90 50 00 02 07 0A 00 01 02 0C FF",
				"1000 90 51 FF", "2000 90 50 00 02 0C 00 00 01 02 0C FF"}, nil},
		{"two at a time, a third is too many", Options{}, []say{{0, right}, {100, tele}, {200, home}, {2000, home}},
			[]string{"0 90 41 FF", "100 90 42 FF", "200 90 60 03 FF", "1000 90 51 FF", "1100 90 52 FF", "2000 90 41 FF", "3000 90 51 FF"},
			func(s State) bool { return s.Pan == 0 && s.Zoom == 700 }},
		{"a later command takes the axis", Options{}, []say{{0, right}, {500, home}, {1500, position}},
			[]string{"0 90 41 FF", "500 90 42 FF", "1000 90 51 FF", "1000 90 52 FF", "1500 " + origin}, nil},
		{"cancel", Options{}, []say{{0, right}, {100, tele}, {500, "81 21 FF"}, {500, "81 21 FF"}, {600, position}, {2000, "81 22 FF"}, {2000, "81 23 FF"}},
			[]string{"0 90 41 FF", "100 90 42 FF", "500 90 61 04 FF", "500 90 61 05 FF", "600 90 50 00 01 06 00 00 00 00 00 FF",
				"1100 90 52 FF", "2000 90 62 05 FF", "2000 90 63 05 FF"}, nil},
		{"home and reset", Options{}, []say{{0, right}, {1500, "81 01 06 04 FF"}, {3000, right}, {4500, "81 01 06 05 FF"}},
			[]string{"0 90 41 FF", "1000 90 51 FF", "1500 90 41 FF", "2500 90 51 FF", "3000 90 41 FF", "4000 90 51 FF", "4500 90 41 FF", "5500 90 51 FF"},
			func(s State) bool { return s.Pan == 0 && s.Tilt == 0 }},
		{"half speed", Options{}, []say{{0, "81 01 06 02 0C 0A 00 02 0C 00 00 00 00 00 FF"}},
			[]string{"0 90 41 FF", "2000 90 51 FF"}, nil},
		{"out of range", Options{}, []say{{0, "81 01 06 02 18 14 00 03 07 01 00 00 00 00 FF"}, {0, "81 01 06 02 18 14 0F 0C 08 0F 00 00 00 00 FF"},
			{0, "81 01 06 02 18 14 00 00 00 00 00 01 02 0D FF"}, {0, "81 01 04 47 00 04 00 00 FF"}, {0, "81 01 04 47 0F 0F 0F 0F FF"}},
			[]string{"0 90 61 41 FF", "0 90 61 41 FF", "0 90 61 41 FF", "0 90 61 41 FF", "0 90 61 41 FF"},
			func(s State) bool { return !s.Moving && s.Sockets == [2]bool{} }},
		{"at the ends of the range", Options{}, []say{{0, "81 01 06 02 18 14 00 03 07 00 0F 0E 0D 04 FF"}, {0, "81 01 04 47 00 03 0F 0F FF"}, {5000, "81 09 04 47 FF"}},
			[]string{"0 90 41 FF", "0 90 42 FF", "1250 90 51 FF", "1461 90 52 FF", "5000 90 50 00 03 0F 0F FF"},
			func(s State) bool { return s.Pan == 880 && s.Tilt == -300 }},
		{"not understood", Options{}, []say{{0, "81 FF"}, {0, "81 01 06 02 19 14 00 00 00 00 00 00 00 00 FF"}, {0, "81 01 06 02 18 00 00 00 00 00 00 00 00 00 FF"},
			{0, "81 01 06 01 18 14 04 03 FF"}, {0, "81 01 04 00 04 FF"}},
			[]string{"0 90 60 02 FF", "0 90 60 02 FF", "0 90 60 02 FF", "0 90 60 02 FF", "0 90 60 02 FF"}, nil},
		{"for others", Options{}, []say{{0, "82 09 04 47 FF"}, {0, "88 09 04 47 FF"}, {0, "90 41 FF"}}, nil, nil},
		{"addresses", Options{}, []say{{0, right}, {100, "88 30 01 FF"}, {100, "88 01 00 01 FF"}, {100, "81 21 FF"}, {100, "81 01 00 01 FF"}},
			[]string{"0 90 41 FF", "100 88 30 02 FF", "100 88 01 00 01 FF", "100 90 61 05 FF", "100 90 50 FF"},
			func(s State) bool { return s.Pan == 70 && !s.Moving }},
		{"drive and stop", Options{}, []say{{0, "81 01 06 01 18 14 02 01 FF"}, {250, "81 01 06 01 18 14 03 03 FF"}, {9000, position},
			{9000, "81 01 06 01 18 14 01 02 FF"}},
			[]string{"0 90 41 FF", "0 90 51 FF", "250 90 41 FF", "250 90 51 FF", "9000 90 50 00 00 0B 00 00 00 09 06 FF", "9000 90 41 FF", "9000 90 51 FF"},
			func(s State) bool { return s.Pan == -880 && s.Tilt == -300 }},
		{"D70", Options{Model: "EVI-D70"}, []say{{0, "81 09 00 02 FF"}, {0, "81 01 06 02 18 17 00 08 0D 0B 0F 0E 07 00 FF"}, {0, "81 01 04 47 04 00 00 00 FF"},
			{5000, "81 01 06 02 18 17 00 08 0D 0C 00 00 00 00 FF"}, {5000, "81 01 06 02 18 18 00 00 00 00 00 00 00 00 FF"}},
			[]string{"0 90 50 00 20 04 0E 00 01 02 FF", "0 90 41 FF", "0 90 42 FF", "1461 90 52 FF", "1700 90 51 FF", "5000 90 61 41 FF", "5000 90 60 02 FF"},
			func(s State) bool { return s.Pan == 2267 && s.Tilt == -400 && s.Zoom == 0x4000 }},
		{"D100", Options{Model: "EVI-D100"}, []say{{0, "81 09 00 02 FF"}, {0, "81 01 06 02 18 14 0F 0A 06 00 00 01 06 08 FF"}},
			[]string{"0 90 50 00 01 04 0D 00 01 02 FF", "0 90 41 FF", "333 90 51 FF"},
			func(s State) bool { return s.Pan == -1440 && s.Tilt == 360 }},
		{"D80", Options{Model: "EVI-D80"}, []say{{0, "81 09 00 02 FF"}}, []string{"0 90 50 00 01 05 0C 00 01 02 FF"}, nil},
		{"without a name", Options{Unnamed: true}, []say{{0, "81 09 00 02 FF"}, {0, position}}, []string{"0 " + origin}, nil},
		{"power", Options{Off: true}, []say{{0, "81 09 04 00 FF"}, {0, position}, {0, home}, {0, "81 01 04 00 02 FF"}, {0, position}, {0, right}, {500, "81 01 04 00 03 FF"}},
			[]string{"0 90 50 03 FF", "0 90 60 41 FF", "0 90 60 41 FF", "0 90 41 FF", "0 90 51 FF", "0 " + origin, "0 90 41 FF", "500 90 42 FF", "500 90 51 FF", "500 90 52 FF"},
			func(s State) bool { return !s.Power && s.Pan == 352 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.opts)
			for _, s := range tt.say {
				b.run(s.at)
				b.Receive(b.now, rawhost.Bytes(t, s.hex))
			}
			b.run(20000)
			if !slices.Equal(b.sent, tt.want) {
				t.Errorf("\n got %q\nwant %q", b.sent, tt.want)
			}
			if tt.then != nil && !tt.then(b.State()) {
				t.Errorf("%+v", b.State())
			}
		})
	}
}

func TestPowerCycle(t *testing.T) {
	b := newBench(t, Options{})
	b.Receive(0, rawhost.Bytes(t, right))
	b.PowerCycle()
	b.run(5000)
	want := []string{"0 90 41 FF", "0 90 38 FF"}
	if s := b.State(); !slices.Equal(b.sent, want) || s.Pan != 0 || s.Counts["move"] != 1 {
		t.Errorf("%q, %+v", b.sent, s)
	}
}
