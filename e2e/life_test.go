package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
)

// exits runs the server until it ends by itself.
func exits(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	out, err := exec.Command(binary, args...).CombinedOutput()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatal(err)
	}
	code = 0
	if err != nil {
		code = err.(*exec.ExitError).ExitCode()
	}
	return code, string(out)
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := start(t, "-stage", room)
			p := s.dial(t)
			p.request("pasr")
			p.drive(300, 0)
			s.Signal(t, sig)
			p.closed()
			s.ended(t)
		})
	}
}

// A client that never reads does not delay others and takes no memory.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	lazy := s.dial(t)
	must.Do(t, lazy.conn.(*net.TCPConn).SetReadBuffer(4096))
	lazy.message('x', 'y', 'f', 3, 232) // 1000 Hz
	lazy.message('d', 'r', []byte("lrsrprvr")...)
	p := s.dial(t)
	p.message('x', 'y', 'f', 0, 50)
	p.request("lr")
	before := rss(t, s)
	begin := time.Now()
	p.frame(200)
	t.Logf("200 frames at 50 Hz took %v", time.Since(begin))
	if after := rss(t, s); after > before+4<<10 {
		t.Errorf("memory grew from %d to %d KiB", before, after)
	}
	lazy.send(0) // it is still connected
}

// rss returns the server's resident memory in KiB.
func rss(t *testing.T, s *server) int {
	t.Helper()
	status := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid)))(t)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib := must.Get(strconv.Atoi(strings.Fields(rest)[0]))(t)
			return kib
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
