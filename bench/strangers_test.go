package main

import (
	"strings"
	"testing"
	"time"
)

// Well clients are served beside all strangers. A test does not check how soon.
func TestStrangers(t *testing.T) {
	w := buildForTest(t)
	w.warmup = 50 * time.Millisecond
	for _, c := range beset() {
		r, err := w.measure(t.Context(), player, c, 300*time.Millisecond)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, g := range r.Load.Groups {
			if r.Error != "" || g.Frames == 0 || g.Closed > 0 || g.Bad > 0 {
				t.Errorf("%s: %s, %s had %d frames, %d bad, %d closed", c.Name, r.Error, g.Name, g.Frames, g.Bad, g.Closed)
			}
		}
	}
}

// The limit is 5 ms, or twice what the well have alone.
func TestReportOfStrangers(t *testing.T) {
	r := resultsOf(t, "strangers/nobody", "strangers/pages")
	for _, tt := range []struct {
		alone, beside time.Duration
		want          string
	}{
		{ms, 4 * ms, "Strangers: p99 round of who asks at most 5 ms or 2 x alone | yes | 2 of 2; 4.00 ms in strangers/pages"},
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
