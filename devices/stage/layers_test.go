package stage

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"player/devices/stage/floor"
	"player/e2e/acceptance"
	"player/e2e/must"
)

// A floor of four square kilometres needs memory for its walls only.
func TestLargeWorld(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	plan := writePNG(t, "#   ", "    ", "    ", "    ")
	w := newWorld(t, "model ( size [2000 2000 1] boundary 1 fit \"picture\" bitmap \""+plan+"\" )\n"+
		"model ( size [400 0.3 1] pose [700 300 0 30] )\n"+robotWorld+"pioneer_full ( pose [500 500 0 90] )")
	if width, got := w.Plan().Width, w.plan.Stored(); width < 100000 || got > 48<<20/4096 {
		t.Errorf("%d cells wide, %d tiles", width, got)
	}
	if got := w.plan.Cast(Vec{X: 500, Y: 500}, Vec{Y: 1}, 1000); math.Abs(got-499.98) > 1e-3 {
		t.Errorf("the boundary is %v m ahead", got)
	}
	if w.blocked(w.robots[0].body) {
		t.Error("the robot is in a wall")
	}
}

// A world with too much wall is refused before its grids are drawn, and the error names a
// resolution that is coarse enough.
func TestTooMuchWall(t *testing.T) {
	acceptance.Only(t)
	noise := writePNG(t, slices.Repeat([]string{strings.Repeat("# ", 100), strings.Repeat(" #", 100)}, 50)...)
	for resolution, want := range map[string]string{"": "test.world: ", "resolution 0.03\n": "test.world:1:12: "} {
		world := "model ( bitmap \"" + noise + "\" size [1000 1000 1] )"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parseWorld(resolution + world)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), want+"too much wall") {
			t.Fatalf("a picture of noise, too large: %v", err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 24<<20 {
			t.Errorf("it cost %d MB", spent>>20)
		}
		line, _, _ := strings.Cut(err.Error(), "\n")
		_, advice, _ := strings.Cut(line, "write ")
		if _, err := parseWorld(advice + "\n" + world); err != nil {
			t.Errorf("%q: %v", advice, err)
		}
	}
}

// Room for a picture is counted by its solid areas: TestStoredTiles of floor shows that so many tiles are stored.
func TestSizeOfGrids(t *testing.T) {
	acceptance.Alone(t)
	var rows []string // a disc
	for y := range 64 {
		row := []byte(strings.Repeat(" ", 64))
		for x := range row {
			if math.Hypot(float64(x)-31.5, float64(y)-31.5) < 30 {
				row[x] = '#'
			}
		}
		rows = append(rows, string(row))
	}
	disc := writePNG(t, rows...)
	for world, want := range map[string]int{
		"model ( size [30 20 1] pose [3 4 0 30] )":                                                                     105,
		"model ( size [64 64 1] bitmap \"" + disc + "\" fit \"walls\" )":                                               200,
		"model ( size [64 64 1] bitmap \"" + disc + "\" fit \"walls\" pose [0 0 0 180] ) position ( pose [90 0 0 0] )": 200,
	} {
		w := must.Get(parseWorld(world))(t)
		if w.size.stored != want {
			t.Errorf("%s: %d tiles are counted, want %d", world, w.size.stored, want)
		}
	}
}

// Rays of at most 8 m in all directions, at 0.02 m per cell.
func BenchmarkCast(b *testing.B) {
	cave := must.Get(Load("../../simulation/worlds/cave.world"))(b)
	room := func(half float64) *World {
		var walls strings.Builder
		for side := range 4 {
			at := floor.Direction(math.Pi / 2 * float64(side)).Scale(half + 0.1)
			fmt.Fprintf(&walls, "model ( size [0.2 %v 1] pose [%.1f %.1f 0 %v] )\n", 2*half+0.4, at.X, at.Y, 90*side)
		}
		return newWorld(b, walls.String())
	}
	for _, tt := range []struct {
		name  string
		world *World
		from  Vec
	}{
		{"room 6 m", room(3), Vec{X: 1, Y: -0.6}},
		{"hall 16 m", room(8), Vec{X: 3, Y: -1.6}},
		{"field 60 m", room(30), Vec{X: 10, Y: -6}},
		{"cave 16 m", cave, Vec{X: -5.25, Y: 2.75}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				tt.world.plan.Cast(tt.from, floor.Direction(float64(i)*0.01), 8)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rays/s")
		})
	}
}
