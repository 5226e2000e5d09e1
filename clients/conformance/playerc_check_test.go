package conformance

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"player/client/simulation"
)

// player3 is a program for Player 2 and 3 that runs.
type player3 struct {
	t      *testing.T
	output map[string][]string // what it printed, by the first word of a line
	truth  simulation.State
	rounds float64 // of the exercises
}

// number returns a number that the program printed.
func (p *player3) number(name string, field int) float64 {
	p.t.Helper()
	words := p.output[name]
	if field >= len(words) {
		p.t.Fatalf("the program did not print %s %d", name, field)
	}
	v, err := strconv.ParseFloat(words[field], 64)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return v
}

// near compares numbers that the program printed in a line.
func (p *player3) near(name string, tolerance float64, want ...float64) {
	p.t.Helper()
	if got := p.output[name]; len(got) < len(want) {
		p.t.Errorf("%s %q: want %v", name, got, want)
		return
	}
	for i, w := range want {
		if got := p.number(name, i); math.Abs(got-w) > tolerance {
			p.t.Errorf("%s is %v, want %v", name, p.output[name], want)
			return
		}
	}
}

// says looks for text in a line that the program printed.
func (p *player3) says(name, text string) {
	p.t.Helper()
	if got := strings.Join(p.output[name], " "); !strings.Contains(got, text) {
		p.t.Errorf("%s %q lacks %q", name, got, text)
	}
}

// pose is the true pose of a robot or a thing.
func (p *player3) pose(name string) simulation.Mover {
	p.t.Helper()
	m, ok := p.truth.Mover(name)
	if !ok {
		p.t.Fatalf("the world has no %s", name)
	}
	return m
}

func fiducials(p *player3) {
	p.near("before", 0, 0, 0)
	p.near("first", 0.001, 1, 7, 4, 1)
	r0 := p.pose("r0")
	p.near("last", 0.001, math.Hypot(2-r0.X, 1-r0.Y), 0)
	if d := p.number("last", 0); d < 0.5 || d > 0.85 {
		p.t.Errorf("the robot stopped %v m before the post", d)
	}
}

func fiducialsOfC(p *player3) {
	fiducials(p)
	p.near("geometry", 0, 0, 0)
	p.near("fresh", 0, 1, 1)
	p.says("missing", "-1 fiducial:300 is not here")
}

// The names that programs for Player 2 and 3 have, by file: functions and methods in the
// first group.
var player3Names = map[string]*regexp.Regexp{
	"include/libplayerc++/playerc++.h": regexp.MustCompile(`(?m)^  [\w:<>*& ,]*\b([A-Z]\w+)\([^;\n]*\)(?: const)?(?:;| \{)`),
	"include/libplayerc/playerc.h":     regexp.MustCompile(`(?m)^[\w* ]+\b(playerc_\w+)\(`),
	"python/playerc.py":                regexp.MustCompile(`"(?:(\w+)": "[di]*"[,}])`),
	"python/playercpp.py":              regexp.MustCompile(`(?m)^    def ([A-Z]\w+)`),
}

var notPublic = regexp.MustCompile(`(?s)\nprotected:.*?\n};`)

// Each name of the shims is used by a program.
func TestPlayer3Names(t *testing.T) {
	programs := map[string]string{} // by the language of the names
	files, err := filepath.Glob("../playerc/programs/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		language := filepath.Ext(file)
		if language == ".cc" {
			language = ".cpp"
		}
		programs[language] += string(text)
	}
	for file, names := range player3Names {
		text, err := os.ReadFile(filepath.Join("../playerc", file))
		if err != nil {
			t.Fatal(err)
		}
		language := map[string]string{"include/libplayerc++": ".cpp", "include/libplayerc": ".c", "python": ".py"}[filepath.Dir(file)]
		all := names.FindAllStringSubmatch(notPublic.ReplaceAllString(string(text), ""), -1)
		if len(all) < 15 {
			t.Errorf("%s has %d names", file, len(all))
		}
		for _, found := range all {
			if !regexp.MustCompile(`\b` + found[1] + `\b`).MatchString(programs[language]) {
				t.Errorf("%s: no program uses %s", file, found[1])
			}
		}
	}
}
