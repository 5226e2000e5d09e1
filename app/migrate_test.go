package app

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// The errors of the server about a file of Player 1 to 3 name the command, the command
// prints a file, and the server reads it.
func TestMigrate(t *testing.T) {
	for _, text := range []string{
		`driver ( name "p2os" provides ["odometry:::position2d:0" "sonar:0" "power:0"] port "/dev/ttyS0" pulse 1.0 )`,
		`driver ( name "sonyevid30" provides ["ptz:0"] )`,
		`driver ( name "stage" provides ["simulation:0"] plugin "libstageplugin" worldfile "room" )`,
		`position:0 ( driver "p2os_position" ) sonar:0 ( driver "p2os_sonar" )`,
	} {
		old := write(t, "old.cfg", text)
		if _, _, err := runs(t, "check", old); err == nil || !strings.Contains(err.Error(), "player migrate "+old) {
			t.Errorf("%s: error %v", text, err)
		}
		converted, _, err := runs(t, "migrate", old)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if _, _, err := runs(t, "check", write(t, "new.cfg", converted)); err != nil {
			t.Errorf("%s becomes\n%s\n%v", text, converted, err)
		}
	}
	lossy := write(t, "lossy.cfg", `driver ( name "vfh" )
plugin "libfoo"
driver ( name "p2os" provides ["odometry:::position2d:0"] pulse 1.0
  bumpstall 1 ) driver ( name "amcl" )`)
	_, said, err := runs(t, "migrate", lossy)
	want := fmt.Sprintf("player: left out: 2 of 3 drivers, 3 options\n%[1]s: plugin \"libfoo\"\n%[1]s:1: all of vfh\n"+
		"%[1]s:3: pulse 1.0, bumpstall 1\n%[1]s:4: all of amcl\n", lossy)
	if err != nil || said != want {
		t.Errorf("%v\n%s\nwant\n%s", err, said, want)
	}
	for _, tt := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"migrate"}, "migrate needs the path", exitUsage},
		{[]string{"migrate", "nowhere.cfg"}, "no such file", exitUsage},
		{[]string{"migrate", "config/examples/pioneer.cfg"}, "config/examples/pioneer.cfg needs no change", exitUsage},
		{[]string{"migrate", write(t, "vfh.cfg", `driver ( name "vfh" )`)}, "nothing in ", exitFailure},
		{[]string{"migrate", write(t, "tcp.cfg", `driver ( name "sicklms200" provides ["laser:0"] use_tcp 1 )`)}, "tcp.cfg:1:49: the driver sicklms200 does not connect in this way", exitUsage},
		{[]string{"migrate", write(t, "bad.cfg", `driver (`)}, "syntax error", exitUsage},
	} {
		out, _, err := runs(t, tt.args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("player %s: error %v, want %s", strings.Join(tt.args, " "), err, tt.want)
		}
		if code := exitCode(err, io.Discard); out != "" && code == exitUsage {
			t.Errorf("player %s prints %s", strings.Join(tt.args, " "), out)
		}
		if code := exitCode(err, io.Discard); code != tt.code {
			t.Errorf("player %s: exit code %d", strings.Join(tt.args, " "), code)
		}
	}
}
