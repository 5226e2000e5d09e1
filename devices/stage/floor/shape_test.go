package floor

import (
	"math"
	"slices"
	"testing"
)

// The tiles are counted as they are drawn: also of solid areas of a picture, where one
// rectangle is next to the other.
func TestStoredTiles(t *testing.T) {
	var disc [][]Vec
	for y := range 64 {
		wide := 0
		for x := range 64 {
			if math.Hypot(float64(x)-31.5, float64(y)-31.5) < 30 {
				wide++
			}
		}
		if wide > 0 {
			disc = append(disc, Pose{0, float64(y) - 31.5, 0}.ApplyTo(Rectangle(float64(wide), 1)))
		}
	}
	var rotated [][]Vec
	for _, outline := range disc {
		rotated = append(rotated, Pose{0, 0, math.Pi}.ApplyTo(slices.Clone(outline)))
	}
	for _, tt := range []struct {
		name     string
		outlines [][]Vec
		disjoint bool
	}{
		{"aslant", [][]Vec{Pose{3, 4, math.Pi / 6}.ApplyTo(Rectangle(30, 20))}, false},
		{"disc", disc, true},
		{"disc, upside down", rotated, true},
	} {
		extent := BoxOf()
		for _, outline := range tt.outlines {
			extent.Include(outline...)
		}
		shapes, stored := []Shape{{tt.outlines, tt.disjoint}}, 0
		for _, tile := range Draw(extent, 0.02, 1<<14, shapes).tiles {
			if tile < 0 {
				stored++
			}
		}
		if got := StoredTiles(extent, 0.02, 1<<14, shapes); got < stored || got > stored+4 {
			t.Errorf("%s: %d tiles are stored, and %d were counted", tt.name, stored, got)
		}
	}
}
