package p2os

import (
	"maps"
	"math"
	"strings"
	"testing"

	"player/codec/pioneer"
	"player/devices"
	"player/e2e/must"
)

// Every model in the table is complete, and no sonar is at two places.
func TestModelTable(t *testing.T) {
	for _, k := range kinds {
		name, m := k.subclass, k.model()
		if m.Name == "" || m.Distance <= 0 || m.Velocity <= 0 || m.Range <= 0 || m.Vel2 <= 0 || m.Bits < 12 || m.Axle < 150 || m.Axle > 700 {
			t.Errorf("%s: %+v", name, m)
		}
		if turn := m.fullTurn() * m.Angle; math.Abs(turn-2*math.Pi) > 0.001 {
			t.Errorf("%s: a full turn is %v rad", name, turn)
		}
		// At full speed the wrapped coordinates are unambiguous for at least half a second.
		if reach := m.mm(m.wrap() / 2); reach < maxStep+overshoot*maxWheelSpeed/2 {
			t.Errorf("%s: the coordinates tell %.0f mm", name, reach)
		}
		const outside = 17 // mm by which a PatrolBot's sonars stick out, by its parameter file
		for place, n := range m.Sonars {
			if mount := m.Body.Sonars[place]; (mount == pioneer.Mount{}) != (n == noSonar) || math.Abs(mount.X) > m.Body.Length || math.Abs(mount.Y) > m.Body.Width/2+outside {
				t.Errorf("%s: the sonar at place %d is mounted at %v", name, place, mount)
			}
		}
		seen := map[int8]bool{}
		for _, n := range m.Sonars {
			if n != noSonar && seen[n] || n >= robotSonars {
				t.Errorf("%s: sonars %d", name, m.Sonars)
			}
			seen[n] = true
		}
		if got, _, ok := findModel(strings.ToUpper(name)); got != name || !ok {
			t.Errorf("%s is taken for %s", name, got)
		}
	}
}

func TestOverrides(t *testing.T) {
	args := func(with map[string]any) devices.Args {
		values := Kind().Defaults()
		maps.Copy(values, with)
		return devices.Args{Name: "p2os", Values: values}
	}
	none := must.Get(overrides(args(nil)))(t)
	p2dx := byName("p2dx").model()
	if m := none.apply(p2dx); m != p2dx {
		t.Errorf("no option: %+v", m)
	}
	all, err := overrides(args(map[string]any{
		"distance": 1.5, "angle": 0.1, "velocity": 2.0, "range": 3.0, "axle": 400.0, "vel2": 5.0, "bits": 16, "commands": "wheels",
		"sonars": []float64{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 31, -1},
	}))
	want := Model{"Pioneer 2-DX", 1.5, 0.1, 2, 3, 400, 5, 16, false, Sonars{15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 31, -1}, p2dx.Body}
	if m := all.apply(p2dx); err != nil || m != want {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
	driver := must.Get(Kind().New(args(map[string]any{"model": "P3AT-SH"})))(t)
	d := driver.(*Driver)
	if _, err := d.setModel("p2dx"); err != nil || d.model.Name != "Pioneer 3-AT" {
		t.Errorf("the robot says p2dx, the owner p3at-sh: %+v", d.model)
	}
	for _, bad := range []map[string]any{
		{"model": "p3"}, {"commands": "slow"}, {"sonars": []float64{1}},
		{"sonars": []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 32}},
		{"sonars": []float64{0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	} {
		if _, err := Kind().New(args(bad)); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
