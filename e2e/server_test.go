// Package e2e tests the real binary over real sockets.
package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"player/codec"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// binary is the server, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "player-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "player")
	build := exec.Command("go", "build", "-o", binary, "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the server: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const room = "../worlds/room.world"

// server is a running player.
type server struct {
	cmd     *exec.Cmd
	address string
	log     *lockedBuffer
	exited  chan struct{}
}

// lockedBuffer collects a process's output while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the server with the given flags on a free port and waits until it
// serves. wrap, if not empty, is a command line that runs it, as "sh -c".
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	return startAt(t, freePort(t), flags...)
}

func startAt(t testing.TB, port int, flags ...string) *server {
	t.Helper()
	return launch(t, port, exec.Command(binary, append([]string{"-bind", "127.0.0.1", "-gp", strconv.Itoa(port)}, flags...)...))
}

func launch(t testing.TB, port int, cmd *exec.Cmd) *server {
	t.Helper()
	s := &server{cmd: cmd, address: fmt.Sprintf("127.0.0.1:%d", port), log: &lockedBuffer{}, exited: make(chan struct{})}
	cmd.Stderr, cmd.Stdout = s.log, s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // ProcessState tells
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.exited:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Error("the server does not end")
		}
		if t.Failed() {
			t.Logf("server log:\n%s", tail(s.log.String(), 4000))
		}
	})
	await(t, "serving", func() bool {
		select {
		case <-s.exited:
			t.Fatalf("the server ended: %v\n%s", cmd.ProcessState, s.log)
		default:
		}
		return strings.Contains(s.log.String(), "serving")
	})
	return s
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// await polls until ok, and fails after patience.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// peer is a raw client: it shares nothing with package client.
type peer struct {
	t    testing.TB
	conn net.Conn
}

func (s *server) dial(t testing.TB) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &peer{t, conn}
}

func (p *peer) send(b ...byte) {
	p.t.Helper()
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatal(err)
	}
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

// request asks and returns the reply's payload; blocks before it are skipped.
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

// position reads blocks until one is of the position device.
func (p *peer) position() codec.PositionData {
	p.t.Helper()
	for {
		letter, payload := p.block()
		if letter != codec.Position {
			continue
		}
		var d codec.PositionData
		if err := d.Decode(payload); err != nil {
			p.t.Fatal(err)
		}
		return d
	}
}

// drive sends a position command.
func (p *peer) drive(speed, turnRate int16) {
	p.t.Helper()
	p.message('c', 'p', codec.PositionCommand{Speed: speed, TurnRate: turnRate}.Append(nil)...)
}
