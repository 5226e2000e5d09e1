package sony

import (
	"fmt"
	"testing"
	"time"

	"player/simulation/emulator/internal/rawhost"
)

var wirePackets = []struct{ hex, note string }{
	{"81 09 00 02 FF", "version inquiry"},
	{"81 09 04 00 FF", "power inquiry"},
	{"81 01 04 00 02 FF", "power [2]"},
	{"81 09 06 12 FF", "position inquiry"},
	{"81 09 04 47 FF", "zoom inquiry"},
	{"81 01 06 02 18 14 0F 0F 00 0A 00 00 08 04 FF", "move [24 20 -246 132]"},
	{"81 01 06 02 18 14 00 03 06 07 0F 0E 0E 00 FF", "move [24 20 871 -288]"},
	{"81 01 04 47 00 02 0D 01 FF", "zoom [721]"},
	{"81 01 06 01 18 14 03 01 FF", "drive [24 20 3 1]"},
	{"81 21 FF", "cancel [1]"},
	{"88 30 01 FF", "address set"},
	{"88 01 00 01 FF", "clear"},
	{"81 01 00 01 FF", "clear"},
	{"81 01 04 47 00 02 1D 01 FF", "unknown"}, // five bits instead of four
	{"81 FF", "unknown"},
}

func TestFrame(t *testing.T) {
	for _, tt := range wirePackets {
		p := rawhost.Bytes(t, tt.hex)
		if n, note := new(Camera).Frame(append(p, 0x81)); n != len(p) || note != tt.note {
			t.Errorf("%s: %d, %q, want %q", tt.hex, n, note, tt.note)
		}
		for cut := 1; cut < len(p); cut++ {
			if n, _ := new(Camera).Frame(p[:cut]); n != 0 {
				t.Errorf("% X: framed %d", p[:cut], n)
			}
		}
	}
	for _, tt := range []struct {
		hex  string
		n    int
		note string
	}{
		{"00 01 FF 81 FF", 3, "junk"},
		{"FF", 1, "junk"},
		{"81 00 00 00 00 00 00 00 00 00 00 00 00 00 00", 0, ""},
		{"81 00 00 00 00 00 00 00 00 00 00 00 00 00 00 FF", 16, "unknown"},
		{"81 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 FF", 16, "no end"},
	} {
		if n, note := new(Camera).Frame(rawhost.Bytes(t, tt.hex)); n != tt.n || note != tt.note {
			t.Errorf("%s: %d %q, want %d %q", tt.hex, n, note, tt.n, tt.note)
		}
	}
}

func TestNibbles(t *testing.T) {
	for v, want := range map[int]string{0: "00 00 00 00", -264: "0F 0E 0F 08", 120: "00 00 07 08", 1023: "00 03 0F 0F", -1: "0F 0F 0F 0F"} {
		if got := fmt.Sprintf("% X", appendNibbles(nil, v)); got != want {
			t.Errorf("%d: %s, want %s", v, got, want)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, tt := range wirePackets {
		f.Add(rawhost.Bytes(f, tt.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, now := newCamera(Options{}), time.Duration(0)
		c.send = func(p []byte, note string) {
			if n, _ := new(Camera).Frame(p); n != len(p) || len(p) < 3 {
				t.Fatalf("%s: reply % X is not one packet", note, p)
			}
		}
		for len(b) > 0 {
			n, _ := c.Frame(b)
			if n == 0 {
				if len(b) >= maxPacket {
					t.Fatalf("asks for more than % X", b)
				}
				return
			}
			c.Receive(now, b[:n])
			now += 50 * time.Millisecond
			if next := c.Advance(now); next != 0 && next <= now {
				t.Fatalf("asks at %v for %v", now, next)
			}
			s := c.State()
			if s.Pan < -880 || s.Pan > 880 || s.Tilt < -300 || s.Tilt > 300 || s.Zoom < 0 || s.Zoom > 1023 {
				t.Fatalf("out of range: %+v", s)
			}
			b = b[n:]
		}
	})
}
