package main

import (
	"strings"
	"testing"
	"time"
)

// Each device of the cells comes in whole frames, also the ones without a letter in compact frames. A test does not
// check how fast.
func TestKinds(t *testing.T) {
	t.Parallel()
	w := buildForTest(t)
	for _, c := range kinds() {
		c.Groups[0].Clients = 2
		patiently(t, c.Name, func(window time.Duration) bool {
			r, err := w.measure(t.Context(), player, c, window)
			if err != nil || r.Error != "" {
				t.Fatalf("%s: %v, error %q", c.Name, err, r.Error)
			}
			g := r.Load.Groups[0]
			if g.Bad != 0 || g.Closed != 0 {
				t.Fatalf("%s: %+v", c.Name, g)
			}
			small := g.Bytes/max(g.Frames, 1) < c.Size*9/10
			return g.Frames > 0 && small == strings.HasSuffix(c.Name, ", compact")
		})
	}
}

// Anonymous memory is shown where it was measured, and never as nothing.
func TestAnonymousMemory(t *testing.T) {
	r := resultsOf(t, "tls/50x50Hz", "scale/50x50Hz")
	has(t, rendered(t, r), "| 50x50Hz | 10.0 MiB | 2.0 MiB | 10.0 MiB | 2.0 MiB | 10.0 MiB | 2.0 MiB |\n")
	for i := range r.Cells {
		for j := range r.Cells[i].Runs {
			r.Cells[i].Runs[j].Usage.Anonymous = 0
		}
	}
	text := rendered(t, r)
	has(t, text, "| of it anonymous | - | - | - |\n")
	if strings.Contains(text, "| 50x50Hz | 10.0 MiB | -") {
		t.Error("there is a table of memory that was not measured")
	}
}
