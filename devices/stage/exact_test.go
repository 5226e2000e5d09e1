package stage

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"testing"
)

// A world without pushable things, noise and docks runs as it always did: the digest
// of the robots' true states and of all their readings was recorded before these were
// simulated.
func TestExactWithoutOptions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors fuse multiplications with additions and round differently")
	}
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
		d.laserData = r.readLaser()
		d.sonarData = r.readSonars()
		r.readBumpers(&d.miscData)
		r.readPosition(&d.positionData)
		d.positionData.X, d.positionData.Y, d.positionData.Heading = 0, 0, 0 // these have slip
		fmt.Fprint(digest, d.laserData, d.sonarData, d.miscData, d.positionData, r.battery.decivolt())
	}
	w.FlushTruth()
	if got := digest.Sum64(); got != 0x122984f3ec8e7dab {
		t.Errorf("the digest is %#x", got)
	}
}
