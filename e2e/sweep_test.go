package e2e

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/programs"
	"player/e2e/waiting"
)

// A sweep runs a server and a program for each seed, keeps their
// results, and goes on where an earlier one has ended.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := filepath.Join(dir, "out.csv")
	// The program reaches the server of its seed, whatever it prints before.
	const script = `case $PLAYER_SEED in
8) echo square=1;;
9|10) "$0" latency -for 300ms "$PLAYER_ADDRESS" || exit 3; echo "square=$((PLAYER_SEED * PLAYER_SEED)) text=a,b";;
11) echo no, that fails >&2; exit 4;;
12) for p in $(cat /proc/$PPID/task/*/children); do [ $p = $$ ] || kill -9 $p; done; sleep 0.5; echo square=1;;
13) echo square=1 world=2;;
esac`
	sweep := func(seeds string) (int, string, string) {
		t.Helper()
		code, out := exits(t, "sweep", "-seeds", seeds, "-jobs", "2", "-o", table, "room", "--", "sh", "-c", script, binary)
		var rows []string // without their times and origins
		for _, values := range readTable(t, table) {
			rows = append(rows, strings.Join(append(values[:1], values[2:len(values)-3]...), "|"))
		}
		return code, out, strings.Join(rows, " ")
	}
	if code, out, rows := sweep("9-10"); code != 0 || rows != `seed|square|text 9|81|a,b 10|100|a,b` {
		t.Fatalf("exit %d, %s, rows %s", code, out, rows)
	}
	if code, out, rows := sweep("8-11"); code != 1 ||
		!strings.Contains(out, "seed 11: sh: exit status 4: no, that fails") || rows != `seed|square|text 8|1| 9|81|a,b 10|100|a,b` {
		t.Errorf("exit %d, %s, rows %s", code, out, rows)
	}
	if code, out, _ := sweep("12"); code != 1 || !strings.Contains(out, "seed 12: the server: signal: killed") {
		t.Errorf("without its server: exit %d, %s", code, out)
	}
	if code, out, _ := sweep("13"); code != 1 || !strings.Contains(out, "seed 13: sh: the result world=2 has the name of a column") {
		t.Errorf("a result with the name of another column: exit %d, %s", code, out)
	}
	plot, err := os.ReadFile(table + ".svg")
	if err != nil || strings.Count(string(plot), "<circle") != 6 || !strings.Contains(string(plot), "square, mean 60.67") {
		t.Errorf("the plot %s, %v", plot, err)
	}
	for _, tt := range []struct{ args, want string }{
		{"sweep room", "needs a program behind --"},
		{"sweep -seeds 3-1 room -- true", "write one seed or the first and the last"},
		{"sweep nowhere.world -- true", "no such file"},
		{"sweep -o sweep_test.go room -- true", "no table of a sweep"},
		{"sweep -o nowhere/out.csv room -- true", "open nowhere/out.csv.part: no such file or directory"},
		{"sweep -o " + table + " room -- ./nothing-there", "./nothing-there: no such file or directory"},
	} {
		if code, out := exits(t, strings.Fields(tt.args)...); code != 2 || !strings.Contains(out, tt.want) {
			t.Errorf("%s: exit %d, %s, want %q", tt.args, code, out, tt.want)
		}
	}
}

// readTable returns the rows of a table, the names of its columns first.
func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	return must.Get(csv.NewReader(file).ReadAll())(t)
}

// A sweep that is interrupted says which runs had failed before, and why.
func TestInterruptedSweepTellsFailures(t *testing.T) {
	t.Parallel()
	begun := filepath.Join(t.TempDir(), "third")
	const script = `case $PLAYER_SEED in 1) echo square=1;; 2) echo no module >&2; exit 4;; 3) echo third >&2; echo >"$0"; sleep 300;; esac`
	table := filepath.Join(filepath.Dir(begun), "out.csv")
	sweep := exec.Command(binary, "sweep", "-seeds", "1-4", "-jobs", "1", "-o", table, "room", "--", "sh", "-c", script, begun)
	running := programs.Start(t, sweep)
	waiting.Until(t, "the third run", func() bool { _, err := os.Stat(begun); return err == nil })
	if code, out := exits(t, "sweep", "-o", table, "room", "--", "true"); code != 2 || !strings.Contains(out, "another sweep writes it") {
		t.Errorf("a second sweep with the same table: exit %d, %s", code, out)
	}
	code := running.End(t, syscall.SIGINT)
	if rows := readTable(t, table); code != 1 || !running.Logged("seed 2", "no module") || running.Printed("third") || len(rows) != 2 {
		t.Errorf("exit %d, rows %v: %s", code, rows, running.Output)
	}
}

// With every end of a sweep its server and its program end, and at a signal also the
// program's children.
func TestSweepEndsItsChildren(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signal syscall.Signal
		all    bool // the program's children also end
	}{{syscall.SIGTERM, true}, {syscall.SIGINT, true}, {syscall.SIGKILL, false}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pids := filepath.Join(dir, "pids")
			const script = `sleep 300 & echo $! $$ $PLAYER_PORT >"$0.new"; mv "$0.new" "$0"; wait`
			sweep := exec.Command(binary, "sweep", "-seeds", "1", "-o", filepath.Join(dir, "out.csv"), "room", "--", "sh", "-c", script, pids)
			running := programs.Start(t, sweep)
			var child, program, port int
			waiting.Until(t, "the program", func() bool {
				text, err := os.ReadFile(pids)
				if err != nil {
					return false
				}
				_, err = fmt.Sscan(string(text), &child, &program, &port)
				return err == nil
			})
			t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) }) // fails if it has ended
			running.End(t, tt.signal)
			gone := func(pid int) func() bool { return func() bool { return !exists(pid) } }
			waiting.Until(t, "the end of the program", gone(program))
			if tt.all {
				waiting.Until(t, "the end of what it has started", gone(child))
			}
			waiting.Until(t, "the end of the server", func() bool { return isFree(port) })
		})
	}
}

// The example finds a gain, and every run of it can be repeated with its seed.
func TestTune(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	dir := t.TempDir()
	program := buildProgram(t, "examples/tune")
	sweep := func(name, seeds string) (errors map[string]string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if code, out := exits(t, "sweep", "-seeds", seeds, "-jobs", "2", "-o", path, "../examples/tune/tune.world", "--", program); code != 0 {
			t.Fatalf("exit %d: %s", code, out)
		}
		errors = map[string]string{}
		for _, line := range readTable(t, path)[1:] {
			errors[line[0]] = line[2] + " " + line[3]
		}
		return errors
	}
	all := sweep("all.csv", "0-9")
	if again := sweep("again.csv", "3-4"); len(all) != 10 || again["3"] == "" || again["3"] != all["3"] || again["4"] != all["4"] || all["3"] == all["4"] {
		t.Errorf("results %v, again %v", all, again)
	}
	out, err := exec.Command(program, "-best", filepath.Join(dir, "all.csv")).CombinedOutput()
	if err != nil || strings.Count(string(out), "in 1 runs") != 10 || strings.HasPrefix(string(out), "gain 0.25:") {
		t.Errorf("%v: %s", err, out)
	}
}
