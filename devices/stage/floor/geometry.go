// Package floor is the geometry of a flat floor: vectors and poses, convex outlines, grids of walls,
// rays and beams. Lengths are in metres and angles in radians. It knows neither robots nor time, and
// has no state.
package floor

import (
	"cmp"
	"math"
	"slices"
)

// Vec is a point or a direction on the floor, in metres.
type Vec struct{ X, Y float64 }

// Add returns a + b.
func (a Vec) Add(b Vec) Vec { return Vec{a.X + b.X, a.Y + b.Y} }

// Sub returns a - b: the way from b to a.
func (a Vec) Sub(b Vec) Vec { return Vec{a.X - b.X, a.Y - b.Y} }

// Scale returns k times a.
func (a Vec) Scale(k float64) Vec { return Vec{a.X * k, a.Y * k} }

// Dot returns the scalar product.
func (a Vec) Dot(b Vec) float64 { return a.X*b.X + a.Y*b.Y }

// Cross returns the third component of the vector product: positive if b is to the left of a.
func (a Vec) Cross(b Vec) float64 { return a.X*b.Y - a.Y*b.X }

// Length returns the length in metres.
func (a Vec) Length() float64 { return math.Hypot(a.X, a.Y) }

// Rotate rotates a by the angle of the unit vector by, counterclockwise.
func (a Vec) Rotate(by Vec) Vec { return Vec{a.X*by.X - a.Y*by.Y, a.X*by.Y + a.Y*by.X} }

// RotateBack rotates a by the angle of the unit vector by, clockwise.
func (a Vec) RotateBack(by Vec) Vec { return Vec{a.X*by.X + a.Y*by.Y, a.Y*by.X - a.X*by.Y} }

// Direction returns the unit vector of an angle in radians.
func Direction(angle float64) Vec {
	sin, cos := math.Sincos(angle)
	return Vec{cos, sin}
}

// Rotation is Direction for an angle that is most often small: it is then faster, and wrong
// by less than 1e-12.
func Rotation(angle float64) Vec {
	if math.Abs(angle) > 0.02 {
		return Direction(angle)
	}
	square := angle * angle // the next terms of both series are left out
	return Vec{1 - square/2*(1-square/12), angle * (1 - square/6*(1-square/20))}
}

// Pose is a position on the floor and a heading: metres and radians,
// counterclockwise from the x axis.
type Pose struct{ X, Y, Heading float64 }

// Position returns the pose without its heading.
func (p Pose) Position() Vec { return Vec{p.X, p.Y} }

// Apply transforms a point from the frame at p to the frame that contains p.
func (p Pose) Apply(v Vec) Vec { return p.Position().Add(v.Rotate(Direction(p.Heading))) }

// ApplyTo is Apply for the points of an outline, in place. It returns the outline.
func (p Pose) ApplyTo(outline []Vec) []Vec {
	for i, v := range outline {
		outline[i] = p.Apply(v)
	}
	return outline
}

// Then transforms the pose q from the frame at p to the frame that contains p.
func (p Pose) Then(q Pose) Pose {
	at := p.Apply(q.Position())
	return Pose{at.X, at.Y, p.Heading + q.Heading}
}

// From returns p in the frame at base: base.Then(p.From(base)) is p.
func (p Pose) From(base Pose) Pose {
	v := p.Position().Sub(base.Position()).RotateBack(Direction(base.Heading))
	return Pose{v.X, v.Y, p.Heading - base.Heading}
}

// Arc returns the pose after distance metres forward and a rotation in radians, both at a constant
// rate, in the frame of the start: the exact circle.
func Arc(distance, angle float64) Pose {
	half := Rotation(angle / 2)
	if angle != 0 {
		distance *= half.Y / (angle / 2)
	}
	return Pose{distance * half.X, distance * half.Y, angle}
}

// Degrees converts an angle in radians to whole degrees, 0 to 359.
func Degrees(angle float64) uint16 {
	d := int(math.Round(angle*180/math.Pi)) % 360
	if d < 0 {
		d += 360
	}
	return uint16(d)
}

