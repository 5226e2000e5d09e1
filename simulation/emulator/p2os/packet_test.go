package p2os

import (
	"bytes"
	"testing"

	"player/simulation/emulator/internal/rawhost"
)

// wirePackets were recorded between robots and hosts, in both directions.
var wirePackets = []struct{ hex, note string }{
	{"FA FB 03 00 00 00", "cmd 0 PULSE"},
	{"FA FB 03 01 00 01", "cmd 1 OPEN"},
	{"FA FB 03 02 00 02", "cmd 2 CLOSE"},
	{"FA FB 03 1D 00 1D", "cmd 29 STOP"},
	{"FA FB 04 07 3B 07 3B", "cmd 7 SETO"},
	{"FA FB 06 04 3B 01 00 05 3B", "cmd 4 ENABLE 1"},
	{"FA FB 06 20 3B 04 FC 25 37", "cmd 32 VEL2 64516"},
	{"FA FB 06 15 1B 14 00 29 1B", "cmd 21 RVEL -20"},
	{"FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55", "cmd 2 CLOSE"},
	{"FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93", "cmd 50 HOSTBAUD"},
}

func TestPacketsSeenOnTheWire(t *testing.T) {
	for _, tt := range wirePackets {
		p := rawhost.Bytes(t, tt.hex)
		body, ok := parsePacket(p)
		if !ok {
			t.Errorf("% X: checksum %04X", p, checksum(body))
			continue
		}
		if again := packetOf(body); !bytes.Equal(again, p) {
			t.Errorf("% X re-encodes to % X", p, again)
		}
		if n, note := new(Robot).Frame(p); n != len(p) || note != tt.note {
			t.Errorf("% X: framed %d, %q, want %q", p, n, note, tt.note)
		}
		for cut := range len(p) {
			if cut > 0 {
				if n, _ := new(Robot).Frame(p[:cut]); n != 0 {
					t.Errorf("% X: framed %d of %d bytes", p[:cut], n, len(p))
				}
			}
			if _, ok := parsePacket(p[:cut]); ok {
				t.Errorf("% X: parsed", p[:cut])
			}
		}
	}
}

func TestFrameSkipsJunk(t *testing.T) {
	tests := []struct {
		hex  string
		n    int
		note string
	}{
		{"00 01 02", 3, "junk"},
		{"00 01 FA", 2, "junk"},
		{"FA", 0, ""},
		{"FA FA", 1, "junk"},
		{"FA 00 FA FB", 2, "junk"},
		{"FA FB", 0, ""},
		{"FA FB 02", 3, "junk"},
		{"FA FB C4", 3, "junk"}, // longer than a packet may be
		{"FA FB C3", 0, ""},
		{"FA FB 03 00 00 01 FA", 6, "bad checksum"},
	}
	for _, tt := range tests {
		if n, note := new(Robot).Frame(rawhost.Bytes(t, tt.hex)); n != tt.n || note != tt.note {
			t.Errorf("%s: %d %q, want %d %q", tt.hex, n, note, tt.n, tt.note)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, tt := range wirePackets {
		f.Add(rawhost.Bytes(f, tt.hex))
	}
	f.Add([]byte{head1, head2, maxCount, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, now := newRobot(Options{LeftOpen: true}), sipPeriod
		r.send = func([]byte, string) {}
		for len(b) > 0 {
			n, _ := r.Frame(b)
			if n == 0 {
				if len(b) >= maxCount+3 {
					t.Fatalf("asks for more than % X", b)
				}
				return
			}
			if body, ok := parsePacket(b[:n]); ok && !bytes.Equal(packetOf(body), b[:n]) {
				t.Fatalf("% X changes when encoded again", b[:n])
			}
			r.Receive(now, b[:n])
			now += sipPeriod
			r.Advance(now)
			b = b[n:]
		}
	})
}
