package floor

import (
	"math"
	"runtime"
	"slices"
)

// Grid is an occupancy grid with distance hints, which let rays leap across free
// space. Draw makes it. It does not change, so goroutines may read it at the same time.
//
// A cell is occupied if a shape overlaps it. Shapes are therefore never too
// small and less than one cell too large: ranges are never too long.
//
// Cells are stored in square tiles, and only where both free and occupied cells are
// near each other: memory grows with the length of the walls, not with the floor.
type Grid struct {
	origin        Vec     // lower left corner of cell (0,0), metres
	resolution    float64 // metres per cell
	perMetre      float64 // cells
	width, height int     // in cells
	columns       int     // tiles in a row
	// tiles has one entry for each tile, row by row, the lowest row first: 0 if all cells of
	// the tile are occupied; if all are free, the distance to the nearest tile with an
	// occupied cell, in tiles, diagonals counting one; otherwise ^k, where k is the index of
	// the stored tile with its cells.
	tiles []int32
	// hints has, for each cell of the stored tiles, 0 if it is occupied, otherwise the
	// distance to the nearest occupied cell in cells, diagonals counting one
	// (Chebyshev), at most maxHint. Row by row, lowest first.
	hints []uint8

	// While the grid is drawn:
	budget int   // tiles that may still be stored
	counts []int // occupied cells of each stored tile
	spare  []int32
}

const (
	tileBits = 6
	tileSide = 1 << tileBits // cells: a tile has 4 kB
	tileMask = tileSide - 1
	tileArea = tileSide * tileSide
	// maxHint is the longest exact distance: all cells at it are in neighbouring tiles.
	maxHint = tileSide + 1
	// far is the distance of a free tile in a grid without walls, in tiles: more than
	// any grid has.
	far = 1 << 25
)

const (
	// drawTolerance, in cells, is how far a shape must reach into a cell to
	// occupy it. It absorbs rounding: a wall that ends at 1.2 m also ends
	// there at a resolution of 0.02 m.
	drawTolerance = 1e-6
	// gridBorder is the frame of free cells around the shapes. A ray that
	// leaves the grid by a rounding error must find nothing there.
	gridBorder = 1
)

