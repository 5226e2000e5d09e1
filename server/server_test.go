package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"player/codec"
	"player/devices"
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
		Robots:  []Robot{{Address: s.address, Table: table}},
		MaxRate: 1000,
		Log:     log,
		Ready:   func(r *Server) { ready <- r },
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

func TestServesFrames(t *testing.T) {
	s := serve(t, newRobot(), nil)
	c := dial(t, s)
	request(t, c, "srpr", "srpr")
	for range 3 {
		for _, want := range []byte("sp") {
			if letter, _ := block(t, c); letter != want {
				t.Fatalf("block %q, want %q", letter, want)
			}
		}
	}
}

func TestMotorsStopWhenTheCommanderLeaves(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := dial(t, s)
	request(t, c, "pa", "pa")
	send(t, c, codec.AppendMessage(nil, codec.KindCommand, codec.Position, codec.PositionCommand{Speed: 200, TurnRate: -5}.Append(nil)))
	if got := receive(t, r.commands, "command"); got != (codec.PositionCommand{Speed: 200, TurnRate: -5}) {
		t.Fatalf("command %+v", got)
	}
	c.Close()
	if got := receive(t, r.commands, "stop command"); got != (codec.PositionCommand{}) {
		t.Fatalf("command %+v after the client left, want zero", got)
	}
	receive(t, r.stops, "shutdown")
}

// A setup that takes time delays its own client only.
func TestSetupDelaysOnlyItsClient(t *testing.T) {
	r := newRobot()
	proceed := make(chan struct{})
	var s *running
	r.setup = func(now time.Duration, l *devices.Link) {
		go func() {
			<-proceed
			s.server.Post(func(now time.Duration) { r.ready(now) })
		}()
	}
	s = serve(t, r, nil)
	slow, other := dial(t, s), dial(t, s)
	send(t, slow, codec.AppendRequest(nil, []byte("pr")))
	send(t, slow, codec.AppendRequest(nil, nil)) // must wait behind it
	send(t, other, codec.AppendRequest(nil, nil))
	if letter, payload := block(t, other); letter != 'r' || len(payload) != 0 {
		t.Fatalf("other client got %q %q", letter, payload)
	}
	close(proceed)
	if _, payload := block(t, slow); string(payload) != "pr" {
		t.Fatalf("first reply %q, want pr", payload)
	}
	if letter, payload := block(t, slow); letter != 'r' || len(payload) != 0 {
		t.Fatalf("second reply %q %q, want the empty one", letter, payload)
	}
}

func TestRequestReplyAnswersEveryRequest(t *testing.T) {
	s := serve(t, newRobot(), nil)
	c := dial(t, s)
	send(t, c, config('y', 'r', 1))
	request(t, c, "sr", "sr")
	var burst []byte
	for range 10 {
		burst = append(burst, config('y', 'd')...)
	}
	send(t, c, burst)
	for range 10 {
		if letter, _ := block(t, c); letter != 's' {
			t.Fatalf("block %q", letter)
		}
	}
	// and no more than asked for: the next thing is a reply
	send(t, c, codec.AppendRequest(nil, nil))
	if letter, _ := block(t, c); letter != 'r' {
		t.Fatalf("block %q without being asked", letter)
	}
}

func TestAddressInUse(t *testing.T) {
	s := serve(t, newRobot(), nil)
	err := Run(t.Context(), Config{Robots: []Robot{{Address: s.address, Table: devices.NewTable(zap.NewNop())}}, Log: zap.NewNop()})
	if err == nil || !strings.Contains(err.Error(), "already in use") {
		t.Fatalf("second server on the same port: %v", err)
	}
}

