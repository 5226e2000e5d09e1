package limited

import (
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
		lines := logs.All()
		if len(lines) != 2 || lines[0].ContextMap()["suppressed"] != nil || lines[1].ContextMap()["suppressed"] != int64(5) || lines[1].ContextMap()["i"] != int64(6) {
			t.Errorf("%v: logged %v", period, lines)
		}
	}
	var line Line
	log := zap.NewNop()
	if n := testing.AllocsPerRun(10, func() { line.Warn(time.Minute, log, "trouble", zap.Int("i", 1)) }); n > 0 {
		t.Errorf("%v allocations for a line that is suppressed", n)
	}
}
