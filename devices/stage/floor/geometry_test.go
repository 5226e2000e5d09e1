package floor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func nearPose(a, b Pose, tolerance float64) bool {
	return near(a.X, b.X, tolerance) && near(a.Y, b.Y, tolerance) && near(Wrap(a.Heading-b.Heading), 0, tolerance)
}

func TestPoseFrames(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	pose := func() Pose {
		return Pose{10*random.Float64() - 5, 10*random.Float64() - 5, 7 * random.Float64()}
	}
	for range 100 {
		base, p := pose(), pose()
		if got := base.Then(p.From(base)); !nearPose(got, p, 1e-9) {
			t.Fatalf("%v seen from %v and back is %v", p, base, got)
		}
	}
	if got := (Pose{1, 2, math.Pi / 2}).Then(Pose{3, 0, 1}); !nearPose(got, Pose{1, 5, math.Pi/2 + 1}, 1e-9) {
		t.Error(got)
	}
}

// One long arc equals many short ones.
func TestArcIsExact(t *testing.T) {
	for _, turn := range []float64{0, 1e-12, 0.1, -2, 2 * math.Pi} {
		many := Pose{1, 2, 0.3}
		for range 1000 {
			many = many.Then(Arc(1.5/1000, turn/1000))
		}
		if one := (Pose{1, 2, 0.3}).Then(Arc(1.5, turn)); !nearPose(one, many, 1e-9) {
			t.Errorf("turning %v: %v in one, %v in small arcs", turn, one, many)
		}
	}
}

func TestDegrees(t *testing.T) {
	for angle, want := range map[float64]uint16{0: 0, 90: 90, -90: 270, 359.4: 359, 359.6: 0, -0.4: 0, 720: 0, 180: 180, -180: 180} {
		if got := Degrees(Radians(angle)); got != want {
			t.Errorf("%v is %d, want %d", angle, got, want)
		}
	}
}

func TestConvexHull(t *testing.T) {
	square := Rectangle(2, 2)
	points := append([]Vec{{0, 0}, {0.5, 0.5}, {1, 0}, {-1, 0}}, append(square, square...)...)
	hull := ConvexHull(points)
	if len(hull) != 4 {
		t.Fatalf("hull %v", hull)
	}
	area := 0.0
	for i, p := range hull {
		area += p.Cross(hull[(i+1)%4]) / 2
	}
	if area != 4 {
		t.Errorf("area %v, want 4, counterclockwise", area)
	}
}

func TestConvexRound(t *testing.T) {
	square := []Vec{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	round := slices.Concat(square, square)
	for _, tt := range []struct {
		name    string
		outline []Vec
		want    []Vec
	}{
		{"square", square, round},
		{"from another corner", []Vec{{1, 1}, {0, 1}, {0, 0}, {1, 0}}, round},
		{"clockwise", []Vec{{1, 1}, {1, 0}, {0, 0}, {0, 1}}, round},
		{"bow tie", []Vec{{0, 0}, {1, 1}, {1, 0}, {0, 1}}, nil},
		{"with a notch", []Vec{{0, 0}, {1, 0}, {1, 1}, {0.5, 0.5}, {0, 1}}, nil},
		{"a line", []Vec{{0, 0}, {1, 0}}, nil},
		{"a point, three times", []Vec{{0, 0}, {0, 0}, {0, 0}}, nil},
	} {
		if got := ConvexRound(tt.outline); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The separating sides, and the depth of a contact, must agree with sampling the two shapes.
func TestConvexOverlap(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	counts := map[bool]int{}
	for range 500 {
		shape := func() []Vec {
			points := make([]Vec, 7)
			at := Vec{3 * random.Float64(), 3 * random.Float64()}
			for i := range points {
				points[i] = at.Add(Vec{random.Float64(), random.Float64()})
			}
			return ConvexHull(points)
		}
		a, b := shape(), shape()
		common := 0
		box := BoxOf(a...)
		for x := box.Min.X; x < box.Max.X; x += 0.02 {
			for y := box.Min.Y; y < box.Max.Y; y += 0.02 {
				if p := (Vec{x, y}); Contains(a, p) && Contains(b, p) {
					common++
				}
			}
		}
		got := ConvexOverlap(a, b)
		counts[got]++
		if common > 0 && !got || common == 0 && got && overlapDepth(a, b) > 0.05 {
			t.Fatalf("%v and %v: overlap %v, %d common samples", a, b, got, common)
		}
		if c := Touch(a, b); !near(c.Depth, overlapDepth(a, b), 1e-9) || got != (c.Depth > 0) {
			t.Fatalf("%v and %v: overlap %v, depth %v, want %v", a, b, got, c.Depth, overlapDepth(a, b))
		}
	}
	if counts[true] < 50 || counts[false] < 50 {
		t.Errorf("too one-sided: %v", counts)
	}
	if a := Rectangle(1, 1); ConvexOverlap(a, (Pose{X: 1}).ApplyTo(Rectangle(1, 1))) {
		t.Error("squares that touch overlap")
	}
}

// overlapDepth returns how far two convex shapes overlap, negative if they are apart.
func overlapDepth(a, b []Vec) float64 {
	depth := math.Inf(1)
	for _, pair := range [][2][]Vec{{a, b}, {b, a}} {
		p := pair[0][len(pair[0])-1]
		for _, q := range pair[0] {
			side, deepest := q.Sub(p), math.Inf(-1)
			for _, v := range pair[1] {
				deepest = max(deepest, side.Cross(v.Sub(p))/side.Length())
			}
			depth = min(depth, deepest)
			p = q
		}
	}
	return depth
}

func TestRayPolygon(t *testing.T) {
	square := Rectangle(2, 2)
	for _, tt := range []struct {
		name string
		o, d Vec
		want float64
	}{
		{"ahead", Vec{-3, 0.5}, Vec{1, 0}, 2},
		{"behind", Vec{-3, 0.5}, Vec{-1, 0}, 10},
		{"past", Vec{-3, 1.5}, Vec{1, 0}, 10},
		{"from inside", Vec{0, 0}, Vec{0, 1}, 1},
		{"aslant", Vec{-2, 0}, Direction(math.Pi / 6), 2 / math.Sqrt(3)},
		{"through a corner", Vec{-2, 0}, Direction(math.Pi / 4), math.Sqrt2},
	} {
		if got := RayPolygon(tt.o, tt.d, square, 10); !near(got, tt.want, 1e-9) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
