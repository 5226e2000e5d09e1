package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"player/bench/load"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
)

// TestMain lets the test binary be the program that bench starts as itself.
func TestMain(m *testing.M) {
	asChild(os.Args[1:])
	os.Exit(waiting.Run(m, 8))
}

// One short cell with each of the real programs: whole frames come, no client
// is closed, the meters read something. A test does not check how fast.
func TestOneCell(t *testing.T) {
	t.Parallel()
	w := buildForTest(t)
	c := cell{Name: "smoke", Network: loopback, Size: large, Device: 50, Calls: true, Hold: 20 * time.Millisecond}
	for _, task := range []load.Task{load.Stream, load.Drive, load.Command, load.Answer, load.Slow, load.Request, load.Deaf, load.Flood} {
		g := group{Name: string(task), Clients: 2, Rate: 50, Task: task}
		if task == load.Request {
			g.Rate = 0
		}
		c.Groups = append(c.Groups, g)
	}
	for _, s := range everyone() {
		r, err := w.measure(t.Context(), s, c, 700*time.Millisecond)
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if r.Error != "" || closed(r) != 0 || r.Usage.CPU <= 0 || r.Usage.RSS <= 0 {
			t.Errorf("%s: error %q, %g closed, usage %+v", s, r.Error, closed(r), r.Usage)
		}
		for i, g := range r.Load.Groups {
			deaf := c.Groups[i].Task == load.Deaf
			if (g.Frames == 0) != deaf || g.Bad != 0 {
				t.Errorf("%s, %s: %d frames, %d bad", s, g.Name, g.Frames, g.Bad)
			}
			if !deaf && (g.AgeMean <= 0 || g.Latency.Mean <= 0) {
				t.Errorf("%s, %s: age %v, latency %v", s, g.Name, g.AgeMean, g.Latency.Mean)
			}
		}
		if os.Geteuid() == 0 && r.NotCounted == "" && r.Calls["write"]+r.Calls["sendto"] == 0 {
			t.Errorf("%s: calls %v", s, r.Calls)
		}
		if (r.Calls == nil) == (r.NotCounted == "") {
			t.Errorf("%s: calls %v, not counted because of %q", s, r.Calls, r.NotCounted)
		}
	}
	c = cell{Name: "encrypted", Network: loopback, Size: large, Device: 50}
	for _, task := range []load.Task{load.Stream, load.Command, load.Request} {
		c.Groups = append(c.Groups, group{Name: string(task), Clients: 2, Rate: 50, Task: task, TLS: true})
	}
	r, err := w.measure(t.Context(), player, c, 700*time.Millisecond)
	if err != nil || r.Error != "" || closed(r) != 0 {
		t.Fatalf("%v, error %q", err, r.Error)
	}
	for _, g := range r.Load.Groups {
		if g.Frames == 0 || g.Bad != 0 || g.AgeMean <= 0 || (g.Commands > 0) != (g.Name == string(load.Command)) {
			t.Errorf("by TLS: %+v", g)
		}
	}
	if r, err := w.measure(t.Context(), player, cell{Kind: start, Size: large, Device: 10}, 0); err != nil || r.Start <= 0 {
		t.Errorf("start: %v, %v", r.Start, err)
	}
	if r, err := w.measure(t.Context(), player, cell{Kind: binary}, 0); err != nil || r.Bytes <= 0 {
		t.Errorf("binary: %d, %v", r.Bytes, err)
	}
}

// A relay at the far end of a network, and compact frames over the network itself.
func TestLinkCells(t *testing.T) {
	needs.Root(t)
	t.Parallel()
	w := buildForTest(t)
	for _, name := range []string{relayCell, compactCell, beamsCell} {
		r, err := w.measure(t.Context(), player, cellNamed(t, name), 700*time.Millisecond)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if g := r.Load.Groups[0]; r.Error != "" || g.Closed != 0 || g.Bad != 0 || g.Frames == 0 || (g.AgeMean == 0) != (name == beamsCell) {
			t.Errorf("%s: error %q, %+v", name, r.Error, g)
		}
	}
}

// patiently measures until ok, in windows that grow: on a busy machine a short one may see
// no frame.
func patiently(t *testing.T, what string, ok func(window time.Duration) bool) {
	t.Helper()
	const shortest, longest = 300 * time.Millisecond, 20 * time.Second
	for window := shortest; !ok(window); window *= 2 {
		if window > longest {
			t.Fatalf("%s: not even in %v", what, window)
		}
	}
}

// buildForTest returns a workshop with programs that are compiled once for all tests.
// Without go it skips, but fails in CI.
func buildForTest(t *testing.T) *workshop {
	t.Helper()
	needs.Program(t, "go")
	programs := must.Get(servers())(t)
	root := must.Get(filepath.Abs(".."))(t)
	w := newWorkshop(root, programs, t.TempDir())
	w.ports, w.warmup = testPorts, 50*time.Millisecond
	return w
}

// testPorts are for all tests: they run side by side.
var testPorts = newPorts()

// servers returns the folder of all servers. They are built without the flags of the release:
// a test does not check how fast they are.
var servers = sync.OnceValues(func() (string, error) {
	packages := []string{}
	for _, source := range sources {
		packages = append(packages, source)
	}
	return built.Programs("..", packages...)
})
