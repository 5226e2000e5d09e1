package e2e

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/ports"
)

// An hour of two robots, whose program sees every report of both, in a world in step.
// The same program gets the same bytes again.
func TestAnHourInStep(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	dir := t.TempDir()
	world := filepath.Join(dir, "hour.world")
	must.Do(t, os.WriteFile(world, []byte(`
include "pioneer.inc"
include "things.inc"
lockstep 2
speedup 0
wall ( pose [ 0.00  2.05 0  0] size [4.2 0.1 1] )
wall ( pose [ 0.00 -2.05 0  0] size [4.2 0.1 1] )
wall ( pose [ 2.05  0.00 0 90] size [4.0 0.1 1] )
wall ( pose [-2.05  0.00 0 90] size [4.0 0.1 1] )
pioneer_full ( name "r0" pose [-1 -1 0 45] odom_error [0.1 0.1 0.1] )
pioneer_full ( name "r1" pose [1 1 0 45] )
`), 0o644))
	const rounds = 36000
	var runs [2][sha256.Size]byte
	for i := range runs {
		truth := filepath.Join(dir, strconv.Itoa(i))
		port := ports.Free(t, 1)
		s := launch{port: port}.start(t, "-stage", world, "-truth", truth)
		s.Await(t, fmt.Sprint(port+1))
		seen := sha256.New()
		travelled, random := 0, rand.New(rand.NewPCG(1, 2))
		var drives [2]struct {
			rounds      int // until the robot has freed itself
			speed, turn int16
		}
		robots := []*peer{s.dial(t), (&server{address: fmt.Sprintf("127.0.0.1:%d", port+1)}).dial(t)}
		for _, p := range robots {
			p.message('x', codec.Server, codec.ConfigMode, 1) // before anything is open
			p.request("pasr")
		}
		for round := range rounds {
			for _, p := range robots {
				p.message('x', codec.Server, codec.ConfigData)
			}
			for n, p := range robots {
				var at codec.PositionData
				_, payload := p.block()
				if err := at.Decode(payload); err != nil || at.Time != uint32(100*round) {
					t.Fatalf("round %d, robot %d: position at %d ms, %v", round, n, at.Time, err)
				}
				seen.Write(payload)
				_, payload = p.block()
				seen.Write(payload)
				var sonar codec.SonarData
				must.Do(t, sonar.Decode(payload))
				d := &drives[n]
				switch {
				case d.rounds > 0:
					d.rounds--
				case at.Stall != 0:
					d.rounds, d.speed, d.turn = 10, int16(random.IntN(600)-300), int16(random.IntN(180)-90)
				default:
					d.speed, d.turn = 400, int16(round/100%7-3)
					if min(sonar[3], sonar[4]) < 500 {
						d.speed, d.turn = 0, 50
					}
				}
				p.drive(d.speed, d.turn)
				travelled += max(int(at.Speed), 0) / 10
			}
		}
		if travelled < 100e3 {
			t.Errorf("the robots drove %d mm in an hour", travelled)
		}
		s.stop(t)
		text := must.Get(os.ReadFile(truth))(t)
		seen.Write(text)
		seen.Sum(runs[i][:0])
	}
	if runs[0] != runs[1] {
		t.Error("two runs of the same program differ")
	}
}
