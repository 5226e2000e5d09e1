package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/e2e/ports"
)

// A headless run goes as fast as possible to the world's quit_time and writes the
// truth to a file, which is the same for the same seed.
func TestHeadlessRun(t *testing.T) {
	t.Parallel()
	room, err := os.ReadFile(room)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	worlds, err := filepath.Glob("../simulation/worlds/*.inc")
	if err != nil || len(worlds) == 0 {
		t.Fatal("no worlds", err)
	}
	for _, from := range worlds {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(from)), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	world := filepath.Join(dir, "quick.world")
	if err := os.WriteFile(world, append(room, "\nquit_time 60\nspeedup 0\nseed 7\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	var runs [2]string
	for i := range runs {
		truth := filepath.Join(dir, "truth.csv")
		code, out := exits(t, "-bind", "127.0.0.1", "-gp", strconv.Itoa(ports.Free(t, 1)), "-http", "off", "-stage", world, "-truth", truth, "-f")
		if code != 0 || !strings.Contains(out, "quit_time") {
			t.Fatalf("exit %d: %s", code, out)
		}
		text, err := os.ReadFile(truth)
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = string(text)
	}
	lines := strings.Split(strings.TrimSpace(runs[0]), "\n")
	// Each sample has the robot and the puck.
	if len(lines) != 1+2*601 || !strings.HasPrefix(lines[0], "time_s,robot,") || !strings.HasPrefix(lines[1201], "60.00,r0,") || !strings.HasPrefix(lines[1202], "60.00,puck,") {
		t.Errorf("%d lines of truth, first %q, last %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if runs[0] != runs[1] {
		t.Error("two runs with the same seed differ")
	}
}

func TestTruthWantsAWorld(t *testing.T) {
	t.Parallel()
	if code, out := exits(t, "-truth", "x.csv"); code != 2 || !strings.Contains(out, "-stage") {
		t.Errorf("exit %d: %s", code, out)
	}
}
