// Package e2e tests the real binary over real sockets.
package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	product "player/server"
)

// patience is how long a test waits for an event before it fails: long enough for
// the slowest one, a client declared lost after 15 s, on a machine that is busy.
const patience = waiting.Patience

// binary and emulator are the server and the emulated hardware, built once. scratch is a
// folder of this run.
var binary, emulator, scratch string

func TestMain(m *testing.M) {
	if needs.Skipped(m) {
		return
	}
	dir, err := built.Programs("..", ".", "./simulation/emulator")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary, emulator = filepath.Join(dir, "player"), filepath.Join(dir, "emulator")
	if scratch, err = os.MkdirTemp("", "player-e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	receiveSignals()
	code := waiting.Run(m, 16)
	os.RemoveAll(scratch)
	os.Exit(code)
}

// buildProgram builds a program of this module, and returns a path of it that only this test
// has: tests find the processes of a program by its path.
func buildProgram(t *testing.T, folder string) string {
	t.Helper()
	dir := must.Get(built.Programs("..", "./"+folder))(t)
	name := filepath.Base(folder)
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.Symlink(filepath.Join(dir, name), path))
	return path
}

// receiveSignals catches the signals that end a server if this process ignores
// them, as under nohup: the processes that it starts would inherit that.
func receiveSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // nobody reads it: this process goes on
		}
	}
}

const room = "../simulation/worlds/room.world"

// server is a running player.
type server struct {
	*programs.Program
	address string
}

// start runs the server with the given flags and waits until it serves.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	return launch{}.start(t, flags...)
}

// serve starts the server with a configuration.
func serve(t testing.TB, format string, args ...any) *server {
	t.Helper()
	return start(t, write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(format, args...)))
}

// launch describes how a server is started. The zero value starts it on a free
// port of 127.0.0.1, without a dashboard, in the environment of the tests.
type launch struct {
	port  int        // 0: a free one
	env   []string   // added to the environment
	via   []string   // the command line that executes the server's, as "nice"
	files []*os.File // descriptors 3 and up
	alone bool       // in a session of its own, without a terminal, as a service

	binary string // empty: the server
}

// start runs the server and waits until it serves. The flags override
// launch's.
func (l launch) start(t testing.TB, flags ...string) *server {
	t.Helper()
	if l.port == 0 {
		l.port = ports.Free(t, 1)
	}
	args := append(slices.Clone(l.via), cmp.Or(l.binary, binary), "-bind", "127.0.0.1", "-gp", strconv.Itoa(l.port), "-http", "off")
	args = append(args, flags...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), l.env...), l.files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: l.alone}
	s := &server{Program: programs.Start(t, cmd), address: fmt.Sprintf("127.0.0.1:%d", l.port)}
	s.Until(t, "serving", func() bool { return s.Printed(product.LogServing) })
	return s
}

// stop ends the server with SIGTERM and expects exit code 0.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.Signal(t, syscall.SIGTERM)
	s.ended(t)
}

// ended waits for the end of the server and expects exit code 0.
func (s *server) ended(t *testing.T) {
	t.Helper()
	if code := s.Code(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// kill ends the server with SIGKILL.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.Signal(t, syscall.SIGKILL)
	<-s.Ended
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// freeSwapped returns a port that is also free with its bytes swapped.
func freeSwapped(t testing.TB) int {
	t.Helper()
	return takePort(t, func(port int) []int { return []int{swapped(port)} })
}

func swapped(port int) int { return port>>8 | port&0xFF<<8 }

// takePort takes a port together with the others that depend on it.
func takePort(t testing.TB, others func(port int) []int) int {
	t.Helper()
	for range 1000 {
		port := ports.Free(t, 1)
		if !slices.ContainsFunc(others(port), func(p int) bool { return p == port || p < 1024 || p > ports.Last || !ports.Claim(t, p) }) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// isFree reports whether nothing listens on a port. It does not listen itself: a program
// that another test starts at that moment has a copy of the socket until it is executed.
func isFree(port int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		conn.Close()
	}
	return err != nil
}

// peer is a raw client: it shares nothing with package client.
type peer struct {
	t    testing.TB
	conn net.Conn
}

func (s *server) dial(t testing.TB) *peer {
	t.Helper()
	conn := must.Get(net.Dial("tcp", s.address))(t)
	t.Cleanup(func() { conn.Close() })
	return &peer{t, conn}
}

func (p *peer) send(b ...byte) {
	p.t.Helper()
	must.Get(p.conn.Write(b))(p.t)
}

// message sends kind, device and payload.
func (p *peer) message(kind, device byte, payload ...byte) {
	p.t.Helper()
	p.send(codec.AppendMessage(nil, kind, device, payload)...)
}

// block reads one server message.
func (p *peer) block() (letter byte, payload []byte) {
	p.t.Helper()
	letter, payload, err := p.tryBlock(patience)
	if err != nil {
		p.t.Fatalf("waiting for a block: %v", err)
	}
	return letter, payload
}

func (p *peer) tryBlock(limit time.Duration) (letter byte, payload []byte, err error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(limit))
	header := make([]byte, 3)
	if _, err := io.ReadFull(p.conn, header); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, int(header[1])<<8|int(header[2]))
	_, err = io.ReadFull(p.conn, payload)
	return header[0], payload, err
}

// request sends a request and returns the payload of the reply. It skips the
// blocks before it.
func (p *peer) request(pairs string) string {
	p.t.Helper()
	p.message('d', 'r', []byte(pairs)...)
	for {
		if letter, payload := p.block(); letter == 'r' {
			return string(payload)
		}
	}
}

// frame reads n blocks and returns them as "s32 p21".
func (p *peer) frame(n int) string {
	p.t.Helper()
	var out []string
	for range n {
		letter, payload := p.block()
		out = append(out, fmt.Sprintf("%c%d", letter, len(payload)))
	}
	return strings.Join(out, " ")
}

// closed waits until the server has closed the connection.
func (p *peer) closed() {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, p.conn); errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatal("the server does not close the connection")
	}
}

// next reads blocks until one has data of a device.
func next[Data any, To interface {
	*Data
	Decode(payload []byte) error
}](p *peer, letter byte) (d Data) {
	p.t.Helper()
	must.Do(p.t, To(&d).Decode(p.payload(letter)))
	return d
}

func (p *peer) position() codec.PositionData { return next[codec.PositionData](p, codec.Position) }
func (p *peer) sonar() codec.SonarData       { return next[codec.SonarData](p, codec.Sonar) }
func (p *peer) ptz() codec.PTZData           { return next[codec.PTZData](p, codec.PTZ) }
func (p *peer) blobs() codec.VisionData      { return next[codec.VisionData](p, codec.Vision) }

// freshness is the first block of a frame.
func (p *peer) freshness() codec.FreshnessData { return next[codec.FreshnessData](p, codec.Server) }

// payload reads blocks until one is of a device and has data.
func (p *peer) payload(letter byte) []byte {
	p.t.Helper()
	for {
		if l, payload := p.block(); l == letter && len(payload) > 0 {
			return payload
		}
	}
}

// drive sends a position command.
func (p *peer) drive(speed, turnRate int16) {
	p.t.Helper()
	p.message('c', 'p', codec.PositionCommand{Speed: speed, TurnRate: turnRate}.Append(nil)...)
}
