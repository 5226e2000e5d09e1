package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
	product "player/server"
)

// kernelSlack and serverSlack are the timer slack of threads in ns: the kernel's default,
// and the slack of the server's threads other than the loop.
const (
	kernelSlack = "50000"
	serverSlack = "20000000"
)

// slacks returns the timer slack of a server's threads in ns, without repeats.
func (s *server) slacks(t *testing.T) []string {
	t.Helper()
	tasks := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/task", s.Cmd.Process.Pid)))(t)
	var all []string
	for _, task := range tasks {
		b, err := os.ReadFile("/proc/" + task.Name() + "/timerslack_ns")
		if errors.Is(err, fs.ErrPermission) {
			needs.Missing(t, "it needs root to read the timer slack of another process")
		}
		if err == nil {
			all = append(all, strings.TrimSpace(string(b)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A server that is started plainly executes itself to have timer slack. This is invisible:
// the process keeps its number and its name, and programs of drivers inherit nothing.
func TestStartWithSlack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plugin := write(t, dir, "plugin.sh", `#!/bin/sh
{ cat /proc/$$/timerslack_ns; env; } >"$1.new"
mv "$1.new" "$1"
cat >/dev/null
`)
	seen := filepath.Join(dir, "seen")
	s := start(t, write(t, dir, "robot.cfg", fmt.Sprintf(`driver ( name "seen" plugin %q args [%q] provides ["misc:0"] )`, plugin, seen)))
	waiting.Until(t, "slack for all threads but the loop's", func() bool { return slices.Equal(s.slacks(t), []string{serverSlack, kernelSlack}) })
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.Cmd.Process.Pid)); err != nil || string(name) != "player\n" {
		t.Errorf("its name is %q, %v", name, err)
	}
	if n := strings.Count(s.Output.String(), product.LogServing); n != 1 {
		t.Errorf("it serves %d times", n)
	}
	s.dial(t).message('d', 'r', []byte("mr")...)
	var text []byte
	waiting.Until(t, "the plugin", func() bool { text, _ = os.ReadFile(seen); return len(text) > 0 })
	slack, env, _ := strings.Cut(string(text), "\n")
	if slack != kernelSlack {
		t.Errorf("a plugin has a timer slack of %s ns", slack)
	}
	var inherited []string
	for line := range strings.Lines(env) {
		if name, _, _ := strings.Cut(line, "="); os.Getenv(name) == "" && !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) {
			inherited = append(inherited, line)
		}
	}
	if len(inherited) > 0 {
		t.Errorf("a plugin inherits %q", inherited)
	}
}

// Goroutines scan next to the loop of a simulation that is faster than real time, and copy pictures
// next to a camera's: with slack the first come too late, and the others keep a processor from
// the loop.
func TestNoSlackBesideGoroutines(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string][]string{
		"simulation": {"-stage", room},
		"file":       {write(t, t.TempDir(), "stage.cfg", fmt.Sprintf("driver ( name \"stage\" world %q )", absolute(t, room)))},
		"camera":     {write(t, t.TempDir(), "camera.cfg", `driver ( name "testpattern" provides [ "sonar:0" ] ) camera ( name "front" command [ "true" ] )`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := start(t, arguments...).slacks(t); !slices.Equal(got, []string{kernelSlack}) {
				t.Errorf("its threads have timer slack: %v", got)
			}
		})
	}
}

// A server whose program cannot be executed again serves all the same.
func TestStartWithoutSlack(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(binary))(t)
	path := write(t, t.TempDir(), "gone", string(text))
	program := must.Get(os.Open(path))(t)
	defer program.Close()
	must.Do(t, os.Remove(path))
	s := launch{binary: "/proc/self/fd/3", files: []*os.File{program}}.start(t)
	if got := s.slacks(t); !slices.Equal(got, []string{kernelSlack}) {
		t.Errorf("its threads have timer slack: %v", got)
	}
	s.stop(t)
}
