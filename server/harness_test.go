package server

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"player/codec"
	"player/devices"
	"player/process/descriptors"
)

// patience is how long a test waits for an event before it fails.
const patience = 20 * time.Second

// robot is a driver without hardware: a position and a sonar device with
// constant data. It records what it is told.
type robot struct {
	link     *devices.Link
	position *devices.Device
	setup    func(now time.Duration, l *devices.Link) // nil: ready at once
	commands chan codec.PositionCommand
	configs  chan string
	stops    chan struct{}
}

func newRobot() *robot {
	return &robot{
		commands: make(chan codec.PositionCommand, 20000),
		configs:  make(chan string, 20000),
		stops:    make(chan struct{}, 20000),
	}
}

// instance is a robot, or a driver with its devices.
func instance(d devices.Driver) devices.Instance {
	if _, ok := d.(*seven); ok {
		return devices.Instance{Driver: d, Name: "seven", Provides: []devices.Spec{devices.Laser(), devices.Sonar(), devices.Position(),
			devices.Gripper(), devices.Misc(), devices.Vision(), devices.PTZ()}}
	}
	return devices.Instance{Driver: d, Name: "robot", Provides: []devices.Spec{devices.Position(), devices.Sonar()}, SetupLimit: 5 * time.Second}
}

func (r *robot) Setup(now time.Duration, l *devices.Link) {
	r.link, r.position = l, l.Device(codec.Position)
	if r.setup != nil {
		r.setup(now, l)
		return
	}
	r.ready(now)
}

func (r *robot) ready(now time.Duration) {
	var s codec.SonarData
	r.link.Device(codec.Sonar).Publish(now, s.Append(nil))
	p := codec.PositionData{X: 1, Y: 2}
	r.position.Publish(now, p.Append(nil))
	r.link.Ready(now)
}

func (r *robot) Shutdown(now time.Duration) {
	r.stops <- struct{}{}
	r.link.Stopped(now)
}

func (r *robot) Command(_ time.Duration, d *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(d.Command()); err != nil {
		panic(err)
	}
	r.commands <- c
}

func (r *robot) Configure(_ time.Duration, d *devices.Device, payload []byte) error {
	r.configs <- string(d.Letter()) + string(payload)
	return nil
}

func (r *robot) Tick(now time.Duration) time.Duration {
	r.ready(now)
	return 0
}

// running is a running server.
type running struct {
	server  *Server
	address string
	stop    func() // ends it and waits
}

func serve(t testing.TB, driver devices.Driver, change func(*Config)) *running {
	t.Helper()
	log := zap.NewNop()
	if tt, ok := t.(*testing.T); ok {
		log = zaptest.NewLogger(tt)
	}
	table := devices.NewTable(log)
	if _, err := table.Attach(instance(driver)); err != nil {
		t.Fatal(err)
	}
	s := &running{address: freeAddress(t)}
	ready := make(chan *Server, 1)
	config := Config{
		Robots:      []Robot{{Address: s.address, Table: table}},
		MaxRate:     1000,
		Descriptors: descriptors.New(1, false),
		Log:         log,
		Ready:       func(r *Server) { ready <- r },
	}
	if change != nil {
		change(&config)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, config) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(s.stop)
	select {
	case s.server = <-ready:
	case err := <-ended:
		t.Fatalf("the server ended at once: %v", err)
	case <-time.After(patience):
		t.Fatal("the server is not ready")
	}
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func dial(t testing.TB, s *running) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func send(t testing.TB, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// block reads one server message.
func block(t testing.TB, c net.Conn) (letter byte, payload []byte) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	header := make([]byte, codec.BlockHeaderSize)
	if _, err := io.ReadFull(c, header); err != nil {
		t.Fatalf("waiting for a block: %v", err)
	}
	payload = make([]byte, int(header[1])<<8|int(header[2]))
	if _, err := io.ReadFull(c, payload); err != nil {
		t.Fatalf("waiting for %d bytes of block %q: %v", len(payload), header[0], err)
	}
	return header[0], payload
}

func request(t testing.TB, c net.Conn, pairs, want string) {
	t.Helper()
	send(t, c, codec.AppendRequest(nil, []byte(pairs)))
	for {
		if letter, payload := block(t, c); letter == codec.KindReply {
			if string(payload) != want {
				t.Fatalf("request %q answered %q, want %q", pairs, payload, want)
			}
			return
		}
	}
}

func receive[T any](t testing.TB, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s", what)
		panic("unreachable")
	}
}

func config(device byte, payload ...byte) []byte {
	return codec.AppendMessage(nil, codec.KindConfig, device, payload)
}

// answers reports whether the server serves c.
func answers(c net.Conn) bool {
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte("dr\x00\x00")); err != nil {
		return false
	}
	n, _ := io.ReadFull(c, make([]byte, 3))
	return n == 3
}

// onLoop runs fn on the loop.
func onLoop(t *testing.T, s *running, fn func(now time.Duration)) {
	t.Helper()
	done := make(chan struct{})
	s.server.Post(func(now time.Duration) { fn(now); close(done) })
	receive(t, done, "the loop")
}

// await waits until a condition is true on the loop.
func await(t *testing.T, s *running, what string, cond func(now time.Duration) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		done := false
		onLoop(t, s, func(now time.Duration) { done = cond(now) })
		switch {
		case done:
			return
		case time.Now().After(deadline):
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
