package floor

import "math"

// Beam is a cone from a point, or a ray.
type Beam struct {
	Facing Vec     // unit vector of its middle
	edges  [2]Vec  // unit vectors, the left one first; both edges of a ray are its middle
	cosine float64 // of half its angle; of a ray 2, because it has no points but those on its edges
}

// NewBeam returns a beam in a direction: a ray, or a cone of that width in radians if it is not zero.
func NewBeam(heading, width float64) Beam {
	facing := Direction(heading)
	if width == 0 {
		return Beam{facing, [2]Vec{facing, facing}, 2}
	}
	edges := [2]Vec{Direction(heading + width/2), Direction(heading - width/2)}
	return Beam{facing, edges, math.Cos(min(width/2, math.Pi))}
}

// Turned returns the beam as seen from a frame in which its own frame has the direction by, a unit vector.
func (b *Beam) Turned(by Vec) Beam {
	return Beam{b.Facing.Rotate(by), [2]Vec{b.edges[0].Rotate(by), b.edges[1].Rotate(by)}, b.cosine}
}

// has reports whether the direction of v, of that length, is within the cone.
func (b *Beam) has(v Vec, length float64) bool { return v.Dot(b.Facing) >= length*b.cosine }

// Meet returns the distance from o, where the beam starts, to the nearest point of the sides of a
// polygon within it, or limit if that is nearer.
func (b *Beam) Meet(o Vec, polygon []Vec, limit float64) float64 {
	p := polygon[len(polygon)-1].Sub(o)
	for _, q := range polygon {
		q = q.Sub(o)
		limit = b.meetSide(p, q, limit)
		p = q
	}
	return limit
}

// MeetRound is Meet for a convex outline, counterclockwise and twice around, that the beam starts
// outside of. Only its near sides are checked, which follow each other.
func (b *Beam) MeetRound(o Vec, round []Vec, limit float64) float64 {
	far, near := false, false
	p := round[0].Sub(o)
	for _, q := range round[1:] {
		q = q.Sub(o)
		if p.Cross(q) >= 0 {
			if near {
				return limit
			}
			far = true
		} else if far {
			near = true
			limit = b.meetSide(p, q, limit)
		}
		p = q
	}
	return limit
}

// meetSide is Meet for the segment from p to q, as seen from the start of the beam. The nearest
// point in the beam is the segment's nearest point, or it is on an edge.
func (b *Beam) meetSide(p, q Vec, limit float64) float64 {
	side, across := q.Sub(p), p.Cross(q)
	square := side.Dot(side)
	if across*across >= limit*limit*square { // so far is its line
		return limit
	}
	nearest := p
	if along := -p.Dot(side); along >= square {
		nearest = q
	} else if along > 0 {
		nearest = p.Add(side.Scale(along / square))
	}
	d := math.Sqrt(nearest.Dot(nearest))
	if d >= limit {
		return limit
	}
	if b.has(nearest, d) {
		return d
	}
	for _, edge := range b.edges {
		cp, cq := edge.Cross(p), edge.Cross(q)
		if (cp > 0) != (cq > 0) {
			if t := (p.Dot(edge)*cq - q.Dot(edge)*cp) / (cq - cp); t >= 0 && t < limit {
				limit = t
			}
		}
	}
	return limit
}

// narrow is the cosine of half the widest angle of a narrow beam. Both edges of a narrow beam go
// forward along the axis nearest to its middle, which is within 45 degrees.
const narrow = 0.75

// CastBeam returns the distance in metres from o to the nearest point of an occupied cell
// within a beam, or limit. Nothing is nearer than from.
func (g *Grid) CastBeam(o Vec, b *Beam, from, limit float64) float64 {
	switch {
	case b.cosine > 1: // a ray
		return g.CastFrom(o, b.Facing, from, limit)
	case b.cosine < narrow:
		return g.castWide(o, b, from, limit)
	}
	// One disc around the middle covers most: no point of a beam of that length is further from it.
	if g.Free(o.Add(b.Facing.Scale(limit/2))) > limit*math.Sqrt(1.25-b.cosine) {
		return limit
	}
	return g.castNarrow(o, b, from, limit)
}

