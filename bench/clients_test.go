package main

import (
	"player/e2e/needs"
	"strings"
	"testing"
	"time"
)

// Every language's program reads all robots. A test does not check how fast.
func TestClients(t *testing.T) {
	t.Parallel()
	w := buildForTest(t)
	for _, c := range clientCells() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.dir = t.TempDir()
			tool := c.Language().Tool
			if c.Kind == parser {
				tool = "python3"
			}
			needs.Program(t, tool)
			patiently(t, "a frame of each robot", func(window time.Duration) bool {
				r, err := w.measure(t.Context(), player, c, window)
				switch {
				case err != nil:
					t.Fatal(err)
				case c.Kind == parser:
					return r.Parsed > 0
				case r.Reader.Frames < robots:
					return false
				case r.Reader.P50 <= 0 || r.Reader.Max < r.Reader.P99 || r.Usage.CPU <= 0 || r.Reader.Runtime == "":
					t.Errorf("%+v, usage %+v", r.Reader, r.Usage)
				}
				return true
			})
		})
	}
}

func TestReportOfClients(t *testing.T) {
	r := resultsOf(t, "clients/c", "clients/tcl", parserCell)
	r.find("clients/tcl").NotRun = `exec: "tclsh": executable file not found in $PATH`
	text := rendered(t, r)
	for _, want := range []string{
		"| C | cc 12 | poll | 2500 | 100.0 % | 0.2 | 0.1 % | 10.0 MiB | 20.00 ms | 21.00 ms |\n",
		"decodes 54321 of these frames a second",
		"executable file not found in $PATH: clients/tcl\n",
		"| Clients: each gets 99 % of the frames | yes | 1 of 1; 100.0 % in clients/c |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	if strings.Contains(text, "| Tcl |") {
		t.Error("a language that did not run has a row")
	}
	if text := rendered(t, resultsOf(t, "scale/50x50Hz")); strings.Contains(text, "## Clients") {
		t.Error("there is a section without a language")
	}
}

// Servers that start at the same time listen on different ports.
func TestPortsAreGivenOnce(t *testing.T) {
	p := newPorts()
	const n = 50
	given := map[int]bool{}
	for range 20 {
		first, err := p.free(n)
		if err != nil {
			t.Fatal(err)
		}
		for port := first; port < first+n; port++ {
			if given[port] || port < firstPort || port > lastPort {
				t.Fatalf("port %d is given twice, or out of range", port)
			}
			given[port] = true
		}
	}
}
