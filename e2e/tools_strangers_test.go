package e2e

import (
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/acceptance"
	"player/e2e/ports"
	"player/e2e/terminals"
	"player/tools"
)

// foreignServer is a TCP server that is no robot: it sends a text to each client,
// hears, and keeps the connection open, or closes it.
func foreignServer(t *testing.T, says string, closes bool) (address string) {
	t.Helper()
	return ports.Serve(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, says) // the tool may have left
		if !closes {
			_, _ = io.Copy(io.Discard, conn)
		}
	})
}

// A tool that is pointed at a server that is no robot, or no dashboard, says so within seconds
// and with the answer.
func TestToolsAtForeignServers(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	for _, tt := range []struct {
		name, says   string
		closes       bool
		want, status string
	}{
		{"silent", "", false, "answers nothing in", "answers nothing in"},
		{"closing", "", true, "closed the connection without an answer", tools.NoDashboard},
		{"http", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", false, `"HTTP/1.1 400 Bad Request`, "400 Bad Request"},
		{"ssh", "SSH-2.0-OpenSSH_9.6\r\n", false, `"SSH-2.0-OpenSSH_9.6`, tools.NoDashboard},
		{"garbage", "rrrrrrrr", false, `"rrrrrrrr"`, "answers nothing in"},
		{"zeros", strings.Repeat("\x00", 64), false, `"\x00\x00`, "answers nothing in"},
		{"half a reply", "r", false, "answers nothing in", "answers nothing in"},
	} {
		for _, command := range []string{"print HOST pr", "latency HOST", "record HOST -o LOG", "stop HOST", "stop -release HOST", "status -once HOST", "drive HOST"} {
			tool, _, _ := strings.Cut(command, " ")
			t.Run(tt.name+"/"+command, func(t *testing.T) {
				t.Parallel()
				log := filepath.Join(t.TempDir(), "run.mcap")
				args := strings.Fields(strings.NewReplacer("HOST", foreignServer(t, tt.says, tt.closes), "LOG", log).Replace(command))
				_, terminal := terminals.OpenBoth(t)
				c := startTool(t, func(cmd *exec.Cmd) { cmd.Stdin = terminal }, args...)
				code, said := c.Code(t), c.errors.String()
				want := tt.want
				if tool == "status" {
					want = tt.status
				}
				if code != 2 || !strings.Contains(said, want) || strings.Count(said, "\n") != 1 {
					t.Errorf("exit %d: %s\nwant exit 2, one line with %s", code, said, want)
				}
			})
		}
	}
}
