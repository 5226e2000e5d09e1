package stage

import (
	"cmp"
	"math"
	"slices"
)

// Vec is a point or a direction on the floor, in metres.
type Vec struct{ X, Y float64 }

func (a Vec) add(b Vec) Vec         { return Vec{a.X + b.X, a.Y + b.Y} }
func (a Vec) sub(b Vec) Vec         { return Vec{a.X - b.X, a.Y - b.Y} }
func (a Vec) scale(k float64) Vec   { return Vec{a.X * k, a.Y * k} }
func (a Vec) dot(b Vec) float64     { return a.X*b.X + a.Y*b.Y }
func (a Vec) cross(b Vec) float64   { return a.X*b.Y - a.Y*b.X }
func (a Vec) length() float64       { return math.Hypot(a.X, a.Y) }
func (a Vec) rotate(by Vec) Vec     { return Vec{a.X*by.X - a.Y*by.Y, a.X*by.Y + a.Y*by.X} }
func (a Vec) rotateBack(by Vec) Vec { return Vec{a.X*by.X + a.Y*by.Y, a.Y*by.X - a.X*by.Y} }

// direction returns the unit vector of an angle in radians.
func direction(angle float64) Vec {
	sin, cos := math.Sincos(angle)
	return Vec{cos, sin}
}

// rotation is direction for an angle that is most often small: it is then faster, and wrong
// by less than 1e-12.
func rotation(angle float64) Vec {
	if math.Abs(angle) > 0.02 {
		return direction(angle)
	}
	square := angle * angle // the next terms of both series are left out
	return Vec{1 - square/2*(1-square/12), angle * (1 - square/6*(1-square/20))}
}

// Pose is a position on the floor and a heading: metres and radians,
// counterclockwise from the x axis.
type Pose struct{ X, Y, Heading float64 }

func (p Pose) position() Vec { return Vec{p.X, p.Y} }

// apply transforms a point from the frame at p to the frame that contains p.
func (p Pose) apply(v Vec) Vec { return p.position().add(v.rotate(direction(p.Heading))) }

// then transforms the pose q from the frame at p to the frame that contains p.
func (p Pose) then(q Pose) Pose {
	at := p.apply(q.position())
	return Pose{at.X, at.Y, p.Heading + q.Heading}
}

// from returns p in the frame at base: base.then(p.from(base)) is p.
func (p Pose) from(base Pose) Pose {
	v := p.position().sub(base.position()).rotateBack(direction(base.Heading))
	return Pose{v.X, v.Y, p.Heading - base.Heading}
}

// arc returns the pose after distance metres forward and a rotation in radians, both at a constant
// rate, in the frame of the start: the exact circle.
func arc(distance, angle float64) Pose {
	half := rotation(angle / 2)
	if angle != 0 {
		distance *= half.Y / (angle / 2)
	}
	return Pose{distance * half.X, distance * half.Y, angle}
}

// degrees converts an angle to whole degrees, 0 to 359.
func degrees(angle float64) uint16 {
	d := int(math.Round(angle*180/math.Pi)) % 360
	if d < 0 {
		d += 360
	}
	return uint16(d)
}

// wrap normalises an angle in radians to -pi to pi.
func wrap(angle float64) float64 {
	if -math.Pi <= angle && angle <= math.Pi { // it most often is: Remainder would return the same
		return angle
	}
	return math.Remainder(angle, 2*math.Pi)
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// rectangle returns the outline of a box of the given size around the origin,
// counterclockwise.
func rectangle(width, depth float64) []Vec {
	w, d := width/2, depth/2
	return []Vec{{-w, -d}, {w, -d}, {w, d}, {-w, d}}
}

// box is an upright rectangle on the floor. The zero value is not empty: use
// emptyBox.
type box struct{ min, max Vec }

func emptyBox() box {
	inf := math.Inf(1)
	return box{Vec{inf, inf}, Vec{-inf, -inf}}
}

func (b *box) include(points ...Vec) {
	for _, p := range points {
		b.min = Vec{min(b.min.X, p.X), min(b.min.Y, p.Y)}
		b.max = Vec{max(b.max.X, p.X), max(b.max.Y, p.Y)}
	}
}

func (b box) empty() bool { return b.min.X > b.max.X }

// convexHull returns the convex outline of points, counterclockwise (Andrew's
// monotone chain). Points are sorted in place.
func convexHull(points []Vec) []Vec {
	slices.SortFunc(points, func(a, b Vec) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	points = slices.Compact(points)
	if len(points) < 3 {
		return slices.Clone(points)
	}
	var hull []Vec
	grow := func(p Vec, floor int) {
		for len(hull) >= floor+2 && hull[len(hull)-1].sub(hull[len(hull)-2]).cross(p.sub(hull[len(hull)-2])) <= 0 {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	for _, p := range points {
		grow(p, 0)
	}
	floor := len(hull) - 1
	for _, p := range slices.Backward(points[:len(points)-1]) {
		grow(p, floor)
	}
	return hull[:len(hull)-1]
}

// convexRound returns the corners of a convex outline counterclockwise, twice around, or
// nil if the outline is not convex.
func convexRound(outline []Vec) []Vec {
	hull := convexHull(slices.Clone(outline))
	if len(hull) != len(outline) || len(hull) < 3 {
		return nil
	}
	round := slices.Concat(hull, hull)
	turned := slices.Clone(outline)
	if round[slices.Index(round, outline[0])+1] != outline[1] {
		slices.Reverse(turned)
	}
	if i := slices.Index(round, turned[0]); !slices.Equal(round[i:i+len(turned)], turned) {
		return nil
	}
	return round
}

// contains reports whether p lies in the polygon (even-odd rule).
func contains(polygon []Vec, p Vec) bool {
	inside := false
	a := polygon[len(polygon)-1]
	for _, b := range polygon {
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(p.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
			inside = !inside
		}
		a = b
	}
	return inside
}

// convexOverlap reports whether two convex polygons, both counterclockwise,
// have an inner point in common: no side of either separates them.
func convexOverlap(a, b []Vec) bool { return !separates(a, b) && !separates(b, a) }

func separates(a, b []Vec) bool {
	p := a[len(a)-1]
	for _, q := range a {
		side, apart := q.sub(p), true
		for _, v := range b {
			if side.cross(v.sub(p)) > 0 {
				apart = false
				break
			}
		}
		if apart {
			return true
		}
		p = q
	}
	return false
}

// rayPolygon returns the distance from o along the unit vector d to the first
// side of the polygon, or limit if that is nearer.
func rayPolygon(o, d Vec, polygon []Vec, limit float64) float64 {
	a := polygon[len(polygon)-1].sub(o)
	ca := d.cross(a)
	for _, p := range polygon {
		b := p.sub(o)
		cb := d.cross(b)
		// Most sides do not cross the ray's line, so check that first.
		if (ca > 0) != (cb > 0) {
			if t := (a.dot(d)*cb - b.dot(d)*ca) / (cb - ca); t >= 0 && t < limit {
				limit = t
			}
		}
		a, ca = b, cb
	}
	return limit
}
