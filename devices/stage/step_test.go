package stage

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/needs"
)

// jostle drives the robots of a world at random, into each other, walls and pucks, which they
// also take and put down. It calls before before each step.
func jostle(w *World, steps int, before func()) {
	random := rand.New(rand.NewPCG(13, 14))
	for k := range steps {
		for _, r := range w.robots {
			if random.IntN(100) == 0 {
				r.drive.command(int16(random.IntN(1000)-400), int16(random.IntN(160)-80))
				r.grippers[0].command(codec.GripperCommand{Code: byte(1 + random.IntN(5))})
			}
		}
		if k%97 == 50 { // by hand
			w.SetPose(random.IntN(len(w.robots)), Pose{X: 8*random.Float64() - 4, Y: 8*random.Float64() - 4})
		}
		before()
		w.Step(1)
	}
}

// state is everything that steps change.
func (w *World) state() (state string) {
	for _, b := range w.bodies {
		state += fmt.Sprintln(b.name, b.pose, b.lifted)
	}
	for _, r := range w.robots {
		state += fmt.Sprintln(r.Name, r.drive, r.odometry, r.battery, r.stalledUntil)
		if r.grippers != nil {
			state += fmt.Sprintln(r.grippers[0].paddles, r.grippers[0].lift)
		}
	}
	return state
}

// Groups of robots are stepped without a check of others, and before others. The result is
// the same as if the robots were stepped one after the other.
func TestGroupsChangeNothing(t *testing.T) {
	acceptance.Alone(t)
	w, each := crowded(t, rand.New(rand.NewPCG(15, 16)), 60), crowded(t, rand.New(rand.NewPCG(15, 16)), 60)
	rest, steps := 0, acceptance.Rounds(1000, 3000)
	jostle(w, steps, func() { rest += len(w.groups.rest) })
	jostle(each, steps, func() {
		each.settle() // so that the step does not
		each.groups.ends = each.groups.ends[:0]
	})
	if w.state() != each.state() {
		t.Error("the states differ")
	}
	if all := steps * len(w.robots); rest < all/20 || rest > all*19/20 {
		t.Errorf("%d of %d steps are of robots without a group", rest, all)
	}
}

// The number of processors that make the steps changes nothing.
func TestProcessorsStepAlike(t *testing.T) {
	needs.Time(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var digests []uint64
	for _, processors := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(processors)
		w := newWorld(t, "speedup 0\n"+arena(300, "pioneer_full")+"puck ( pose [0 0 0 0] )")
		digest := fnv.New64a()
		parallel, several := 0, 0
		jostle(w, 300, func() {
			if len(w.groups.ends) >= 2*stepPortion {
				parallel++
			}
			several = max(several, len(w.groups.members)-len(w.groups.ends))
		})
		digest.Write([]byte(w.state()))
		digests = append(digests, digest.Sum64())
		if parallel < 200 || several < 20 {
			t.Errorf("only %d steps were made by several, and %d robots were in the group of another one", parallel, several)
		}
	}
	if digests[0] != digests[1] || digests[0] != digests[2] {
		t.Errorf("digests %x", digests)
	}
}

// Several steps at once are the same as one after the other, up to the time at which the world
// stops.
func TestStepsAtOnce(t *testing.T) {
	acceptance.Alone(t)
	needs.Time(t)
	text := "quit_time 60\n" + arena(60, "pioneer2dx")
	w, each := newWorld(t, text), newWorld(t, text)
	random, most := rand.New(rand.NewPCG(17, 18)), 0
	for !each.Finished() {
		for i := range w.robots {
			speed, turn := int16(random.IntN(1000)-300), int16(random.IntN(100)-50)
			w.robots[i].drive.command(speed, turn)
			each.robots[i].drive.command(speed, turn)
		}
		n := 1 + random.IntN(200)
		w.Step(n)
		most = max(most, w.groups.steps)
		for range n {
			each.Step(1)
		}
		if w.Time() != each.Time() || w.state() != each.state() {
			t.Fatalf("after %v and %v the states differ", w.Time(), each.Time())
		}
	}
	if w.Time() != 60*time.Second || most < 5 {
		t.Errorf("the world has stopped at %v, with at most %d steps at once", w.Time(), most)
	}
}
