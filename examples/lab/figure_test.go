package lab_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"player/client/subsumption"
	"player/devices/stage"
	"player/examples/lab"
)

// matches checks that a figure equals the documentation's. Other processors
// than the figure's round differently, and a robot that bumps
// into things takes another path for it; there it only has to be well-formed.
func matches(t *testing.T, name, svg string) {
	t.Helper()
	wellFormed(t, svg)
	if runtime.GOARCH != "amd64" {
		return
	}
	want, err := os.ReadFile("../../docs/subsumption-" + name + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	if svg != string(want) {
		t.Errorf("docs/subsumption-%s.svg is not the figure of this run; if the change is meant: go test ./examples/lab -update", name)
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the figure is no XML: %v", err)
		}
	}
}

// Robots in colours of their own have a line each, robots that have not driven
// have none.
func TestFigureByRobot(t *testing.T) {
	l, _ := open(t, "subsumption-square.world")
	figure := lab.Figure{Title: "Nobody has driven", ByRobot: true}
	still := figure.Draw(l)
	wellFormed(t, still)
	if strings.Contains(still, "<polyline") {
		t.Error("a robot that has not driven has a path")
	}

	for _, r := range l.Robots {
		r.Stack = subsumption.New(layer("cruise", subsumption.Cruise{}))
	}
	if l.RunUntil(time.Minute, func() bool { return l.Robots[0].Distance(1.5, 1.5) > 0.5 }) >= time.Minute {
		t.Fatal("the robot did not drive")
	}
	driven := figure.Draw(l)
	wellFormed(t, driven)
	if n := strings.Count(driven, "<polyline"); n != len(l.Robots) {
		t.Errorf("%d paths of %d robots", n, len(l.Robots))
	}
	colors := map[string]bool{}
	for line := range strings.Lines(driven) {
		if _, rest, ok := strings.Cut(line, `fill="none" stroke="hsl(`); ok {
			colors[rest] = true
		}
	}
	if len(colors) != len(l.Robots) {
		t.Errorf("colours %v of %d robots", colors, len(l.Robots))
	}
}

// Every layer that the documentation explains has a colour; those of one figure
// differ.
func TestFigureLegend(t *testing.T) {
	l, _ := open(t, "subsumption-box.world")
	layers := legend("prowl", "photo", "ir", "bump", "sonar", "escape", "perimeter", "xlate")
	svg := lab.Figure{
		Title: "All layers", Layers: layers,
		Goals: []stage.Vec{{X: 1}, {X: 2}},
		Marks: []lab.Mark{{X: 1, Y: 1, Text: "here"}},
	}.Draw(l)
	wellFormed(t, svg)
	_, explained, _ := strings.Cut(svg, `<g font-size="14"`)
	colors := map[string]bool{}
	for _, part := range strings.Split(explained, `r="6" fill="`)[1:] {
		color, _, _ := strings.Cut(part, `"`)
		colors[color] = true
	}
	if len(colors) != len(layers) {
		t.Errorf("%d colours of %d layers", len(colors), len(layers))
	}
	for _, text := range []string{">All layers</title>", ">here</text>", ">1 m</text>", `fill="#c2410c">2</text>`} {
		if !strings.Contains(svg, text) {
			t.Errorf("not in the figure: %s", text)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := lab.Open("nowhere.world"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a world that is not there: %v", err)
	}
	path := filepath.Join(t.TempDir(), "warns.world")
	if err := os.WriteFile(path, []byte("no_such_setting 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Open(path); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("a world with a warning: %v", err)
	}
}
