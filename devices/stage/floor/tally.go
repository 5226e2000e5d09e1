package floor

import "math"

// Tally counts the tiles that a grid would store, without drawing it: those that walls cover in
// part. Where outlines overlap, it may be somewhat more than necessary.
type Tally struct {
	tiles     Grid    // one cell for each tile
	tolerance float64 // metres
	most      int
	// covered is the fraction of each tile that is covered in part, -1 for one that a side crosses.
	covered map[int]float64
}

// NewTally returns a tally of a grid over extent. It is exact up to most tiles.
func NewTally(extent Box, resolution float64, most int) *Tally {
	x0, y0, width, height := gridSize(extent, resolution)
	return &Tally{
		tiles: Grid{
			origin:   Vec{float64(x0) * resolution, float64(y0) * resolution},
			perMetre: 1 / (resolution * tileSide),
			width:    (width + tileMask) >> tileBits, height: (height + tileMask) >> tileBits,
		},
		tolerance: drawTolerance * resolution,
		most:      most,
		covered:   map[int]float64{},
	}
}

// Add counts an outline, and reports whether the grid may still store no more than most tiles.
// Outlines that are disjoint have no inner point in common with each other: the areas of
// rectangles along the axes are then added, and a tile that they cover wholly is not stored.
func (t *Tally) Add(outline []Vec, disjoint bool) bool {
	along := outline[1].Sub(outline[0])
	if disjoint && min(math.Abs(along.X), math.Abs(along.Y)) < t.tolerance {
		t.cover(outline)
	} else {
		t.tiles.drawSides(outline, t.cross)
	}
	return len(t.covered) <= t.most+t.tiles.width // of a row, all may be covered in the end
}

// Stored returns how many tiles are stored for what was added.
func (t *Tally) Stored() int { return len(t.covered) }

// cross counts the tiles of a row that a side crosses.
func (t *Tally) cross(row int, x0, x1 float64) {
	first, last := t.tiles.span(x0, x1)
	for x := first; x <= last; x++ {
		t.covered[row*t.tiles.width+x] = -1
	}
}

// cover counts the tiles that a rectangle along the axes covers in part.
func (t *Tally) cover(outline []Vec) {
	g := &t.tiles
	r := BoxOf(g.toCells(outline[0]), g.toCells(outline[2]))
	left, right := g.span(r.Min.X, r.Max.X)
	bottom, top := max(0, int(r.Min.Y+drawTolerance)), min(g.height-1, int(math.Ceil(r.Max.Y-drawTolerance))-1)
	for y := bottom; y <= top; y++ {
		high := min(r.Max.Y, float64(y+1)) - max(r.Min.Y, float64(y))
		for x := left; x <= right; x++ {
			more := high * (min(r.Max.X, float64(x+1)) - max(r.Min.X, float64(x)))
			i := y*g.width + x
			switch before := t.covered[i]; {
			case before < 0: // a side crosses it
			case before+more > 1-drawTolerance:
				delete(t.covered, i)
			default:
				t.covered[i] = before + more
			}
		}
	}
}

// Tiles returns how many tiles a grid over extent has, stored or not, about.
func Tiles(extent Box, resolution float64) float64 {
	if extent.Empty() {
		return 0
	}
	side, size := resolution*tileSide, extent.Size()
	return (size.X/side + 2) * (size.Y/side + 2)
}
