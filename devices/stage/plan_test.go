package stage

import (
	"crypto/sha256"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/devices/stage/floor"
	"player/e2e/must"
)

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
	plan := must.Get((&loader{open: openFile, digest: sha256.New()}).readBitmap(path))(t)
	plan.stretch(floor.Box{Max: plan.size}, size)
	return plan.walls
}

// A floor plan has a rectangle for each run of dark pixels: equal runs of consecutive rows are one.
func TestFloorPlan(t *testing.T) {
	for _, tt := range []struct {
		rows []string
		want [][]Vec
	}{
		{[]string{
			"##  ",
			".. #",
			"  +#",
		}, [][]Vec{
			{{X: -2, Y: 0.5}, {Y: 0.5}, {Y: 1.5}, {X: -2, Y: 1.5}},
			{{X: 1, Y: -0.5}, {X: 2, Y: -0.5}, {X: 2, Y: 0.5}, {X: 1, Y: 0.5}},
			{{Y: -1.5}, {X: 2, Y: -1.5}, {X: 2, Y: -0.5}, {Y: -0.5}},
		}},
		{[]string{
			"# ##",
			"# ##",
			"# # ",
			"### ",
		}, [][]Vec{
			{{X: -2, Y: -1}, {X: -1, Y: -1}, {X: -1, Y: 2}, {X: -2, Y: 2}},
			{{}, {X: 2}, {X: 2, Y: 2}, {Y: 2}},
			{{Y: -1}, {X: 1, Y: -1}, {X: 1}, {}},
			{{X: -2, Y: -2}, {X: 1, Y: -2}, {X: 1, Y: -1}, {X: -2, Y: -1}},
		}},
	} {
		walls := readPlan(t, writePNG(t, tt.rows...), Vec{X: 4, Y: float64(len(tt.rows))})
		if !slices.EqualFunc(walls, tt.want, slices.Equal) {
			t.Errorf("walls %v\nwant  %v", walls, tt.want)
		}
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
	refused(t, "a robot without a dark pixel", err, "no shape")
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
	w, r := robotIn(t, `model ( bitmap "`+path+`" fit "picture" size [8 8 1] boundary 1 )`+"\n"+robotWorld+"pioneer_full ( pose [3 3 0 180] )")
	ahead := func() float64 {
		at := r.body.pose
		return r.lasers[0].walls.Cast(at.Position(), floor.Direction(at.Heading), 20)
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
