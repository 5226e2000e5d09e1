package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
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
	"player/e2e/certs"
	"player/packaging/shipped"
)

// server is a program that sends frames.
type server string

const (
	player  server = "player"  // the one under test
	floor   server = "floor"   // a bare epoll loop: the least it could cost
	threads server = "threads" // goroutines for each client: the obvious way
)

// sources has the package of each server.
var sources = map[server]string{player: ".", floor: "./bench/floor", threads: "./bench/threads"}

// patience is how long a server may take to listen, to answer and to end. Each takes
// milliseconds, but this machine may be busy.
const patience = time.Minute

// slack is the timer slack with which the floor is started: the same as the server
// gives itself (docs/DECISIONS.md, "Timer slack").
const slack = 20 * time.Millisecond

// workshop has the programs, built from the tree as it is, and a directory to work in.
type workshop struct {
	root string // of the source tree
	bin  string // directory of the programs
	dir  string
	// clients is the folder in which the languages build their programs, each in its own.
	clients string
	ports   *ports
	warmup  time.Duration // before the window begins
	// points count system calls; noPoints is why there are
	// none.
	points   rig.Tracepoints
	noPoints error
}

// build compiles all servers as the server is shipped: static and stripped.
func build(ctx context.Context) (*workshop, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir, err := os.MkdirTemp("", "player-bench-")
	if err != nil {
		return nil, err
	}
	w := newWorkshop(filepath.Dir(strings.TrimSpace(string(root))), filepath.Join(dir, "bin"), dir)
	for s, source := range sources {
		if err := compile(ctx, w.root, w.path(s), source, shipped.Flags()...); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// newWorkshop returns the workshop of a source tree with the programs in bin.
func newWorkshop(root, bin, dir string) *workshop {
	w := &workshop{root: root, bin: bin, dir: dir, clients: dir, ports: newPorts(), warmup: warmup}
	w.points, w.noPoints = rig.FindTracepoints()
	return w
}

// compile builds a package of the module in a folder.
func compile(ctx context.Context, folder, path, source string, flags ...string) error {
	args := append([]string{"build", "-ldflags=" + shipped.Link(runtime.GOARCH), "-o", path}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, source)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", path, err, out)
	}
	return nil
}

// path is the program of a server.
func (w *workshop) path(s server) string {
	switch s {
	case bridge:
		return debianPython
	case rosbridge:
		s = player
	}
	return filepath.Join(w.bin, string(s))
}

// serialPort is the port that emulated hardware is on.
func (w *workshop) serialPort() string { return filepath.Join(w.dir, "line") }

// drive is a recorded drive through an office.
func (w *workshop) drive() string {
	return filepath.Join(w.root, "devices", "testpattern", "testdata", "drive.bin")
}

func (w *workshop) close() { _ = os.RemoveAll(w.dir) }

// arguments is the command line of a server for a cell. Player also gets a
// configuration file.
func (w *workshop) arguments(s server, c cell, p *process) ([]string, error) {
	port := p.port
	switch {
	case c.Kind == inside && s == floor:
		h := c.hardware()
		return []string{"-port", strconv.Itoa(port), "-size", strconv.Itoa(h.size), "-letter", string(h.letter),
			"-serial", w.serialPort(), "-packet", strconv.Itoa(h.packet)}, nil
	case s == bridge:
		return w.bridgeArguments(c, port)
	case s == floor || s == threads:
		return []string{"-port", strconv.Itoa(port), "-size", strconv.Itoa(c.Size)}, nil
	}
	file := filepath.Join(w.dir, "player.cfg")
	err := os.WriteFile(file, []byte(c.configuration(w.serialPort(), w.drive())), 0o644)
	// All clients are of one computer.
	args := []string{"-gp", strconv.Itoa(port), "-max-per-address", strconv.Itoa(math.MaxInt32)}
	if p.page > 0 {
		args = append(args, "-http", loopbackAddress(p.page), "-foxglove", loopbackAddress(p.foxglove))
	}
	if p.rosbridge > 0 {
		args = append(args, "-rosbridge", net.JoinHostPort(c.serverHost(), strconv.Itoa(p.rosbridge)))
	}
	if p.tls > 0 {
		pair := certs.New(w, "bench").Issue("player", nil)
		args = append(args, "-tls", loopbackAddress(p.tls), "-tls-cert", pair.Cert, "-tls-key", pair.Key)
	}
	if c.Population > 0 {
		world := filepath.Join(w.dir, "population.world")
		return append(args, "-stage", world), os.WriteFile(world, []byte(c.crowd()), 0o644)
	}
	return append(args, file), err
}

// Helper, Fatal and TempDir implement certs.T.
func (w *workshop) Helper()           {}
func (w *workshop) Fatal(args ...any) { panic(fmt.Sprint(args...)) }
func (w *workshop) TempDir() string   { return w.dir }

// process is a server at work.
type process struct {
	cmd       *exec.Cmd
	port      int
	page      int          // the dashboard's port, zero: it is off
	foxglove  int          // the port for Foxglove, zero: it is off
	rosbridge int          // the port for rosbridge, zero: it is off
	tls       int          // the port for TLS, zero: there is none
	topic     string       // of a server of rosbridge, empty: its clients speak Player's protocol
	said      bytes.Buffer // on standard error
	group     *rig.Group
	since     time.Time // just before it was started
}

// start starts a server for a cell, in the wire's namespace if there is one.
func (w *workshop) start(ctx context.Context, s server, c cell, wire *rig.Wire) (*process, error) {
	p := &process{port: 6665, topic: c.topic(s)}
	var err error
	robots := max(c.Population, 1)
	if wire == nil {
		if p.port, err = w.ports.free(robots + 4); err != nil {
			return nil, err
		}
	}
	if c.Strangers != "" {
		p.page, p.foxglove, p.rosbridge = p.port+robots, p.port+robots+1, p.port+robots+3
	}
	if s == rosbridge {
		p.rosbridge = p.port + robots + 3
	}
	if c.tls() {
		p.tls = p.port + robots + 2
	}
	args, err := w.arguments(s, c, p)
	if err != nil {
		return nil, err
	}
	if c.Share > 0 && s == player {
		if p.group, err = rig.NewGroup(c.Share, c.Memory); err != nil {
			return nil, err
		}
		// The shell enters the group and then becomes the server.
		p.prepare(ctx, "sh", append([]string{"-c", p.group.Enter() + ` && exec "$@"`, "sh", w.path(s)}, args...)...)
	} else {
		p.prepare(ctx, w.path(s), args...)
	}
	launch := func() error { return wire.AtServer(p.cmd.Start) }
	// Player gives it to itself. The tickers of threads would be late by it.
	if s == floor {
		plain := launch
		launch = func() error { return p.withSlack(slack, plain) }
	}
	p.since = time.Now()
	if err := launch(); err != nil {
		p.closeGroup()
		return nil, fmt.Errorf("start %s: %w", s, err)
	}
	return p, nil
}

// prepare makes the command of a process.
func (p *process) prepare(ctx context.Context, program string, args ...string) {
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Stderr = &p.said
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = patience
	p.cmd.SysProcAttr = apart()
}

// startRelay starts a server in the clients' namespace that reads another one.
func (w *workshop) startRelay(ctx context.Context, of *process, wire *rig.Wire) (*process, error) {
	file := filepath.Join(w.dir, "relay.cfg")
	address := net.JoinHostPort(rig.ServerAddress, strconv.Itoa(of.port))
	if err := os.WriteFile(file, []byte(relayConfiguration(address)), 0o644); err != nil {
		return nil, err
	}
	p := &process{port: of.port}
	p.prepare(ctx, w.path(player), "-gp", strconv.Itoa(p.port), file)
	if err := wire.AtClients(p.cmd.Start); err != nil {
		return nil, fmt.Errorf("start the relay: %w", err)
	}
	return p, nil
}

// withSlack starts the process, which inherits the timer slack.
func (p *process) withSlack(slack time.Duration, launch func() error) error {
	// With a second processor a Go program begins with a thread that looks for work,
	// sleeps for 3 us, and wakes after the slack.
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	runtime.LockOSThread() // a child inherits it from the thread that makes it
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return fmt.Errorf("timer slack: %w", err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }() // zero: the default
	return launch()
}

// apart shields a child from the terminal's signals, because it is ended in
// order, and kills it when this process is killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// stop ends the server. The error is a failed server's.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	kill := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	kill.Stop()
	p.closeGroup()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
			return nil // a baseline handles no signals
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

func loopbackAddress(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