// castNarrow is CastBeam for a narrow beam. It checks the rows of cells across the beam in sequence, the nearest first,
// and ends when the next row is farther than the hit that it has found.
func (g *Grid) castNarrow(o Vec, b *Beam, from, limit float64) float64 {
	// In cells, X along the axis that is nearest to the middle of the beam, Y across.
	p, facing, edges, columns, rows := g.toCells(o), b.Facing, b.edges, g.height, g.width
	steps := strides{1, g.columns, 1, tileSide}
	if math.Abs(facing.X) < math.Abs(facing.Y) {
		columns, rows, steps = rows, columns, strides{g.columns, 1, tileSide, 1}
		for _, v := range [...]*Vec{&p, &facing, &edges[0], &edges[1]} {
			v.X, v.Y = v.Y, v.X
		}
	}
	// slopes are the slopes of the edges: cells across for each cell forward.
	forward := [2]float64{math.Abs(edges[0].X), math.Abs(edges[1].X)}
	slopes := [2]float64{edges[0].Y / forward[0], edges[1].Y / forward[1]}
	right, left := min(slopes[0], slopes[1]), max(slopes[0], slopes[1])
	step, row := 1, int(math.Floor(p.X+from*g.perMetre*min(forward[0], forward[1])))
	if facing.X < 0 {
		step, row = -1, int(math.Floor(p.X-from*g.perMetre*min(forward[0], forward[1])))
	}
	if row = max(0, row); step < 0 {
		row = min(row, rows-1)
	}
	end := limit * g.perMetre
	// The edges where they leave a row are these further than where they enter it.
	rightmost, leftmost := p.Y+min(0, right), p.Y+max(0, left)
	// known is the largest free square that was met: from first to last across, for further rows, with this one.
	var known struct{ first, last, rows int }
	for before := row; uint(row) < uint(rows); row += step {
		known.rows, before = known.rows-(row-before)*step, row
		near := float64(row) - p.X // to where the row begins, and below to where it ends
		if step < 0 {
			near = p.X - float64(row+1)
		}
		far := near + 1
		if near < 0 {
			near = 0
		}
		if near >= end {
			break
		}
		low, high := rightmost+right*near, leftmost+left*near
		first, last := max(0, int(low+1)-1), min(columns-1, int(high+1)-1) // a conversion truncates toward zero
		// Around each free cell is a free square. They also hold the beam in further rows.
		free, begin, next := rows, first, first
		for next <= last {
			if known.rows > 0 && next >= known.first && next <= known.last {
				if next == first {
					begin = known.first
				}
				free = min(free, known.rows)
				next = known.last + 1
				continue
			}
			n := g.across(row, next, &steps)
			if n > 0 {
				if n > known.rows {
					known.first, known.last, known.rows = next-n+1, next+n-1, n
				}
				if next == first {
					begin = first - n + 1
				}
				free = min(free, n)
				next += n
				continue
			}
			free = 0
			start := next // of a row of occupied cells
			for next++; next <= last && g.across(row, next, &steps) == 0; next++ {
			}
			v := Vec{max(float64(row), min(float64(row+1), p.X)), max(float64(start), min(float64(next), p.Y))}.Sub(p)
			square := v.Dot(v)
			if square >= end*end {
				continue
			}
			if d := math.Sqrt(square); v.Dot(facing) >= d*b.cosine {
				end = d
				continue
			}
			for i, slope := range slopes { // the nearest point in the beam is on an edge
				end = min(end, entry(p.Y, slope, near, far, float64(start), float64(next))/forward[i])
			}
		}
		if free > 1 {
			further := float64(free - 1) // rows
			if right < 0 {
				further = min(further, max(0, low-float64(begin))/-right)
			}
			if left > 0 {
				further = min(further, max(0, float64(next)-high)/left)
			}
			row += step * int(further)
		}
	}
	if end < limit*g.perMetre {
		return end * g.resolution
	}
	return limit
}

// strides are how far the next row across a beam, and the next place in it, are apart in tiles and in hints.
type strides struct{ tileRow, tile, cellRow, cell int }

// across is Hint for a place in a row.
func (g *Grid) across(row, place int, s *strides) int {
	tile := int(g.tiles[row>>tileBits*s.tileRow+place>>tileBits*s.tile])
	row, place = row&tileMask, place&tileMask
	switch {
	case tile < 0:
		return int(g.hints[^tile*tileArea+row*s.cellRow+place*s.cell])
	case tile > 0:
		return (tile-1)*tileSide + 1 + min(row, tileMask-row, place, tileMask-place)
	}
	return 0
}

// entry returns how far forward a ray meets the cells between low and high of the row from near to
// far. The ray starts at y and moves sideways by slope for each cell forward. Without a meeting
// the result is infinite.
func entry(y, slope, near, far, low, high float64) float64 {
	t := near
	switch at := y + slope*near; {
	case at < low:
		t = (low - y) / slope
	case at > high:
		t = (high - y) / slope
	}
	if t >= near && t <= far {
		return t
	}
	return math.Inf(1)
}

// castWide is CastBeam for a beam of any width.
func (g *Grid) castWide(o Vec, b *Beam, from, limit float64) float64 {
	for _, d := range b.edges {
		limit = g.CastFrom(o, d, from, limit)
	}
	// Between the edges, the nearest point of a cell in the beam is the nearest point of the
	// whole cell: otherwise it would be on an edge.
	p, reach := g.toCells(o), limit*g.perMetre
	for y, last := max(0, int(math.Floor(p.Y-reach))), min(g.height-1, int(math.Floor(p.Y+reach))); y <= last; y++ {
		for x, last := max(0, int(math.Floor(p.X-reach))), min(g.width-1, int(math.Floor(p.X+reach))); x <= last; {
			if n := g.Hint(x, y); n > 0 {
				x += n
				continue
			}
			nearest := Vec{max(float64(x), min(float64(x+1), p.X)), max(float64(y), min(float64(y+1), p.Y))}
			v := nearest.Sub(p).Scale(g.resolution)
			if d := math.Sqrt(v.Dot(v)); d < limit && b.has(v, d) {
				limit = d
			}
			x++
		}
	}
	return limit
}
