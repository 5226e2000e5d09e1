package timers

import (
	"slices"
	"testing"
	"time"
)

// drive runs the queue from deadline to deadline until end and returns the
// number of wakes.
func drive(q *Queue, end time.Duration) (wakes int) {
	for {
		at, ok := q.Next()
		if !ok || at > end {
			return wakes
		}
		q.Run(at, 0)
		wakes++
	}
}

func TestMembersShareWakes(t *testing.T) {
	for name, tt := range map[string]struct {
		periods []time.Duration
		wakes   int // in a second
	}{
		"50 members at 10 Hz": {slices.Repeat([]time.Duration{100 * ms}, 50), 10},
		"1, 10 and 50 Hz":     {[]time.Duration{100 * ms, 20 * ms, time.Second}, 50},
	} {
		var q Queue
		fired := map[int]int{}
		ticks := NewTicks(&q, func(_ time.Duration, m int) { fired[m]++ })
		for m, period := range tt.periods {
			ticks.Join(m, period, time.Duration(m)*ms)
		}
		if wakes := drive(&q, time.Second); wakes != tt.wakes {
			t.Errorf("%s: %d wakes in a second, want %d", name, wakes, tt.wakes)
		}
		for m, period := range tt.periods {
			if want := int(time.Second / period); fired[m] != want {
				t.Errorf("%s: member %d fired %d times, want %d", name, m, fired[m], want)
			}
		}
	}
}

func TestTicksFillAndSpread(t *testing.T) {
	var q Queue
	ticks := NewTicks(&q, func(time.Duration, int) {})
	const members = 1000 // at 50 Hz: four grid steps, 250 members each
	counts := map[*Tick[int]]int{}
	for m := range members {
		counts[ticks.Join(m, 20*ms, 0)]++
	}
	if len(counts) != 4 {
		t.Fatalf("%d ticks, want 4", len(counts))
	}
	for tick, n := range counts {
		if n != members/4 {
			t.Errorf("phase %d holds %d members, want %d", tick.phase, n, members/4)
		}
	}
}

func TestFirstFireWithinOnePeriod(t *testing.T) {
	const period = 100 * ms
	for now := time.Duration(0); now < 250*ms; now += 7 * ms {
		var q Queue
		first := map[int]time.Duration{}
		ticks := NewTicks(&q, func(now time.Duration, m int) {
			if _, ok := first[m]; !ok {
				first[m] = now
			}
		})
		for m := range 2*TickFill + 1 { // three phases
			ticks.Join(m, period, now)
		}
		drive(&q, now+period)
		for m := range 2*TickFill + 1 {
			if at, ok := first[m]; !ok || at <= now {
				t.Fatalf("joined at %v, member %d first fired at %v (%v)", now, m, at, ok)
			}
		}
	}
}

func TestLeaveDisarms(t *testing.T) {
	var q Queue
	ticks := NewTicks(&q, func(time.Duration, int) {})
	a := ticks.Join(1, 100*ms, 0)
	b := ticks.Join(2, 100*ms, 0)
	ticks.Leave(1, a)
	ticks.Leave(1, a) // no-op
	if _, ok := q.Next(); !ok {
		t.Fatal("disarmed while a member is left")
	}
	ticks.Leave(2, b)
	if at, ok := q.Next(); ok {
		t.Fatalf("armed for %v without members", at)
	}
	if len(ticks.periods) != 0 {
		t.Fatal("an empty period is kept")
	}
}

func TestLeaveWithinFire(t *testing.T) {
	var q Queue
	var ticks *Ticks[int]
	tickOf := map[int]*Tick[int]{}
	fired := map[int]int{}
	ticks = NewTicks(&q, func(_ time.Duration, m int) {
		fired[m]++
		if m%2 == 0 {
			ticks.Leave(m, tickOf[m])
		}
	})
	for m := range 10 {
		tickOf[m] = ticks.Join(m, 10*ms, 0)
	}
	drive(&q, 20*ms)
	for m := range 10 {
		if want := 1 + m%2; fired[m] != want {
			t.Errorf("member %d fired %d times, want %d", m, fired[m], want)
		}
	}
}

// Rates that are no whole number of milliseconds keep their exact mean: 3 Hz
// for 1000 s.
func TestOddRateKeepsItsMean(t *testing.T) {
	var q Queue
	n := 0
	ticks := NewTicks(&q, func(time.Duration, int) { n++ })
	ticks.Join(1, time.Second/3, 0)
	drive(&q, 1000*time.Second)
	if n != 3000 {
		t.Fatalf("%d ticks in 1000 s at 3 Hz, want 3000", n)
	}
}

