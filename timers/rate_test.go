package timers

import (
	"math"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	var r Rate
	now := time.Hour
	run := func(period time.Duration, events int) {
		for range events {
			now += period
			r.Count(now)
		}
	}
	expect := func(what string, want float64) {
		t.Helper()
		if got := r.Hz(now); math.Abs(got-want) > 0.01*want+0.001 {
			t.Errorf("%s: %v Hz, want %v", what, got, want)
		}
	}
	expect("none", 0)
	run(100*time.Millisecond, 30)
	expect("10 Hz", 10)
	run(20*time.Millisecond, 120)
	expect("50 Hz", 50)
	now += 900 * time.Millisecond
	expect("a short silence", 50)
	now += 18 * time.Second
	if hz := r.Hz(now); hz > 2.5 {
		t.Errorf("after 20 s of silence: %v Hz", hz)
	}
	run(5*time.Second, 3)
	expect("rare events", 0.2)
	now += time.Hour
	expect("an hour later", 0)
	if r.Total != 153 {
		t.Errorf("%d events", r.Total)
	}
}
