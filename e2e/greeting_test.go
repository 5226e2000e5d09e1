package e2e

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/terminals"
)

// In a terminal the server says first where the dashboard is, as an address that can be
// opened, and how to connect. Its log is text there, unless it is asked for JSON.
func TestGreeting(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		lines []string
	}{
		{nil, []string{`^Dashboard:  (http://localhost:\d+)$`, `^Programs:   connect to (localhost:\d+); try: player print localhost:\d+$`, `^\d\d:\d\d:\d\d\.\d{3}  serving  address=\S+ version=`}},
		{[]string{"-log", "json"}, []string{`^{"level":"info".*"msg":"serving"`, `^{"level":"info".*"msg":"dashboard","url":"http://localhost:\d+"`}},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			t.Parallel()
			master, terminal := terminals.OpenBoth(t)
			robot, page := ports.Free(t, 1), ports.Free(t, 1)
			cmd := exec.Command(binary, append(tt.flags, "-stage", room, "-gp", fmt.Sprint(robot), "-http", fmt.Sprintf("0.0.0.0:%d", page))...)
			cmd.Env, cmd.Stderr = append(os.Environ(), "NO_COLOR=1"), terminal
			programs.Start(t, cmd)
			lines := bufio.NewScanner(master)
			for i, pattern := range tt.lines {
				if !lines.Scan() {
					t.Fatal(lines.Err())
				}
				found := regexp.MustCompile(pattern).FindStringSubmatch(lines.Text())
				if found == nil {
					t.Fatalf("line %d is %q, want %s", i, lines.Text(), pattern)
				}
				if len(found) > 1 && strings.HasPrefix(found[1], "http") {
					reply := must.Get(http.Get(found[1]))(t)
					reply.Body.Close()
				}
			}
		})
	}
}
