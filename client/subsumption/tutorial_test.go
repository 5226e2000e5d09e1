package subsumption_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"player/client/subsumption"
	"player/client/subsumption/sense"
	"player/devices/stage"
	"player/e2e/must"
	"player/examples/lab"
)

var update = flag.Bool("update", false, "write the figures of docs/SUBSUMPTION.md")

// explore runs a stack in the tutorial's room until the robot reaches the
// light, which takes half a minute, or for 40 s.
func explore(stack *subsumption.Stack) (*lab.Lab, bool) {
	l, err := lab.Open("../../simulation/worlds/subsumption-light.world")
	if err != nil {
		panic(err)
	}
	robot := l.Robots[0]
	robot.Eye = &sense.Eye{Channel: stage.LightChannel}
	l.Wait(4 * time.Second) // the camera finds the light
	robot.Stack = stack
	there := func() bool { return robot.Distance(3.6, 4.9) < 0.15 }
	l.RunUntil(40*time.Second, there)
	return l, there()
}

// try returns the layers that won, in the order in which each first won, and
// whether the robot reached the light.
func try(stack *subsumption.Stack) string {
	l, there := explore(stack)
	var layers []string
	for _, s := range lab.Segments(l.Robots[0].Track) {
		if !slices.Contains(layers, s.Layer) {
			layers = append(layers, s.Layer)
		}
	}
	return fmt.Sprintf("%s; at the light: %v", strings.Join(layers, " "), there)
}

// TestTutorialFigures draws how far each of the first three robots gets. The
// examples show that they get no farther.
func TestTutorialFigures(t *testing.T) {
	if !*update {
		return
	}
	photo := lab.Legend{Layer: "photo", Meaning: "turns towards the light"}
	cruise := lab.Legend{Layer: "cruise", Meaning: "drives straight on"}
	ir := lab.Legend{Layer: "ir", Meaning: "turns away from what is within 18 inches"}
	for i, step := range []struct {
		title  string
		stack  *subsumption.Stack
		layers []lab.Legend
	}{
		{"One layer: cruise", cruiser(), []lab.Legend{cruise}},
		{"Two layers: photo above cruise", moth(), []lab.Legend{photo, cruise}},
		{"Three layers: ir above photo and cruise", carefulMoth(), []lab.Legend{ir, photo, cruise}},
	} {
		l, _ := explore(step.stack)
		figure := lab.Figure{Title: step.title, Layers: step.layers}
		must.Do(t, os.WriteFile(fmt.Sprintf("../docs/subsumption-step%d.svg", i+1), []byte(figure.Draw(l)), 0o644))
	}
}

// TestTutorialCompiles: every piece of Go in the tutorial is also in a
// compiled file, so that it stays correct; and every figure exists.
func TestTutorialCompiles(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/SUBSUMPTION.md"))(t)
	var sources []string
	for _, root := range []string{".", "../../examples"} {
		must.Do(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) != ".go" {
				return err
			}
			text, err := os.ReadFile(path)
			sources = append(sources, squeeze(string(text)))
			return err
		}))
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("%d pieces of code in the tutorial", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, squeeze(code)) }) {
			t.Errorf("this is in the tutorial and in no source file:\n%s", code)
		}
	}
	for _, link := range strings.Split(string(page), "](")[1:] {
		name, _, _ := strings.Cut(link, ")")
		name, _, _ = strings.Cut(name, "#")
		if name == "" || strings.Contains(name, "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join("../../docs", name)); err != nil {
			t.Errorf("broken link: %v", err)
		}
	}
}

// squeeze replaces all white space with single blanks.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
