package stage

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"player/e2e/must"
)

// onAMD64 skips a test of digests elsewhere: other processors fuse multiplications with additions and round differently.
func onAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of amd64")
	}
}

// A world without pushable things, noise and docks runs as it always did: the digest
// of the robots' true states and of all their readings was recorded before these were
// simulated.
func TestExactWithoutOptions(t *testing.T) {
	onAMD64(t)
	w := newWorld(t, arena(12, "pioneer_full")+`crate ( pose [0 0 0 33] ) crate ( pose [-0.25 -1.6 0 12] size [0.1 0.6 1] )`)
	digest := fnv.New64a()
	w.LogTruth(digest)
	random := rand.New(rand.NewPCG(1, 2))
	drivers := make([]*Driver, len(w.robots))
	for i, r := range w.robots {
		drivers[i] = NewDriver(w, r)
	}
	for range 200 {
		i := random.IntN(len(w.robots))
		r, d := w.robots[i], drivers[i]
		r.drive.command(int16(random.IntN(1400)-600), int16(random.IntN(240)-120))
		w.Step(10)
		d.lasers[0].data = r.readLaser()
		d.sonarData = r.readSonars()
		r.readBumpers(&d.miscData)
		r.readPosition(&d.positionData)
		d.positionData.X, d.positionData.Y, d.positionData.Heading = 0, 0, 0 // these have slip
		fmt.Fprint(digest, d.lasers[0].data, d.sonarData, d.miscData, d.positionData, r.battery.decivolt())
	}
	w.FlushTruth()
	if got := digest.Sum64(); got != 0xd22eab6cdc8a3b90 {
		t.Errorf("the digest is %#x", got)
	}
}

// The devices with letters of the worlds that come with Player have the data that they always had: the digests were
// recorded before robots could have more of them, and rangers.
func TestShippedWorldsAreAsEver(t *testing.T) {
	onAMD64(t)
	for world, want := range map[string]uint64{
		"room":                 0x1938de1a278bb81,
		"cave":                 0x42b805c91e1bc80,
		"office":               0x616cfeb8a194803c,
		"arena":                0x4c5eb3fc1d7239ab,
		"subsumption":          0x2f6926c018c8aeec,
		"subsumption-building": 0x839a917d4eca0dc1,
		"subsumption-fleet":    0x1dead8af3c8fa54,
		"":                     0x3096ffeb0f99d4b3, // sensors with all errors
	} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, flawed(12, "noise [0.01 0.01 1] dropout 0.1", "crosstalk 0.1 specular 30"))
			if world != "" {
				w = must.Get(Load("../../simulation/worlds/" + world + ".world"))(t)
			}
			b := newBench(t, w)
			digest := fnv.New64a()
			var open []string
			for i := range b.world.robots {
				letters := ""
				for _, letter := range allDevices {
					if b.tables[i].Device(byte(letter)) != nil {
						letters += string(letter)
					}
				}
				open = append(open, letters)
				b.open(t, i, letters)
				b.drive(i, int16(150+10*(i%20)), int16(7*(i%9)-20))
			}
			for range 20 {
				b.run(publishPeriod)
				for i, letters := range open {
					for _, letter := range []byte(letters) {
						digest.Write(b.tables[i].Device(letter).Data())
					}
				}
			}
			if b.world.sim < 2*time.Second-publishPeriod {
				t.Errorf("the world is at %v", b.world.sim)
			}
			if got := digest.Sum64(); got != want {
				t.Errorf("the digest is %#x", got)
			}
		})
	}
}