// Wrap normalises an angle in radians to -pi to pi.
func Wrap(angle float64) float64 {
	if -math.Pi <= angle && angle <= math.Pi { // it most often is: Remainder would return the same
		return angle
	}
	return math.Remainder(angle, 2*math.Pi)
}

// Radians converts an angle in degrees.
func Radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// Rectangle returns the outline of a box of the given size around the origin,
// counterclockwise.
func Rectangle(width, depth float64) []Vec {
	w, d := width/2, depth/2
	return []Vec{{-w, -d}, {w, -d}, {w, d}, {-w, d}}
}

// Box is a rectangle along the axes, metres. The zero value is not empty: it has the origin.
type Box struct{ Min, Max Vec }

// BoxOf returns the box around points, which is Empty without any.
func BoxOf(points ...Vec) Box {
	inf := math.Inf(1)
	b := Box{Vec{inf, inf}, Vec{-inf, -inf}}
	b.Include(points...)
	return b
}

// Include grows the box until it has all points.
func (b *Box) Include(points ...Vec) {
	for _, p := range points {
		b.Min = Vec{min(b.Min.X, p.X), min(b.Min.Y, p.Y)}
		b.Max = Vec{max(b.Max.X, p.X), max(b.Max.Y, p.Y)}
	}
}

// Empty reports whether the box has no point.
func (b Box) Empty() bool { return b.Min.X > b.Max.X }

// Middle returns the middle of a nonempty box.
func (b Box) Middle() Vec { return b.Min.Add(b.Max).Scale(0.5) }

// Size returns the lengths of the sides of a nonempty box.
func (b Box) Size() Vec { return b.Max.Sub(b.Min) }

// ConvexHull returns the convex outline of points, counterclockwise (Andrew's
// monotone chain). Points are sorted in place.
func ConvexHull(points []Vec) []Vec {
	slices.SortFunc(points, func(a, b Vec) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) })
	points = slices.Compact(points)
	if len(points) < 3 {
		return slices.Clone(points)
	}
	var hull []Vec
	grow := func(p Vec, base int) {
		for len(hull) >= base+2 && hull[len(hull)-1].Sub(hull[len(hull)-2]).Cross(p.Sub(hull[len(hull)-2])) <= 0 {
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	for _, p := range points {
		grow(p, 0)
	}
	base := len(hull) - 1
	for _, p := range slices.Backward(points[:len(points)-1]) {
		grow(p, base)
	}
	return hull[:len(hull)-1]
}

// ConvexRound returns the corners of a convex outline counterclockwise, twice around, or
// nil if the outline is not convex.
func ConvexRound(outline []Vec) []Vec {
	hull := ConvexHull(slices.Clone(outline))
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

// Contains reports whether p lies in the polygon (even-odd rule).
func Contains(polygon []Vec, p Vec) bool {
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

// ConvexOverlap reports whether two convex polygons, both counterclockwise,
// have an inner point in common: no side of either separates them.
func ConvexOverlap(a, b []Vec) bool { return !separates(a, b) && !separates(b, a) }

func separates(a, b []Vec) bool {
	p := a[len(a)-1]
	for _, q := range a {
		side, apart := q.Sub(p), true
		for _, v := range b {
			if side.Cross(v.Sub(p)) > 0 {
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

// RayPolygon returns the distance from o along the unit vector d to the first
// side of the polygon, or limit if that is nearer.
func RayPolygon(o, d Vec, polygon []Vec, limit float64) float64 {
	a := polygon[len(polygon)-1].Sub(o)
	ca := d.Cross(a)
	for _, p := range polygon {
		b := p.Sub(o)
		cb := d.Cross(b)
		// Most sides do not cross the ray's line, so check that first.
		if (ca > 0) != (cb > 0) {
			if t := (a.Dot(d)*cb - b.Dot(d)*ca) / (cb - ca); t >= 0 && t < limit {
				limit = t
			}
		}
		a, ca = b, cb
	}
	return limit
}
