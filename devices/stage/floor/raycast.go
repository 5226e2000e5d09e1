package floor

import "math"

// Cast returns the distance in metres from o along the unit vector d to the
// first occupied cell, or limit if none is nearer. From within an occupied
// cell it is zero. It allocates nothing.
func (g *Grid) Cast(o, d Vec, limit float64) float64 { return g.CastFrom(o, d, 0, limit) }

// CastFrom is Cast for a ray that is known to meet nothing in its first from metres.
//
// Around a free cell lies a free square: the hint of the cell, or of its tile, gives its
// size. The ray leaps from one such square to the next, so the distance is exact to the
// face of the cell that it hits.
func (g *Grid) CastFrom(o, d Vec, from, limit float64) float64 {
	p := g.toCells(o)
	end := limit * g.perMetre
	t := from * g.perMetre
	if !g.inside(p) {
		t = max(t, g.enter(p, d))
	}
	if !(t < end) {
		return limit
	}
	// The ray leaves a square at its right or left face, and at its upper or lower one.
	perX, perY := 1/d.X, 1/d.Y
	rightward, leftward, upward, downward := -1, 0, -1, 0
	if d.X < 0 {
		rightward, leftward = 0, 1
	} else if d.X == 0 {
		perX = math.Inf(1)
	}
	if d.Y < 0 {
		upward, downward = 0, 1
	} else if d.Y == 0 {
		perY = math.Inf(1)
	}
	x, y := int(p.X+1+d.X*t)-1, int(p.Y+1+d.Y*t)-1 // a conversion truncates toward zero
	tiles, hints, columns, width, height := g.tiles, g.hints, g.columns, uint(g.width), uint(g.height)
	for t < end {
		if uint(x) >= width || uint(y) >= height {
			return limit
		}
		var left, low, side int // of the square, in cells
		if tile := int(tiles[y>>tileBits*columns+x>>tileBits]); tile < 0 {
			n := int(hints[^tile*tileArea+y&tileMask<<tileBits+x&tileMask])
			left, low, side = x-n+1, y-n+1, 2*n-1
		} else {
			left, low, side = x&^tileMask-(tile-1)*tileSide, y&^tileMask-(tile-1)*tileSide, (2*tile-1)*tileSide
		}
		if side < 0 {
			return t * g.resolution
		}
		faceX, faceY := left+side&rightward, low+side&upward
		tx, ty := (float64(faceX)-p.X)*perX, (float64(faceY)-p.Y)*perY
		if tx < ty {
			t, x = tx, faceX-leftward
			y = max(low, min(low+side-1, int(p.Y+1+d.Y*t)-1))
		} else {
			t, y = ty, faceY-downward
			x = max(left, min(left+side-1, int(p.X+1+d.X*t)-1))
		}
	}
	return limit
}

// inside reports whether a point, in cell units, is within the grid.
func (g *Grid) inside(p Vec) bool {
	return p.X >= 0 && p.X < float64(g.width) && p.Y >= 0 && p.Y < float64(g.height)
}

// enter returns where a ray from p along d, in cell units, enters the grid
// from outside: infinity if it never does.
func (g *Grid) enter(p, d Vec) float64 {
	near, far := 0.0, math.Inf(1)
	for _, axis := range [2]struct{ p, d, size float64 }{{p.X, d.X, float64(g.width)}, {p.Y, d.Y, float64(g.height)}} {
		if axis.d == 0 {
			if axis.p < 0 || axis.p >= axis.size {
				return math.Inf(1)
			}
			continue
		}
		a, b := -axis.p/axis.d, (axis.size-axis.p)/axis.d
		near, far = max(near, min(a, b)), min(far, max(a, b))
	}
	if near > far {
		return math.Inf(1)
	}
	if near > 0 {
		near += drawTolerance // past the face, despite rounding
	}
	return near
}
