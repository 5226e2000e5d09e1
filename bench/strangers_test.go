package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"player/e2e/acceptance"
)

// Well clients are served among all strangers. A test does not check how soon: on a
// busy machine a short window may see no frame.
func TestStrangers(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	w := buildForTest(t)
	served := func(c cell, window time.Duration) bool {
		r, err := w.measure(t.Context(), player, c, window)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		all := true
		for _, g := range r.Load.Groups {
			all = all && g.Frames > 0
			if r.Error != "" || g.Closed > 0 || g.Bad > 0 {
				t.Errorf("%s: %s, %s had %d frames, %d bad, %d closed", c.Name, r.Error, g.Name, g.Frames, g.Bad, g.Closed)
			}
		}
		return all
	}
	for _, c := range slices.Concat(beset(), viewed(), pictured()[2:3]) {
		patiently(t, c.Name+": a frame", func(window time.Duration) bool { return served(c, window) })
	}
}

// The cost of a viewer is its part of the increase that all cause.
func TestReportOfViewers(t *testing.T) {
	r := resultsOf(t, viewersPrefix+nobody, viewersPrefix+"viewers")
	for i, cpu := range []time.Duration{20 * ms, 60 * ms} {
		for j := range r.Cells[i].Runs {
			run := &r.Cells[i].Runs[j]
			run.Load.Window, run.Usage.CPU = time.Second, cpu
		}
	}
	for _, want := range []string{"| nobody | 2.0 % |  |", "| viewers | 6.0 % | 0.2 % |"} {
		if text := rendered(t, r); !strings.Contains(text, want) {
			t.Errorf("the report lacks %s:\n%s", want, text)
		}
	}
}

// The limit is 5 ms, or twice the delay of the well alone.
func TestReportOfStrangers(t *testing.T) {
	r := resultsOf(t, "strangers/nobody", "strangers/pages")
	for _, tt := range []struct {
		alone, beside time.Duration
		want          string
	}{
		{ms, 4 * ms, "Strangers: asker's p99 round at most 5 ms or 2 x alone | yes | 2 of 2; 4.00 ms in strangers/pages"},
		{ms, 6 * ms, "2 x alone | **no** | 1 of 2; 6.00 ms in strangers/pages"},
		{4 * ms, 6 * ms, "2 x alone | yes | 2 of 2; 6.00 ms in strangers/pages"},
	} {
		for i, d := range []time.Duration{tt.alone, tt.beside} {
			for j := range r.Cells[i].Runs {
				r.Cells[i].Runs[j].Load.Groups[1].Round.P99 = d
			}
		}
		if text := rendered(t, r); !strings.Contains(text, tt.want) {
			t.Errorf("the report lacks %s", tt.want)
		}
	}
}
