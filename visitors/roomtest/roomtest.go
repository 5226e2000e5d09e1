// Package roomtest is a simulated robot in a room, its server, and browsers, for the tests of the servers for visitors.
package roomtest

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/stage"
	"player/e2e/waiting"
	"player/process/descriptors"
	"player/server"
	"player/server/status"
)

// Patience is how long a test waits for an event before it fails.
const Patience = 20 * time.Second

// Room is a simulated robot and its server.
type Room struct {
	*testing.T
	World   *stage.World
	Server  *server.Server
	Devices []*devices.Device
	Address string // of the robot
	Port    int
	Quota   *descriptors.Share // for connections to the robot
}

// New serves the robot until the end of the test. Tests with a room do not run in parallel: loops in one process
// use gnet's logger without a lock.
func New(t *testing.T) *Room {
	t.Helper()
	world, err := stage.Load("../../simulation/worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	free := listen(t)
	r := &Room{T: t, World: world, Address: free.Addr().String(), Quota: descriptors.NewShare(100)}
	free.Close()
	r.Port = int(netip.MustParseAddrPort(r.Address).Port())
	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(world.Instances()[0]); err != nil {
		t.Fatal(err)
	}
	r.Devices = table.Links()[0].Devices()
	ready := make(chan *server.Server, 1)
	ended := run(t, func(ctx context.Context) error {
		return server.Run(ctx, server.Config{
			Robots:      []server.Robot{{Address: r.Address, Table: table, Name: "r0", Port: r.Port}},
			MaxRate:     1000,
			Descriptors: descriptors.New(20, true),
			Log:         zap.NewNop(),
			Ready:       func(s *server.Server) { ready <- s },
		})
	})
	select {
	case r.Server = <-ready:
	case <-ended:
		t.FailNow()
	}
	return r
}

// run calls fn in a goroutine. Its context ends with the test, which waits for its end.
func run(t *testing.T, fn func(context.Context) error) (ended chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if err := fn(ctx); err != nil {
			t.Errorf("a server ended: %v", err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return ended
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Serve calls serve until the end of the test, and returns the address at which it serves.
func Serve(t *testing.T, serve func(ctx context.Context, l net.Listener) error) string {
	t.Helper()
	l := listen(t)
	run(t, func(ctx context.Context) error { return serve(ctx, l) })
	return l.Addr().String()
}

// AtOnce is the Post of a loop at which it is always now, and which calls functions at once.
func AtOnce(now time.Duration) func(func(now time.Duration)) bool {
	return func(fn func(now time.Duration)) bool { fn(now); return true }
}

// OnLoop calls fn on the loop and waits for it.
func (r *Room) OnLoop(fn func(now time.Duration)) {
	r.Helper()
	done := make(chan struct{})
	if !r.Server.Post(func(now time.Duration) { fn(now); close(done) }) {
		r.Fatal("the loop has ended")
	}
	<-done
}

// Pose is where the robot really is.
func (r *Room) Pose() (p stage.Pose) {
	r.OnLoop(func(time.Duration) { p = r.World.Robots()[0].Pose() })
	return p
}

// Time is the time of the world.
func (r *Room) Time() (at time.Duration) {
	r.OnLoop(func(time.Duration) { at = r.World.Time() })
	return at
}

// Status is the status of the robot.
func (r *Room) Status() (s status.Robot) {
	r.OnLoop(func(now time.Duration) { s = r.Server.Status(now).Robots[0] })
	return s
}

// Await polls until ok.
func (r *Room) Await(what string, ok func() bool) {
	r.Helper()
	waiting.Until(r.T, what, ok)
}

// Pass waits until time of the world has passed.
func (r *Room) Pass(span time.Duration) {
	r.Helper()
	until := r.Time() + span
	r.Await("time passes", func() bool { return r.Time() >= until })
}

// AwaitStop waits until the robot has not moved for some time of the world.
func (r *Room) AwaitStop() {
	r.Helper()
	r.Await("the robot stands", func() bool {
		before := r.Pose()
		r.Pass(300 * time.Millisecond)
		return before == r.Pose()
	})
}

// AwaitMotion waits until the robot has moved. It calls drive again and again.
func (r *Room) AwaitMotion(drive func()) {
	r.Helper()
	from := r.Pose()
	r.Await("the robot moves", func() bool {
		drive()
		to := r.Pose()
		return math.Hypot(to.X-from.X, to.Y-from.Y) > 0.05
	})
}

// Socket is a WebSocket of a browser or a program.
type Socket struct {
	*websocket.Conn
	t *testing.T
}

// Dial opens a WebSocket. The client of the options is optional.
func Dial(t *testing.T, url string, options websocket.DialOptions) (*Socket, *http.Response, error) {
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	ws, reply, err := websocket.Dial(ctx, url, &options)
	if err != nil {
		return nil, reply, err
	}
	ws.SetReadLimit(1 << 20)
	t.Cleanup(func() { ws.CloseNow() })
	return &Socket{ws, t}, reply, nil
}

// Next reads a message.
func (s *Socket) Next() (websocket.MessageType, []byte, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), Patience)
	defer cancel()
	return s.Read(ctx)
}

// Send sends a text.
func (s *Socket) Send(format string, args ...any) {
	s.t.Helper()
	s.send(websocket.MessageText, fmt.Appendf(nil, format, args...))
}

// SendBinary sends bytes.
func (s *Socket) SendBinary(message []byte) {
	s.t.Helper()
	s.send(websocket.MessageBinary, message)
}

func (s *Socket) send(kind websocket.MessageType, message []byte) {
	s.t.Helper()
	if err := s.Write(s.t.Context(), kind, message); err != nil {
		s.t.Fatal(err)
	}
}

// Answer is a Player server on a connection, until the connection ends: it writes the result of answer for each message.
func Answer(conn net.Conn, answer func(m codec.Message) []byte) {
	defer conn.Close()
	var decoder codec.Decoder
	in := make([]byte, 4096)
	for {
		n, err := conn.Read(in)
		if err != nil {
			return
		}
		for m, rest, ok := decoder.Next(in[:n]); ok; m, rest, ok = decoder.Next(rest) {
			if reply := answer(m); reply != nil {
				_, _ = conn.Write(reply) // after the client has left it fails, and so does the next read
			}
		}
	}
}

// Request sends a request without a body, with the given headers, and returns the reply with its text.
func Request(t *testing.T, method, url string, header http.Header) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply, string(text)
}