func TestMaxClients(t *testing.T) {
	s := serve(t, newRobot(), func(c *Config) { c.MaxClients = 2 })
	var kept []net.Conn
	for range 2 { // the connection that the server makes to itself takes no place
		c := dial(t, s)
		if !answers(c) {
			t.Fatalf("only %d clients are served", len(kept))
		}
		kept = append(kept, c)
	}
	if answers(dial(t, s)) {
		t.Fatal("a third client is served")
	}
	kept[0].Close()
	for deadline := time.Now().Add(patience); !answers(dial(t, s)); {
		if time.Now().After(deadline) {
			t.Fatal("no new client is served when one has left")
		}
	}
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

func TestStopsInOrder(t *testing.T) {
	r := newRobot()
	s := serve(t, r, nil)
	c := dial(t, s)
	request(t, c, "pa", "pa")
	s.stop()
	if got := receive(t, r.commands, "stop command"); got != (codec.PositionCommand{}) {
		t.Fatalf("command %+v at shutdown, want zero", got)
	}
	receive(t, r.stops, "shutdown")
	for {
		if _, err := c.Read(make([]byte, 100)); err != nil {
			return // the client is closed
		}
	}
}

// A driver that needs time to stop gets it when its only client has left, and
// nothing else happens on the loop.
func TestTimersRunAfterTheLastClient(t *testing.T) {
	d := &slowStop{robot: *newRobot()}
	s := serve(t, d, nil)
	c := dial(t, s)
	request(t, c, "pr", "pr")
	c.Close()
	receive(t, d.stops, "shutdown")
	receive(t, d.stops, "tick after shutdown")
}

type slowStop struct{ robot }

func (d *slowStop) Shutdown(now time.Duration) {
	d.stops <- struct{}{}
	d.link.WakeAt(now + 20*time.Millisecond)
}

func (d *slowStop) Tick(now time.Duration) time.Duration {
	d.stops <- struct{}{}
	d.link.Stopped(now)
	return 0
}

// Ports may be opened from within any callback, also while others are being
// adopted.
func TestPortsOpenAnywhere(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	h := &echoer{address: echo.Addr().String(), left: 20, done: make(chan struct{})}
	serve(t, newRobot(), func(c *Config) {
		ready := c.Ready
		c.Ready = func(r *Server) {
			h.server = r
			h.open(t)
			h.open(t)
			ready(r)
		}
	})
	receive(t, h.done, "echo on the last port")
}

// A device that cannot be polled would neither send nor hang up.
func TestInputThatCannotBePolled(t *testing.T) {
	s := serve(t, newRobot(), nil)
	opened := make(chan error, 1)
	s.server.Post(func(time.Duration) {
		_, err := s.server.host.OpenInput("/dev/null", nil)
		opened <- err
	})
	if err := receive(t, opened, "answer"); err == nil || !strings.Contains(err.Error(), "input /dev/null: it cannot be polled") {
		t.Errorf("/dev/null was opened: %v", err)
	}
}

// echoer opens a port, waits for its greeting to come back, and opens the
// next.
type echoer struct {
	server  *Server
	address string
	left    int
	done    chan struct{}
}

func (h *echoer) open(t *testing.T) {
	port, err := h.server.host.Dial(h.address, &echoPort{h, t})
	if err != nil {
		t.Error(err)
		return
	}
	port.Write([]byte("hello"))
}

type echoPort struct {
	h *echoer
	t *testing.T
}

func (p *echoPort) Receive(time.Duration, []byte) {
	switch p.h.left--; {
	case p.h.left > 0:
		p.h.open(p.t)
	case p.h.left == 0:
		close(p.h.done)
	}
}

func (p *echoPort) Hangup(time.Duration, error) {}

func TestManyConnectsAndDisconnects(t *testing.T) {
	n := 10000
	if testing.Short() {
		n = 500
	}
	s := serve(t, newRobot(), nil)
	for i := range n {
		c, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			_, _ = fmt.Fprint(c, "dr\x00\x02pr")
		}
		if i%2 == 0 { // RST instead of FIN
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		c.Close()
	}
	c := dial(t, s)
	request(t, c, "sr", "sr")
	count := make(chan int)
	for deadline := time.Now().Add(patience); ; {
		s.server.Post(func(time.Duration) { count <- len(s.server.clients) })
		if <-count == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("clients are left over")
		}
	}
}
