package floor

import (
	"math"
	"math/rand/v2"
	"testing"

	"player/e2e/acceptance"
)

// room is a grid with the four inner faces of a square room at +-half.
func room(half, resolution float64) *Grid {
	extent := BoxOf(Vec{-half - 0.2, -half - 0.2}, Vec{half + 0.2, half + 0.2})
	g := newGrid(extent, resolution, 1<<14)
	for _, wall := range []struct{ at, size Vec }{
		{Vec{0, half + 0.1}, Vec{2*half + 0.4, 0.2}},
		{Vec{0, -half - 0.1}, Vec{2*half + 0.4, 0.2}},
		{Vec{half + 0.1, 0}, Vec{0.2, 2*half + 0.4}},
		{Vec{-half - 0.1, 0}, Vec{0.2, 2*half + 0.4}},
	} {
		g.draw(Pose{wall.at.X, wall.at.Y, 0}.ApplyTo(Rectangle(wall.size.X, wall.size.Y)))
	}
	g.finish()
	return g
}

func TestDrawOverlapsExactly(t *testing.T) {
	extent := BoxOf(Vec{0, 0}, Vec{2, 2})
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
		g := newGrid(extent, 0.02, 1<<14)
		g.draw(tt.polygon)
		cells := 0
		for i := range g.width * g.height {
			if g.Hint(i%g.width, i/g.width) == 0 {
				cells++
			}
		}
		if cells != tt.cells {
			t.Errorf("%s: %d cells, want %d", tt.name, cells, tt.cells)
		}
	}
}

// The hints must be the distances to the nearest occupied cell; where they are not
// exact, they must not promise more free space than there is.
func TestHintsAreCellDistances(t *testing.T) {
	extent := BoxOf(Vec{0, 0}, Vec{9, 4})
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		g := newGrid(extent, 0.02, 1<<14)
		type cell struct{ x, y int }
		var occupied []cell
		for range 1 + random.IntN(6) {
			c := cell{1 + random.IntN(g.width-2), 1 + random.IntN(g.height-2)}
			occupied = append(occupied, c)
			g.occupy(c.y, float64(c.x), float64(c.x+1))
		}
		g.finish()
		for y := 1; y < g.height-1; y++ {
			for x := 1; x < g.width-1; x++ {
				want := math.MaxInt
				for _, c := range occupied {
					want = min(want, max(c.x-x, x-c.x, c.y-y, y-c.y))
				}
				stored := g.tiles[y>>tileBits*g.columns+x>>tileBits] < 0
				got := g.Hint(x, y)
				if stored && got != min(want, maxHint) || got > want || got == 0 && want != 0 {
					t.Fatalf("hint of (%d,%d) is %d, want %d; occupied %v", x, y, got, want, occupied)
				}
			}
		}
		// Outside they must not promise more free space than there is.
		for range 100 {
			p := Vec{5*random.Float64() - 2, 5*random.Float64() - 2}
			for _, c := range occupied {
				at := g.toCells(p)
				far := max(math.Abs(math.Floor(at.X)-float64(c.x)), math.Abs(math.Floor(at.Y)-float64(c.y)))
				if float64(g.near(p)) > far {
					t.Fatalf("hint at %v is %d, but cell %v is %v away", p, g.near(p), c, far)
				}
			}
		}
	}
}

// Ranges in a square room are known: the nearer of the two faces in the ray's
// direction.
func TestCastInARoom(t *testing.T) {
	const half, limit = 3.0, 20.0
	g := room(half, 0.02)
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		o := Vec{5.6*random.Float64() - 2.8, 5.6*random.Float64() - 2.8}
		d := Direction(2 * math.Pi * random.Float64())
		want := min((math.Copysign(half, d.X)-o.X)/d.X, (math.Copysign(half, d.Y)-o.Y)/d.Y)
		if got := g.Cast(o, d, limit); math.Abs(got-want) > 1e-5 {
			t.Fatalf("from %v along %v: %v, want %v", o, d, got, want)
		}
		if got := g.Cast(o, d, want/2); got != want/2 {
			t.Fatalf("from %v along %v: %v, want the limit %v", o, d, got, want/2)
		}
	}
}

func TestCastAlongTheAxes(t *testing.T) {
	g := room(3, 0.02)
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
		if got := g.Cast(tt.o, tt.d, 50); math.Abs(got-tt.want) > 1e-5 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Leaping must find the same cell as a walk in small steps, within a tile and across
// many.
func TestCastFindsWhatAWalkFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		size, wall  Vec
		rays        int
		limit, step float64
	}{
		{Vec{6, 4}, Vec{0.5, 0.3}, acceptance.Rounds(1000, 3000), 7, 0.001},
		{Vec{60, 40}, Vec{5, 0.3}, acceptance.Rounds(500, 1000), 70, 0.004},
		{Vec{60, 40}, Vec{15, 15}, 300, 70, 0.004}, // walls with full tiles
	} {
		extent := BoxOf(Vec{0, 0}, tt.size)
		g := newGrid(extent, 0.05, 1<<14)
		for range 25 {
			wall := Rectangle(0.02+tt.wall.X*random.Float64(), 0.02+tt.wall.Y*random.Float64())
			g.draw(Pose{tt.size.X * random.Float64(), tt.size.Y * random.Float64(), 7 * random.Float64()}.ApplyTo(wall))
		}
		g.finish()
		for range tt.rays {
			o := Vec{(tt.size.X+2)*random.Float64() - 1, (tt.size.Y+2)*random.Float64() - 1}
			d := Direction(2 * math.Pi * random.Float64())
			want := tt.limit
			for s := 0.0; s < tt.limit; s += tt.step {
				if g.Occupied(o.Add(d.Scale(s))) {
					want = s
					break
				}
			}
			got := g.Cast(o, d, tt.limit)
			// The walk may miss a corner that the ray cuts, never the reverse.
			if got > want+1e-4 || got < want-1e-4-tt.step && !g.Occupied(o.Add(d.Scale(got+1e-6))) {
				t.Fatalf("from %v along %v: %v, a walk finds %v", o, d, got, want)
			}
		}
	}
}

func TestCastAllocatesNothing(t *testing.T) {
	g := room(3, 0.02)
	if n := testing.AllocsPerRun(100, func() { g.Cast(Vec{1, 1}, Direction(1), 8) }); n != 0 {
		t.Errorf("%v allocations a ray", n)
	}
}
