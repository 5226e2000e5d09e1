package transport

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		in      string
		lines   []string
		garbage uint64
		waiting string
	}{
		{"a\nb\r\n\r\n\n", []string{"a", "b", "", ""}, 0, ""},
		{"a\tb c~\nrest", []string{"a\tb c~"}, 0, "rest"},
		{"\x00a\xFF\x7Fb\n", []string{"b"}, 4, ""}, // behind bytes that are no text
		{"a\rb\r\n", []string{"a", "b"}, 0, ""},
		{"a\rb\r\rc\r", []string{"a", "b", "", "c"}, 0, ""},
		{"a\n\rb\n\r\n\rc", []string{"a", "b", ""}, 0, "c"},
		{"a\r\n\n\nb\r\r\n", []string{"a", "", "", "b", ""}, 0, ""},
		{long[1:] + "\n", []string{long[1:]}, 0, ""},
		{long + "\n", []string{long[1:]}, 1, ""},
	} {
		for cut := range len(tt.in) + 1 {
			var l Lines
			var got []string
			for _, in := range []string{tt.in[:cut], tt.in[cut:]} {
				for line, rest, ok := l.Next([]byte(in)); ok; line, rest, ok = l.Next(rest) {
					got = append(got, string(line))
				}
			}
			if waiting := string(l.Waiting(l.buf[:])); !slices.Equal(got, tt.lines) || l.Stats.Garbage != tt.garbage || waiting != tt.waiting {
				t.Errorf("%.20q cut at %d: %q, %d bytes of garbage, %q waits", tt.in, cut, got, l.Stats.Garbage, waiting)
			}
		}
	}
	var l Lines
	in := []byte("O 12 34\r\n")
	if n := testing.AllocsPerRun(100, func() { l.Next(in) }); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
