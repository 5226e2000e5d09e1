package subsumption

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestParseTargets(t *testing.T) {
	got, err := ParseTargets(" 1.5,-2 0,0\t.0004,1e1 ")
	if want := []Target{{1500, -2000}, {0, 0}, {0, 10000}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseTargets(""); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"1", "1,", ",1", "1,2,3", "1,2m", "x,y", "NaN,0", "1,1e7", "1, 2"} {
		if got, err := ParseTargets(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestLocateTarget(t *testing.T) {
	for _, c := range []struct {
		at              Pose
		target          Target
		distance, error int
	}{
		{Pose{}, Target{1000, 0}, 1000, 0},
		{Pose{}, Target{0, 1000}, 1000, 90},
		{Pose{}, Target{0, -1000}, 1000, -90},
		{Pose{}, Target{-1000, 0}, 1000, 180},
		{Pose{}, Target{300, 400}, 500, 53},
		{Pose{}, Target{}, 0, 0},
		{Pose{1000, 2000, 90}, Target{1000, 3000}, 1000, 0},
		{Pose{0, 0, 350}, Target{1000, 0}, 1000, 10},
		{Pose{0, 0, 10}, Target{1000, 0}, 1000, -10},
		{Pose{0, 0, 200}, Target{1000, 0}, 1000, 160},
		{Pose{0, 0, 135}, Target{-1000, -1000}, 1414, 90},
	} {
		distance, off := LocateTarget(c.at, c.target)
		if distance != c.distance || off != c.error {
			t.Errorf("from %+v to %+v: %d mm, %d°; want %d mm, %d°", c.at, c.target, distance, off, c.distance, c.error)
		}
	}
}

// TestLocateTargetLeadsThere: turning by the error and driving the distance
// leads to the target.
func TestLocateTargetLeadsThere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		at := Pose{random.IntN(20001) - 10000, random.IntN(20001) - 10000, random.IntN(360)}
		to := Target{random.IntN(20001) - 10000, random.IntN(20001) - 10000}
		distance, off := LocateTarget(at, to)
		if off < -180 || off > 180 {
			t.Fatalf("from %+v to %+v: %d°", at, to, off)
		}
		sin, cos := math.Sincos(float64(at.Heading+off) * math.Pi / 180)
		miss := math.Hypot(float64(at.X)+float64(distance)*cos-float64(to.X), float64(at.Y)+float64(distance)*sin-float64(to.Y))
		if miss > 1+float64(distance)*0.51*math.Pi/180 { // half a degree
			t.Fatalf("from %+v to %+v: %d mm, %d°: misses by %.1f mm", at, to, distance, off, miss)
		}
	}
}
