package rig

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
)

// Every call of this process is counted under its name, also the calls of threads
// that start later.
func TestCallsOfOurselves(t *testing.T) {
	needs.Root(t)
	points, err := FindTracepoints()
	if err != nil {
		needs.Missing(t, err) // not every kernel has tracepoints
	}
	c := must.Get(points.Count(os.Getpid()))(t)
	defer c.Close()
	before := must.Get(c.Read())(t)
	const n = 10_000 // far more than this process makes besides
	for range n {
		unix.Getpid()
		unix.Getppid() // not in the list
	}
	after := must.Get(c.Read())(t)
	for _, name := range []string{"getpid", Other} {
		if got := after[name] - before[name]; got < n*9/10 || got > 2*n {
			t.Errorf("%d calls counted as %s, want about %d", got, name, n)
		}
	}
	if _, err := points.Count(1 << 30); err == nil {
		t.Error("the calls of a process that does not exist are counted")
	}
}
