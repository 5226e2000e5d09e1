package stage

import "math"

// cast returns the distance in metres from o along the unit vector d to the
// first occupied cell, or limit if none is nearer. From within an occupied
// cell it is zero. It allocates nothing.
func (l *layer) cast(o, d Vec, limit float64) float64 { return l.castFrom(o, d, 0, limit) }

// castFrom is cast for a ray that is known to meet nothing in its first from metres.
//
// Around a free cell lies a free square: the hint of the cell, or of its tile, gives its
// size. The ray leaps from one such square to the next, so the distance is exact to the
// face of the cell that it hits.
func (l *layer) castFrom(o, d Vec, from, limit float64) float64 {
	p := l.toCells(o)
	end := limit * l.perMetre
	t := from * l.perMetre
	if !l.inside(p) {
		t = max(t, l.enter(p, d))
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
	for t < end {
		if uint(x) >= uint(l.width) || uint(y) >= uint(l.height) {
			return limit
		}
		var left, low, side int // of the square, in cells
		if tile := int(l.tiles[y>>tileBits*l.columns+x>>tileBits]); tile < 0 {
			n := int(l.hints[^tile*tileArea+y&tileMask<<tileBits+x&tileMask])
			left, low, side = x-n+1, y-n+1, 2*n-1
		} else {
			left, low, side = x&^tileMask-(tile-1)*tileSide, y&^tileMask-(tile-1)*tileSide, (2*tile-1)*tileSide
		}
		if side < 0 {
			return t * l.resolution
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

// castBeam returns the distance in metres from o to the nearest point of an occupied cell
// within a beam, or limit. Nothing is nearer than from.
func (l *layer) castBeam(o Vec, b *beam, from, limit float64) float64 {
	narrow := b.cosine > 0.5
	if narrow {
		from = l.covered(o, b, from, limit)
	}
	for _, d := range b.rays {
		limit = l.castFrom(o, d, from, limit)
	}
	if len(b.rays) == 1 || from >= limit {
		return limit
	}
	// Between the edges, what is nearest in a cell is its nearest point of all: otherwise it
	// would be on an edge.
	p := l.toCells(o)
	reach := limit * l.perMetre
	extent := box{p.sub(Vec{reach, reach}), p.add(Vec{reach, reach})}
	var corners [4]Vec
	if narrow {
		near, far := from*l.perMetre, reach/b.cosine
		corners = [4]Vec{p.add(b.rays[0].scale(near)), p.add(b.rays[1].scale(near)), p.add(b.rays[1].scale(far)), p.add(b.rays[0].scale(far))}
		extent = emptyBox()
		extent.include(corners[:]...)
	}
	first, last := max(0, int(math.Floor(extent.min.Y))), min(l.height-1, int(math.Floor(extent.max.Y)))
	for y := first; y <= last; y++ {
		x0, x1 := extent.min.X, extent.max.X
		if narrow {
			x0, x1 = crossing(&corners, float64(y), float64(y+1))
			// The free square around the middle of the row may hold the beam in further rows.
			if x := int((x0 + x1) / 2); uint(x) < uint(l.width) {
				if n := l.at(x, y); n > 2 && float64(x-n+1) < x0 && x1 < float64(x+n) {
					rows := n
					for ; rows > 1; rows /= 2 {
						x0, x1 := crossing(&corners, float64(y), float64(y+rows))
						if float64(x-n+1) < x0 && x1 < float64(x+n) {
							break
						}
					}
					y += rows - 1
					continue
				}
			}
		}
		for x, end := max(0, int(math.Floor(x0))), min(l.width-1, int(math.Floor(x1))); x <= end; {
			if n := l.at(x, y); n > 0 {
				x += n
				continue
			}
			v := Vec{max(float64(x), min(float64(x+1), p.X)), max(float64(y), min(float64(y+1), p.Y))}.sub(p).scale(l.resolution)
			if square := v.dot(v); square < limit*limit {
				if d := math.Sqrt(square); b.has(v, d) {
					limit = d
				}
			}
			x++
		}
	}
	return limit
}

// covered returns up to which distance, at most about limit, discs without walls around points
// of the middle ray cover a beam.
func (l *layer) covered(o Vec, b *beam, from, limit float64) float64 {
	// One disc around the middle covers most beams: of these cones, no point is further from it.
	if l.free(o.add(b.facing.scale(limit/2))) > limit*math.Sqrt(1.25-b.cosine) {
		return limit
	}
	sine := 1 - b.cosine*b.cosine // squared
	for from < limit {
		free := l.free(o.add(b.facing.scale(from)))
		root := free*free - from*from*sine
		if !(root > 0) {
			break
		}
		next := from*b.cosine + math.Sqrt(root)
		if next < from+l.resolution {
			break
		}
		from = next
	}
	return min(from, limit)
}

// crossing returns between which x a quadrilateral has points from y0 to y1.
func crossing(corners *[4]Vec, y0, y1 float64) (x0, x1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	a := corners[3]
	for _, b := range corners {
		low, high := a, b
		if low.Y > high.Y {
			low, high = high, low
		}
		a = b
		if low.Y > y1 || high.Y < y0 {
			continue
		}
		xa, xb := low.X, high.X
		if low.Y < y0 || high.Y > y1 {
			slope := (high.X - low.X) / (high.Y - low.Y)
			xa, xb = low.X+slope*(max(low.Y, y0)-low.Y), low.X+slope*(min(high.Y, y1)-low.Y)
		}
		x0, x1 = min(x0, xa, xb), max(x1, xa, xb)
	}
	return x0, x1
}

// inside reports whether a point, in cell units, is within the grid.
func (l *layer) inside(p Vec) bool {
	return p.X >= 0 && p.X < float64(l.width) && p.Y >= 0 && p.Y < float64(l.height)
}

// enter returns where a ray from p along d, in cell units, enters the grid
// from outside: infinity if it never does.
func (l *layer) enter(p, d Vec) float64 {
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
