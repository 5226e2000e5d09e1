package transport

import (
	"bytes"
	"slices"
	"testing"
)

// toy judges frames of a protocol of this test: '<', letters, '>'; a '!' breaks
// the frame that it is in. They are at most eight bytes long.
func toy(b []byte) (size int, v Verdict) {
	for i, c := range b[:min(len(b), 8)] {
		switch {
		case (i == 0) != (c == '<'):
			return 0, Junk
		case c == '!':
			return 0, Damaged
		case c == '>':
			return i + 1, Whole
		}
	}
	if len(b) >= 8 {
		return 0, Junk
	}
	return 0, Partial
}

func TestFraming(t *testing.T) {
	for _, tt := range []struct {
		in      string
		packets []string
		stats   Stats
		waiting string
	}{
		{"", nil, Stats{}, ""},
		{"<a>", []string{"<a>"}, Stats{Packets: 1}, ""},
		{"<a><bc>", []string{"<a>", "<bc>"}, Stats{Packets: 2}, ""},
		{"x<a>yz<b>", []string{"<a>", "<b>"}, Stats{Packets: 2, Garbage: 3}, ""},
		{"<a<b>", []string{"<b>"}, Stats{Packets: 1, Garbage: 2}, ""}, // behind a false beginning
		{"<a!<b>", []string{"<b>"}, Stats{Packets: 1, Garbage: 3, Broken: 1}, ""},
		{"<abcdefg>", nil, Stats{Garbage: 9}, ""}, // longer than any
		{"<abcdef>", []string{"<abcdef>"}, Stats{Packets: 1}, ""},
		{"<a><b", []string{"<a>"}, Stats{Packets: 1}, "<b"},
	} {
		for cut := range len(tt.in) + 1 {
			var f Framing
			var buf [8]byte
			var packets []string
			for _, in := range []string{tt.in[:cut], tt.in[cut:]} {
				for packet, rest := f.Next(buf[:], []byte(in), toy); packet != nil; packet, rest = f.Next(buf[:], rest, toy) {
					packets = append(packets, string(packet))
				}
			}
			if waiting := f.Waiting(buf[:]); !slices.Equal(packets, tt.packets) || f.Stats != tt.stats || !bytes.Equal(waiting, []byte(tt.waiting)) {
				t.Errorf("%q cut at %d: %q, %+v, %q waits; want %q, %+v, %q", tt.in, cut, packets, f.Stats, waiting, tt.packets, tt.stats, tt.waiting)
			}
			f.Reset()
			if want := tt.stats.Garbage + uint64(len(tt.waiting)); f.Stats.Garbage != want || len(f.Waiting(buf[:])) > 0 {
				t.Errorf("%q cut at %d, reset: %d bytes are garbage, want %d", tt.in, cut, f.Stats.Garbage, want)
			}
		}
	}
}
