package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
	"player/examples/lab"
)

// pioneer are the parts of a Pioneer 2-DX with a laser, as the adapters read them: device,
// number, x, y, heading, length, width, of which the robot's own is left open.
const pioneer = `10
p 0 -40 0 0 440 %d
l 0 80 0 0 155 156
s 0 69 136 90 0 0
s 1 114 119 50 0 0
s 2 148 78 30 0 0
s 3 166 27 10 0 0
s 4 166 -27 -10 0 0
s 5 148 -78 -30 0 0
s 6 114 -119 -50 0 0
s 7 69 -136 -90 0 0
`

// wandering is how long the robot of TestGoto wanders. Python plans for a tenth of this time.
var wandering = flag.Duration("wandering", time.Minute, "simulated time of TestGoto")

// The three implementations of goto give the same commands for the same recording: a robot
// wanders through an office, and they steer for a goal in another room (docs/GOTO.md). A robot
// of 7.8 m is as wide as a map has room for, and a wider one is refused. The odometry of wide
// robots runs away, so that they draw obstacles close together up to the edges of their maps.
func TestGoto(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	readSources(t)
	moments := must.Get(lab.Drive("../../simulation/worlds/office.world", *wandering))(t)
	for _, c := range []struct {
		width, slip, moments int
	}{{380, 0, len(moments)}, {1900, 70, len(moments) / 3}, {7800, 70, len(moments) / 3}} {
		t.Run(fmt.Sprint(c.width, " mm"), func(t *testing.T) {
			compareGoto(t, record(t, c.width, c.slip, moments[:c.moments]), c.moments, c.width == 380)
		})
	}
	path := record(t, 8000, 0, nil)
	forEachPlanner(t, func(t *testing.T, a *adapter) {
		if got := a.call(t, Object{"op": "goto", "path": path, "device": "l"}); got["ok"] != false || got["error"] != "usage" {
			t.Errorf("a robot of 8 m: %s, want error usage", text(got))
		}
	})
}

// record writes the recording of a robot so wide, and returns its path. With a slip, its odometry
// runs away ahead, by so much in each moment. Widths and slip are in mm.
func record(t *testing.T, width, slip int, moments []lab.Moment) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "recording")
	var text bytes.Buffer
	fmt.Fprintf(&text, "2000 2500 "+pioneer, width)
	for i, m := range moments {
		var p codec.PositionData
		var scan codec.LaserData
		var sonar codec.SonarData
		for letter, d := range map[byte]interface{ Decode([]byte) error }{codec.Position: &p, codec.Laser: &scan, codec.Sonar: &sonar} {
			must.Do(t, d.Decode(m[letter]))
		}
		if slip != 0 {
			p.Y, p.Heading = p.Y+int32(slip*i), 90
		}
		if i == len(moments)/2 {
			p.Stall = 1
		}
		fmt.Fprintln(&text, p.X, p.Y, p.Heading, p.Stall)
		for _, r := range scan {
			fmt.Fprint(&text, r, " ")
		}
		for _, r := range sonar {
			fmt.Fprint(&text, r, " ")
		}
	}
	must.Do(t, os.WriteFile(path, text.Bytes(), 0o644))
	return path
}

// forEachPlanner runs f for each language that has the algorithm, Go first.
func forEachPlanner(t *testing.T, f func(t *testing.T, a *adapter)) {
	for _, l := range languages {
		if l.name != "go" && l.name != "cpp" && l.name != "python" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			for _, program := range l.programs {
				needs.Program(t, program)
			}
			f(t, l.adapters(t)(t))
		})
	}
}

// compareGoto compares the commands for a recording of so many rounds. A robot that fits
// through doors gets various ones.
func compareGoto(t *testing.T, path string, rounds int, fits bool) {
	commands := map[string][]any{}
	forEachPlanner(t, func(t *testing.T, a *adapter) {
		for _, device := range []string{"l", "s"} {
			answer := a.call(t, Object{"op": "goto", "path": path, "device": device})
			got, _ := answer["commands"].([]any)
			if commands[device] == nil {
				commands[device] = got
			}
			if len(got) != 2*rounds {
				t.Fatalf("device %s: %d numbers for %d rounds, error %v", device, len(got), rounds, answer["text"])
			}
			various := map[any]bool{}
			for i, v := range got {
				if !reflect.DeepEqual(v, commands[device][i]) {
					t.Fatalf("device %s, round %d: %v, in Go %v", device, i/2, v, commands[device][i])
				}
				various[v] = true
			}
			if fits && len(various) < 10 {
				t.Errorf("device %s: only the numbers %v", device, various)
			}
		}
	})
}
