package app

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"player/e2e/certs"
	"player/e2e/must"
)

// A reload reaches all that serves: the robot, its clients by TLS, the dashboard and the
// server for viewers. A mistake changes nothing.
func TestReloads(t *testing.T) {
	if tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // with a terminal SIGHUP ends the server
		must.Do(t, errors.Join(unix.IoctlSetInt(tty, unix.TIOCNOTTY, 0), unix.Close(tty)))
	}
	lab := certs.New(t, "lab")
	pair, secured := lab.Issue("robot", nil), "127.0.0.1:"+freePort(t)
	file := filepath.Join(t.TempDir(), "robot.cfg")
	write := func(devices, address string) {
		t.Helper()
		text := fmt.Sprintf("tls ( listen %q cert %q key %q )\ndriver ( name \"testpattern\" provides [ %s ] )\n", address, pair.Cert, pair.Key, devices)
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	reload := func() {
		t.Helper()
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	}
	write(`"laser:0"`, secured)
	s := starts(t, "-http", "127.0.0.1:0", "-foxglove", "127.0.0.1:0", file)
	s.line(t, `"dashboard"`)
	s.line(t, `"foxglove"`)

	moved := "127.0.0.1:" + freePort(t)
	write(`"laser:0" "sonar:0"`, moved)
	reload()
	s.line(t, LogReloaded)
	robot := s.dial(t)
	if err := robot.Request(t.Context(), "sr"); err != nil {
		t.Errorf("the sonar that the reload added: %v", err)
	}
	conn := must.Get(tls.Dial("tcp", moved, lab.Client()))(t)
	conn.Close()

	must.Do(t, os.WriteFile(file, []byte("driver ( name \"nonsense\" )\n"), 0o644))
	reload()
	if line := s.line(t, "mistake in the configuration"); !strings.Contains(line, "nonsense") {
		t.Error(line)
	}
	s.line(t, LogMistakes)
	if err := robot.Request(t.Context(), "lr"); err != nil {
		t.Errorf("after a reload that was refused: %v", err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
