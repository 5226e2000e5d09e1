package stage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/devices"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/formats/syntax"
	"player/simulation/worlds"
)

func TestNamesOfWorlds(t *testing.T) {
	names := worlds.Names()
	if !slices.Contains(names, "room") || !slices.IsSorted(names) {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		if summary := worlds.Summary(name); !worlds.Exists(name) || strings.HasPrefix(summary, "#") || len(summary) < 10 {
			t.Errorf("%s: summary %q", name, summary)
		}
	}
	if worlds.Exists("nowhere") || worlds.Exists("../worlds/room") || worlds.Summary("nowhere") != "" {
		t.Error("a world that does not exist")
	}
}

func TestShippedWorldsLoad(t *testing.T) {
	acceptance.Alone(t)
	files, err := filepath.Glob("../../simulation/worlds/*.world")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		w, err := Load(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, warning := range w.Warnings() {
			t.Error(warning)
		}
		if len(w.Robots()) == 0 {
			t.Errorf("%s: no robot", file)
		}
	}
}

// The includes of Stage's installation, and the models in them that worlds name, need no files.
func TestIncludesOfStage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text   string
		robots int
		check  func(r *Robot) bool // of the last robot
	}{
		{`include "pioneer.inc" include "map.inc" include "sick.inc" pioneer2dx ( sicklaser ( pose [0.04 0 0 0] ) )`, 1,
			func(r *Robot) bool { return r.lasers[0].pose.X == 0.04 && len(r.sonars.ring) == 16 }},
		{`include "sick.inc" include "pioneer.inc" pioneer2dx_base_no_sonar ( fancysicklaser () )`, 1,
			func(r *Robot) bool { return r.lasers != nil && r.sonars == nil }},
		{`include "sick.inc" position ( ranger ( sicksensor () ) )`, 1, func(r *Robot) bool { return r.lasers[0].reach == 8 }},
		{`include "/usr/local/share/stage/worlds/pioneer.inc" pioneer3dx () pioneer3at ( pose [2 0 0 0] )`, 2,
			func(r *Robot) bool { return r.sonars.ring[0].pose.X == 0.147 }},
		{`include "pioneer.inc" amigobot () fancypioneer2dx ( pose [2 0 0 0] ) pioneer2dx_front_sonar ( pose [4 0 0 0] )`, 3,
			func(r *Robot) bool { return len(r.sonars.ring) == 8 }},
		{`include "irobot.inc" include "hokuyo.inc" roomba () create ( pose [2 0 0 0] hokuyolaser () )`, 2,
			func(r *Robot) bool { return r.lasers[0].reach == 4 && r.lasers[0].height < 0.2 }},
		{`include "map.inc" zone ( pose [0 0 0 0] ) position ()`, 1, func(r *Robot) bool { return !r.world.blocked(r.body) }},
	} {
		text := strings.NewReplacer(` include`, "\ninclude", `inc" `, "inc\"\n").Replace(test.text)
		w, err := Load(write(t, t.TempDir(), "a.world", text))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := len(w.robots); n != test.robots || !test.check(w.robots[n-1]) || w.Warnings() != nil {
			t.Errorf("%s: %d robots, warnings %q", test.text, n, w.Warnings())
		}
	}
	text, err := syntax.Reader("a.world", worlds.Files)("/opt/Stage/share/stage/worlds/sick.inc")
	if want, _ := worlds.Files.ReadFile("sick.inc"); err != nil || string(text) != string(want) {
		t.Errorf("an include of Stage for a world in the working directory: %v", err)
	}
	if _, err := Load(write(t, t.TempDir(), "a.world", `include "/somewhere/worlds/pioneer.inc"`)); err == nil {
		t.Error("an include that is neither in the folder of the world nor of Stage is found")
	}
}

func TestWorldsWithoutFiles(t *testing.T) {
	dir := t.TempDir()
	own := write(t, dir, "own.world", "include \"pioneer.inc\"\ninclude \"map.inc\"\ninclude \"here.inc\"\npioneer_full ()\n")
	write(t, dir, "here.inc", `name "mine"`)
	for _, path := range []string{own, filepath.Join(dir, "cave"), "room"} {
		w, err := Load(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if len(w.Robots()) == 0 {
			t.Errorf("%s: no robot", path)
		}
	}
	// Files on the disk come first, and a wrong path is not taken for a name.
	if w, err := Load(write(t, dir, "room", `name "empty"`)); err != nil || len(w.Robots()) != 0 {
		t.Errorf("a file named room: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "room.world")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// A world is another one when any of its files has changed, and only then.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "own.world")
	picture := func(rows ...string) {
		data := must.Get(os.ReadFile(writePNG(t, rows...)))(t)
		write(t, dir, "plan.png", string(data))
	}
	source := func() string {
		w := must.Get(Load(path))(t)
		instances := w.Instances()
		if one, other := instances[0].Driver.(devices.Sourced).Source(), instances[1].Driver.(devices.Sourced).Source(); one != other {
			t.Error("two robots of a world have two sources")
		}
		return instances[0].Driver.(devices.Sourced).Source()
	}
	world := "include \"pioneer.inc\"\ninclude \"here.inc\"\nmodel ( bitmap \"plan.png\" size [8 8 1] )\npioneer_full ()\npioneer_full ( pose [1 1 0 0] )\n"
	write(t, dir, "own.world", world)
	write(t, dir, "here.inc", "seed 1")
	picture("#   ")
	before := source()
	write(t, dir, "own.world", world) // with a new time
	if source() != before {
		t.Error("the same files have another source")
	}
	for name, change := range map[string]func(){
		"the world":   func() { write(t, dir, "own.world", world+"\n") },
		"an include":  func() { write(t, dir, "here.inc", "seed 2") },
		"the picture": func() { picture("#  #") },
	} {
		last := source()
		if change(); source() == last {
			t.Errorf("%s has changed, the source has not", name)
		}
	}
}
