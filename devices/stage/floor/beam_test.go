package floor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Beams find the nearest point within them of all occupied cells, wherever they start, and however wide they are.
func TestCastBeam(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	met, ended := 0, 0
	for range 20 {
		extent := BoxOf(Vec{0, 0}, Vec{4, 3})
		g := newGrid(extent, 0.05, 1<<14)
		for range 1 + random.IntN(8) {
			wall := Rectangle(0.02+0.4*random.Float64(), 0.02+0.4*random.Float64())
			g.draw(Pose{0.4 + 3.2*random.Float64(), 0.4 + 2.2*random.Float64(), 7 * random.Float64()}.ApplyTo(wall))
		}
		g.finish()
		var cells [][]Vec
		for y := range g.height {
			for x := range g.width {
				if g.Hint(x, y) == 0 {
					at := g.origin.Add(Vec{float64(x), float64(y)}.Scale(g.resolution).Add(Vec{g.resolution / 2, g.resolution / 2}))
					cells = append(cells, Pose{at.X, at.Y, 0}.ApplyTo(Rectangle(g.resolution, g.resolution)))
				}
			}
		}
		for range 300 {
			heading, width := 2*math.Pi*random.Float64(), []float64{0.01, 0.1, 0.26, 0.8, 1.4, 1.5, 3, 4}[random.IntN(8)]
			switch random.IntN(6) {
			case 0: // its middle along an axis
				heading = math.Pi / 2 * float64(random.IntN(4))
			case 1: // an edge, except for rounding
				heading = math.Pi/2*float64(random.IntN(4)) + width/2 + 1e-18*float64(random.IntN(3))
			}
			if random.IntN(10) == 0 {
				width = 0
			}
			b := NewBeam(heading, width)
			o, limit := Vec{5*random.Float64() - 0.5, 4*random.Float64() - 0.5}, 0.2+3*random.Float64()
			want := limit
			for _, cell := range cells {
				if want = b.Meet(o, cell, want); Contains(cell, o) {
					want = 0
				}
			}
			if want == limit {
				ended++
			} else {
				met++
			}
			if got := g.CastBeam(o, &b, 0, limit); math.Abs(got-want) > 1e-5 {
				t.Fatalf("from %v to %v degrees, %v wide, up to %v: %v, want %v", o, heading*180/math.Pi, width, limit, got, want)
			}
		}
	}
	if met < 1000 || ended < 1000 {
		t.Errorf("%d beams have met something, %d have not", met, ended)
	}
}
