package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/e2e/built"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/fleet/bridge"
)

// patience is how long a test waits for an event before it fails.
const patience = waiting.Patience

// player and program are the robot's server and this program. programsDir also has the example watch and NATS's server.
var player, program, programsDir string

func TestMain(m *testing.M) {
	if needs.Skipped(m) {
		return
	}
	workspace := os.Getenv("GOWORK")
	os.Setenv("GOWORK", "off") // the server is built as it is shipped
	servers, err := built.Programs("..", ".")
	os.Setenv("GOWORK", workspace)
	if err == nil {
		programsDir, err = built.Programs(".", ".", "./examples/watch", "github.com/nats-io/nats-server/v2")
	}
	var state string
	if err == nil {
		state, err = os.MkdirTemp("", "player-fleet")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	player, program = filepath.Join(servers, "player"), filepath.Join(programsDir, "fleet")
	os.Setenv("XDG_STATE_HOME", state)
	processors := runtime.GOMAXPROCS(0)
	if parallel := flag.Lookup("test.parallel").Value; parallel.String() == strconv.Itoa(processors) {
		_ = parallel.Set(strconv.Itoa(2 * processors)) // most tests wait
	}
	code := m.Run()
	os.RemoveAll(state)
	os.Exit(code)
}

// start runs a program and waits until it logs that it serves.
func start(t testing.TB, path string, args ...string) *programs.Program {
	t.Helper()
	p := programs.Start(t, exec.Command(path, args...))
	serves := map[string]string{program: logServing, player: "serving"}[path]
	p.Until(t, "a start", func() bool { return p.Printed(`"` + serves + `"`) })
	return p
}

// robot is a simulated robot. Its server is the real one.
type robot struct {
	name, address, page string
	about               string // of -robot, behind the address
}

// newRobot returns a robot whose server does not run.
func newRobot(t *testing.T, name string) robot {
	t.Helper()
	local := func() string { return fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1)) }
	return robot{name: name, address: local(), page: local()}
}

func startRobot(t *testing.T, name string) robot {
	t.Helper()
	r := newRobot(t, name)
	r.serve(t)
	return r
}

// serve starts the robot's server.
func (r robot) serve(t *testing.T) *programs.Program {
	t.Helper()
	_, port, _ := strings.Cut(r.address, ":")
	return start(t, player, "-stage", "room", "-bind", "127.0.0.1", "-gp", port, "-http", r.page)
}

// report is the status of the robot's server.
type report struct {
	Stopped bool
	Clients []visitor
}

// visitor is a client of a robot.
type visitor struct {
	Name    string
	Devices map[string]string
	Rate    float64
}

// readers returns the clients that have devices open. One that asks for the status has
// none.
func (r robot) readers(t *testing.T) []visitor {
	t.Helper()
	return slices.DeleteFunc(r.report(t).Clients, func(v visitor) bool { return len(v.Devices) == 0 })
}

func (r robot) report(t *testing.T) report {
	t.Helper()
	answer := must.Get(http.Get("http://" + r.page + "/status"))(t)
	defer answer.Body.Close()
	var all struct{ Robots []report }
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil || len(all.Robots) != 1 {
		t.Fatalf("status: %v, %+v", err, all)
	}
	return all.Robots[0]
}

// watch reads a robot's odometry directly. The result reports its newest speed.
func (r robot) watch(t *testing.T) (speed func() int) {
	t.Helper()
	c := must.Get(client.Dial(t.Context(), r.address))(t)
	t.Cleanup(func() { c.Close() })
	must.Do(t, errors.Join(c.SetFrequency(50), c.Request(t.Context(), "pr")))
	return func() int {
		// Messages that have arrived since the last call are old.
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err := c.Read(ctx)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
		}
		return int(c.Position.Speed)
	}
}

// startFleet starts the program with its own NATS server, unless args name one, and
// returns a connection to that.
func startFleet(t *testing.T, robots []robot, args ...string) (*programs.Program, *nats.Conn) {
	t.Helper()
	all := []string{"-fleet", "lab"}
	if !slices.Contains(args, "-nats") {
		all = append(all, "-listen", "127.0.0.1:0", "-dir", t.TempDir())
	}
	for _, r := range robots {
		all = append(all, "-robot", r.name+"="+r.address+r.about)
	}
	p := start(t, program, append(all, args...)...)
	own := must.Get(access{nats: natsOf(t, p)}.credentials())(t)
	conn := must.Get(nats.Connect(natsOf(t, p), own...))(t)
	t.Cleanup(conn.Close)
	return p, conn
}

