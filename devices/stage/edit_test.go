package stage

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/needs"
)

// decimals bounds the error of the four decimals of a pose, metres and radians.
const decimals = 2e-4

func draftOf(t *testing.T, w *World) *Draft {
	t.Helper()
	return must.Get(w.Draft())(t)
}

// Writing its pose into each section of every world changes nothing.
func TestMoveNowhere(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	files, err := filepath.Glob("../../simulation/worlds/*.world")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		w, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		d := draftOf(t, w)
		before := d.Starts()
		for i := 0; i < len(before); i += 1 + len(before)/10 {
			if d, err = d.Move(i, before[i]); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		for i, at := range d.Starts() {
			if !nearPose(at, before[i], decimals) {
				t.Errorf("%s: thing %d at %v, was at %v", file, i, at, before[i])
			}
		}
		if got, want := fmt.Sprint(d.World.Movers()), fmt.Sprint(w.Movers()); got != want {
			t.Errorf("%s: movers %s, want %s", file, got, want)
		}
	}
}

// A world can be edited although it has unused defines that lead back to themselves, or are too
// large when they are expanded.
func TestEditWithUnusableDefines(t *testing.T) {
	t.Parallel()
	const cycles = "define a model ( b() )\ndefine b model ( a() )\ndefine c d ()\ndefine d c ()\ndefine chair seat ()\ndefine seat model ()\n"
	large := "define row model ( d0() )\ndefine wall model ( d0() )\n"
	for i := range 32 {
		large += fmt.Sprintf("define d%d model ( d%d() d%d() )\n", i, i+1, i+1)
	}
	kinds := draftOf(t, withWarnings(t, cycles+large+"position ()\n")).Kinds()
	if !slices.Contains(kinds, "chair") || slices.Contains(kinds, "c") || slices.Contains(kinds, "d") {
		t.Errorf("the kinds are %v", kinds)
	}
}

// thing is a thing that a test expects in a world.
type thing struct {
	name string // of a robot
	at   Pose
}

func things(w *World, starts []Pose) (list []thing) {
	for i, at := range starts {
		name := ""
		if k := i - len(w.fixtures); k >= 0 && k < len(w.robots) {
			name = w.robots[k].Name
		}
		list = append(list, thing{name, at})
	}
	return list
}

// same reports whether two lists have the same things, in any order.
func same(a, b []thing) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		i := slices.IndexFunc(b, func(y thing) bool { return x.name == y.name && nearPose(x.at, y.at, decimals) })
		if i < 0 {
			return false
		}
		b = slices.Delete(slices.Clone(b), i, i+1)
	}
	return true
}

