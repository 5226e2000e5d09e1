package stage

import (
	"math"
	"slices"
)

// layer is an occupancy grid with a distance hint in every cell, which lets
// rays leap across free space. Fixtures are drawn into it once.
//
// A cell is occupied if a shape overlaps it. Shapes are therefore never too
// small and less than one cell too large: ranges are never too long.
type layer struct {
	origin        Vec     // lower left corner of cell (0,0), metres
	resolution    float64 // metres per cell
	width, height int     // in cells
	// hint is 0 for an occupied cell, otherwise the distance to the nearest
	// occupied one in cells, diagonals counting one (Chebyshev), at most 255.
	// Row by row, lowest first.
	hint []uint8
}

const (
	// drawTolerance, in cells, is how far a shape must reach into a cell to
	// occupy it. It absorbs rounding: a wall that ends at 1.2 m also ends
	// there at a resolution of 0.02 m.
	drawTolerance = 1e-6
	// layerBorder is the frame of free cells around the shapes. A ray that
	// leaves the grid by a rounding error must find nothing there.
	layerBorder = 1
)

// newLayer returns an empty grid over extent, aligned to multiples of
// resolution.
func newLayer(extent box, resolution float64) *layer {
	x0, y0, width, height := gridSize(extent, resolution)
	return &layer{
		origin:     Vec{float64(x0) * resolution, float64(y0) * resolution},
		resolution: resolution,
		width:      width, height: height,
		hint: slices.Repeat([]uint8{255}, width*height),
	}
}

// gridSize returns the first cell, counted from the world's origin, and the
// size in cells of a grid over extent.
func gridSize(extent box, resolution float64) (x0, y0, width, height int) {
	if extent.empty() {
		extent = box{}
	}
	first := func(v float64) int { return int(math.Floor(v/resolution+drawTolerance)) - layerBorder }
	last := func(v float64) int { return int(math.Ceil(v/resolution-drawTolerance)) + layerBorder }
	x0, y0 = first(extent.min.X), first(extent.min.Y)
	return x0, y0, max(last(extent.max.X)-x0, 2*layerBorder+1), max(last(extent.max.Y)-y0, 2*layerBorder+1)
}

// toCells converts a point to cell units.
func (l *layer) toCells(p Vec) Vec { return p.sub(l.origin).scale(1 / l.resolution) }

// occupied reports whether the cell at p is occupied. Cells outside the grid
// are free.
func (l *layer) occupied(p Vec) bool { return l.near(p) == 0 }

// near returns the hint of the cell at p. Outside the grid it is the distance
// to the grid's border.
func (l *layer) near(p Vec) uint8 {
	c := l.toCells(p)
	x, y := math.Floor(c.X), math.Floor(c.Y)
	if out := max(-x, -y, x-float64(l.width-1), y-float64(l.height-1)); out > 0 {
		return uint8(min(out+layerBorder, 255))
	}
	return l.hint[int(y)*l.width+int(x)]
}

// clear reports whether nothing occupied lies within radius metres of p.
func (l *layer) clear(p Vec, radius float64) bool {
	return float64(int(l.near(p))-1)*l.resolution > radius
}

// draw occupies the cells that a polygon overlaps. It invalidates the hints of
// the other cells: call finish afterwards.
func (l *layer) draw(polygon []Vec) {
	points := make([]Vec, len(polygon))
	for i, p := range polygon {
		points[i] = l.toCells(p)
	}
	a := points[len(points)-1]
	for _, b := range points {
		l.drawSide(a, b)
		a = b
	}
	l.fill(points)
}

// drawSide occupies the cells that the segment from a to b, in cell units,
// crosses.
func (l *layer) drawSide(a, b Vec) {
	if a.Y > b.Y {
		a, b = b, a
	}
	first := max(0, int(math.Floor(a.Y+drawTolerance)))
	last := min(l.height-1, int(math.Ceil(b.Y-drawTolerance))-1)
	for row := first; row <= last; row++ {
		// The part of the segment within the row.
		xa, xb := a.X, b.X
		if slope := (b.X - a.X) / (b.Y - a.Y); !math.IsInf(slope, 0) && !math.IsNaN(slope) {
			xa = a.X + slope*(max(a.Y, float64(row))-a.Y)
			xb = a.X + slope*(min(b.Y, float64(row+1))-a.Y)
		}
		l.mark(row, min(xa, xb), max(xa, xb))
	}
}

// fill occupies the cells whose centre lies in the polygon, in cell units.
func (l *layer) fill(points []Vec) {
	extent := emptyBox()
	extent.include(points...)
	var crossings []float64
	for row := max(0, int(math.Floor(extent.min.Y))); row <= min(l.height-1, int(math.Floor(extent.max.Y))); row++ {
		y := float64(row) + 0.5
		crossings = crossings[:0]
		a := points[len(points)-1]
		for _, b := range points {
			if (a.Y > y) != (b.Y > y) {
				crossings = append(crossings, a.X+(y-a.Y)/(b.Y-a.Y)*(b.X-a.X))
			}
			a = b
		}
		slices.Sort(crossings)
		for i := 0; i+1 < len(crossings); i += 2 {
			l.mark(row, crossings[i], crossings[i+1])
		}
	}
}

// mark occupies the cells of a row from x0 to x1, in cell units.
func (l *layer) mark(row int, x0, x1 float64) {
	first := max(0, int(math.Floor(x0+drawTolerance)))
	last := min(l.width-1, int(math.Ceil(x1-drawTolerance))-1)
	for x := first; x <= last; x++ {
		l.hint[row*l.width+x] = 0
	}
}

// finish computes the hints in two passes: each cell is one more than its
// nearest neighbour so far, which is exact for this metric. The border gets
// the smallest hint of a free cell, which is valid anywhere.
func (l *layer) finish() {
	w := l.width
	relax := func(i, a, b, c, d int) {
		if l.hint[i] != 0 {
			near := min(l.hint[a], l.hint[b], l.hint[c], l.hint[d], 254)
			l.hint[i] = min(l.hint[i], near+1)
		}
	}
	for y := 1; y < l.height-1; y++ {
		for i := y*w + 1; i < y*w+w-1; i++ {
			relax(i, i-1, i-w-1, i-w, i-w+1)
		}
	}
	for y := l.height - 2; y > 0; y-- {
		for i := y*w + w - 2; i > y*w; i-- {
			relax(i, i+1, i+w-1, i+w, i+w+1)
		}
	}
	for x := range w {
		l.hint[x], l.hint[(l.height-1)*w+x] = 1, 1
	}
	for y := range l.height {
		l.hint[y*w], l.hint[y*w+w-1] = 1, 1
	}
}
