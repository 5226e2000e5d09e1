package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/ports"
	"player/e2e/terminals"
	"player/e2e/waiting"
	robot "player/simulation/emulator/p2os"
)

// checkLog checks that every line of the log is JSON and short, and returns how
// many lines have each message.
func (s *server) checkLog(t *testing.T) (counts map[string]int) {
	t.Helper()
	counts = map[string]int{}
	for line := range strings.Lines(s.Output.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil || len(line) > 2048 {
			t.Errorf("log line of %d bytes, %v: %.200q", len(line), err, line)
			continue
		}
		message, _ := fields["msg"].(string)
		counts[message]++
	}
	return counts
}

// Clients that connect, send nonsense and connect again do not fill the log: the
// same message has at most 100 lines in 10 s, and the others are counted.
func TestReconnectFloodInTheLog(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	s := start(t, "-stage", room)
	begin := time.Now()
	nonsense := append([]byte("dr\x00\x02qr"), bytes.Repeat([]byte("??\x00\x00"), 100)...)
	for range 1500 {
		c := s.dial(t)
		c.send(nonsense...)
		c.closed()
		c.conn.Close()
	}
	s.Await(t, "log lines were dropped")
	windows := int(time.Since(begin)/(10*time.Second)) + 2
	for message, n := range s.checkLog(t) {
		if n > 100*windows {
			t.Errorf("%d lines with %q in %v", n, message, time.Since(begin))
		}
	}
	if n := strings.Count(s.Output.String(), "log lines were dropped"); n > windows {
		t.Errorf("%d reports of dropped lines", n)
	}
	s.dial(t).request("sr")
}

// A long name of a robot in the address of a page's socket is not logged whole.
func TestLongNameInTheLog(t *testing.T) {
	t.Parallel()
	s, page := startDashboard(t)
	for _, name := range []string{strings.Repeat("x", 900_000), strings.Repeat("%00", 200_000), strings.Repeat("%0A%22%FF", 90_000)} {
		askForStream(t, page, name)
	}
	s.stop(t)
	s.checkLog(t)
}

// askForStream requests a page's socket for a robot, and waits until the server
// has logged that or has refused it.
func askForStream(t *testing.T, page, robot string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket, response, err := websocket.Dial(ctx, page+"stream?robot="+robot, nil)
	if err != nil {
		if response == nil { // not even a refusal
			t.Fatal(err)
		}
		return
	}
	defer socket.CloseNow()
	if _, _, err := socket.Read(ctx); ctx.Err() != nil {
		t.Fatalf("the server does not answer: %v", err)
	}
}

// The reader of the log has stopped, and strangers make long lines. The robot is
// served, and SIGTERM stops it and ends the server.
func TestStoppedReaderOfTheLog(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // it is open until the end, and nobody reads it
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	hardware := startRobot(t, robot.Options{})
	web := ports.Free(t, 1)
	// The shell writes "serving", because nothing reads the server's log.
	s := launch{via: []string{"sh", "-c", `echo serving; exec "$0" "$@" 2>&3`}, files: []*os.File{w}}.start(t,
		"-pp", hardware.Port(), "-http", fmt.Sprintf("127.0.0.1:%d", web))
	w.Close()
	waiting.Until(t, "it listens", func() bool {
		for _, address := range []string{s.address, fmt.Sprintf("127.0.0.1:%d", web)} {
			c, err := net.Dial("tcp", address)
			if err != nil {
				return false
			}
			c.Close()
		}
		return true
	})
	p := s.dial(t)
	p.mustOpen("pa", "pa")
	p.send(motors(1)...)
	p.drive(200, 0)
	waiting.Until(t, "the robot drives", func() bool { return hardware.State().Motors })
	for range 20 {
		askForStream(t, fmt.Sprintf("http://127.0.0.1:%d/", web), strings.Repeat("x", 9000))
	}
	p.until("the robot moves on", func() bool { return p.position().Speed > 0 })
	begin := time.Now()
	s.Signal(t, syscall.SIGTERM)
	s.ended(t)
	t.Logf("the server ended after %v", time.Since(begin))
	checkFarewell(t, hardware)
}

// The terminal that shows the log is paused, as by Ctrl-S.
func TestHeldTerminal(t *testing.T) {
	t.Parallel()
	terminal, program := terminals.OpenBoth(t)
	go func() { // what it shows before it is paused
		_, _ = io.Copy(io.Discard, terminal)
	}()
	s := launch{via: []string{"sh", "-c", `echo serving; exec "$0" "$@" 2>&3`}, files: []*os.File{program}}.start(t, "-debug", "-stage", room)
	waiting.Until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if err := unix.IoctlSetInt(int(program.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	p := s.dial(t)
	p.request("pasr")
	p.drive(100, 0)
	for range 100 { // a line each, with -debug
		c := s.dial(t)
		c.message(codec.KindRequest, 'r', []byte(strings.Repeat("q", 500))...)
		c.request("pr")
		c.conn.Close()
	}
	p.frame(4)
	s.Signal(t, syscall.SIGTERM)
	p.closed()
	s.ended(t)
}