// Random changes of a file that has everything: after each the text, saved and loaded
// as a file, has the things that the list of changes has.
func TestEditRoundTrip(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	for _, units := range []string{"resolution 0.1\n", "resolution 10\nunit_length \"cm\"\nunit_angle \"radians\"\n"} {
		text := units + `include "pioneer.inc"
include "things.inc"
define home pioneer2dx ( pose [0 0 0 0] ) # the pose is that of the define
home()
pioneer2dx ( # a comment with ) and "
  pose [3 3 0.5] sicklaser ( pose [0.1 0 0 0] ) )
home ( name "ada" pose [-3 3 0 1] ) crate ( pose [6 6 0.25 1] ) # two on a line
model
(
  size [1 1 1] # no pose
  origin [9 9 0 0]
)
define shelf model ( pose [-9 9 0 0] )
shelf ( ) shelf ( ) # one is moved without the other
puck ( pose [-6 -6 0 0] )`
		dir := t.TempDir()
		w := must.Get(textOrigin(text).world())(t)
		d := draftOf(t, w)
		want := things(d.World, d.Starts())
		random := rand.New(rand.NewPCG(1, 2))
		at := func() Pose {
			return Pose{X: random.Float64()*40 - 20, Y: random.Float64()*40 - 20, Heading: random.Float64()*6 - 3}
		}
		changes := 0
		for range 60 {
			var next *Draft
			var err error
			expected, pose := slices.Clone(want), at()
			index := random.IntN(len(d.Starts()))
			place := slices.IndexFunc(expected, func(x thing) bool { return x == things(d.World, d.Starts())[index] })
			switch random.IntN(6) {
			case 0, 1:
				next, err = d.Move(index, pose)
				expected[place].at = pose
			case 2:
				next, err = d.Delete(index)
				expected = slices.Delete(expected, place, place+1)
			case 3:
				kind := []string{"crate", "puck", "box", "post"}[random.IntN(4)]
				next, err = d.Add(kind, pose)
				expected = append(expected, thing{"", pose})
			case 4:
				next, err = d.Add([]string{"home", "position"}[random.IntN(2)], pose)
				if err == nil {
					for _, r := range next.World.Robots() {
						if d.World.Robot(r.Name) == nil {
							expected = append(expected, thing{r.Name, pose})
						}
					}
				}
			case 5:
				to := Vec{X: pose.X + 1, Y: pose.Y - 1}
				next, err = d.AddWall(pose.Position(), to)
				expected = append(expected, thing{"", Pose{X: pose.X + 0.5, Y: pose.Y - 0.5, Heading: -math.Pi / 4}})
			}
			if err != nil {
				if !errors.Is(err, ErrNoRoom) {
					t.Fatal(err)
				}
				continue
			}
			changes++
			if got := things(next.World, next.Starts()); !same(got, expected) {
				t.Fatalf("things %v, want %v in\n%s", got, expected, next.Text())
			}
			d, want = next, things(next.World, next.Starts())
			loaded := must.Get(Load(write(t, dir, "test.world", d.Text())))(t) // finds the includes in the binary
			for i, r := range loaded.Robots() {
				if k := len(d.World.fixtures) + i; r.Name != d.World.robots[i].Name || !nearPose(r.Pose(), d.Starts()[k], decimals) {
					t.Fatalf("robot %s at %v", r.Name, r.Pose())
				}
			}
			if fmt.Sprint(loaded.Fixtures()) != fmt.Sprint(d.World.Fixtures()) {
				t.Fatal("the loaded file has other fixtures")
			}
		}
		if changes < 30 {
			t.Errorf("only %d changes had room", changes)
		}
	}
}

func TestEditText(t *testing.T) {
	const world = `include "things.inc"
position ( name "a" pose [0 0 0 0] )
position ( pose [2 0 0 0] )
position
(
  pose [4 0 0 0]
)
`
	for _, tt := range []struct {
		name string
		edit func(d *Draft) (*Draft, error)
		want string // a line that is new
		gone string // a text that is gone
	}{
		{"move", func(d *Draft) (*Draft, error) { return d.Move(0, Pose{X: 1, Y: -1.23456, Heading: math.Pi / 2}) }, `position ( name "a" pose [1 -1.2346 0 90] )`, ""},
		{"delete", func(d *Draft) (*Draft, error) { return d.Delete(1) }, ` name "r2" )`, "[2 0 0 0]"},
		{"wall", func(d *Draft) (*Draft, error) { return d.AddWall(Vec{X: -2, Y: 2}, Vec{X: 2, Y: 2}) }, `wall ( pose [0 2 0 0] size [4] )`, ""},
		{"robot", func(d *Draft) (*Draft, error) { return d.Add("position", Pose{Y: 3}) }, `position ( pose [0 3 0 0] name "r0" )`, ""},
	} {
		d := draftOf(t, newWorld(t, world))
		next, err := tt.edit(d)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if text := next.Text(); !slices.Contains(strings.Split(text, "\n"), tt.want) && !strings.Contains(text, tt.want) || tt.gone != "" && strings.Contains(text, tt.gone) {
			t.Errorf("%s:\n%s", tt.name, text)
		}
		if back, err := next.Undo(); err != nil || back.Text() != world {
			t.Errorf("%s: undone: %v", tt.name, err)
		}
	}
	d, err := draftOf(t, newWorld(t, `position ( pose [0 0 0 0] )`)).AddWall(Vec{X: -2, Y: 2}, Vec{X: 2, Y: 2})
	if err != nil || len(d.World.fixtures) != 1 { // the world defines no wall
		t.Errorf("wall: %v", err)
	}
}

