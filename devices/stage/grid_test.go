package stage

import (
	"math"
	"math/rand/v2"
	"testing"
)

// room is a layer with the four inner faces of a square room at +-half.
func room(half, resolution float64) *layer {
	extent := emptyBox()
	extent.include(Vec{-half - 0.2, -half - 0.2}, Vec{half + 0.2, half + 0.2})
	l := newLayer(extent, resolution)
	for _, wall := range []struct{ at, size Vec }{
		{Vec{0, half + 0.1}, Vec{2*half + 0.4, 0.2}},
		{Vec{0, -half - 0.1}, Vec{2*half + 0.4, 0.2}},
		{Vec{half + 0.1, 0}, Vec{0.2, 2*half + 0.4}},
		{Vec{-half - 0.1, 0}, Vec{0.2, 2*half + 0.4}},
	} {
		l.draw(placed(rectangle(wall.size.X, wall.size.Y), Pose{wall.at.X, wall.at.Y, 0}))
	}
	l.finish()
	return l
}

func placed(points []Vec, at Pose) []Vec {
	moved := make([]Vec, len(points))
	for i, p := range points {
		moved[i] = at.apply(p)
	}
	return moved
}

func TestDrawOverlapsExactly(t *testing.T) {
	extent := emptyBox()
	extent.include(Vec{0, 0}, Vec{2, 2})
	for _, tt := range []struct {
		name    string
		polygon []Vec
		cells   int
	}{
		{"aligned block", []Vec{{1, 1}, {1.2, 1}, {1.2, 1.1}, {1, 1.1}}, 10 * 5},
		{"reaching into the next cells", []Vec{{1, 1}, {1.21, 1}, {1.21, 1.11}, {1, 1.11}}, 11 * 6},
		{"thinner than a cell", []Vec{{1.005, 1}, {1.006, 1}, {1.006, 1.1}, {1.005, 1.1}}, 5},
		{"a point within a cell", []Vec{{1.005, 1.005}, {1.006, 1.005}, {1.006, 1.006}}, 1},
		{"half outside", []Vec{{-1, 0}, {0.1, 0}, {0.1, 0.02}, {-1, 0.02}}, 6},
	} {
		l := newLayer(extent, 0.02)
		l.draw(tt.polygon)
		cells := 0
		for _, h := range l.hint {
			if h == 0 {
				cells++
			}
		}
		if cells != tt.cells {
			t.Errorf("%s: %d cells, want %d", tt.name, cells, tt.cells)
		}
	}
}

// The hints must be the distances to the nearest occupied cell.
func TestHintsAreCellDistances(t *testing.T) {
	extent := emptyBox()
	extent.include(Vec{0, 0}, Vec{0.9, 0.6})
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		l := newLayer(extent, 0.02)
		type cell struct{ x, y int }
		var occupied []cell
		for range 1 + random.IntN(6) {
			c := cell{1 + random.IntN(l.width-2), 1 + random.IntN(l.height-2)}
			occupied = append(occupied, c)
			l.hint[c.y*l.width+c.x] = 0
		}
		l.finish()
		for y := 1; y < l.height-1; y++ {
			for x := 1; x < l.width-1; x++ {
				want := 255
				for _, c := range occupied {
					want = min(want, max(c.x-x, x-c.x, c.y-y, y-c.y))
				}
				if got := int(l.hint[y*l.width+x]); got != want {
					t.Fatalf("hint of (%d,%d) is %d, want %d; occupied %v", x, y, got, want, occupied)
				}
			}
		}
		// Outside they must not promise more free space than there is.
		for range 100 {
			p := Vec{5*random.Float64() - 2, 5*random.Float64() - 2}
			for _, c := range occupied {
				at := l.toCells(p)
				far := max(math.Abs(math.Floor(at.X)-float64(c.x)), math.Abs(math.Floor(at.Y)-float64(c.y)))
				if float64(l.near(p)) > far {
					t.Fatalf("hint at %v is %d, but cell %v is %v away", p, l.near(p), c, far)
				}
			}
		}
	}
}