// newGrid returns an empty grid over extent, which may store budget tiles.
func newGrid(extent Box, resolution float64, budget int) *Grid {
	x0, y0, width, height := gridSize(extent, resolution)
	columns := (width + tileMask) >> tileBits
	return &Grid{
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
func gridSize(extent Box, resolution float64) (x0, y0, width, height int) {
	if extent.Empty() {
		extent = Box{}
	}
	first := func(v float64) int { return int(math.Floor(v/resolution+drawTolerance)) - gridBorder }
	last := func(v float64) int { return int(math.Ceil(v/resolution-drawTolerance)) + gridBorder }
	x0, y0 = first(extent.Min.X), first(extent.Min.Y)
	return x0, y0, max(last(extent.Max.X)-x0, 2*gridBorder+1), max(last(extent.Max.Y)-y0, 2*gridBorder+1)
}

// Origin returns the lower left corner of cell (0,0), metres.
func (g *Grid) Origin() Vec { return g.origin }

// Resolution returns the side of a cell in metres.
func (g *Grid) Resolution() float64 { return g.resolution }

// Size returns the width and the height in cells.
func (g *Grid) Size() (width, height int) { return g.width, g.height }

// toCells converts a point to cell units.
func (g *Grid) toCells(p Vec) Vec { return p.Sub(g.origin).Scale(g.perMetre) }

// Occupied reports whether the cell at p is occupied. Cells outside the grid
// are free.
func (g *Grid) Occupied(p Vec) bool { return g.near(p) == 0 }

// Hint returns 0 for an occupied cell; (0,0) is at the origin, x to the right, y up. For a free
// one it is at least 1, and no occupied cell is nearer than that, in cells.
func (g *Grid) Hint(x, y int) int {
	switch tile := int(g.tiles[y>>tileBits*g.columns+x>>tileBits]); {
	case tile > 0:
		inX, inY := x&tileMask, y&tileMask
		return (tile-1)*tileSide + 1 + min(inX, tileMask-inX, inY, tileMask-inY)
	case tile < 0:
		return int(g.hints[^tile*tileArea+(y&tileMask)<<tileBits+x&tileMask])
	}
	return 0
}

// near is Hint for a point. Outside the grid it is the distance to the grid's border.
func (g *Grid) near(p Vec) int {
	c := g.toCells(p)
	x, y := math.Floor(c.X), math.Floor(c.Y)
	if out := max(-x, -y, x-float64(g.width-1), y-float64(g.height-1)); out > 0 {
		return int(min(out+gridBorder, far))
	}
	return g.Hint(int(x), int(y))
}

// Clear reports whether nothing occupied lies within radius metres of p.
func (g *Grid) Clear(p Vec, radius float64) bool { return g.Free(p) > radius }

// Free returns a distance from p in metres within which nothing is occupied. It may be negative.
func (g *Grid) Free(p Vec) float64 { return float64(g.near(p)-1) * g.resolution }

// draw occupies the cells that a polygon overlaps. With a negative budget afterwards there were not
// enough tiles. It invalidates the hints of the other cells: call finish afterwards.
func (g *Grid) draw(polygon []Vec) {
	g.fill(g.drawSides(polygon, g.occupy))
}

// Stored returns how many tiles have cells of their own: each takes 4 kB.
func (g *Grid) Stored() int { return len(g.hints) / tileArea }

// drawSides calls visit for the cells of each row that the sides of a polygon cross. It
// returns the polygon in cell units.
func (g *Grid) drawSides(polygon []Vec, visit func(row int, x0, x1 float64)) []Vec {
	points := make([]Vec, len(polygon))
	for i, p := range polygon {
		points[i] = g.toCells(p)
	}
	a := points[len(points)-1]
	for _, b := range points {
		g.drawSide(a, b, visit)
		a = b
	}
	return points
}

// drawSide calls visit for the cells of each row that the segment from a to b, in cell
// units, crosses.
func (g *Grid) drawSide(a, b Vec, visit func(row int, x0, x1 float64)) {
	if a.Y > b.Y {
		a, b = b, a
	}
	first := max(0, int(math.Floor(a.Y+drawTolerance)))
	last := min(g.height-1, int(math.Ceil(b.Y-drawTolerance))-1)
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

// fill occupies the cells with their centre in the polygon, in cell units.
func (g *Grid) fill(points []Vec) {
	extent := BoxOf(points...)
	convex := len(ConvexHull(slices.Clone(points))) == len(points)
	var crossings []float64
	for row := max(0, int(math.Floor(extent.Min.Y))); row <= min(g.height-1, int(math.Floor(extent.Max.Y))); row++ {
		crossings = cross(crossings[:0], points, float64(row)+0.5)
		if convex && row&tileMask == 0 && len(crossings) == 2 {
			// Cells that are between the sides at both edges of a row of tiles are between them
			// in all its rows.
			if end := cross(nil, points, float64(row+tileMask)+0.5); len(end) == 2 {
				g.fillTiles(row, max(crossings[0], end[0]), min(crossings[1], end[1]))
			}
		}
		for i := 0; i+1 < len(crossings); i += 2 {
			g.occupy(row, crossings[i], crossings[i+1])
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
func (g *Grid) fillTiles(row int, x0, x1 float64) {
	last := min(float64(g.width), x1)
	for x := (int(max(0, math.Ceil(x0))) + tileMask) &^ tileMask; float64(x+tileSide) <= last; x += tileSide {
		if i := row>>tileBits*g.columns + x>>tileBits; g.tiles[i] < 0 {
			g.spare, g.tiles[i] = append(g.spare, ^g.tiles[i]), 0
		} else {
			g.tiles[i] = 0
		}
	}
}

// occupy occupies the cells of a row from x0 to x1, in cell units.
func (g *Grid) occupy(row int, x0, x1 float64) {
	first, last := g.span(x0, x1)
	for x := first; x <= last; {
		end := min(last, x|tileMask)
		if i := row>>tileBits*g.columns + x>>tileBits; g.tiles[i] != 0 && g.store(i) {
			k := int(^g.tiles[i])
			from := k*tileArea + row&tileMask<<tileBits
			for c := from + x&tileMask; c <= from+end&tileMask; c++ {
				g.counts[k] += int(g.hints[c])
				g.hints[c] = 0
			}
			if g.counts[k] == tileArea {
				g.tiles[i], g.spare = 0, append(g.spare, int32(k))
			}
		}
		x = end + 1
	}
}

// span returns the first and the last cell of a row that reach from x0 to x1, in cell
// units, cover.
func (g *Grid) span(x0, x1 float64) (first, last int) {
	return max(0, int(math.Floor(x0+drawTolerance))), min(g.width-1, int(math.Ceil(x1-drawTolerance))-1)
}

// store gives tile i cells of its own, and reports whether there are any left. Until
// finish, the hint of a free cell is 1.
func (g *Grid) store(i int) bool {
	if g.tiles[i] < 0 {
		return true
	}
	if len(g.spare) == 0 {
		if g.budget--; g.budget < 0 {
			return false
		}
		g.spare = append(g.spare, int32(len(g.counts)))
		g.counts = append(g.counts, 0)
		g.hints = append(g.hints, make([]uint8, tileArea)...)
	}
	k := int(g.spare[len(g.spare)-1])
	g.spare = g.spare[:len(g.spare)-1]
	g.tiles[i], g.counts[k] = ^int32(k), 0
	for c := range g.hints[k*tileArea : (k+1)*tileArea] {
		g.hints[k*tileArea+c] = 1
	}
	return true
}

// finish computes the hints.
func (g *Grid) finish() {
	g.finishTiles()
	rows := len(g.tiles) / g.columns
	for row := range rows {
		for column := 0; column < g.columns; column++ {
			// A number of tiles side by side at once: their margins are computed once.
			end := column
			for end < g.columns && end < column+tileSide && g.tiles[row*g.columns+end] < 0 {
				end++
			}
			if end > column {
				g.finishRun(row, column, end)
				column = end - 1
				runtime.Gosched() // a server that drives robots may make a draft
			}
		}
	}
	g.hints = slices.Clip(g.hints)
	g.counts, g.spare = nil, nil
}

// finishTiles computes the distances of the free tiles in two passes: each is one more
// than its nearest neighbour so far, which is exact for this metric.
func (g *Grid) finishTiles() {
	rows := len(g.tiles) / g.columns
	relax := func(x, y, step int) {
		i := y*g.columns + x
		if g.tiles[i] <= 0 {
			return
		}
		for _, n := range [4][2]int{{x - step, y}, {x - 1, y - step}, {x, y - step}, {x + 1, y - step}} {
			if uint(n[0]) < uint(g.columns) && uint(n[1]) < uint(rows) {
				g.tiles[i] = min(g.tiles[i], max(0, g.tiles[n[1]*g.columns+n[0]])+1)
			}
		}
	}
	for y := range rows {
		for x := range g.columns {
			relax(x, y, 1)
		}
	}
	for y := rows - 1; y >= 0; y-- {
		for x := g.columns - 1; x >= 0; x-- {
			relax(x, y, -1)
		}
	}
}

// finishRun computes the hints of stored tiles of a row, side by side, from the cells
// of these and of all neighbouring tiles.
func (g *Grid) finishRun(row, column, end int) {
	width, height := (end-column+2)*tileSide+2, 3*tileSide+2 // with a frame of one cell
	near := slices.Repeat([]uint8{maxHint}, width*height)
	// each calls fn with the places of all rows of cells of a tile: in near, and in
	// hints, or -1 if the tile is not stored.
	each := func(x, y int, fn func(tile int32, to, from int)) {
		if x < 0 || x >= g.columns || y < 0 || y >= len(g.tiles)/g.columns {
			return
		}
		tile := g.tiles[y*g.columns+x]
		to := ((y-row+1)*tileSide+1)*width + (x-column+1)*tileSide + 1
		for k := range tileSide {
			fn(tile, to+k*width, int(^tile)*tileArea+k*tileSide)
		}
	}
	for y := row - 1; y <= row+1; y++ {
		for x := column - 1; x <= end; x++ {
			each(x, y, func(tile int32, to, from int) {
				switch cells := near[to : to+tileSide]; {
				case tile == 0:
					clear(cells)
				case tile < 0:
					for k, hint := range g.hints[from : from+tileSide] {
						if hint == 0 {
							cells[k] = 0
						}
					}
				}
			})
		}
	}
	// A cell's distance is at most one more than the distance of each neighbour. Neighbours that the
	// next cell also has stay in variables, and the cell before comes last: the processor compares
	// the others while it waits for that one.
	before, far, middle := near[width], near[0], near[1]
	for i := width + 1; i < len(near)-width-1; i++ {
		next := near[i-width+1]
		others := min(near[i], min(far, middle, next)+1)
		before = min(others, before+1)
		near[i], far, middle = before, middle, next
	}
	last := len(near) - 1
	before, far, middle = near[last-width], near[last], near[last-1]
	for i := last - width - 1; i > width; i-- {
		next := near[i+width-1]
		others := min(near[i], min(far, middle, next)+1)
		before = min(others, before+1)
		near[i], far, middle = before, middle, next
	}
	for x := column; x < end; x++ {
		each(x, row, func(_ int32, to, from int) { copy(g.hints[from:from+tileSide], near[to:to+tileSide]) })
	}
}
