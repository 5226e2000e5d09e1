package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
)

// The tunnel of docs/TLS.md: a client drives through ssh -L, and when ssh is killed
// the motors stop.
func TestSSHTunnel(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"ssh", "ssh-keygen", "/usr/sbin/sshd"} {
		needs.Program(t, program)
	}
	if os.Geteuid() == 0 { // the sshd of root separates its privileges there
		must.Do(t, os.MkdirAll("/run/sshd", 0o755))
	}
	dir := t.TempDir()
	key := func(name string) string {
		path := filepath.Join(dir, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	host, mine := key("host"), key("mine")
	port, local := ports.Free(t, 1), ports.Free(t, 1)
	daemon := write(t, dir, "sshd_config", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s.pub\nPidFile none\nStrictModes no\nUsePAM no\n", port, host, mine))
	listens := func(port int, program string, args ...string) *programs.Program {
		p := programs.Start(t, exec.Command(program, args...))
		p.Until(t, fmt.Sprint("a listener on ", port), func() bool { return !isFree(port) })
		return p
	}
	s := start(t, "-stage", room)
	_, robot, _ := net.SplitHostPort(s.address)
	listens(port, "/usr/sbin/sshd", "-D", "-e", "-f", daemon)
	tunnel := listens(local, "ssh", "-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile="+filepath.Join(dir, "known"),
		"-i", mine, "-p", strconv.Itoa(port), "-N", "-L", fmt.Sprintf("127.0.0.1:%d:localhost:%s", local, robot), "127.0.0.1")

	near := s.dial(t)
	near.mustOpen("pr", "pr")
	conn := must.Get(net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(local))))(t)
	defer conn.Close()
	far := &peer{t, conn}
	far.mustOpen("pa", "pa")
	far.drive(0, 40)
	waiting.Until(t, "the robot turns", func() bool { return near.position().TurnRate != 0 })
	tunnel.Signal(t, os.Kill)
	waiting.Until(t, "the robot stops", func() bool { return near.position().TurnRate == 0 })
}
