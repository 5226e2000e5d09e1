package stage

import (
	"fmt"
	"hash/fnv"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"player/codec"
	"player/codec/pioneer"
	"player/e2e/must"
)

// flawed is arena with robots with sensor errors: sonar is for the sonars only.
func flawed(n int, both, sonar string) string {
	var robot strings.Builder
	robot.WriteString("define erring position ( size [0.44 0.38 0.22] origin [-0.04 0 0 0]\n ranger ( pose [0 0 -0.03 0]\n")
	for _, p := range pioneer.Sonars() {
		fmt.Fprintf(&robot, "  sensor ( pose [%v %v 0 %v] range [0 5] fov 15 samples 3 %s %s )\n", p.X/1000, p.Y/1000, p.Heading, both, sonar)
	}
	robot.WriteString(" )\n ranger ( pose [0.08 0 0 0] size [0.156 0.155 0.19] sensor ( pose [0 0 -0.02 0] range [0 8] fov 180 samples 361 " + both + " ) ) )\n")
	return strings.Replace(arena(n, "erring"), "erring (", robot.String()+"erring (", 1)
}

// The number of processors changes no reading, whatever is computed at the same time: in
// lockstep, faster than real time, and with all errors of sensors.
func TestProcessorsChangeNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, errors := range [][2]string{{"", ""}, {"noise [0.01 0.01 0] dropout 0.1", "crosstalk 0.1"}, {"noise [0.01 0 1]", "specular 30"}} {
		for _, clock := range []string{"speedup 0\n", "speedup 20\n"} {
			var digests []uint64
			for _, processors := range []int{1, 2, 5} {
				runtime.GOMAXPROCS(processors)
				b := newBench(t, newWorld(t, clock+flawed(12, errors[0], errors[1])))
				digest := fnv.New64a()
				for i := range 12 {
					b.open(t, i, "psl")
					b.subscribe(t, i, codec.Ranger, 2)
					b.drive(i, int16(100+10*i), int16(5*i-20))
				}
				d := 10 * time.Millisecond
				if clock == "speedup 0\n" { // each wake is a step, and a nanosecond
					d = 100
				}
				for b.world.sim < 400*time.Millisecond {
					b.run(d)
					for _, s := range b.world.drivers {
						digest.Write(s.scans.sonarData.Append(nil))
						digest.Write(s.scans.lasers[0].data.Append(nil))
						digest.Write(s.scans.rangers[0].data.Append(nil))
						digest.Write(s.scans.rangers[1].data.Append(nil))
					}
				}
				digests = append(digests, digest.Sum64())
			}
			if digests[0] != digests[1] || digests[0] != digests[2] {
				t.Errorf("%s%q: digests %x", clock, errors, digests)
			}
		}
	}
}

// A thing that is moved by hand is where it is in the next reading, also at the same
// instant.
func TestScanAfterAMove(t *testing.T) {
	w := newWorld(t, robotWorld+"speedup 0 paused 1 pioneer_full ( ) pioneer2dx ( pose [3 0 0 0] )")
	b := newBench(t, w)
	b.open(t, 0, "l")
	b.run(publishPeriod)
	before := w.drivers[0].scans.lasers[0].data[180]
	must.Do(t, w.SetPose(1, Pose{X: 4}))
	b.run(2 * publishPeriod)
	if after := w.drivers[0].scans.lasers[0].data[180]; after != before+1000 {
		t.Errorf("%d mm ahead before the move, %d after", before, after)
	}
}

func TestOnFast(t *testing.T) {
	w := newWorld(t, "")
	var got []bool
	w.OnFast(func(fast bool) { got = append(got, fast) })
	for _, speed := range []float64{0, 1, 2, 0.5} {
		w.SetSpeed(0, speed)
	}
	if want := []bool{false, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
	newWorld(t, "lockstep 1").OnFast(func(fast bool) {
		if !fast {
			t.Error("a world in step is not fast")
		}
	})
}

// counted counts how often each piece was done.
type counted []atomic.Int32

func (c counted) do(_, first, end int) {
	for i := first; i < end; i++ {
		c[i].Add(1)
	}
}

// Each piece is done once, by helpers that were there and by new ones, and helpers without work end.
func TestPool(t *testing.T) {
	before := runtime.NumGoroutine()
	var s pool
	for round := range 300 {
		workers, n, portion := 1+round%4, 1+round%50, 1+round%7
		c := make(counted, n)
		s.run(workers, n, portion, c)
		for i := range c {
			if done := c[i].Load(); done != 1 {
				t.Fatalf("piece %d of %d, by %d: done %d times", i, n, workers, done)
			}
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("helpers are left")
		}
	}
}

// A panic of a scan becomes a panic of the caller, which can recover it, whichever goroutine scans.
func TestPanicOfAScan(t *testing.T) {
	var s pool
	for range 200 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			s.run(2, 1, 1, &scanning{due: []*Driver{{}}, scanners: []*scanner{newScanner(), newScanner()}}) // a driver without a world
		}()
	}
}
