package e2e

import (
	"slices"
	"strconv"
	"testing"

	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
)

// While three drivers set up, and fail, fifty clients of a fourth get every frame.
func TestSetupDisturbsNobody(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	c := startCamera(t, sony.Options{})
	l := startLaser(t, laser.Options{})
	s := launch{env: noPrograms(t)}.start(t, "-pp", r.Port(), "-lp", l.Port(), "-zp", c.Port(), "-vp", strconv.Itoa(freeSwapped(t)))
	r.Silence()
	c.Silence()

	peers := make([]*peer, 50)
	for i := range peers {
		peers[i] = s.dial(t)
		peers[i].mustOpen("yrlr", "yrlr")
	}
	// The test may read late, so it uses the times in the frames.
	p := s.dial(t)
	p.mustOpen("yrlr", "yrlr")
	begin := p.freshness().Time
	p.mustOpen("prvrzr", "peveze")
	end := p.freshness().Time
	var counts []int
	for _, p := range peers {
		n := 0
		for at := uint64(0); at < end; n++ {
			if at = p.freshness().Time; at < begin {
				n = 0
			}
		}
		counts = append(counts, n)
	}
	least, most := slices.Min(counts), slices.Max(counts)
	want := int((end - begin) / 100_000) // 10 Hz
	t.Logf("%d to %d frames each, in %d us", least, most, end-begin)
	if end-begin < 1_500_000 { // a silent robot has 1.9 s
		t.Error("the setups ended too soon to disturb anybody")
	}
	// A server that has to wait for the processor skips frames.
	if least < want*3/4 || most > least+5 {
		t.Errorf("between %d and %d frames of %d", least, most, want)
	}
}
