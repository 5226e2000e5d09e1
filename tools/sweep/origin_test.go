package sweep

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
)

// An origin is the same exactly if the world, the command, the files that it names and the version are.
func TestOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "own script.sh")
	source := strings.Repeat("s", 32)
	set := func(text string) {
		t.Helper()
		must.Do(t, os.WriteFile(script, []byte(text), 0o600))
	}
	of := func(world, source, version string, program ...string) row {
		t.Helper()
		o := must.Get(originOf(world, source, program, version))(t)
		return o
	}
	set("one")
	base := of("maps/room.world", source, "player 1.2 (x)", "sh", script, dir, "-n", "2")
	if base["world"] != "room.world 737373737373" || base["version"] != "1.2 (x)" ||
		!strings.HasPrefix(base["program"], `sh "`+script+`" `+dir+` -n 2 `) {
		t.Errorf("the origin is %v", base)
	}
	for _, tt := range []struct {
		name  string
		other row
		want  string
	}{
		{"the same", of("elsewhere/room.world", source, "player 1.2 (x)", "sh", script, dir, "-n", "2"), ""},
		{"another file", of("room.world", "t"+source[1:], "player 1.2 (x)", "sh", script, dir, "-n", "2"), "another world, room.world 747373737373, "},
		{"another argument", of("room.world", source, "player 1.2 (x)", "sh", script, dir, "-n", "3"), "another program, "},
		{"other words", of("room.world", source, "player 1.2 (x)", "sh", script, dir, "-n 2"), "another program, "},
		{"another version", of("room.world", source, "player 1.3 (x)", "sh", script, dir, "-n", "2"), "another version, 1.3 (x), and this sweep is of 1.2 (x)"},
		{"none", row{}, "does not say of which world"},
	} {
		if err := base.matches(tt.other); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	set("two")
	if err := base.matches(of("room.world", source, "player 1.2 (x)", "sh", script, dir, "-n", "2")); err == nil {
		t.Error("an edited script is the same program")
	}
	if _, err := originOf("room.world", source, []string{"./no-such-program"}, ""); err == nil {
		t.Error("a program that does not exist has an origin")
	}
}

// A table is written by one sweep at a time, by whatever path it is named.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	release := must.Get(lock("table.csv"))(t)
	if _, err := lock(filepath.Join(dir, "table.csv")); err == nil {
		t.Error("a table is written by two sweeps")
	}
	other, err := lock("other.csv")
	if err != nil {
		t.Errorf("another table: %v", err)
	} else {
		other()
	}
	release()
	if release, err = lock("table.csv"); err != nil {
		t.Errorf("after the end of the other: %v", err)
	} else {
		release()
	}
}