// A draft knows which file it began with. Reverting takes the file of another world, and
// can be undone.
func TestRevert(t *testing.T) {
	was, is := newWorld(t, `position ( name "a" pose [0 0 0 0] )`), newWorld(t, `position ( name "b" pose [0 0 0 0] )`)
	d := draftOf(t, was)
	if d.Changed() || !d.Of(was) || d.Of(is) {
		t.Error("a draft that has just begun")
	}
	moved, err := d.Move(0, Pose{X: 1})
	if err != nil || !moved.Changed() || !moved.Of(was) {
		t.Fatalf("moved: %v", err)
	}
	reverted, err := moved.Revert(is)
	if err != nil || reverted.Changed() || !reverted.Of(is) || reverted.World.Robot("b") == nil {
		t.Fatalf("reverted: %v", err)
	}
	back, err := reverted.Undo()
	if err != nil || back.Text() != moved.Text() || !back.Of(was) {
		t.Fatalf("undone: %v", err)
	}
	if first, err := back.Undo(); err != nil || first.Changed() {
		t.Errorf("undone twice: %v", err)
	}
}

func TestEditRefused(t *testing.T) {
	w := newWorld(t, robotWorld+`
wall ( pose [2 0 0 90] )
pioneer2dx ( )
`)
	d := draftOf(t, w)
	for want, edit := range map[string]func() (*Draft, error){
		"there is no room":       func() (*Draft, error) { return d.Move(1, Pose{X: 2}) },
		"no room: a thing":       func() (*Draft, error) { return d.AddWall(Vec{X: -1}, Vec{X: 1}) },
		"has no \"sofa":          func() (*Draft, error) { return d.Add("sofa ( ) #", Pose{}) },
		"there is no thing 2":    func() (*Draft, error) { return d.Move(2, Pose{}) },
		"there is no thing -1":   func() (*Draft, error) { return d.Delete(-1) },
		"is not a pose":          func() (*Draft, error) { return d.Move(0, Pose{X: math.NaN()}) },
		"the wall is too short":  func() (*Draft, error) { return d.AddWall(Vec{X: 1, Y: 1}, Vec{X: 1, Y: 1}) },
		"there is nothing to un": func() (*Draft, error) { return d.Undo() },
	} {
		_, err := edit()
		refused(t, "an edit", err, want)
	}
	included := origin{"main.world", func(path string) ([]byte, error) {
		if path == "main.world" {
			return []byte("include \"more.inc\"\n"), nil
		}
		return []byte("position ( )\n"), nil
	}, openFile, size{maxStored, maxTiles}, FileSeed}
	w = must.Get(included.world())(t)
	_, err := draftOf(t, w).Delete(0)
	refused(t, "a robot of an included file", err, "included file more.inc")
}

// A draft stays small, whatever is drawn: the server's computer drives robots.
func TestDraftIsBounded(t *testing.T) {
	acceptance.Alone(t)
	w := must.Get(Load("room"))(t)
	for what, do := range map[string]func(d *Draft) (*Draft, error){
		"far": func(d *Draft) (*Draft, error) { return d.AddWall(Vec{X: -900, Y: -900}, Vec{X: 900, Y: 900}) },
		"long": func(d *Draft) (*Draft, error) {
			for y := range 20 {
				var err error
				if d, err = d.AddWall(Vec{X: 10, Y: float64(10 + 8*y)}, Vec{X: 160, Y: float64(14 + 8*y)}); err != nil {
					return nil, err
				}
			}
			return d, nil
		},
		"many": func(d *Draft) (*Draft, error) {
			return d.World.origin.draft(d.Text()+strings.Repeat("# nothing\n", maxText/10), d.base)
		},
	} {
		_, err := do(draftOf(t, w))
		refused(t, what, err, "text editor")
	}
}
