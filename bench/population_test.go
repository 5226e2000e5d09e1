package main

import (
	"testing"
	"time"
)

// A small population with a client of every tenth robot.
func TestPopulation(t *testing.T) {
	t.Parallel()
	w := buildForTest(t)
	c := cellNamed(t, "population/1000, 10 watched")
	c.Population = 100
	r, err := w.measure(t.Context(), player, c, 700*time.Millisecond)
	if err != nil || r.Error != "" || closed(r) != 0 || bad(r) != 0 || r.Usage.RSS <= 0 {
		t.Fatalf("%v, error %q, usage %+v", err, r.Error, r.Usage)
	}
	for _, g := range r.Load.Groups {
		if g.Frames == 0 {
			t.Errorf("%s: no frames", g.Name)
		}
	}
}
