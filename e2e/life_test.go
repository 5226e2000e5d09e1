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

	"golang.org/x/sys/unix"

	"player/e2e/waiting"
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

// The terminal that shows the log is stopped, then closed: the robot goes on, and
// the server ends in order.
func TestNobodyReadsTheLog(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	// The shell writes "serving", because nothing reads the server's log.
	shell := []string{"sh", "-c", `echo serving; exec "$0" "$@" 2>&3`}
	s := launch{via: shell, files: []*os.File{w}}.start(t, "-debug", "-stage", room)
	w.Close()
	waiting.Until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	chatter := func() {
		for range 100 { // a line each, with -debug
			c := s.dial(t)
			c.request("pr")
			c.conn.Close()
		}
	}
	p := s.dial(t)
	p.request("pasr")
	p.drive(100, 0)
	chatter()
	p.frame(3)
	r.Close() // what is written from now on is an EPIPE
	chatter()
	p.frame(3)
	s.Signal(t, syscall.SIGTERM)
	p.closed()
	s.ended(t)
}

// A client that never reads does not delay others and takes no memory.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	lazy := s.dial(t)
	if err := lazy.conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
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
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
