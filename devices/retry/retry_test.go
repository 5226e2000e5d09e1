package retry

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

var errGone, errMute = errors.New("gone"), errors.New("mute")

// lines returns the lines logged since the last call.
func lines(log *observer.ObservedLogs) (all []string) {
	for _, e := range log.TakeAll() {
		fields := e.ContextMap()
		if why, ok := fields["error"]; ok {
			all = append(all, fmt.Sprint(why))
		} else {
			all = append(all, fmt.Sprint(e.Message, " ", fields["after"]))
		}
	}
	return all
}

func TestRetry(t *testing.T) {
	core, observed := observer.New(zapcore.DebugLevel)
	log := zap.New(core)
	var r Retry
	now := time.Hour
	fail := func(err error, pauses ...time.Duration) {
		t.Helper()
		for i, pause := range pauses {
			next := r.Failed(now, log, err)
			if next-now != pause || !r.Failing() {
				t.Errorf("failure %d: pause %v, want %v", i, next-now, pause)
			}
			now = next
		}
	}
	work := func(d time.Duration) {
		t.Helper()
		if r.Worked(now, log); r.Failing() {
			t.Error("it works, and fails")
		}
		now += d
		r.Worked(now, log) // no news
	}
	expect := func(want ...string) {
		t.Helper()
		if got := lines(observed); !slices.Equal(got, want) {
			t.Errorf("log %q, want %q", got, want)
		}
	}
	work(time.Second)
	fail(errGone, First, 2*time.Second, 4*time.Second, Last, Last)
	expect("gone")
	fail(errMute, Last, Last)
	fail(errGone, Last)
	expect("mute", "gone")
	work(steady)
	expect(LogBack + " 32s")
	fail(errGone, First, 2*time.Second)
	work(steady - 1) // too short
	fail(errGone, 4*time.Second)
	work(0)
	fail(errMute, Last)
	expect("gone", LogBack+" 3s", "gone", LogBack+" 4s", "mute")
}

func TestAllocatesNothing(t *testing.T) {
	var r Retry
	log := zap.NewNop()
	if n := testing.AllocsPerRun(100, func() { r.Worked(time.Hour, log) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
