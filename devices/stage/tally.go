package stage

import "math"

// tally counts the tiles that a grid would store, without drawing it: those that walls cover in
// part. Where outlines overlap, it may be somewhat more than necessary.
type tally struct {
	tiles     layer   // one cell for each tile
	tolerance float64 // metres
	most      int
	// covered is the fraction of each tile that is covered in part, -1 for one that a side crosses.
	covered map[int]float64
}

// newTally returns a tally of a grid over extent. It is exact up to most tiles.
func newTally(extent box, resolution float64, most int) *tally {
	x0, y0, width, height := gridSize(extent, resolution)
	return &tally{
		tiles: layer{
			origin:   Vec{float64(x0) * resolution, float64(y0) * resolution},
			perMetre: 1 / (resolution * tileSide),
			width:    (width + tileMask) >> tileBits, height: (height + tileMask) >> tileBits,
		},
		tolerance: drawTolerance * resolution,
		most:      most,
		covered:   map[int]float64{},
	}
}

// add counts an outline, and reports whether the grid may still store no more than most tiles.
// Outlines that are disjoint have no inner point in common with each other: the areas of
// rectangles along the axes are then added, and a tile that they cover wholly is not stored.
func (t *tally) add(outline []Vec, disjoint bool) bool {
	along := outline[1].sub(outline[0])
	if disjoint && min(math.Abs(along.X), math.Abs(along.Y)) < t.tolerance {
		t.cover(outline)
	} else {
		t.tiles.drawSides(outline, t.cross)
	}
	return len(t.covered) <= t.most+t.tiles.width // of a row, all may be covered in the end
}

// stored returns how many tiles are stored for what was added.
func (t *tally) stored() int { return len(t.covered) }

// cross counts the tiles of a row that a side crosses.
func (t *tally) cross(row int, x0, x1 float64) {
	first, last := t.tiles.span(x0, x1)
	for x := first; x <= last; x++ {
		t.covered[row*t.tiles.width+x] = -1
	}
}

// cover counts the tiles that a rectangle along the axes covers in part.
func (t *tally) cover(outline []Vec) {
	l := &t.tiles
	r := emptyBox()
	r.include(l.toCells(outline[0]), l.toCells(outline[2]))
	left, right := l.span(r.min.X, r.max.X)
	bottom, top := max(0, int(r.min.Y+drawTolerance)), min(l.height-1, int(math.Ceil(r.max.Y-drawTolerance))-1)
	for y := bottom; y <= top; y++ {
		high := min(r.max.Y, float64(y+1)) - max(r.min.Y, float64(y))
		for x := left; x <= right; x++ {
			more := high * (min(r.max.X, float64(x+1)) - max(r.min.X, float64(x)))
			i := y*l.width + x
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

// tilesOver returns how many tiles a grid over extent has, stored or not, about.
func tilesOver(extent box, resolution float64) float64 {
	if extent.empty() {
		return 0
	}
	side, size := resolution*tileSide, extent.max.sub(extent.min)
	return (size.X/side + 2) * (size.Y/side + 2)
}
