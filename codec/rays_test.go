package codec

import "testing"

func TestRays(t *testing.T) {
	for line, want := range map[string]Rays{
		"ranger:0 0 1081 80.5 -10 -135 0.25 20 30000 0": {Device: 0x80, Count: 1081, X: 80.5, Y: -10, Heading: -135, Step: 0.25, Near: 20, Far: 30000},
		"s 15 1 -166 27 170 0 100 5000 30":              {Device: 's', First: 15, Count: 1, X: -166, Y: 27, Heading: 170, Near: 100, Far: 5000, Cone: 30},
		"l 0 360 0 0 0 0.175824 0 0 0":                  {Device: 'l', Count: 360, Step: 0.175824},
	} {
		key := string(want.Device)
		if want.Device == 0x80 {
			key = "ranger:0"
		}
		got, ok := ParseRays(line, rangerKeys)
		if !ok || got != want || got.Line(key) != line {
			t.Errorf("%q: %+v, %v, written %q", line, got, ok, got.Line(key))
		}
	}
	if r, ok := ParseRays("l 0 2 0 0 0 1 0 0 0 and more", Letters); !ok || r.Step != 1 {
		t.Errorf("more words: %+v, %v", r, ok)
	}
	for _, line := range []string{"", "l", "l 0 0 0 0 0 0 0 0 0", "l -1 2 0 0 0 0 0 0 0", "l 0 8193 0 0 0 0 0 0 0", "l 8192 1 0 0 0 0 0 0 0",
		"l 0 2 0 0 NaN 0 0 0 0", "l 0 2 0 0 0 Inf 0 0 0", "ll 0 2 0 0 0 1 0 0 0", "l 0 2 0 0 0 1 0 0"} {
		if got, ok := ParseRays(line, Letters); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func rangerKeys(key string) (byte, bool) {
	if key == "ranger:0" {
		return 0x80, true
	}
	return Letters(key)
}

func FuzzRays(f *testing.F) {
	f.Add("l 0 360 -10.5 0 0 0.175824 20 8182 0.5")
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := ParseRays(line, Letters)
		if !ok {
			return
		}
		written := r.Line(string([]byte{r.Device}))
		if again, ok := ParseRays(written, Letters); !ok || again.Line(string([]byte{r.Device})) != written {
			t.Errorf("%q: %+v, written %q, read %+v", line, r, written, again)
		}
	})
}

func TestChannel(t *testing.T) {
	keys := func(key string) (byte, bool) { return 0x81, key == "io:0" }
	for line, want := range map[string]Channel{
		"io:0 3 output bit 0 1 Lamp of the mast":   {0x81, 3, Output, UnitBit, 0, 1, "Lamp of the mast"},
		"io:0 0 input mV -2147483648 -2147483648 ": {0x81, 0, Input, "mV", Unknown, Unknown, ""},
		"io:0 127 joint mdeg -90000 90000 elbow":   {0x81, 127, Jointed, "mdeg", -90000, 90000, "elbow"},
	} {
		got, ok := ParseChannel(line, keys)
		if !ok || got != want || got.Line("io:0") != line {
			t.Errorf("%q: %+v, %v, written %q", line, got, ok, got.Line("io:0"))
		}
	}
	if got := (Channel{Role: Input, Unit: "two words"}).Line("io:0"); got != "io:0 0 input - 0 0 " {
		t.Errorf("a unit of two words: %q", got)
	}
	for _, line := range []string{"", "io:0", "io:1 0 input mV 0 1 x", "io:0 128 input mV 0 1 x", "io:0 -1 input mV 0 1 x", "io:0 0 inout mV 0 1 x",
		"io:0 0 input  0 1 x", "io:0 0 input mV 0 2147483648 x", "io:0 0 input mV x 1 x"} {
		if got, ok := ParseChannel(line, keys); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func FuzzChannel(f *testing.F) {
	f.Add("O 3 output bit 0 1 Lamp")
	f.Fuzz(func(t *testing.T, line string) {
		c, ok := ParseChannel(line, Letters)
		if !ok {
			return
		}
		if again, ok := ParseChannel(c.Line(string([]byte{c.Device})), Letters); !ok || again != c {
			t.Errorf("%q: %+v, written %q, read %+v", line, c, c.Line(string([]byte{c.Device})), again)
		}
	})
}
