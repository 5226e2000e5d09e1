package stage

import (
	"math"
	"runtime"
	"slices"
)

// layer is an occupancy grid with distance hints, which let rays leap across free
// space. Fixtures are drawn into it once.
//
// A cell is occupied if a shape overlaps it. Shapes are therefore never too
// small and less than one cell too large: ranges are never too long.
//
// Cells are stored in square tiles, and only where both free and occupied cells are
// near each other: memory grows with the length of the walls, not with the floor.
type layer struct {
	origin        Vec     // lower left corner of cell (0,0), metres
	resolution    float64 // metres per cell
	perMetre      float64 // cells
	width, height int     // in cells
	columns       int     // tiles in a row
	// tiles is, row by row, lowest first, for each tile: 0 if all its cells are
	// occupied; if all are free, the distance to the nearest tile with an occupied
	// cell, in tiles, diagonals counting one; otherwise ^k, and its cells are those of
	// stored tile k.
	tiles []int32
	// hints has, for each cell of the stored tiles, 0 if it is occupied, otherwise the
	// distance to the nearest occupied cell in cells, diagonals counting one
	// (Chebyshev), at most maxHint. Row by row, lowest first.
	hints []uint8

	// While the layer is drawn:
	budget int   // tiles that may still be stored
	counts []int // occupied cells of each stored tile
	spare  []int32
}

const (
	tileBits = 6
	tileSide = 1 << tileBits // cells: a tile has 4 kB
	tileMask = tileSide - 1
	tileArea = tileSide * tileSide
	// maxHint is the longest distance that is known exactly: all cells at it are in
	// neighbouring tiles.
	maxHint = tileSide + 1
	// far is the distance of a free tile in a layer without walls, in tiles: more than
	// any layer has.
	far = 1 << 25
)

const (
	// drawTolerance, in cells, is how far a shape must reach into a cell to
	// occupy it. It absorbs rounding: a wall that ends at 1.2 m also ends
	// there at a resolution of 0.02 m.
	drawTolerance = 1e-6
	// layerBorder is the frame of free cells around the shapes. A ray that
	// leaves the grid by a rounding error must find nothing there.
	layerBorder = 1
)

