package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"player/devices"
	"player/devices/stage/floor"
	"player/formats/syntax"
	"player/simulation/worlds"
)

func TestShippedWorldsLoad(t *testing.T) {
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
			func(r *Robot) bool { return r.laser.pose.X == 0.04 && len(r.sonars.ring) == 16 }},
		{`include "sick.inc" include "pioneer.inc" pioneer2dx_base_no_sonar ( fancysicklaser () )`, 1,
			func(r *Robot) bool { return r.laser != nil && r.sonars == nil }},
		{`include "sick.inc" position ( ranger ( sicksensor () ) )`, 1, func(r *Robot) bool { return r.laser.reach == 8 }},
		{`include "/usr/local/share/stage/worlds/pioneer.inc" pioneer3dx () pioneer3at ( pose [2 0 0 0] )`, 2,
			func(r *Robot) bool { return r.sonars.ring[0].pose.X == 0.147 }},
		{`include "pioneer.inc" amigobot () fancypioneer2dx ( pose [2 0 0 0] ) pioneer2dx_front_sonar ( pose [4 0 0 0] )`, 3,
			func(r *Robot) bool { return len(r.sonars.ring) == 8 }},
		{`include "irobot.inc" include "hokuyo.inc" roomba () create ( pose [2 0 0 0] hokuyolaser () )`, 2,
			func(r *Robot) bool { return r.laser.reach == 4 && r.laser.height < 0.2 }},
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

