package stage

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/devices/stage/floor"
	"player/e2e/must"
	"player/formats/syntax"
)

func TestLoadErrors(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	blank := write(t, t.TempDir(), "blank.pgm", "P5\n1 1\n255\n\xff")
	for _, tt := range []struct{ name, world, want string }{
		{"wrong type", `resolution "fine"`, "resolution wants a number"},
		{"resolution", `resolution 0`, "write 0.001 to 1"},
		{"speed", `speedup 2000000`, "as fast as possible"},
		{"too large", `model ( size [90000 90000 1] )`, "write resolution 0.5"},
		{"too large for its resolution", "resolution 0.01 model ( size [90000 90000 1] )", "test.world:1:12: too much wall or floor for cells of 0.01 m on 90000 m by 90000 m: write resolution 0.5"},
		{"too large for any resolution", `model ( pose [-300000 -300000 0 0] ) model ( pose [300000 300000 0 0] )`, "not even resolution 1"},
		{"far away", `model ( pose [9000000 0 0 0] )`, "500 km or more from the origin"},
		{"flat", `position ( size [1 0 1] )`, "three positive lengths"},
		{"negative", `model ( size [1 -1 1] )`, "three positive lengths"},
		{"port taken", `position ( port 7000 ) position ( port 7000 )`, `robot "r0" already uses port 7000`},
		{"no port", `position ( port 70000 )`, "write 1 to 65535"},
		{"no robot to track", `position ( name "a" ) overhead ( robot "b" )`, `there is no robot of the name "b"`},
		{"no port to track on", `position ( name "a" ) overhead ( robot "a" port 70000 )`, "write 1 to 65535"},
		{"bodiless", `position ( bitmap "` + blank + `" )`, "no shape"},
		{"a giant", `position ( size [20 20 1] )`, "at most 5"},
		{"two points", `model ( block ( points 2 ) )`, "a block has 3 to 1000 points, not 2"},
		{"a point missing", `model ( block ( points 3 point[0] [0 0] point[1] [1 1] ) )`, "point[2] is missing"},
		{"channel", `model ( channel 32 )`, "has 0 to 31"},
		{"bounds", `position ( velocity_bounds [1 2 0 0 0 0 -1 1] )`, "each lower bound"},
		{"localization", `position ( localization "dead" )`, `write "gps" or "odom"`},
		{"slip", `position ( odom_error [1 2] )`, "odom_error wants"},
		{"battery", `position ( joules -5 joules_capacity 4 )`, "joules -5 of joules_capacity 4"},
		{"noise", `position ( ranger ( sensor ( noise [0 -1 0] ) ) )`, "no negative numbers"},
		{"dropout", `position ( ranger ( sensor ( dropout -1 ) ) )`, "no negative numbers"},
		{"dock", `model ( pushable 1 give_watts 1 )`, "only what does not move"},
		{"mass", `position ( mass -1 )`, "no negative numbers"},
		{"samples", `position ( ranger ( sensor ( samples -1 ) ) )`, "write 0 or more"},
		{"range", `position ( ranger ( sensor ( range [0 -1] ) ) )`, "write 0 to 1000"},
		{"camera range", `position ( blobfinder ( range 0 ) )`, "write up to 1000"},
		{"gripper", `position ( gripper ( paddles "up" ) )`, `write "closed" or "open"`},
		{"no such picture", `model ( bitmap "nothing.png" )`, "cannot read the floor plan"},
		{"no picture", `model ( bitmap "load_test.go" )`, "a floor plan must be a PNG or PNM file, a BMP"},
		{"a folder", `model ( bitmap "../stage" )`, "not a regular file"},
		{"a pipe", `model ( bitmap "` + pipe + `" )`, "not a regular file"},
		{"a floor of Stage 1 without a scale", `environment ( file "../../simulation/worlds/bitmaps/cave.png" )`, "write scale and metres for each pixel"},
		{"a floor of Stage 1 without a picture", `environment ( file "nothing.png" scale 1 )`, "cannot read the floor plan"},
		{"a floor of Stage 1, no picture", `environment ( file "load_old_test.go" scale 1 )`, "PNG or PNM"},
		{"an old laser", `position ( laser ( range_max 0 ) )`, "range_max 0 m"},
		{"an old sonar", `position ( sonar ( sview [0 -1 5] ) )`, "sview to -1 m"},
		{"an old word", `model ( laser_return "perhaps" )`, "laser_return"},
		{"lockstep", `lockstep -1`, "lockstep is -1"},
	} {
		_, err := parseWorld(strings.ReplaceAll(tt.world, ") ", ")\n"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %q, want %q", tt.name, err, tt.want)
			continue
		}
		if place := new(syntax.Error); !errors.As(err, &place) && !strings.HasPrefix(err.Error(), "test.world: ") {
			t.Errorf("%s: error %q has no position", tt.name, err)
		}
	}
}

// Every unsupported name has a warning of its own, with its first place and how many
// more there are, that a line of the log shows completely.
func TestIgnoredIsNamedOnce(t *testing.T) {
	text := "gps ( )\ndefine bell speech ( )\nbell ( )\nposition ( ctrl \"wander\" alwayson 2\n  ranger ( sensor ( view [0 5 30] ) ) )\nwindow ( scale 3 )\n" +
		"define car position ( color \"red\" ctrl \"wander\" )\ncar ( pose [2 0 0 0] )\ncar ( pose [4 0 0 0] colour \"blue\" ctrl \"sit\" )\n"
	w := withWarnings(t, text)
	want := []string{
		`section "gps" is not supported and ignored: test.world:1`,
		`section "bell" (speech) is not supported and ignored: test.world:3`,
		`field "ctrl" is not supported and ignored: test.world:4 and 2 more`,
		`field "alwayson" is not supported and ignored: test.world:4`,
		`field "view" is not supported and ignored: test.world:5`,
		`field "colour" is not supported and ignored; did you mean "color"?: test.world:9`,
	}
	if !slices.Equal(w.Warnings(), want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(w.Warnings(), "\n"), strings.Join(want, "\n"))
	}
	var names strings.Builder
	for i := range maxNamed + 17 {
		fmt.Fprintf(&names, "name%d 1\n", i)
	}
	w, err := parseWorld(names.String())
	if err != nil || len(w.Warnings()) != maxNamed+1 || w.Warnings()[maxNamed] != "17 more words are not supported and ignored" {
		t.Errorf("%d warnings, the last is %q, %v", len(w.Warnings()), w.Warnings()[len(w.Warnings())-1], err)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct{ name, world, want string }{
		{"defined again", "define a model ( size [1 1 1] )\ndefine a position ( )\na ( )\ndefine a model ( )", "test.world:2: a is already defined at test.world:1:8: the later define counts from there on; and 1 more"},
		{"stuck", "model ( size [1 1 1] )\nposition ( )", "test.world:2: robot r0 starts inside something"},
		{"drive", `position ( drive "omni" )`, "drives with two wheels"},
		{"upside down", `model ( pose [9 0 0 0] block ( points 3 point[0] [0 0] point[1] [1 0] point[2] [0 1] z [1 0] ) )` + "\nposition ( )", "z [1 0] of a block has the lower end behind"},
		{"too much energy", `position ( joules 5 joules_capacity 4 )`, "the battery is full"},
		{"switched off", `position ( ranger ( sensor ( samples 0 ) ) )`, "a sensor with samples 0 has no readings"},
		{"far sight", `position ( ranger ( sensor ( range [0 2000] ) ) )`, "range to 2000 m: a sensor has up to 1000"},
		{"unknown colour", `model ( color "grean" pose [3 0 0 0] )`, `unknown colour "grean"; did you mean "green"?: model is red`},
		{"camera colour", `position ( blobfinder ( colors ["read" "blue"] ) )`, `unknown colour "read"; did you mean "red"?: channel 0 is empty`},
		{"second finder", "position ( fiducial ( ) fiducialfinder ( ) )", "a second fiducial finder"},
		{"seventeen sonars", "position ( ranger (" + strings.Repeat(" sensor ( )", 17) + " ) )", "more than 16 sonars"},
	} {
		w, err := parseWorld(tt.world)
		warned(t, tt.name, w, err, tt.want)
	}
}

// Blocks are scaled to the size together, and centred on the origin.
func TestBlocksFitTheSize(t *testing.T) {
	w := newWorld(t, `
model ( size [4 2 3] origin [1 0 0 0] pose [10 0 0.5 90]
  block ( points 4 point[0] [0 0] point[1] [0 1] point[2] [1 1] point[3] [1 0] z [0 1] )
  block ( points 4 point[0] [1 0] point[1] [1 1] point[2] [2 1] point[3] [2 0] z [0 2] ) )
model ( block ( points 3 point[0] [20 20] point[1] [21 20] point[2] [20 21] z [0 0.5] )
  model ( size [1 1 1] ) )`)
	want := []struct {
		extent      floor.Box
		bottom, top float64
	}{
		{floor.Box{Min: Vec{X: 9, Y: -1}, Max: Vec{X: 11, Y: 1}}, 0.5, 2},
		{floor.Box{Min: Vec{X: 9, Y: 1}, Max: Vec{X: 11, Y: 3}}, 0.5, 3.5},
		{floor.Box{Min: Vec{X: 20, Y: 20}, Max: Vec{X: 21, Y: 21}}, 0, 0.5},
		{floor.Box{Min: Vec{X: -0.5, Y: -0.5}, Max: Vec{X: 0.5, Y: 0.5}}, 0.5, 1.5}, // it is on top of its parent
	}
	var parts []part
	for _, b := range w.fixtures {
		parts = append(parts, b.parts...)
	}
	if len(parts) != len(want) {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		extent := floor.BoxOf(p.shapes[0]...)
		if extent.Min.Sub(want[i].extent.Min).Length() > 1e-9 || extent.Max.Sub(want[i].extent.Max).Length() > 1e-9 {
			t.Errorf("part %d covers %v, want %v", i, extent, want[i].extent)
		}
		if math.Abs(p.bottom-want[i].bottom) > 1e-9 || math.Abs(p.top-want[i].top) > 1e-9 {
			t.Errorf("part %d goes from %v to %v, want %v to %v", i, p.bottom, p.top, want[i].bottom, want[i].top)
		}
	}
}

func TestUnits(t *testing.T) {
	w := newWorld(t, "unit_length \"mm\"\nunit_angle \"radians\"\nresolution 20\nposition ( pose [1500 -500 0 0.5] size [400 300 200] )")
	if p := w.robots[0].Pose(); p != (Pose{X: 1.5, Y: -0.5, Heading: 0.5}) || w.resolution != 0.02 {
		t.Errorf("pose %v, resolution %v", p, w.resolution)
	}
}

// Worlds have sizes of four numbers, and things without a width or a height.
func TestSizesOfStage(t *testing.T) {
	t.Parallel()
	w := must.Get(parseWorld(robotWorld + `define sheet model ( size [0 2 1 0] )
sheet ( pose [3 0 0 0] ) sheet ( pose [-3 0 0 0] )
model ( pose [1.5 0 0 0] size [1 1 0] )
model ( pose [1.5 0 0 0] size [0 0 0] )
pioneer_full ( )`))(t)
	if w := w.Warnings(); len(w) != 1 || !strings.HasSuffix(w[0], "size has 4 numbers: the first 3 count") {
		t.Errorf("warnings %q", w)
	}
	if scan := w.robots[0].readLaser(); scan[180] < 2890 || scan[180] > 2920 {
		t.Errorf("the sheet is %d mm ahead", scan[180])
	}
	if w.blocked(w.robots[0].body) || w.SetPose(0, Pose{X: 1.5}) != nil {
		t.Error("a mark on the floor is in the way")
	}
}

// A robot may carry marks without a height, a block may be one, and a sensor may have no range.
func TestNothingInTheWay(t *testing.T) {
	t.Parallel()
	w, r := robotIn(t, `
model ( pose [0.5 0 0 0] block ( points 3 point[0] [0 0] point[1] [1 0] point[2] [0 1] z [0 0] ) )
position ( model ( size [0.2 0.1 0] )
  ranger ( sensor ( range [0 0] samples 30 fov 180 ) ) )`)
	if r.drives(200, 0, 2*time.Second); r.Pose().X < 0.3 {
		t.Errorf("the robot is at x %v", r.Pose().X)
	}
	if err := w.SetPose(0, Pose{X: 0.8, Y: 0.2}); err != nil {
		t.Error(err)
	}
	if reach := r.rangers[0].sensors[0].reach; reach != minReach {
		t.Errorf("the sensor sees %v m far", reach)
	}
}

// Numbers behind those that Stage reads have no effect.
func TestTuplesWithMoreNumbers(t *testing.T) {
	w := withWarnings(t, `position ( pose [1 2 0 90 7] velocity_bounds [-1 1 0 0 0 0 -90 90 7]
  block ( points 3 point[0] [0 0 7] point[1] [1 0 7] point[2] [0 1] z [0 0.5 7] )
  ranger ( sensor ( range [0 3 7] ) ) )`)
	var named []string
	for _, text := range w.Warnings() {
		_, text, _ = strings.Cut(text, ": ")
		named = append(named, strings.ReplaceAll(text, " numbers: the first ", " of "))
	}
	slices.Sort(named)
	want := []string{"point has 3 of 2 count", "pose has 5 of 4 count", "range has 3 of 2 count", "velocity_bounds has 9 of 8 count", "z has 3 of 2 count"}
	if !slices.Equal(named, want) {
		t.Errorf("warnings %q", w.Warnings())
	}
	if r := w.robots[0]; !nearPose(r.Pose(), Pose{X: 1, Y: 2, Heading: math.Pi / 2}, 1e-9) || r.sonars.reach != 3 || r.body.hullTop != 0.5 {
		t.Errorf("pose %v, sonars to %v, top %v", r.Pose(), r.sonars.reach, r.body.hullTop)
	}
}

// A mistake in a shape is reported without those that follow from it, and one in a define once,
// however often it is used.
func TestMistakesWithoutFollowUps(t *testing.T) {
	t.Parallel()
	for _, world := range []string{
		`position ( bitmap "nothere.png" gripper_return 1 )`,
		`model ( bitmap "nothere.png" gripper_return 1 )`,
		`position ( block ( points 2 ) )`,
		`puck ( block ( points 2 ) )`,
		`position ( size [1 0 1] )`,
		"define tree model ( size [-1 1 1] )\n" + strings.Repeat("tree ()\n", 50),
	} {
		_, err := parseWorld(world)
		if n := len(syntax.Mistakes(err)); n != 1 {
			t.Errorf("%s: %d mistakes: %v", world, n, err)
		}
	}
}

func TestSpeedup(t *testing.T) {
	for text, want := range map[string]float64{"": 1, "speedup 4": 4, "speedup 0": 0, "speedup -1": 0} {
		if got, _ := newWorld(t, text).Speed(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Whatever a file contains, loading returns a world or an error, and the world
// can run.
func FuzzLoad(f *testing.F) {
	f.Add(`model ( size [1 2 3] pose [1 2 3 4] color "blue" boundary 1 light 1 channel 3 )`)
	f.Add(`position ( velocity_bounds [-1 1 0 0 0 0 -90 90] odom_error [1 1 1] ranger ( sensor ( samples 200 ) sensor ( ) ) )`)
	f.Add(`position ( gripper ( size [1 1 1] paddles "closed" ) blobfinder ( colors ["red" "green"] range 3 ) bumper ( ) )`)
	f.Add(`model ( gripper_return 1 block ( points 3 point[0] [0 0] point[1] [1 1] point[2] [-1 5] z [0 7] ) model ( ) )`)
	f.Add(`position ( obstacle_return 0 color "amber" odom_error [1 1 1 1 1 1] ranger ( sensor ( samples 0 ) sensor ( range [0 0] ) ) )`)
	f.Add(`model ( pose[ 1 2 3 4 5 ] size [1 1] block ( points [3] point[0] [0 0 0] point[1] [1 1] point[2] [-1 5] z [0 0] ) )`)
	f.Add("resolution 0.5\nspeedup 0\nquit_time 1\nseed -3\npaused 1\n")
	f.Add(robotWorld + "pioneer_full ( ) puck ( pose [1 1 0 0] ) wall ( )")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "bitmap") {
			return // files of this machine are not part of the input
		}
		w, err := parseWorld(text)
		if err != nil || len(w.Robots()) > 20 || w.Plan().Width*w.Plan().Height > 1<<20 {
			return
		}
		for _, r := range w.robots {
			r.drive.command(500, 100)
		}
		w.Step(30)
		for _, r := range w.robots {
			d := NewDriver(w, r)
			r.readPosition(&d.positionData)
			r.readBumpers(&d.miscData)
			if r.sonars != nil {
				r.readSonars()
			}
			if r.lasers != nil {
				r.readLaser()
			}
			if r.cameras != nil {
				r.drawChannels(w.tracker.pixels)
				w.tracker.find(&d.visionData)
			}
			if r.grippers != nil {
				r.grippers[0].read(&d.gripperData)
			}
		}
	})
}
