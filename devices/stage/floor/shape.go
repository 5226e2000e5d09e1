package floor

import "math"

// Shape is outlines that are drawn into grids, metres.
type Shape struct {
	Outlines [][]Vec
	// Disjoint outlines have no inner point in common. StoredTiles then adds the areas of rectangles
	// along the axes, and does not count a tile that they cover wholly: it is not stored.
	Disjoint bool
}

// Draw returns the grid of shapes over extent, with cells of resolution metres that are aligned
// to multiples of it. It returns nil if it would store more than budget tiles.
func Draw(extent Box, resolution float64, budget int, shapes []Shape) *Grid {
	g := newGrid(extent, resolution, budget)
	for _, s := range shapes {
		for _, outline := range s.Outlines {
			if g.draw(outline); g.budget < 0 {
				return nil
			}
		}
	}
	g.finish()
	return g
}

// Tiles returns how many tiles a grid over extent has, stored or not, about.
func Tiles(extent Box, resolution float64) float64 {
	if extent.Empty() {
		return 0
	}
	side, size := resolution*tileSide, extent.Size()
	return (size.X/side + 2) * (size.Y/side + 2)
}

// StoredTiles returns how many tiles Draw would store: those that outlines cover in part. Where
// outlines overlap, it may be somewhat more than necessary. Above most it is any number above most.
func StoredTiles(extent Box, resolution float64, most int, shapes []Shape) int {
	x0, y0, width, height := gridSize(extent, resolution)
	tiles := Grid{ // the cells are the tiles
		origin: Vec{float64(x0) * resolution, float64(y0) * resolution}, perMetre: 1 / (resolution * tileSide),
		width: (width + tileMask) >> tileBits, height: (height + tileMask) >> tileBits,
	}
	// The fraction of each tile that is covered in part, -1 for a tile that a side crosses.
	covered := map[int]float64{}
	cross := func(row int, x0, x1 float64) {
		first, last := tiles.span(x0, x1)
		for x := first; x <= last; x++ {
			covered[row*tiles.width+x] = -1
		}
	}
	for _, s := range shapes {
		for _, outline := range s.Outlines {
			along := outline[1].Sub(outline[0])
			if s.Disjoint && min(math.Abs(along.X), math.Abs(along.Y)) < drawTolerance*resolution {
				tiles.cover(covered, outline)
			} else {
				tiles.drawSides(outline, cross)
			}
			if len(covered) > most+tiles.width { // of a row, all may be covered in the end
				return most + 1
			}
		}
	}
	return len(covered)
}

// cover adds the fractions of cells that an upright rectangle covers in part. A wholly
// covered cell leaves the map.
func (g *Grid) cover(covered map[int]float64, outline []Vec) {
	r := BoxOf(g.toCells(outline[0]), g.toCells(outline[2]))
	left, right := g.span(r.Min.X, r.Max.X)
	bottom, top := max(0, int(r.Min.Y+drawTolerance)), min(g.height-1, int(math.Ceil(r.Max.Y-drawTolerance))-1)
	for y := bottom; y <= top; y++ {
		high := min(r.Max.Y, float64(y+1)) - max(r.Min.Y, float64(y))
		for x := left; x <= right; x++ {
			more := high * (min(r.Max.X, float64(x+1)) - max(r.Min.X, float64(x)))
			i := y*g.width + x
			switch before := covered[i]; {
			case before < 0: // a side crosses it
			case before+more > 1-drawTolerance:
				delete(covered, i)
			default:
				covered[i] = before + more
			}
		}
	}
}