func TestLoadErrors(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, world, want string }{
		{"unknown colour", `model ( color "grean" )`, `unknown colour "grean"; did you mean "green"?`},
		{"wrong type", `resolution "fine"`, "resolution wants a number"},
		{"resolution", `resolution 0`, "write 0.001 to 1"},
		{"speed", `speedup 2000000`, "as fast as possible"},
		{"too large", `model ( size [90000 90000 1] )`, "write resolution 0.5"},
		{"too large for its resolution", "resolution 0.01 model ( size [90000 90000 1] )", "test.world:1:12: too much wall or floor for cells of 0.01 m on 90000 m by 90000 m: write resolution 0.5"},
		{"too large for any resolution", `model ( pose [-300000 -300000 0 0] ) model ( pose [300000 300000 0 0] )`, "not even resolution 1"},
		{"far away", `model ( pose [9000000 0 0 0] )`, "500 km or more from the origin"},
		{"flat", `position ( size [1 0 1] )`, "three positive lengths"},
		{"negative", `model ( size [1 -1 1] )`, "three positive lengths"},
		{"name taken", `position ( name "a" ) position ( name "a" )`, `already called "a"`},
		{"port taken", `position ( port 7000 ) position ( port 7000 )`, `robot "r0" already uses port 7000`},
		{"no port", `position ( port 70000 )`, "write 1 to 65535"},
		{"nobody to track", `position ( name "a" ) overhead ( robot "b" )`, `there is no robot of the name "b"`},
		{"no port to track on", `position ( name "a" ) overhead ( robot "a" port 70000 )`, "write 1 to 65535"},
		{"bodiless", `position ( obstacle_return 0 )`, "no solid shape"},
		{"a giant", `position ( size [20 20 1] )`, "at most 5"},
		{"two points", `model ( block ( points 2 ) )`, "a block has 3 to 1000 points, not 2"},
		{"a point missing", `model ( block ( points 3 point[0] [0 0] point[1] [1 1] ) )`, "point[2] is missing"},
		{"upside down", `model ( block ( points 3 point[0] [0 0] point[1] [1 0] point[2] [0 1] z [1 0] ) )`, "lower end first"},
		{"channel", `model ( channel 32 )`, "has 0 to 31"},
		{"bounds", `position ( velocity_bounds [1 2 0 0 0 0 -1 1] )`, "each lower bound"},
		{"localization", `position ( localization "dead" )`, `write "gps" or "odom"`},
		{"slip", `position ( odom_error [1 2] )`, "odom_error wants"},
		{"battery", `position ( joules 5 joules_capacity 4 )`, "joules 5 of joules_capacity 4"},
		{"noise", `position ( ranger ( sensor ( noise [0 -1 0] ) ) )`, "no negative numbers"},
		{"dropout", `position ( ranger ( sensor ( dropout -1 ) ) )`, "no negative numbers"},
		{"dock", `model ( pushable 1 give_watts 1 )`, "only what does not move"},
		{"mass", `position ( mass -1 )`, "no negative numbers"},
		{"samples", `position ( ranger ( sensor ( samples 0 ) ) )`, "write 1 or more"},
		{"range", `position ( ranger ( sensor ( range [0 0] ) ) )`, "write up to 1000"},
		{"camera range", `position ( blobfinder ( range 0 ) )`, "write up to 1000"},
		{"camera colour", `position ( blobfinder ( colors ["read"] ) )`, `did you mean "red"?`},
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
// more there are, that a line of the log shows whole.
func TestIgnoredIsNamedOnce(t *testing.T) {
	text := "gps ( )\nposition ( ctrl \"wander\" alwayson 2\n  ranger ( sensor ( view [0 5 30] ) ) )\nwindow ( scale 3 )\n" +
		"define car position ( color \"red\" ctrl \"wander\" )\ncar ( pose [2 0 0 0] )\ncar ( pose [4 0 0 0] colour \"blue\" ctrl \"sit\" )\n"
	w := withWarnings(t, text)
	want := []string{
		`section "gps" is not supported and ignored: test.world:1`,
		`field "ctrl" is not supported and ignored: test.world:2 and 2 more`,
		`field "alwayson" is not supported and ignored: test.world:2`,
		`field "view" is not supported and ignored: test.world:3`,
		`field "colour" is not supported and ignored; did you mean "color"?: test.world:7`,
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
		{"second laser", "position ( ranger ( sensor ( samples 180 ) sensor ( samples 180 ) ) )", "a second laser"},
		{"second laser of its own", "position ( laser ( ) laser ( ) )", "a second laser"},
		{"second camera", "position ( blobfinder ( ) blobfinder ( ) )", "a second camera"},
		{"second gripper", "position ( gripper ( ) gripper ( ) )", "a second gripper"},
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
		{floor.Box{Min: Vec{X: -0.5, Y: -0.5}, Max: Vec{X: 0.5, Y: 0.5}}, 0.5, 1.5}, // stands on its parent
	}
	var parts []part
	for _, b := range w.fixtures {
		parts = append(parts, b.parts...)
	}
	if len(parts) != len(want) {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		extent := floor.EmptyBox()
		extent.Include(p.shapes[0]...)
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

// writePNG draws dark pixels ('#') on light ones, half transparent ones ('+')
// and fully transparent black ones ('.').
func writePNG(t *testing.T, rows ...string) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	colors := map[rune]color.NRGBA{'#': {0, 0, 0, 255}, ' ': {255, 255, 255, 255}, '+': {0, 0, 0, 200}, '.': {0, 0, 0, 0}}
	for y, row := range rows {
		for x, c := range row {
			img.SetNRGBA(x, y, colors[c])
		}
	}
	path := filepath.Join(t.TempDir(), "plan.png")
	file, err := os.Create(path)
	if err == nil {
		err = errors.Join(png.Encode(file, img), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// readPlan returns the walls of a picture in a size that all of it has.
func readPlan(t *testing.T, path string, size Vec) [][]Vec {
	t.Helper()
	plan, err := (&loader{open: openFile, digest: sha256.New()}).readBitmap(path)
	if err != nil {
		t.Fatal(err)
	}
	plan.stretch(floor.Box{Max: plan.size}, size)
	return plan.walls
}

func TestFloorPlan(t *testing.T) {
	walls := readPlan(t, writePNG(t,
		"##  ",
		".. #",
		"  +#"), Vec{X: 4, Y: 3})
	want := [][]Vec{
		{{X: -2, Y: 0.5}, {Y: 0.5}, {Y: 1.5}, {X: -2, Y: 1.5}},
		{{X: 1, Y: -0.5}, {X: 2, Y: -0.5}, {X: 2, Y: 0.5}, {X: 1, Y: 0.5}},
		{{Y: -1.5}, {X: 2, Y: -1.5}, {X: 2, Y: -0.5}, {Y: -0.5}},
	}
	if !slices.EqualFunc(walls, want, slices.Equal) {
		t.Errorf("walls %v\nwant  %v", walls, want)
	}
}

// A floor plan without a wall is an empty area with its boundary. Without a boundary it is most
// likely a mistake, and there is a warning.
func TestBlankFloorPlan(t *testing.T) {
	t.Parallel()
	blank := writePNG(t, "    ", "    ")
	w := newWorld(t, robotWorld+`include "map.inc"
floorplan ( bitmap "`+blank+`" size [10 8 0.8] ) pioneer_full ( )`)
	if scan := w.robots[0].readLaser(); scan[180] != 4900 || scan[360] != 3980 {
		t.Errorf("the boundary is %d mm ahead and %d mm to the left of the laser", scan[180], scan[360])
	}
	img := w.robots[0].Sight().Draw(32, 24)
	if wall, sky := img.RGBAAt(16, 10), img.RGBAAt(16, 0); wall == sky {
		t.Error("the camera does not see the boundary")
	}
	for _, world := range []string{
		`model ( bitmap "` + blank + `" size [4 4 1] ) position ( )`,
		`environment ( file "` + blank + `" scale 1 ) position ( )`,
	} {
		w := withWarnings(t, strings.ReplaceAll(world, ") ", ")\n"))
		warned(t, world, w, nil, "plan.png has no dark pixel")
		if w.blocked(w.robots[0].body) {
			t.Errorf("%s: the robot is blocked", world)
		}
	}
	_, err := parseWorld(`position ( bitmap "` + blank + `" )`)
	refused(t, "a robot without a dark pixel", err, "no solid shape")
}

// Worlds have sizes of four numbers, and things without a width or a height.
func TestSizesOfStage(t *testing.T) {
	t.Parallel()
	w, err := parseWorld(robotWorld + `define sheet model ( size [0 2 1 0] )
sheet ( pose [3 0 0 0] ) sheet ( pose [-3 0 0 0] )
model ( pose [1.5 0 0 0] size [1 1 0] )
model ( pose [1.5 0 0 0] size [0 0 0] )
pioneer_full ( )`)
	if err != nil {
		t.Fatal(err)
	}
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

// A mistake in a define is one mistake, however often it is used.
func TestMistakeOfDefine(t *testing.T) {
	t.Parallel()
	_, err := parseWorld("define tree model ( size [-1 1 1] )\n" + strings.Repeat("tree ()\n", 50))
	if n := len(syntax.Mistakes(err)); n != 1 {
		t.Errorf("%d mistakes: %v", n, err)
	}
}

// A mistake in a shape is reported without those that follow from it.
func TestMistakesWithoutFollowUps(t *testing.T) {
	t.Parallel()
	for _, world := range []string{
		`position ( bitmap "nothere.png" gripper_return 1 )`,
		`model ( bitmap "nothere.png" gripper_return 1 )`,
		`position ( block ( points 2 ) )`,
		`puck ( block ( points 2 ) )`,
		`position ( size [1 0 1] )`,
	} {
		_, err := parseWorld(world)
		if n := len(syntax.Mistakes(err)); n != 1 {
			t.Errorf("%s: %d mistakes: %v", world, n, err)
		}
	}
}

// Equal runs of consecutive rows are one wall.
func TestFloorPlanIsMerged(t *testing.T) {
	walls := readPlan(t, writePNG(t,
		"# ##",
		"# ##",
		"# # ",
		"### "), Vec{X: 4, Y: 4})
	want := [][]Vec{
		{{X: -2, Y: -1}, {X: -1, Y: -1}, {X: -1, Y: 2}, {X: -2, Y: 2}},
		{{}, {X: 2}, {X: 2, Y: 2}, {Y: 2}},
		{{Y: -1}, {X: 1, Y: -1}, {X: 1}, {}},
		{{X: -2, Y: -2}, {X: 1, Y: -2}, {X: 1, Y: -1}, {X: -2, Y: -1}},
	}
	if !slices.EqualFunc(walls, want, slices.Equal) {
		t.Errorf("walls %v\nwant  %v", walls, want)
	}
}

// The shape of a robot or of an object may be a picture. With too much detail it is a
// box.
func TestBitmapThatMoves(t *testing.T) {
	path := writePNG(t, " ## ", "####", "####", " ## ")
	w := newWorld(t, "position ( bitmap \""+path+"\" size [0.4 0.4 0.3] pose [2 0 0 0] )\n"+
		"model ( gripper_return 1 bitmap \""+path+"\" size [0.4 0.4 0.3] pose [2 2 0 0] )\n"+
		"position ( ranger ( sensor ( samples 2 ) sensor ( samples 180 ) ) )")
	scan := w.robots[1].readLaser()
	if scan[180] != 1800 || len(w.robots[0].body.hull) != 8 {
		t.Errorf("a picture 1.8 m ahead: %d; hull %v", scan[180], w.robots[0].body.hull)
	}
	for _, m := range []Model{w.Movers()[0], w.Movers()[2]} {
		if len(m.Parts) != 1 || len(m.Parts[0].Outlines) != 3 {
			t.Errorf("%v is not drawn", m)
		}
	}
	noise := []string{strings.Repeat("# ", 300), strings.Repeat(" #", 300)}
	w = withWarnings(t, "position ( bitmap \""+writePNG(t, noise...)+"\" size [0.4 0.4 0.2] )")
	if warned(t, "a picture of noise", w, nil, "it is a box"); len(w.robots[0].body.parts[0].shapes) != 1 {
		t.Error("a picture of noise is not a box")
	}
}

// A floor plan is solid and detected by sensors, the top of its picture is
// north, and its boundary encloses it.
func TestFloorPlanInAWorld(t *testing.T) {
	path := writePNG(t, "#   ", "    ", "    ", "    ")
	w := newWorld(t, `model ( bitmap "`+path+`" fit "picture" size [8 8 1] boundary 1 )`+"\n"+robotWorld+"pioneer_full ( pose [3 3 0 180] )")
	r := w.robots[0]
	ahead := func() float64 {
		at := r.body.pose
		return r.laser.walls.Cast(at.Position(), floor.Direction(at.Heading), 20)
	}
	if got := ahead(); math.Abs(got-5) > 1e-5 {
		t.Errorf("the black square is %v m ahead, want 5", got)
	}
	r.body.place(Pose{X: 3, Y: 1, Heading: math.Pi})
	if got := ahead(); math.Abs(got-6.98) > 1e-5 {
		t.Errorf("the boundary is %v m ahead, want 6.98", got)
	}
	if !w.Plan().Wall(3, 400-3) || w.Plan().Wall(200, 200) {
		t.Error("the plan lacks the square, or has more")
	}
}

func TestColors(t *testing.T) {
	p := shades()
	for text, want := range map[string]shade{
		"red":       {Color{255, 0, 0}, 0},
		"Dark Blue": {Color{0, 0, 139}, 2},
		"#ffff00":   {Color{255, 255, 0}, 3},
		"#123456":   {Color{0x12, 0x34, 0x56}, noChannel},
		"gray50":    {Color{128, 128, 128}, noChannel},
		"grey0":     {Color{0, 0, 0}, noChannel},
		"gray":      {Color{0xbe, 0xbe, 0xbe}, noChannel},
		"NavyBlue":  {Color{0, 0, 128}, 2},
		"wheat":     {Color{0xf5, 0xde, 0xb3}, noChannel},
		"Wheat3":    {Color{205, 186, 150}, noChannel},
		"red1":      {Color{255, 0, 0}, 0},
		"red4":      {Color{139, 0, 0}, 0},
		"snow2":     {Color{238, 233, 233}, noChannel},
		"SlateGrey": {Color{112, 128, 144}, noChannel},

		"dark slate grey4": {Color{82, 139, 139}, noChannel},
	} {
		if got, err := p.resolve(text); err != nil || got != want {
			t.Errorf("%q is %v (error %v), want %v", text, got, err, want)
		}
	}
	if got := (Color{1, 2, 255}).String(); got != "#0102ff" {
		t.Error(got)
	}
	for _, text := range []string{"gray101", "nothing", "", "wheat5", "navy1", "#12345g"} {
		if _, err := p.resolve(text); err == nil {
			t.Errorf("%q was accepted as a colour", text)
		}
	}
}

// A random colour is another one for each model, also of one define, and the same in
// each run with the same seed.
func TestRandomColors(t *testing.T) {
	colors := func(seed string) (drawn [3]Color) {
		w := newWorld(t, "seed "+seed+"\ndefine thing model ( color \"random\" )\nthing ( )\nthing ( )\nposition ( color \"random\" pose [1 1 0 0] )")
		return [3]Color{w.fixtures[0].parts[0].color, w.fixtures[1].parts[0].color, w.robots[0].body.parts[0].color}
	}
	one := colors("1")
	if one[0] == one[1] || one[1] == one[2] || one != colors("1") || one == colors("2") {
		t.Errorf("colours %v, again %v, of seed 2 %v", one, colors("1"), colors("2"))
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
			if r.laser != nil {
				r.readLaser()
			}
			if r.camera != nil {
				r.look(w.tracker.pixels)
				w.tracker.find(&d.visionData)
			}
			if r.gripper != nil {
				r.gripper.read(&d.gripperData)
			}
		}
	})
}

// The scene of the subsumption experiments has the required properties: the
// light is seen above the low wall, the sonars detect the wall, no range
// sensor detects the hassock.
func TestSubsumptionScene(t *testing.T) {
	w, err := Load("../../simulation/worlds/subsumption.world")
	if err != nil {
		t.Fatal(err)
	}
	r := w.robots[0]
	aim(r, 43, 0, 0)
	if lights := see(w).Channel(LightChannel); len(lights) != 1 || math.Abs(float64(lights[0].X)-80) > 10 {
		t.Errorf("the light from the start: %v", lights)
	}
	aim(r, 0, 0, 0)
	r.body.place(Pose{X: 2.2, Y: 2.0, Heading: floor.Radians(42)})
	if lights, ranges := see(w).Channel(LightChannel), r.readSonars(); len(lights) != 1 || ranges[1] > 500 {
		t.Errorf("at the wall: the light %v, sonars %v", lights, ranges)
	}
	r.body.place(Pose{X: 4.2, Y: 2.6, Heading: math.Pi / 2})
	if sonar, laser := r.readSonars()[3], r.readLaser()[180]; sonar < 2000 || laser < 2000 {
		t.Errorf("before the hassock: sonar %d, laser %d", sonar, laser)
	}
	r.drive.command(300, 0)
	if w.Step(200); !r.stalled() {
		t.Error("the hassock is not solid")
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
		data, err := os.ReadFile(writePNG(t, rows...))
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "plan.png", string(data))
	}
	source := func() string {
		w, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
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