// newLayer returns an empty grid over extent, aligned to multiples of resolution,
// which may store budget tiles.
func newLayer(extent box, resolution float64, budget int) *layer {
	x0, y0, width, height := gridSize(extent, resolution)
	columns := (width + tileMask) >> tileBits
	return &layer{
		origin:     Vec{float64(x0) * resolution, float64(y0) * resolution},
		resolution: resolution,
		perMetre:   1 / resolution,
		width:      width, height: height,
		columns: columns,
		tiles:   slices.Repeat([]int32{far}, columns*((height+tileMask)>>tileBits)),
		budget:  budget,
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

// cell returns the side of a cell in metres.
func (l *layer) cell() float64 { return l.resolution }

// size returns the width and the height in cells.
func (l *layer) size() (width, height int) { return l.width, l.height }

// toCells converts a point to cell units.
func (l *layer) toCells(p Vec) Vec { return p.sub(l.origin).scale(l.perMetre) }

// occupied reports whether the cell at p is occupied. Cells outside the grid
// are free.
func (l *layer) occupied(p Vec) bool { return l.near(p) == 0 }

// at returns 0 for an occupied cell. For a free one it is at least 1, and no occupied
// cell is nearer than that, in cells.
func (l *layer) at(x, y int) int {
	switch tile := int(l.tiles[y>>tileBits*l.columns+x>>tileBits]); {
	case tile > 0:
		inX, inY := x&tileMask, y&tileMask
		return (tile-1)*tileSide + 1 + min(inX, tileMask-inX, inY, tileMask-inY)
	case tile < 0:
		return int(l.hints[^tile*tileArea+(y&tileMask)<<tileBits+x&tileMask])
	}
	return 0
}

// near is at for a point. Outside the grid it is the distance to the grid's border.
func (l *layer) near(p Vec) int {
	c := l.toCells(p)
	x, y := math.Floor(c.X), math.Floor(c.Y)
	if out := max(-x, -y, x-float64(l.width-1), y-float64(l.height-1)); out > 0 {
		return int(min(out+layerBorder, far))
	}
	return l.at(int(x), int(y))
}

// clear reports whether nothing occupied lies within radius metres of p.
func (l *layer) clear(p Vec, radius float64) bool { return l.free(p) > radius }

// free returns a distance from p in metres within which nothing is occupied.
func (l *layer) free(p Vec) float64 { return float64(l.near(p)-1) * l.resolution }

// draw occupies the cells that a polygon overlaps, and reports whether the layer had tiles enough.
// It invalidates the hints of the other cells: call finish afterwards.
func (l *layer) draw(polygon []Vec) bool {
	l.fill(l.drawSides(polygon, l.occupy))
	return l.budget >= 0
}

// stored returns how many tiles have cells of their own: each takes 4 kB.
func (l *layer) stored() int { return len(l.hints) / tileArea }

// drawSides calls visit for the cells of each row that the sides of a polygon cross. It
// returns the polygon in cell units.
func (l *layer) drawSides(polygon []Vec, visit func(row int, x0, x1 float64)) []Vec {
	points := make([]Vec, len(polygon))
	for i, p := range polygon {
		points[i] = l.toCells(p)
	}
	a := points[len(points)-1]
	for _, b := range points {
		l.drawSide(a, b, visit)
		a = b
	}
	return points
}

// drawSide calls visit for the cells of each row that the segment from a to b, in cell
// units, crosses.
func (l *layer) drawSide(a, b Vec, visit func(row int, x0, x1 float64)) {
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
		visit(row, min(xa, xb), max(xa, xb))
	}
}

// fill occupies the cells whose centre lies in the polygon, in cell units.
func (l *layer) fill(points []Vec) {
	extent := emptyBox()
	extent.include(points...)
	convex := len(convexHull(slices.Clone(points))) == len(points)
	var crossings []float64
	for row := max(0, int(math.Floor(extent.min.Y))); row <= min(l.height-1, int(math.Floor(extent.max.Y))); row++ {
		crossings = cross(crossings[:0], points, float64(row)+0.5)
		if convex && row&tileMask == 0 && len(crossings) == 2 {
			// What is between the sides at both edges of a row of tiles is between them
			// in all its rows.
			if end := cross(nil, points, float64(row+tileMask)+0.5); len(end) == 2 {
				l.fillTiles(row, max(crossings[0], end[0]), min(crossings[1], end[1]))
			}
		}
		for i := 0; i+1 < len(crossings); i += 2 {
			l.occupy(row, crossings[i], crossings[i+1])
		}
	}
}

// cross appends where the sides of a polygon cross a row, sorted.
func cross(dst []float64, points []Vec, y float64) []float64 {
	a := points[len(points)-1]
	for _, b := range points {
		if (a.Y > y) != (b.Y > y) {
			dst = append(dst, a.X+(y-a.Y)/(b.Y-a.Y)*(b.X-a.X))
		}
		a = b
	}
	slices.Sort(dst)
	return dst
}

// fillTiles occupies the tiles of a row of tiles that are wholly between x0 and x1, in
// cell units: a large thing is not drawn cell by cell.
func (l *layer) fillTiles(row int, x0, x1 float64) {
	last := min(float64(l.width), x1)
	for x := (int(max(0, math.Ceil(x0))) + tileMask) &^ tileMask; float64(x+tileSide) <= last; x += tileSide {
		if i := row>>tileBits*l.columns + x>>tileBits; l.tiles[i] < 0 {
			l.spare, l.tiles[i] = append(l.spare, ^l.tiles[i]), 0
		} else {
			l.tiles[i] = 0
		}
	}
}

// occupy occupies the cells of a row from x0 to x1, in cell units.
func (l *layer) occupy(row int, x0, x1 float64) {
	first, last := l.span(x0, x1)
	for x := first; x <= last; {
		end := min(last, x|tileMask)
		if i := row>>tileBits*l.columns + x>>tileBits; l.tiles[i] != 0 && l.store(i) {
			k := int(^l.tiles[i])
			from := k*tileArea + row&tileMask<<tileBits
			for c := from + x&tileMask; c <= from+end&tileMask; c++ {
				l.counts[k] += int(l.hints[c])
				l.hints[c] = 0
			}
			if l.counts[k] == tileArea {
				l.tiles[i], l.spare = 0, append(l.spare, int32(k))
			}
		}
		x = end + 1
	}
}

// span returns the first and the last cell of a row that reach from x0 to x1, in cell
// units, cover.
func (l *layer) span(x0, x1 float64) (first, last int) {
	return max(0, int(math.Floor(x0+drawTolerance))), min(l.width-1, int(math.Ceil(x1-drawTolerance))-1)
}

// store gives tile i cells of its own, and reports whether there are any left. Until
// finish, the hint of a free cell is 1.
func (l *layer) store(i int) bool {
	if l.tiles[i] < 0 {
		return true
	}
	if len(l.spare) == 0 {
		if l.budget--; l.budget < 0 {
			return false
		}
		l.spare = append(l.spare, int32(len(l.counts)))
		l.counts = append(l.counts, 0)
		l.hints = append(l.hints, make([]uint8, tileArea)...)
	}
	k := int(l.spare[len(l.spare)-1])
	l.spare = l.spare[:len(l.spare)-1]
	l.tiles[i], l.counts[k] = ^int32(k), 0
	for c := range l.hints[k*tileArea : (k+1)*tileArea] {
		l.hints[k*tileArea+c] = 1
	}
	return true
}

// finish computes the hints. With a negative budget it does nothing: there were not
// enough tiles.
func (l *layer) finish() {
	if l.budget < 0 {
		return
	}
	l.finishTiles()
	rows := len(l.tiles) / l.columns
	for row := range rows {
		for column := 0; column < l.columns; column++ {
			// A number of tiles side by side at once: their margins are computed once.
			end := column
			for end < l.columns && end < column+tileSide && l.tiles[row*l.columns+end] < 0 {
				end++
			}
			if end > column {
				l.finishRun(row, column, end)
				column = end - 1
				runtime.Gosched() // a server that drives robots may make a draft
			}
		}
	}
	l.hints = slices.Clip(l.hints)
	l.counts, l.spare = nil, nil
}

// finishTiles computes the distances of the free tiles in two passes: each is one more
// than its nearest neighbour so far, which is exact for this metric.
func (l *layer) finishTiles() {
	rows := len(l.tiles) / l.columns
	relax := func(x, y, step int) {
		i := y*l.columns + x
		if l.tiles[i] <= 0 {
			return
		}
		for _, n := range [4][2]int{{x - step, y}, {x - 1, y - step}, {x, y - step}, {x + 1, y - step}} {
			if uint(n[0]) < uint(l.columns) && uint(n[1]) < uint(rows) {
				l.tiles[i] = min(l.tiles[i], max(0, l.tiles[n[1]*l.columns+n[0]])+1)
			}
		}
	}
	for y := range rows {
		for x := range l.columns {
			relax(x, y, 1)
		}
	}
	for y := rows - 1; y >= 0; y-- {
		for x := l.columns - 1; x >= 0; x-- {
			relax(x, y, -1)
		}
	}
}

// finishRun computes the hints of stored tiles of a row, side by side, from the cells
// of these and of all neighbouring tiles.
func (l *layer) finishRun(row, column, end int) {
	width, height := (end-column+2)*tileSide+2, 3*tileSide+2 // with a frame of one cell
	near := slices.Repeat([]uint8{maxHint}, width*height)
	// each calls fn with the places of all rows of cells of a tile: in near, and in
	// hints, or -1 if the tile is not stored.
	each := func(x, y int, fn func(tile int32, to, from int)) {
		if x < 0 || x >= l.columns || y < 0 || y >= len(l.tiles)/l.columns {
			return
		}
		tile := l.tiles[y*l.columns+x]
		to := ((y-row+1)*tileSide+1)*width + (x-column+1)*tileSide + 1
		for k := range tileSide {
			fn(tile, to+k*width, int(^tile)*tileArea+k*tileSide)
		}
	}
	for y := row - 1; y <= row+1; y++ {
		for x := column - 1; x <= end; x++ {
			each(x, y, func(tile int32, to, from int) {
				for k := range tileSide {
					if tile == 0 || tile < 0 && l.hints[from+k] == 0 {
						near[to+k] = 0
					}
				}
			})
		}
	}
	// A cell is at most one farther than each of its neighbours. Those that the next cell
	// has too are not read again.
	beside, far, middle := near[width], near[0], near[1]
	for i := width + 1; i < len(near)-width-1; i++ {
		next := near[i-width+1]
		beside = min(near[i], min(beside, far, middle, next, maxHint-1)+1)
		near[i], far, middle = beside, middle, next
	}
	last := len(near) - 1
	beside, far, middle = near[last-width], near[last], near[last-1]
	for i := last - width - 1; i > width; i-- {
		next := near[i+width-1]
		beside = min(near[i], min(beside, far, middle, next, maxHint-1)+1)
		near[i], far, middle = beside, middle, next
	}
	for x := column; x < end; x++ {
		each(x, row, func(_ int32, to, from int) { copy(l.hints[from:from+tileSide], near[to:to+tileSide]) })
	}
}
