package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/ports"
)

// No program replaces a file unasked: all refuse with the same words, before they do
// anything, and -f replaces it.
func TestFilesAreNotReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	s := pattern(t)
	if code, _, errs := uses(t, "record", s.address, "pr", "-for", "300ms", "-o", in("run.mcap")); code != 0 {
		t.Fatal(errs)
	}
	world := write(t, dir, "short.world", "quit_time 0.2\nspeedup 0\nposition ( pose [0 0 0] )")
	simulate := "-stage " + world + " -http off -bind 127.0.0.1 -gp " + strconv.Itoa(ports.Free(t, 1)) + " -truth "
	for _, tt := range []struct{ command, file string }{
		{"record " + s.address + " pr -for 100ms -o " + in("again.mcap"), "again.mcap"},
		{"export " + in("run.mcap") + " " + in("drawn.mcap"), "drawn.mcap"},
		{"export " + in("run.mcap") + " " + in("tables"), "tables/position.csv"},
		{"export -ros " + in("run.mcap") + " " + in("drive"), "drive/drive_0.mcap"},
		{"export -ros " + in("run.mcap") + " " + in("bag"), "bag/metadata.yaml"},
		{simulate + in("truth.csv"), "truth.csv"},
	} {
		file := in(tt.file)
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o777))
		write(t, filepath.Dir(file), filepath.Base(file), "precious")
		args := strings.Fields(tt.command)
		code, out, errs := uses(t, args...)
		if code != 2 || out != "" || !strings.Contains(errs, file) {
			t.Errorf("player %s: exit %d, %s%s\nwant exit 2 and the name of the file", tt.command, code, out, errs)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
			t.Errorf("player %s: %.20q, %v", tt.command, text, err)
		}
		if code, _, errs := uses(t, append(args, "-f")...); code != 0 {
			t.Errorf("player %s -f: exit %d, %s", tt.command, code, errs)
		}
		if text, err := os.ReadFile(file); err != nil || len(text) == 0 || strings.HasPrefix(string(text), "precious") {
			t.Errorf("player %s -f: %.20q, %v", tt.command, text, err)
		}
		if left, _ := filepath.Glob(filepath.Dir(file) + "/*.part"); len(left) > 0 { // the pattern is well formed
			t.Errorf("player %s -f leaves %s", tt.command, left)
		}
	}
	if code, _, errs := uses(t, "export", "-f", in("run.mcap"), in("run.mcap")); code != 2 || !strings.Contains(errs, "is the log itself") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
