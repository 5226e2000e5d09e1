package stage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/devices/stage/floor"
	"player/e2e/acceptance"
	"player/e2e/needs"
)

// crowded is a world with robots and pucks anywhere, some of them outside of the walls.
func crowded(t testing.TB, random *rand.Rand, n int) *World {
	var text strings.Builder
	text.WriteString(robotWorld + "wall ( pose [0 6 0 0] size [12 0.2 1] )\nwall ( pose [-6 0 0 90] size [12 0.2 1] )\n")
	at := func() float64 { return 16*random.Float64() - 8 }
	for range n {
		fmt.Fprintf(&text, "pioneer_full ( pose [%.3f %.3f 0 %.1f] )\n", at(), at(), 360*random.Float64())
		fmt.Fprintf(&text, "puck ( pose [%.3f %.3f %.2f 0] size [%.2f 0.1 0.3] )\n", at(), at(), 0.3*random.Float64(), 0.1+random.Float64())
	}
	return withWarnings(t, text.String()) // some robots start inside others
}

// exact returns the range of a ray that is checked against every body.
func exact(r *Robot, walls *floor.Grid, o, d Vec, height, reach float64) float64 {
	best := walls.Cast(o, d, reach)
	for _, b := range r.world.bodies {
		if b != r.body {
			best = b.cast(o, d, height, best)
		}
	}
	return best
}

// checkScan compares a scan with exact rays and returns how many of them met something.
func checkScan(t *testing.T, r *Robot) (met int) {
	t.Helper()
	at := r.body.pose.Then(r.lasers[0].pose)
	for i, got := range r.readLaser() {
		want := uint16(noEcho)
		along := r.world.scan[i].Rotate(floor.Direction(at.Heading))
		d := exact(r, r.lasers[0].walls, at.Position(), along, r.lasers[0].height, r.lasers[0].reach)
		if d < r.lasers[0].reach {
			want = millimetres(d)
			met++
		}
		if got != want {
			t.Fatalf("from %v: ray %d is %d, want %d", at, i, got, want)
		}
	}
	return met
}

// Scans equal the scans with rays that are checked against every body, wherever bodies have
// moved.
func TestScansMissNoBody(t *testing.T) {
	acceptance.Alone(t)
	random := rand.New(rand.NewPCG(7, 8))
	w := crowded(t, random, 30)
	r := w.robots[0]
	r.sonars.ring[1].samples, r.sonars.ring[2].fov, r.sonars.ring[3].fov = 1, 4, 3 // one ray, more than half around, and less
	for i := range r.sonars.ring {
		r.sonars.ring[i].aim()
	}
	met := 0
	for round := range needs.Rounds(50, 150) {
		for _, b := range w.bodies {
			if random.IntN(3) == 0 {
				b.place(Pose{X: 20*random.Float64() - 10, Y: 20*random.Float64() - 10, Heading: 7 * random.Float64()})
			}
		}
		if round%4 == 0 { // close together
			w.bodies[1].place(Pose{X: r.body.pose.X + 0.6*random.Float64() - 0.3, Y: r.body.pose.Y + 0.6*random.Float64() - 0.3})
		}
		met += checkScan(t, r)
		sonar := r.readSonars()
		for i, beam := range r.sonars.ring {
			at, best, rays := r.body.pose.Then(beam.pose), beam.reach, 1
			if beam.samples > 1 {
				rays = 1 + int(beam.fov/floor.Radians(0.25))
			}
			for k := range rays {
				angle := at.Heading
				if rays > 1 {
					angle += beam.fov * (float64(k)/float64(rays-1) - 0.5)
				}
				best = min(best, exact(r, r.sonars.walls, at.Position(), floor.Direction(angle), r.sonars.height, beam.reach))
			}
			// Between two rays, something may be nearer: a corner, or the near end of a side.
			tolerance := 0
			if rays > 1 {
				tolerance = 25
			}
			if got, want := int(sonar[i]), int(millimetres(best)); got > want || got < want-tolerance {
				t.Fatalf("round %d: sonar %d is %d, want %d", round, i, got, want)
			}
		}
	}
	if met < 500 {
		t.Errorf("only %d rays have met anything", met)
	}
}

// The crowd has each body once, where it is.
func TestCrowd(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	w := crowded(t, random, 40)
	for range 2000 {
		b := w.bodies[random.IntN(len(w.bodies))]
		b.place(Pose{X: 40*random.Float64() - 20, Y: 40*random.Float64() - 20})
		p, reach := Vec{X: 40*random.Float64() - 20, Y: 40*random.Float64() - 20}, 10*random.Float64()*random.Float64()
		var want []*spot
		for i := range w.spots {
			if w.spots[i].within(p, reach) {
				want = append(want, &w.spots[i])
			}
		}
		got := w.appendNear(nil, p, reach)
		slices.SortFunc(got, func(a, b *spot) int { return int(a.body.number - b.body.number) })
		if !slices.Equal(got, want) {
			t.Fatalf("near %v: %d bodies, want %d", p, len(got), len(want))
		}
	}
}

// A world without bodies, and one that is a line.
func TestCrowdOfFew(t *testing.T) {
	if w := newWorld(t, ""); len(w.appendNear(nil, Vec{}, 1)) != 0 {
		t.Error("an empty world has bodies")
	}
	w := newWorld(t, "position ( pose [-100000 0 0 0] )\nposition ( pose [100000 0 0 0] )")
	if len(w.crowd.first) > 100 || len(w.appendNear(nil, Vec{X: 1e5}, 1)) != 1 || len(w.appendNear(nil, Vec{X: math.Inf(1)}, 1)) != 0 {
		t.Errorf("%d cells", len(w.crowd.first))
	}
}

// Bodies that move a little at a time are found by those that they come near to, whenever
// these have made their lists.
func TestNeighboursMissNoBody(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	w := crowded(t, random, 60)
	lists, kept, met := make([]neighbours, len(w.bodies)), 0, 0
	for range 400 {
		for _, b := range w.bodies {
			at := b.spot.at
			b.place(Pose{X: at.X + 0.04*(random.Float64()-0.5), Y: at.Y + 0.04*(random.Float64()-0.5)})
		}
		if random.IntN(100) == 0 { // by hand
			w.bodies[3].place(Pose{X: w.bodies[4].spot.at.X + 1, Y: w.bodies[4].spot.at.Y})
		}
		w.settle()
		for range 10 {
			i := random.IntN(len(w.bodies))
			b, n := w.bodies[i], &lists[i]
			if n.crowd == w.crowd && n.epoch == w.crowd.epoch {
				kept++
			}
			found := w.neighbours(b, n, 0.5)
			for k, o := range w.bodies {
				switch near := w.spots[k].within(b.spot.at, 0.5); {
				case o == b && slices.Contains(found, o.spot):
					t.Fatal("a body is its own neighbour")
				case o != b && near && !slices.Contains(found, o.spot):
					t.Fatalf("body %d misses %d", i, k)
				case o != b && near:
					met++
				}
			}
		}
	}
	if kept < 500 || met < 500 {
		t.Errorf("%d lists were kept, %d bodies were near", kept, met)
	}
}
