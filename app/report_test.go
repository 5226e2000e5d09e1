package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
)

// A report has the data of an emulated robot, and why other hardware does not answer. It names no port, and the robot
// has not moved.
func TestReport(t *testing.T) {
	needs.Programs(t)
	link := filepath.Join(t.TempDir(), "base")
	robot := must.Get(kobuki.Start(kobuki.Options{Line: line.Options{Link: link}}))(t)
	t.Cleanup(robot.Close)
	file, out := write(t, "mine.cfg", `driver ( name "kobuki" provides ["position:0" "misc:0"] port "`+link+`" )
driver ( name "nmea" provides ["gps:0"] port "/dev/nowhere" )`), filepath.Join(t.TempDir(), "report.txt")
	if _, stderr, err := runs(t, "check", "-gp", freePort(t), "-report", out, file); err != nil || !strings.Contains(stderr, "docs/EVIDENCE.md") {
		t.Fatalf("%v: %s", err, stderr)
	}
	text := string(must.Get(os.ReadFile(out))(t))
	for _, want := range []string{"player evidence 1\nversion ", "\ndriver kobuki: 1 setups, 0 errors, ", "\ndevice position:0 of kobuki: ready after ", " Hz, 10 frames\n",
		"\ndevice gps:0 of nmea: failed after ", "no such file or directory", "\nlog\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, secret := range []string{link, "nowhere", "mine.cfg", "127.0.0.1"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in\n%s", secret, text)
		}
	}
	if s := robot.State(); s.X != 0 || s.Heading != 0 {
		t.Errorf("it has moved: %+v", s)
	}
	if _, _, err := runs(t, "check", "-report", out, file); err == nil {
		t.Error("a report was replaced without -f")
	}
}
