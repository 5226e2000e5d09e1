package limited

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestLine(t *testing.T) {
	for _, period := range []time.Duration{0, time.Minute} {
		core, logs := observer.New(zap.DebugLevel)
		line, log := Line{Period: period}, zap.New(core)
		if period == 0 {
			period = time.Second
		}
		for i := range 12 {
			now := time.Duration(i) * period / 6
			if line.Warn(now, log, "trouble", zap.Int("i", i)) != (i%6 == 0) {
				t.Errorf("%v: line %d is written, or is not", period, i)
			}
		}
		var got []any
		for _, logged := range logs.All() {
			got = append(got, logged.ContextMap()["i"], logged.ContextMap()["suppressed"])
		}
		if want := []any{int64(0), nil, int64(6), int64(5)}; !slices.Equal(got, want) {
			t.Errorf("%v: logged %v, want %v", period, got, want)
		}
	}
	var line Line
	log := zap.NewNop()
	if n := testing.AllocsPerRun(10, func() { line.Warn(time.Minute, log, "trouble", zap.Int("i", 1)) }); n > 0 {
		t.Errorf("%v allocations for a line that is suppressed", n)
	}
}
