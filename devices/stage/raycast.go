package stage

import "math"

// cast returns the distance in metres from o along the unit vector d to the
// first occupied cell, or limit if none is nearer. From within an occupied
// cell it is zero. It allocates nothing.
//
// In free space the ray leaps by the hint of its cell or of its tile: no cell within
// that distance is occupied, in any direction. Next to an occupied cell it walks
// cell by cell, so the distance is exact to the face of the cell that it hits.
func (l *layer) cast(o, d Vec, limit float64) float64 {
	p := l.toCells(o)
	end := limit / l.resolution
	t := l.enter(p, d)
	if t >= end {
		return limit
	}
	leap := 1 / max(math.Abs(d.X), math.Abs(d.Y))
	stepX, stepY, faceX, faceY := 1, 1, 1, 1
	if d.X < 0 {
		stepX, faceX = -1, 0
	}
	if d.Y < 0 {
		stepY, faceY = -1, 0
	}
	x, y := int(math.Floor(p.X+d.X*t)), int(math.Floor(p.Y+d.Y*t))
	for t < end {
		if uint(x) >= uint(l.width) || uint(y) >= uint(l.height) {
			return limit
		}
		tile := l.tiles[y>>tileBits*l.columns+x>>tileBits]
		n := 0
		switch {
		case tile > 1:
			n = int(tile-1)*tileSide + 1
		case tile == 1:
			// Over the face of the tile.
			right, top := x|tileMask, y|tileMask
			tx, ty := face(right+1-(1-faceX)*tileSide, p.X, d.X), face(top+1-(1-faceY)*tileSide, p.Y, d.Y)
			if tx < ty {
				t = max(t, tx)
				x, y = right+1-(1-faceX)*(tileSide+1), max(top-tileMask, min(top, int(p.Y+d.Y*t)))
			} else {
				t = max(t, ty)
				x, y = max(right-tileMask, min(right, int(p.X+d.X*t))), top+1-(1-faceY)*(tileSide+1)
			}
			continue
		case tile < 0:
			n = int(l.hints[int(^tile)*tileArea+y&tileMask<<tileBits+x&tileMask])
		}
		switch n {
		case 0:
			return t * l.resolution
		case 1:
			tx, ty := face(x+faceX, p.X, d.X), face(y+faceY, p.Y, d.Y)
			if tx < ty {
				t, x = max(t, tx), x+stepX
			} else {
				t, y = max(t, ty), y+stepY
			}
		default:
			t += float64(n-1) * leap
			// Conversion truncates toward zero: a point just outside the grid
			// counts as the border, which is free.
			x, y = int(p.X+d.X*t), int(p.Y+d.Y*t)
		}
	}
	return limit
}

// face returns where a ray from p with the slope d crosses a line between cells.
func face(line int, p, d float64) float64 {
	if d == 0 {
		return math.Inf(1)
	}
	return (float64(line) - p) / d
}

// enter returns where a ray from p along d, in cell units, enters the grid:
// zero from inside, infinity if it never does.
func (l *layer) enter(p, d Vec) float64 {
	if p.X >= 0 && p.X < float64(l.width) && p.Y >= 0 && p.Y < float64(l.height) {
		return 0
	}
	near, far := 0.0, math.Inf(1)
	for _, axis := range [2]struct{ p, d, size float64 }{{p.X, d.X, float64(l.width)}, {p.Y, d.Y, float64(l.height)}} {
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
