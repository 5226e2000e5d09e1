package floor

import "math"

// Contact is where two convex outlines that overlap a little touch: at a point, with a
// depth in metres. The second one leaves the first along Out, a unit vector.
type Contact struct {
	At, Out Vec
	Depth   float64
}

// Touch returns the contact of two convex outlines, both counterclockwise. It is on the
// side of one that the other passes by the smallest depth, in the middle of the part
// that touches. If they are apart, the depth is negative: at most their distance, and
// less at corners.
func Touch(a, b []Vec) (best Contact) {
	// flush is the difference in depth below which two corners touch together, metres.
	const flush = 1e-4
	best.Depth = math.Inf(1)
	for _, sign := range [...]float64{1, -1} {
		p := a[len(a)-1]
		for _, q := range a {
			length := q.Sub(p).Length()
			along := q.Sub(p).Scale(1 / length)
			out := Vec{X: along.Y, Y: -along.X}
			depth := math.Inf(-1)
			for _, v := range b {
				depth = max(depth, p.Sub(v).Dot(out))
			}
			if depth < best.Depth {
				low, high := length, 0.0
				for _, v := range b {
					if p.Sub(v).Dot(out) > depth-flush {
						t := max(0, min(length, v.Sub(p).Dot(along)))
						low, high = min(low, t), max(high, t)
					}
				}
				best = Contact{p.Add(along.Scale((low + high) / 2)), out.Scale(sign), depth}
			}
			p = q
		}
		a, b = b, a
	}
	return best
}
