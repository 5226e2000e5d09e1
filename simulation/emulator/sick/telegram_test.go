package sick

import (
	"bytes"
	"testing"

	"player/simulation/emulator/internal/rawhost"
)

// hostTelegrams are known to be correct.
var hostTelegrams = []struct{ hex, note string }{
	{"02 00 02 00 20 25 35 08", "20 25 mode"},
	{"02 00 02 00 20 24 34 08", "20 24 mode"},
	{"02 00 02 00 20 42 52 08", "20 42 mode"},
	{"02 00 02 00 20 41 51 08", "20 41 mode"},
	{"02 00 02 00 20 40 50 08", "20 40 mode"},
	{"02 00 02 00 20 48 58 08", "20 48 mode"},
	{"02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5", "20 00 mode"},
	{"02 00 0A 00 20 00 53 49 43 4B 5F 50 4C 53 CC FC", "20 00 mode"},
	{"02 00 01 00 3A 1E 12", "3A get type"},
	{"02 00 01 00 31 15 12", "31 get status"},
	{"02 00 01 00 74 50 12", "74 get configuration"},
	{"02 00 05 00 3B B4 00 32 00 3B 1F", "3B set variant"},
	{"02 00 05 00 3B 64 00 19 00 E7 72", "3B set variant"},
	{"02 00 06 00 20 27 5B 00 0F 01 B2 58", "20 27 mode"},
	{"02 00 08 00 77 00 00 70 00 00 01 01 C7 7D", "77 set configuration"},
	{"02 00 01 00 10 34 12", "10 reset"},
}

// laserTelegrams are known to be correct.
var laserTelegrams = []string{
	"02 80 03 00 A0 00 10 16 0A",
	"02 80 03 00 A0 01 10 14 0B",
	"02 80 02 00 92 10 7F 33",
	"02 80 07 00 BB 01 B4 00 32 00 10 03 9D",
	"02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB",
}

func TestTelegrams(t *testing.T) {
	for _, tt := range hostTelegrams {
		b := rawhost.Bytes(t, tt.hex)
		body, ok := parseTelegram(b)
		if !ok || !bytes.Equal(appendTelegram(nil, toLaser, body), b) {
			t.Errorf("%s: parsed %v, CRC %04X", tt.hex, ok, crc(b[:len(b)-2]))
		}
		if n, note := new(Laser).Frame(b); n != len(b) || note != tt.note {
			t.Errorf("%s: framed %d, %q", tt.hex, n, note)
		}
		for cut := 1; cut < len(b); cut++ {
			if n, _ := new(Laser).Frame(b[:cut]); n != 0 {
				t.Errorf("% X: framed %d", b[:cut], n)
			}
			if _, ok := parseTelegram(b[:cut]); ok {
				t.Errorf("% X: parsed", b[:cut])
			}
		}
	}
	for _, hex := range laserTelegrams {
		b := rawhost.Bytes(t, hex)
		if again := appendTelegram(nil, fromLaser, b[header:len(b)-2]); !bytes.Equal(again, b) {
			t.Errorf("%s re-encodes to % X", hex, again)
		}
	}
}

func TestFrameSkipsJunk(t *testing.T) {
	tests := []struct {
		hex  string
		n    int
		note string
	}{
		{"00", 1, "junk"},
		{"00 01 02 00", 2, "junk"},
		{"02", 0, ""},
		{"02 02 00", 1, "junk"},
		{"02 80 03", 3, "junk"}, // from a laser
		{"02 00 00 00", 4, "junk"},
		{"02 00 41 00", 4, "junk"},
		{"02 00 40 00", 0, ""},
		{"02 00 00 02", 3, "junk"},
		{"02 00 02 00 20 24 34 09", 2, "bad CRC"},             // its length is the next 02
		{"02 00 01 00 31 15 13 02 00 01", 7, "bad CRC"},       // the next telegram is kept
		{"02 00 02 00 20 02 00 01 00 31 15 12", 2, "bad CRC"}, // one byte lost
		{"02 00 01 00 74 50 12 02 00 01", 7, "74 get configuration"},
	}
	for _, tt := range tests {
		if n, note := new(Laser).Frame(rawhost.Bytes(t, tt.hex)); n != tt.n || note != tt.note {
			t.Errorf("%s: %d %q, want %d %q", tt.hex, n, note, tt.n, tt.note)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, tt := range hostTelegrams {
		f.Add(rawhost.Bytes(f, tt.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, now := newLaser(Options{Angle: 180, Resolution: 50}, new(wire)), bootTime
		for len(b) > 0 {
			n, _ := l.Frame(b)
			if n == 0 {
				if len(b) >= maxHost+overhead {
					t.Fatalf("asks for more than % X", b)
				}
				return
			}
			if body, ok := parseTelegram(b[:n]); ok && !bytes.Equal(appendTelegram(nil, toLaser, body), b[:n]) {
				t.Fatalf("% X changes when encoded again", b[:n])
			}
			l.Receive(now, b[:n])
			now += bootTime
			l.Advance(now)
			b = b[n:]
		}
	})
}
