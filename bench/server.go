package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"player/bench/rig"
)

// server is a program that sends frames.
type server string

const (
	player  server = "player"  // the one under test
	floor   server = "floor"   // the least it could cost
	threads server = "threads" // the obvious way to write it
)

// sources is what each is built from.
var sources = map[server]string{player: ".", floor: "./bench/floor", threads: "./bench/threads"}

// stopLimit is how long a server may take to end when it is told to; Player's
// own limit is 2 s.
const stopLimit = 5 * time.Second

// workshop is a directory with the programs, built from the tree as it is.
type workshop struct {
	dir string
	// warmup is what passes before the window opens.
	warmup time.Duration
}

// build compiles all servers, as they would be released.
func build(ctx context.Context) (*workshop, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir, err := os.MkdirTemp("", "player-bench-")
	if err != nil {
		return nil, err
	}
	w := &workshop{dir, warmup}
	for s, source := range sources {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", w.path(s), source)
		cmd.Dir = filepath.Dir(strings.TrimSpace(string(root)))
		if out, err := cmd.CombinedOutput(); err != nil {
			w.close()
			return nil, fmt.Errorf("build %s: %w\n%s", s, err, out)
		}
	}
	return w, nil
}

func (w *workshop) path(s server) string { return filepath.Join(w.dir, string(s)) }
func (w *workshop) close()               { _ = os.RemoveAll(w.dir) }

// arguments is how a server is told what the cell wants. Player reads it from
// a configuration file.
func (w *workshop) arguments(s server, c cell, port int) ([]string, error) {
	if s != player {
		return []string{"-port", strconv.Itoa(port), "-rate", strconv.Itoa(c.Groups[0].Rate), "-size", strconv.Itoa(c.Size)}, nil
	}
	file := filepath.Join(w.dir, "player.cfg")
	err := os.WriteFile(file, []byte(c.configuration()), 0o644)
	return []string{"-gp", strconv.Itoa(port), file}, err
}

// process is a server at work.
type process struct {
	cmd   *exec.Cmd
	port  int
	said  bytes.Buffer // on standard error
	group *rig.Group
	since time.Time // just before it was started
}

// start starts a server for a cell, in the wire's namespace if there is one.
func (w *workshop) start(ctx context.Context, s server, c cell, wire *rig.Wire) (*process, error) {
	p := &process{port: 6665}
	if wire == nil {
		var err error
		if p.port, err = freePort(); err != nil {
			return nil, err
		}
	}
	args, err := w.arguments(s, c, p.port)
	if err != nil {
		return nil, err
	}
	if c.Share > 0 && s == player {
		if p.group, err = rig.NewGroup(c.Share, c.Memory); err != nil {
			return nil, err
		}
		// Ourselves in the group first, then the server in our place.
		args = append([]string{enterVerb, strings.Join(p.group.Files(), ","), w.path(s)}, args...)
		p.cmd = exec.CommandContext(ctx, "/proc/self/exe", args...)
	} else {
		p.cmd = exec.CommandContext(ctx, w.path(s), args...)
	}
	p.cmd.Stderr = &p.said
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = stopLimit
	p.cmd.SysProcAttr = apart()
	if c.Procs != 0 {
		p.cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(c.Procs))
	}
	launch := p.cmd.Start
	switch {
	case wire != nil:
		launch = func() error { return wire.Start(p.cmd) }
	case s == floor:
		launch = func() error { return startRelaxed(p.cmd) }
	}
	p.since = time.Now()
	err = launch()
	if err != nil {
		p.closeGroup()
		return nil, fmt.Errorf("start %s: %w", s, err)
	}
	return p, nil
}

// startRelaxed starts a Go program with the peace that the server gives itself
// (relaxMonitor in the root): one processor, and timer slack for the thread that
// the Go runtime watches itself with. The floor has no other thread that sleeps.
// Without it the floor would cost a tenth more.
func startRelaxed(cmd *exec.Cmd) error {
	const slack = 250 * time.Millisecond // as there
	runtime.LockOSThread()               // a child inherits it from its thread
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return cmd.Start()
}

// apart keeps a child out of the terminal's reach, for we end it in order, and
// from outliving us when we are killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stop ends the server, and says what it said if it ended in its own way.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	kill := time.AfterFunc(stopLimit, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	kill.Stop()
	p.closeGroup()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil // a baseline
		}
	}
	if err != nil {
		return fmt.Errorf("server: %w: %s", err, last(p.said.Bytes()))
	}
	return nil
}

func (p *process) closeGroup() {
	if p.group != nil {
		p.group.Close()
	}
}

// last is the last line of a log.
func last(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
