package stage

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// arena returns a world with n robots, 1.5 m apart in a walled square.
func arena(n int, robot string) string {
	var text strings.Builder
	side := int(math.Ceil(math.Sqrt(float64(n))))
	half := 0.75*float64(side) + 0.5
	text.WriteString(robotWorld)
	for k, at := range []Vec{{Y: half}, {X: -half}, {Y: -half}, {X: half}} {
		fmt.Fprintf(&text, "wall ( pose [%v %v 0 %d] size [%v 0.2 1] )\n", at.X, at.Y, 90*k, 2*half)
	}
	for i := range n {
		fmt.Fprintf(&text, "%s ( pose [%v %v 0 %d] odom_error [0.1 0.1 0.1] )\n", robot,
			1.5*float64(i%side)+1.25-half, 1.5*float64(i/side)+1.25-half, 37*i)
	}
	return text.String()
}

func TestSpeedUp(t *testing.T) {
	for _, tt := range []struct {
		speed   float64
		d       time.Duration
		want    time.Duration // of simulated time
		reports uint64
	}{
		{1, 5 * time.Second, 5 * time.Second, 50},
		{0.1, 10 * time.Second, time.Second, 10},
		{20, 500 * time.Millisecond, 10 * time.Second, 100},
		{1000, 100 * time.Millisecond, 100 * time.Second, 1000},
	} {
		w := newWorld(t, robotWorld+`pioneer2dx ( )`)
		b := newBench(t, w)
		w.SetSpeed(b.now, tt.speed)
		b.open(t, 0, "p")
		b.run(tt.d)
		if got := w.Time(); got > tt.want || got < tt.want-publishPeriod-StepTime {
			t.Errorf("speed %v: %v of simulated time in %v, want %v", tt.speed, got, tt.d, tt.want)
		}
		if got := b.tables[0].Device('p').Seq(); got < tt.reports-2 || got > tt.reports+2 {
			t.Errorf("speed %v: %d reports, want %d", tt.speed, got, tt.reports)
		}
		if tt.speed <= 1 && b.wakes > int(tt.reports)+5 {
			t.Errorf("speed %v: %d wakes for %d reports", tt.speed, b.wakes, tt.reports)
		}
	}
}

// As fast as possible: every wake of the server makes one step, however many
// robots there are.
func TestAsFastAsPossible(t *testing.T) {
	w := newWorld(t, "speedup 0\n"+arena(3, "pioneer2dx"))
	b := newBench(t, w)
	for i := range 3 {
		b.open(t, i, "ps")
	}
	b.run(1000) // the bench's clock advances a nanosecond per wake
	if got := w.Time(); got < 990*StepTime || got > 1010*StepTime {
		t.Errorf("%v of simulated time in 1000 wakes", got)
	}
	for i := range 3 {
		if got := b.tables[i].Device('s').Seq(); got < 99 || got > 103 {
			t.Errorf("robot %d: %d reports in %v", i, got, w.Time())
		}
	}
}

// Without clients the world is paused and no timer is armed.
func TestIdleWorldStandsStill(t *testing.T) {
	w := newWorld(t, arena(2, "pioneer2dx"))
	b := newBench(t, w)
	b.run(time.Minute)
	if w.Time() != 0 || b.wakes != 0 {
		t.Errorf("%v passed, %d wakes", w.Time(), b.wakes)
	}
	b.open(t, 0, "p")
	b.drive(0, 200, 0)
	b.run(time.Second)
	b.close(0, "p")
	at, wakes := w.Time(), b.wakes
	b.run(time.Minute)
	if w.Time() != at || b.wakes != wakes {
		t.Errorf("after the last client left %v passed, %d wakes", w.Time()-at, b.wakes-wakes)
	}
	if b.open(t, 0, "p"); w.robots[0].drive.speed != 0 {
		t.Error("it still moves")
	}
	b.run(time.Second)
	if got := w.Time() - at; got > time.Second || got < time.Second-2*publishPeriod {
		t.Errorf("%v passed in the second after", got)
	}
}

