package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/waiting"
	product "player/server"
	robot "player/simulation/emulator/p2os"
)

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
	must.Get(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096))(t)
	hardware := startRobot(t, robot.Options{})
	web := ports.Free(t, 1)
	// The shell writes that it serves, because nothing reads the server's log.
	s := launch{via: []string{"sh", "-c", "echo '" + product.LogServing + `'; exec "$0" "$@" 2>&3`}, files: []*os.File{w}}.start(t,
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