// Ranges in a square room are known: the nearer of the two faces in the ray's
// direction.
func TestCastInARoom(t *testing.T) {
	const half, limit = 3.0, 20.0
	l := room(half, 0.02)
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		o := Vec{5.6*random.Float64() - 2.8, 5.6*random.Float64() - 2.8}
		d := direction(2 * math.Pi * random.Float64())
		want := min((half-o.X*sign(d.X))/math.Abs(d.X), (half-o.Y*sign(d.Y))/math.Abs(d.Y))
		if got := l.cast(o, d, limit); math.Abs(got-want) > 1e-5 {
			t.Fatalf("from %v along %v: %v, want %v", o, d, got, want)
		}
		if got := l.cast(o, d, want/2); got != want/2 {
			t.Fatalf("from %v along %v: %v, want the limit %v", o, d, got, want/2)
		}
	}
}

func TestCastAlongTheAxes(t *testing.T) {
	l := room(3, 0.02)
	for _, tt := range []struct {
		name string
		o, d Vec
		want float64
	}{
		{"east", Vec{1, 0}, Vec{1, 0}, 2},
		{"west", Vec{1, 0}, Vec{-1, 0}, 4},
		{"north", Vec{0, 1}, Vec{0, 1}, 2},
		{"south", Vec{0, 1}, Vec{0, -1}, 4},
		{"in the wall", Vec{3.1, 0}, Vec{1, 0}, 0},
		{"from outside, inwards", Vec{10, 0}, Vec{-1, 0}, 6.8},
		{"from outside, past", Vec{10, 10}, Vec{-1, 0}, 50},
		{"from outside, away", Vec{10, 0}, Vec{1, 0}, 50},
	} {
		if got := l.cast(tt.o, tt.d, 50); math.Abs(got-tt.want) > 1e-5 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Leaping must find the same cell as a walk in small steps.
func TestCastFindsWhatAWalkFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	extent := emptyBox()
	extent.include(Vec{0, 0}, Vec{6, 4})
	l := newLayer(extent, 0.05)
	for range 25 {
		l.draw(placed(rectangle(0.02+0.5*random.Float64(), 0.02+0.3*random.Float64()),
			Pose{6 * random.Float64(), 4 * random.Float64(), 7 * random.Float64()}))
	}
	l.finish()
	for range 3000 {
		o := Vec{8*random.Float64() - 1, 6*random.Float64() - 1}
		d := direction(2 * math.Pi * random.Float64())
		const limit, step = 7.0, 0.001
		want := limit
		for s := 0.0; s < limit; s += step {
			if l.occupied(o.add(d.scale(s))) {
				want = s
				break
			}
		}
		got := l.cast(o, d, limit)
		// The walk may miss a corner that the ray cuts, never the reverse.
		if got > want+1e-4 || got < want-1e-4-step && !l.occupied(o.add(d.scale(got+1e-6))) {
			t.Fatalf("from %v along %v: %v, a walk finds %v", o, d, got, want)
		}
	}
}

func TestCastAllocatesNothing(t *testing.T) {
	l := room(3, 0.02)
	if n := testing.AllocsPerRun(100, func() { l.cast(Vec{1, 1}, direction(1), 8) }); n != 0 {
		t.Errorf("%v allocations a ray", n)
	}
}

func sign(v float64) float64 { return math.Copysign(1, v) }

// Rays of at most 8 m in all directions, at 0.02 m per cell.
func BenchmarkCast(b *testing.B) {
	cave, err := Load("../../worlds/cave.world")
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		grid *layer
		from Vec
	}{
		{"room 6 m", room(3, 0.02), Vec{1, -0.6}},
		{"hall 16 m", room(8, 0.02), Vec{3, -1.6}},
		{"field 60 m", room(30, 0.02), Vec{10, -6}},
		{"cave 16 m", cave.plan, Vec{-5.25, 2.75}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				tt.grid.cast(tt.from, direction(float64(i)*0.01), 8)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rays/s")
		})
	}
}
