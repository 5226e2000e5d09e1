package e2e

import (
	"strconv"
	"sync"
	"testing"

	robot "player/emulator/p2os"
	laser "player/emulator/sick"
	"player/emulator/sony"
)

// While three links set up, or give up, fifty clients of a fourth one get every
// frame.
func TestSetupDisturbsNobody(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	c := startCamera(t, sony.Options{})
	l := startLaser(t, laser.Options{})
	s := launch{env: noPrograms(t)}.start(t, "-pp", r.Port(), "-lp", l.Port(), "-zp", c.Port(), "-vp", strconv.Itoa(freeSwapped(t)))
	r.Silence()
	c.Silence()

	const watchers = 50
	peers := make([]*peer, watchers)
	for i := range peers {
		peers[i] = s.dial(t)
		peers[i].mustOpen("lr", "lr")
	}
	stop := make(chan struct{})
	counts := make([]int, watchers)
	var wg sync.WaitGroup
	for i, p := range peers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, _, err := p.tryBlock(patience); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				counts[i]++
			}
		})
	}
	s.dial(t).mustOpen("prvrzr", "peveze")
	close(stop)
	wg.Wait()
	least, most := counts[0], counts[0]
	for _, n := range counts {
		least, most = min(least, n), max(most, n)
	}
	t.Logf("%d to %d frames each", least, most)
	if least < 35 || most > least+5 { // 10 a second, for the 4.5 s that a silent robot is waited for
		t.Errorf("between %d and %d frames", least, most)
	}
}