func TestPauseAndStep(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer_full ( )`)
	b := newBench(t, w)
	b.open(t, 0, "pl")
	b.drive(0, 200, 0)
	b.run(time.Second)
	w.Pause(b.now, true)
	at, time0 := w.robots[0].Pose(), w.Time()
	reports := b.tables[0].Device('l').Seq()
	b.run(time.Second)
	if w.Time() != time0 || w.robots[0].Pose() != at {
		t.Errorf("paused, %v passed", w.Time()-time0)
	}
	if got := b.tables[0].Device('l').Seq() - reports; got < 9 || got > 11 {
		t.Errorf("%d reports in a second's pause", got)
	}
	w.Step(50)
	if got := w.robots[0].Pose().X - at.X; w.Time() != time0+50*StepTime || !near(got, 0.1, 1e-9) {
		t.Errorf("50 steps: %v, %v m", w.Time()-time0, got)
	}
	w.Pause(b.now, false)
	time0 = w.Time()
	b.run(time.Second)
	if got := w.Time() - time0; got > time.Second || got < time.Second-publishPeriod-StepTime {
		t.Errorf("%v passed in a second after the pause", got)
	}
	if speed, paused := w.Speed(); speed != 1 || paused {
		t.Errorf("speed %v, paused %v", speed, paused)
	}
}

func TestStartsPaused(t *testing.T) {
	w := newWorld(t, "paused 1\n"+robotWorld+`pioneer_full ( )`)
	b := newBench(t, w)
	b.open(t, 0, "l")
	b.run(time.Second)
	if w.Time() != 0 || !b.tables[0].Device('l').HasData() {
		t.Errorf("%v passed, laser data: %v", w.Time(), b.tables[0].Device('l').HasData())
	}
}

// A server that slept does not catch up on the lost time.
func TestLostTimeIsGivenUp(t *testing.T) {
	w := newWorld(t, arena(100, "pioneer2dx"))
	w.use(time.Hour)
	calls := 0
	for more := true; more; calls++ {
		more = w.Advance(2 * time.Hour)
	}
	if w.Time() > time.Second || calls > 3 {
		t.Errorf("%v of simulated time in %d calls", w.Time(), calls)
	}
	// A server that is slightly late catches up, in bounded calls.
	before := w.Time()
	for more := true; more; {
		at := w.Time()
		more = w.Advance(2*time.Hour + 190*time.Millisecond)
		if taken := w.Time() - at; taken > stepBudget/100*StepTime {
			t.Fatalf("%v in one call", taken)
		}
	}
	if got := w.Time() - before; got < 170*time.Millisecond {
		t.Errorf("caught up %v of 190 ms", got)
	}
}

// The time that robots report starts at the server's time, never runs
// backwards, and counts simulated milliseconds.
func TestReportedTime(t *testing.T) {
	w := newWorld(t, robotWorld+`pioneer2dx ( )`)
	b := newBench(t, w)
	b.open(t, 0, "p")
	b.run(5 * time.Second)
	first := b.position(t, 0).Time
	if now := uint32(b.now.Milliseconds()); first > now || first < now-110 {
		t.Errorf("reported %d ms at %d ms", first, now)
	}
	w.SetSpeed(b.now, 10)
	b.run(time.Second)
	second := b.position(t, 0).Time
	if got := second - first; got < 9800 || got > 10100 {
		t.Errorf("%d ms reported in a second at speed 10", got)
	}
	b.close(0, "p")
	b.run(time.Second)
	w.SetSpeed(b.now, 1)
	b.open(t, 0, "p")
	b.run(time.Second)
	if third := b.position(t, 0).Time; third < second {
		t.Errorf("time ran backwards from %d to %d", second, third)
	}
}

func TestQuitTime(t *testing.T) {
	w := newWorld(t, "quit_time 2\nspeedup 0\n"+robotWorld+`pioneer2dx ( )`)
	quits := 0
	w.OnQuit(func() { quits++ })
	now, wakes := time.Hour, 0
	for next := now; next != 0; wakes++ {
		now = max(next, now+1)
		next = w.Run(now)
	}
	if w.Time() != 2*time.Second || !w.Finished() || quits != 1 || wakes != 200 {
		t.Errorf("ended at %v after %d wakes, %d calls", w.Time(), wakes, quits)
	}
	if w.Step(5); w.Time() != 2*time.Second || quits != 1 {
		t.Errorf("went on to %v", w.Time())
	}
}

// A world runs headless at its speed, and stops while paused.
func TestHeadless(t *testing.T) {
	w := newWorld(t, "speedup 4\n"+robotWorld+`pioneer2dx ( )`)
	run := func(now, d time.Duration) {
		for end := now + d; now <= end; {
			now = max(w.Run(now), now+1)
		}
	}
	run(time.Hour, time.Second)
	if got := w.Time(); got < 3900*time.Millisecond || got > 4*time.Second {
		t.Errorf("%v in a second at speed 4", got)
	}
	at := w.Time()
	w.Pause(time.Hour+time.Second, true)
	if run(time.Hour+time.Second, time.Second); w.Time() != at {
		t.Errorf("paused, %v passed", w.Time()-at)
	}
}
