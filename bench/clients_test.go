package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/e2e/acceptance"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
)

// Every language's program reads all robots. A test does not check how fast.
func TestClients(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	w := buildForTest(t)
	w.clients = t.TempDir()
	for _, l := range languages() {
		switch l.Folder {
		case "c", "cpp", "java": // the others compile nothing, or keep it themselves
			needs.Program(t, l.Tool)
			must.Do(t, os.Symlink(buildReader(t, l), filepath.Join(w.clients, l.Folder)))
		}
	}
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
				case r.Reader.Frames < robots, r.Reader.P50 <= 0: // a starved program: too few frames for a median interval
					return false
				case r.Reader.Max < r.Reader.P99 || r.Usage.CPU <= 0 || r.Reader.Runtime == "":
					t.Errorf("%+v, usage %+v", r.Reader, r.Usage)
				}
				return true
			})
		})
	}
}

// buildReader returns the folder of a language's program.
func buildReader(t *testing.T, l language) string {
	t.Helper()
	folder := filepath.Join("../clients", l.Folder)
	build, err := built.Folder("reader-"+l.Folder, []string{folder, "../clients/c"}, []string{l.Tool}, func(build string) error {
		script := exec.Command(filepath.Join(folder, "speed.sh")) // without arguments it fails, once it is built
		script.Env = append(os.Environ(), "BUILD="+build)
		if out, _ := script.CombinedOutput(); !strings.Contains(string(out), "usage: ") {
			return fmt.Errorf("%s: %s", script, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return build
}

func TestReportOfClients(t *testing.T) {
	r := resultsOf(t, "clients/c", "clients/tcl", parserCell)
	r.find("clients/tcl").NotRun = `exec: "tclsh": executable file not found in $PATH`
	text := rendered(t, r)
	has(t, text,
		"| C | cc 12 | poll | 2500 | 100.0 % | 0.2 | 0.1 % | 10.0 MiB | 20.00 ms | 21.00 ms |\n",
		"decodes 54321 of these frames a second",
		"executable file not found in $PATH: clients/tcl\n",
		"| Clients: each gets 99 % of the frames | yes | 1 of 1; 100.0 % in clients/c |",
	)
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
		first := must.Get(p.free(n))(t)
		for port := first; port < first+n; port++ {
			if given[port] || port < firstPort || port > lastPort {
				t.Fatalf("port %d is given twice, or out of range", port)
			}
			given[port] = true
		}
	}
}
