package codec

import "testing"

func TestEntry(t *testing.T) {
	for line, want := range map[string]Entry{
		"108 laser 0 sicklms200":   {'l', "laser", 0, "sicklms200"},
		"128 laser 1 stage robot1": {0x80, "laser", 1, "stage robot1"},
		"255 imu 12 ":              {0xFF, "imu", 12, ""},
	} {
		got, ok := ParseEntry(line)
		if !ok || got != want || got.Line() != line {
			t.Errorf("%q: %+v, %v, written %q", line, got, ok, got.Line())
		}
	}
	if got := (Entry{Interface: "laser", Index: 1}).Address(); got != "laser:1" {
		t.Errorf("address %q", got)
	}
	for _, line := range []string{"", "128", "128 laser", "128 laser 1", "0 laser 1 x", "256 laser 1 x", "-1 laser 1 x", "128 laser -1 x",
		"128 laser 1.5 x", "128 laser:1 1 x", "128  1 x", "laser 1 x y"} {
		if got, ok := ParseEntry(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for name, want := range map[string]struct {
		iface string
		index int
		ok    bool
	}{"laser:1": {"laser", 1, true}, "imu": {"imu", 0, true}, "imu:0": {"imu", 0, true}, "": {}, ":1": {"", 1, false}, "imu:": {}, "imu:-1": {}, "imu:x": {},
		"a:1:2": {}} {
		if iface, index, ok := ParseAddress(name); iface != want.iface || index != want.index || ok != want.ok {
			t.Errorf("%q: %q, %d, %v", name, iface, index, ok)
		}
	}
}

func FuzzEntry(f *testing.F) {
	f.Add("128 laser 1 sicklms200")
	f.Fuzz(func(t *testing.T, line string) {
		if e, ok := ParseEntry(line); ok {
			if again, ok := ParseEntry(e.Line()); !ok || again != e {
				t.Errorf("%q: %+v, written %q, read %+v", line, e, e.Line(), again)
			}
		}
	})
}
