package stage

import (
	"fmt"
	"hash/fnv"
	"testing"
	"time"
)

// The same seed and the same commands give the same run, to the last digit, in a new process and
// after a reset. Another seed makes another run.
func TestReset(t *testing.T) {
	text := "seed %d\n" + flawed(6, "noise [0.01 0.01 0.2] dropout 0.1", "crosstalk 0.1") + "puck ( pose [-2.05 0 0 0] ) pioneer_full ( pose [5 5 0 0] )\n"
	load := func(seed int) *bench {
		b := newBench(t, newWorld(t, fmt.Sprintf(text, seed)))
		for i := range 6 {
			b.open(t, i, "psl")
		}
		b.open(t, 6, allDevices)
		return b
	}
	run := func(b *bench) uint64 {
		digest := fnv.New64a()
		for range 30 {
			for i := range 6 {
				b.drive(i, int16(200+30*i), int16(10*i-20))
			}
			b.run(publishPeriod)
			for i := range 6 {
				d := b.world.drivers[i].scans
				digest.Write(d.sonarData.Append(nil))
				digest.Write(d.lasers[0].data.Append(nil))
				d.positionData.Time = 0
				digest.Write(d.positionData.Append(nil))
				fmt.Fprint(digest, d.robot.Pose(), d.robot.battery.joules)
			}
			for _, letter := range []byte("slgmvz") {
				digest.Write(b.tables[6].Device(letter).Data())
			}
		}
		return digest.Sum64()
	}
	b := load(1)
	first, stamp := run(b), b.world.Stamp()
	b.world.Reset(b.now, 1)
	if b.world.Time() != 0 || b.world.Stamp() < stamp {
		t.Errorf("after the reset it is %v, stamped %v after %v", b.world.Time(), b.world.Stamp(), stamp)
	}
	if again := run(b); again != first {
		t.Error("the run after a reset is another one")
	}
	b.world.Reset(b.now, 2)
	second := run(b)
	if second == first {
		t.Error("the seed changes nothing")
	}
	if run(load(2)) != second {
		t.Error("a reset with a seed is not a start with that seed")
	}
}

// The seed of the command line replaces the file's seed.
func TestLoadSeed(t *testing.T) {
	for seed, want := range map[int]uint64{FileSeed: 1, 7: 7} {
		w, err := LoadSeed("../../simulation/worlds/room.world", seed)
		if err != nil || w.Seed() != want {
			t.Errorf("seed %d: %d, %v", seed, w.Seed(), err)
		}
	}
	a, _ := LoadSeed("../../simulation/worlds/room.world", 7)
	b, _ := Load("../../simulation/worlds/room.world")
	if a.source == b.source {
		t.Error("a reload would not notice another seed")
	}
}

// At a reset the thing in a gripper returns to its place, and the gripper opens.
func TestResetOfAGripper(t *testing.T) {
	w := loadRoom(t)
	i := -1
	for k, b := range w.bodies {
		if b.grasp {
			i = k
		}
	}
	if i < 0 {
		t.Fatal("the room has nothing to grip")
	}
	g := w.robots[0].grippers[0]
	start := w.bodies[i].pose
	g.gripped, w.bodies[i].holder, w.bodies[i].lifted = w.bodies[i], g, 0.1
	g.paddles = travel{}
	w.bodies[i].place(Pose{})
	w.Reset(time.Hour, 1)
	if g.gripped != nil || w.bodies[i].holder != nil || w.bodies[i].lifted != 0 || w.bodies[i].pose != start || g.paddles.at != 1 {
		t.Errorf("gripped %v, thing at %v, paddles %v", g.gripped, w.bodies[i].pose, g.paddles)
	}
}
