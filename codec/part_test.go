package codec

import "testing"

func TestPart(t *testing.T) {
	for line, want := range map[string]Part{
		"s 3 166 27 10 0 0 5000 15":    {Device: 's', Number: 3, X: 166, Y: 27, Heading: 10, Range: 5000, View: 15},
		"p 0 -45.5 0 0 511 425 0 0":    {Device: 'p', X: -45.5, Length: 511, Width: 425},
		"z 0 80 -10.2 -180 0 0 0 48.8": {Device: 'z', X: 80, Y: -10.2, Heading: -180, View: 48.8},
		"l 0 0 0 0 0 0 8182 180":       {Device: 'l', Range: 8182, View: 180},
	} {
		got, ok := ParsePart(line, Letters)
		if !ok || got != want || got.Line(string(got.Device)) != line {
			t.Errorf("%q: %+v, %v, written %q", line, got, ok, got.Line(string(got.Device)))
		}
	}
	// A later server may say more.
	if p, ok := ParsePart("l 0 80 0 0 0 0 8182 180 200 word", Letters); !ok || p.X != 80 || p.View != 180 {
		t.Errorf("more words: %+v, %v", p, ok)
	}
	if got := (Part{X: -0.04, Y: 12.3456}).Line("l"); got != "l 0 0 12.3 0 0 0 0 0" {
		t.Errorf("rounded: %q", got)
	}
	for _, line := range []string{"", "s", "s 1 2 3 4 5 6 7", "ss 1 2 3 4 5 6 7 8", "s -1 2 3 4 5 6 7 8", "s 1.5 2 3 4 5 6 7 8",
		"s 1 NaN 3 4 5 6 7 8", "s 1 2 Inf 4 5 6 7 8", "s 1 2 3 x 5 6 7 8", "l missing the robot has no laser, and so on and on"} {
		if got, ok := ParsePart(line, Letters); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzPart(f *testing.F) {
	f.Add("s 3 166 27 10 0 0 5000 15")
	f.Fuzz(func(t *testing.T, line string) {
		p, ok := ParsePart(line, Letters)
		if !ok {
			return
		}
		again, ok := ParsePart(p.Line(string(p.Device)), Letters)
		if !ok || again != p.Rounded() {
			t.Errorf("%q: %+v, written %q, read %+v", line, p, p.Line(string(p.Device)), again)
		}
	})
}
