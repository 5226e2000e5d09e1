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

	"player/e2e/acceptance"
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

func TestCommandLineErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-nonsense"}, "-nonsense"},
		{[]string{"-gp", "99999"}, "a TCP port is 1 to 65535"},
		{[]string{"-gp", "x"}, "invalid value"},
		{[]string{"-max-rate", "0"}, "a rate is"},
		{[]string{"-stage", "no-such.world"}, "no-such.world"},
		{[]string{"-bind", "203.0.113.7"}, "203.0.113.7"},
	} {
		code, out := exits(t, c.args...)
		if code != 2 || !strings.Contains(out, c.want) || strings.Count(strings.TrimSpace(out), "\n") > 0 {
			t.Errorf("player %s: exit %d, output %q; want exit 2 and one line with %q", strings.Join(c.args, " "), code, out, c.want)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	code, out := exits(t, "-h")
	if code != 0 || strings.Count(out, "\n") > 60 {
		t.Errorf("-h: exit %d, %d lines", code, strings.Count(out, "\n"))
	}
	for _, flag := range []string{"-gp", "-pp", "-lp", "-zp", "-vp", "-vc", "-stage", "-debug", "-exp", "-bind", "-max-rate", "-max-clients", "-version"} {
		if !strings.Contains(out, flag+" ") {
			t.Errorf("-h does not tell of %s", flag)
		}
	}
	if code, out := exits(t, "-version"); code != 0 || !strings.HasPrefix(out, "player ") {
		t.Errorf("-version: exit %d, %q", code, out)
	}
}

// SO_REUSEPORT would let a second server start silently.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	_, port, _ := net.SplitHostPort(s.address)
	code, out := exits(t, "-bind", "127.0.0.1", "-gp", port, "-http", "off", "-stage", room)
	if code != 2 || !strings.Contains(out, "already in use") || !strings.Contains(out, port) {
		t.Fatalf("second server: exit %d, %q", code, out)
	}
	if got := s.dial(t).request("sr"); got != "sr" {
		t.Fatalf("first server answers %q", got)
	}
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

// A server that was started with nohup survives the end of its terminal.
func TestNohup(t *testing.T) {
	t.Parallel()
	s := launch{via: []string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}}.start(t, "-stage", room)
	p := s.dial(t)
	p.request("sr")
	s.Signal(t, syscall.SIGHUP)
	p.frame(3)
	s.dial(t).request("sr")
	s.stop(t)
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

// A flood of connections up to the descriptor limit: the server goes on serving
// its clients, and accepts new ones when the flood ends. The test is not parallel:
// it would take the processor and the local ports from others.
func TestConnectionFlood(t *testing.T) {
	acceptance.Only(t)
	s := launch{via: []string{"sh", "-c", `ulimit -n 128; exec "$0" "$@"`}}.start(t, "-stage", room)
	p := s.dial(t)
	p.message('x', 'y', 'f', 0, 50)
	p.request("sr")

	stop, flooded := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		var kept []net.Conn
		for {
			select {
			case <-stop:
				for _, c := range kept {
					c.Close()
				}
				flooded <- n
				return
			default:
			}
			c, err := net.DialTimeout("tcp", s.address, time.Second)
			if err == nil {
				kept = append(kept, c)
				n++
			}
			// An error is this process's limit of descriptors.
			if len(kept) > 2000 || err != nil && len(kept) > 0 {
				kept[0].Close()
				kept = kept[1:]
			}
		}
	}()
	begin := time.Now()
	p.frame(100)
	t.Logf("100 frames at 50 Hz took %v under the flood", time.Since(begin))
	close(stop)
	if n := <-flooded; n < 500 {
		t.Fatalf("the flood was only %d connections", n)
	}
	waiting.Until(t, "new clients are served after the flood", func() bool {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			return false
		}
		defer conn.Close()
		q := &peer{t, conn}
		if _, err := conn.Write([]byte("dr\x00\x02sr")); err != nil {
			return false
		}
		letter, _, err := q.tryBlock(time.Second)
		return err == nil && letter == 'r'
	})
	p.frame(10)
	if refusals := strings.Count(s.Output.String(), "refused"); refusals == 0 || refusals > 20 {
		t.Errorf("%d log lines of refusals", refusals)
	}
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

// Garbage ends the connection after 100 messages (PROTOCOL 1.5) and affects no
// other client. An incomplete message ends nothing.
func TestGarbage(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.request("sr")
	for range 20 {
		g := s.dial(t)
		g.request("")
		garbage := make([]byte, 64<<10)
		for i := range garbage {
			garbage[i] = byte(i * 7)
		}
		for range 8 {
			if _, err := g.conn.Write(garbage); err != nil {
				break // disconnected, as it should
			}
		}
		g.conn.Close()
	}
	waiting := s.dial(t)
	waiting.request("")
	waiting.send('d', 'r', 0xff, 0xff) // oversized, its payload never comes
	whole := s.dial(t)
	whole.send('d', 'r', 0, 2, 's') // the last byte never comes
	bad := s.dial(t)
	bad.request("")
	for range 100 {
		bad.send('q', 'q', 0, 0)
	}
	bad.closed()
	p.frame(5)
	if n := strings.Count(s.Output.String(), "malformed"); n > 200 {
		t.Errorf("%d log lines about garbage", n)
	}
}
