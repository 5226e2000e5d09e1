package main

import (
	"math"
	"testing"
	"time"
)

// A soak fails if one of its figures grows, and not if it only varies.
func TestSoakIsFlat(t *testing.T) {
	for name, tt := range map[string]struct {
		of   func(minute float64) sample
		flat bool
	}{
		"flat": {func(float64) sample { return sample{RSS: 15 * mib, Descriptors: 40, Threads: 7} }, true},
		"it varies": {func(m float64) sample {
			return sample{RSS: (15 + math.Sin(m)) * mib, Descriptors: 40 + 5*math.Sin(m), Threads: 7}
		}, true},
		"memory leaks":       {func(m float64) sample { return sample{RSS: (15 + m/8) * mib} }, false},
		"descriptors leak":   {func(m float64) sample { return sample{Descriptors: 40 + m} }, false},
		"threads leak":       {func(m float64) sample { return sample{Threads: 7 + m/3} }, false},
		"the well is late":   {func(float64) sample { return sample{P99: 11 * time.Millisecond} }, false},
		"it warms up before": {func(m float64) sample { return sample{RSS: 15*mib - max(0, 19-m)*mib/2} }, true},
	} {
		var samples []sample
		for minute := range 60 {
			s := tt.of(float64(minute))
			s.At = time.Duration(minute) * time.Minute
			samples = append(samples, s)
		}
		if err := judgeSoak(sample{P99: 5 * time.Millisecond}, samples, true); (err == nil) != tt.flat {
			t.Errorf("%s: %v", name, err)
		}
	}
}