// natsOf returns the address of the NATS server that a program of fleets uses.
func natsOf(t *testing.T, p *programs.Program) string {
	t.Helper()
	for line := range strings.Lines(p.Output.String()) {
		var l struct{ Msg, NATS string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == logServing {
			return l.NATS
		}
	}
	t.Fatal("the program did not log where NATS is")
	return ""
}

// startNATS starts a server of NATS in this test, on a free port of 127.0.0.1 unless o has one.
func startNATS(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.NoSigs, o.NoLog = true, true
	if o.Port == 0 {
		o.Host, o.Port = "127.0.0.1", server.RANDOM_PORT
	}
	s := must.Get(server.NewServer(o))(t)
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("a server of NATS does not start")
	}
	return s
}

// subscribe subscribes and waits until the server knows.
func subscribe(t testing.TB, conn *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := conn.SubscribeSync(subject)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// next returns the next message with data.
func next(t *testing.T, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	for {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("%s: %v", sub.Subject, err)
		}
		if m.Header.Get(bridge.HeaderTime) != "" {
			return m
		}
	}
}

// reply is the answer to any request.
type reply struct {
	OK     bool   `json:"ok"`
	Error  string `json:"error"`
	Token  string `json:"token"`
	TTL    int    `json:"ttl_ms"`
	Holder string `json:"holder"`
	Rate   int    `json:"hz"`
}

// request sends a request with a token, or without one if it is empty, as soon as a
// bridge serves the robot.
func request(t *testing.T, conn *nats.Conn, subject, token string, body []byte) (r reply) {
	t.Helper()
	m := nats.NewMsg(subject)
	m.Data = body
	if token != "" {
		m.Header.Set(bridge.HeaderLease, token)
	}
	var answer *nats.Msg
	var err error
	waiting.Until(t, "bridge", func() bool {
		answer, err = conn.RequestMsg(m, patience)
		return !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrReconnectBufExceeded)
	})
	if err == nil {
		err = json.Unmarshal(answer.Data, &r)
	}
	if err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	return r
}

const (
	lease   = "player.lab.a.position.0.lease"
	command = "player.lab.a.position.0.command"
)

// acquire asks for the lease until it is granted. A bridge that hangs has the request and
// does not answer, so no answer is waited for long.
func acquire(t *testing.T, conn *nats.Conn, holder string) (token string) {
	t.Helper()
	waiting.Until(t, "lease for "+holder, func() bool {
		answer, err := conn.Request(lease, []byte(holder), 3*bridge.TTL)
		var r reply
		if err == nil {
			err = json.Unmarshal(answer.Data, &r)
		}
		if err != nil && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrReconnectBufExceeded) {
			t.Fatal(err)
		}
		token = r.Token
		return token != ""
	})
	return token
}

func speed(mm int16) []byte { return codec.PositionCommand{Speed: mm}.Append(nil) }

// keep renews a lease until stop is called.
func keep(t *testing.T, conn *nats.Conn, subject, token string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			m := nats.NewMsg(subject)
			m.Header.Set(bridge.HeaderLease, token)
			if _, err := conn.RequestMsgWithContext(ctx, m); err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrNoResponders) {
				t.Errorf("%s: %v", subject, err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(bridge.TTL / 5):
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// drive drives robot a until stop is called.
func drive(t *testing.T, conn *nats.Conn, token string) (stop func()) {
	return driveRobot(t, conn, command, token)
}

// driveRobot sends commands without waiting for answers until stop is called.
func driveRobot(t *testing.T, conn *nats.Conn, command, token string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			m := nats.NewMsg(command)
			m.Header.Set(bridge.HeaderLease, token)
			m.Data = speed(100)
			if err := conn.PublishMsg(m); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
				t.Error(err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// startEmbedded starts the server of NATS that fleets start without -nats.
func startEmbedded(t testing.TB) *server.Server {
	t.Helper()
	natsServer := must.Get(startServer("127.0.0.1:0", t.TempDir(), ""))(t)
	t.Cleanup(natsServer.Shutdown)
	return natsServer
}