// tickOf50 returns a function that runs one tick of 50 members.
func tickOf50() (run func()) {
	var q Queue
	ticks := NewTicks(&q, func(time.Duration, int) {})
	for m := range 50 {
		ticks.Join(m, 20*ms, 0)
	}
	return func() {
		at, _ := q.Next()
		q.Run(at, 0)
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, tickOf50()); n != 0 {
		t.Fatalf("%v allocations a tick", n)
	}
}

func BenchmarkTickOf50(b *testing.B) {
	run := tickOf50()
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}

// A tick that must not proceed is fired in several runs. Members that leave between two of them do
// not affect the others.
func TestLargeTickIsSliced(t *testing.T) {
	const most = 4 * batch // in a run
	const members = 3*most + 20
	period := Grid // one grid step, so one tick for all
	var q Queue
	fired := map[int]int{}
	homes := map[int]*Tick[int]{}
	var ticks *Ticks[int]
	ticks = NewTicks(&q, func(_ time.Duration, m int) {
		fired[m]++
		if m%10 == 0 { // leaves in its own call
			ticks.Leave(m, homes[m])
			delete(homes, m)
		}
	})
	for m := range members {
		homes[m] = ticks.Join(m, period, 0)
	}
	at, _ := q.Next()
	for runs := 1; ; runs++ {
		before := len(fired)
		q.RunWhile(at, 0, func() (time.Duration, bool) { return at, len(fired)-before < most })
		if n := len(fired) - before; n > most {
			t.Fatalf("run %d fired %d members", runs, n)
		}
		if next, _ := q.Next(); next > at {
			if runs != 4 {
				t.Errorf("%d runs, want 4", runs)
			}
			break
		}
		// Between two runs, one member that has fired leaves, and one that
		// has not.
		for _, been := range []bool{true, false} {
			for m := range members {
				if homes[m] != nil && m%10 == 1 && (fired[m] > 0) == been {
					ticks.Leave(m, homes[m])
					delete(homes, m)
					break
				}
			}
		}
	}
	for m := range members {
		if _, there := homes[m]; there && fired[m] != 1 || fired[m] > 1 {
			t.Errorf("member %d fired %d times", m, fired[m])
		}
	}
	if len(homes) < members*8/10 {
		t.Errorf("only %d members are left", len(homes))
	}
}

// A client at 50 Hz does not wait for the frames of slower ones that are due with its own,
// also if they joined first.
func TestFasterTickGoesFirst(t *testing.T) {
	for _, joined := range [][]time.Duration{{20 * ms, 100 * ms, 50 * ms}, {100 * ms, 50 * ms, 20 * ms}} {
		var q Queue
		var fired []time.Duration
		ticks := NewTicks(&q, func(_ time.Duration, m time.Duration) { fired = append(fired, m) })
		for _, period := range joined {
			ticks.Join(period, period, 0)
		}
		drive(&q, 99*ms)
		fired = nil
		drive(&q, 100*ms)
		if want := []time.Duration{20 * ms, 50 * ms, 100 * ms}; !slices.Equal(fired, want) {
			t.Errorf("joined as %v, fired as %v at 100 ms, want %v", joined, fired, want)
		}
	}
}

// A fast tick that falls due while a slow one is fired in batches goes before the rest of the slow one, which
// fires each member and keeps its deadlines.
func TestFastTickWaitsForOneSlice(t *testing.T) {
	const (
		slow, fast = 100 * ms, 20 * ms
		frame      = 500 * time.Microsecond // of a member of the slow tick: 8 ms each batch
		members    = 4 * batch              // 32 ms: the fast tick is due again in the third batch
	)
	var q Queue
	var clock time.Duration
	type run struct {
		m     int // the member, or 1 for all of the slow tick
		count int
	}
	var runs []run
	ticks := NewTicks(&q, func(_ time.Duration, m int) {
		if m = min(m, 1); m == 1 {
			clock += frame
		}
		if n := len(runs); n == 0 || runs[n-1].m != m {
			runs = append(runs, run{m: m})
		}
		runs[len(runs)-1].count++
	})
	var homes []*Tick[int]
	for m := range 1 + members {
		homes = append(homes, ticks.Join(m, []time.Duration{fast, slow}[min(m, 1)], 0))
	}
	for clock < 2*slow {
		at, _ := q.Next()
		clock = max(clock, at)
		if at >= slow+2*fast {
			break
		}
		q.RunWhile(clock, 0, func() (time.Duration, bool) { return clock, false })
	}
	const before = 4 // fast ticks, until 80 ms
	want := []run{{0, before + 1}, {1, 3 * batch}, {0, 1}, {1, batch}}
	if !slices.Equal(runs, want) {
		t.Errorf("fired %v, want %v", runs, want)
	}
	if at := homes[1].timer.at; at != 2*slow {
		t.Errorf("the slow tick is due at %v, want %v", at, 2*slow)
	}
	if ticks.Late() < members/2 { // from the second batch on
		t.Errorf("%d late, want those after the first slice", ticks.Late())
	}
}
