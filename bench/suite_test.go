package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"player/bench/load"
)

// TestMain lets the test binary be what bench starts itself as.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == loadVerb:
		exit(load.Main(os.Stdin, os.Stdout))
	case len(os.Args) > 3 && os.Args[1] == enterVerb:
		exit(enter(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// One short cell with the real programs: whole frames come, nobody is closed,
// the meters read something. How fast is not a matter of a test.
func TestOneCell(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	w, err := build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.warmup = 50 * time.Millisecond
	c := cell{
		Name: "smoke", Link: loopback, Size: large, Device: 50,
		Groups: []group{
			{Name: "stream", Clients: 3, Rate: 50, Task: load.Stream},
			{Name: "talk", Clients: 2, Rate: 50, Task: load.Command},
			{Name: "ask", Clients: 2, Task: load.Request},
			{Name: "deaf", Clients: 1, Rate: 50, Task: load.Deaf},
			{Name: "flood", Clients: 1, Rate: 50, Task: load.Flood},
		},
	}
	r, err := w.measure(t.Context(), player, c, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if r.Error != "" || closed(r) != 0 || r.Usage.CPU <= 0 || r.Usage.RSS <= 0 {
		t.Errorf("error %q, %g closed, usage %+v", r.Error, closed(r), r.Usage)
	}
	for i, g := range r.Load.Groups {
		deaf := c.Groups[i].Task == load.Deaf
		if (g.Frames == 0) != deaf || g.Bad != 0 {
			t.Errorf("%s: %d frames, %d bad", g.Name, g.Frames, g.Bad)
		}
		if !deaf && (g.AgeMean <= 0 || g.Latency.Mean <= 0) {
			t.Errorf("%s: age %v, latency %v", g.Name, g.AgeMean, g.Latency.Mean)
		}
	}
	if r.Load.Groups[1].Commands == 0 || r.Load.Groups[4].Commands == 0 || r.Load.Groups[2].Round.Mean <= 0 {
		t.Errorf("no commands, or no rounds: %+v", r.Load.Groups)
	}
	for _, s := range []server{floor, threads} {
		for _, g := range []group{
			{Name: "stream", Clients: 3, Rate: 50, Task: load.Stream},
			{Name: "ask", Clients: 3, Task: load.Request},
		} {
			r, err := w.measure(t.Context(), s, cell{Name: "smoke", Link: loopback, Size: large, Groups: []group{g}}, 300*time.Millisecond)
			if err != nil || r.Error != "" || closed(r) != 0 || framesOf(r) == 0 || r.Load.Groups[0].Bad != 0 {
				t.Errorf("%s, %s: %v %q, %+v", s, g.Name, err, r.Error, r.Load)
			}
			if asks := g.Task == load.Request; r.Load != nil && asks != (r.Load.Groups[0].Round.Mean > 0) {
				t.Errorf("%s, %s: a round takes %v", s, g.Name, r.Load.Groups[0].Round.Mean)
			}
		}
	}
	if r, err := w.measure(t.Context(), player, cell{Kind: start, Size: large, Device: 10}, 0); err != nil || r.Start <= 0 {
		t.Errorf("start: %v, %v", r.Start, err)
	}
	if r, err := w.measure(t.Context(), player, cell{Kind: binary}, 0); err != nil || r.Bytes <= 0 {
		t.Errorf("binary: %d, %v", r.Bytes, err)
	}
}
