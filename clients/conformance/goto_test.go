package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/needs"
	"player/lab"
)

// pioneer are the parts of a Pioneer 2-DX with a laser, as the adapters read them: device,
// number, x, y, heading, length, width.
const pioneer = `10
p 0 -40 0 0 440 380
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

// The three implementations of goto give the same commands for the same recording: a robot
// wanders through an office, and they steer for a goal in another room (docs/GOTO.md).
func TestGoto(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	lookAtSources(t)
	moments, err := lab.Drive("../../worlds/office.world", 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "recording")
	var text bytes.Buffer
	fmt.Fprint(&text, "2000 2500 ", pioneer)
	for i, m := range moments {
		var p codec.PositionData
		var scan codec.LaserData
		var sonar codec.SonarData
		for letter, d := range map[byte]interface{ Decode([]byte) error }{codec.Position: &p, codec.Laser: &scan, codec.Sonar: &sonar} {
			if err := d.Decode(m[letter]); err != nil {
				t.Fatal(err)
			}
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
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	commands := map[string][]any{}
	for _, l := range languages {
		if l.name != "go" && l.name != "cpp" && l.name != "python" {
			continue
		}
		t.Run(l.name, func(t *testing.T) { // Go is the first
			for _, program := range l.programs {
				needs.Program(t, program)
			}
			a := l.adapters(t)(t)
			for _, device := range []string{"l", "s"} {
				got, _ := a.call(t, Object{"op": "goto", "path": path, "device": device})["commands"].([]any)
				if commands[device] == nil {
					commands[device] = got
				}
				if len(got) != 2*len(moments) {
					t.Fatalf("device %s: %d numbers for %d rounds", device, len(got), len(moments))
				}
				turns := map[any]bool{}
				for i, v := range got {
					if !reflect.DeepEqual(v, commands[device][i]) {
						t.Fatalf("device %s, round %d: %v, in Go %v", device, i/2, v, commands[device][i])
					}
					turns[v] = true
				}
				if len(turns) < 10 {
					t.Errorf("device %s: only the numbers %v", device, turns)
				}
			}
		})
	}
}
