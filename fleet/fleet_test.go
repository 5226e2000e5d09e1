package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/fleet/bridge"
)

// patience is how long a test waits for an event before it fails.
const patience = time.Minute

// player and program are the robot's server and this program, built once.
var player, program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "player-fleet")
	if err != nil {
		panic(err)
	}
	player, program = filepath.Join(dir, "player"), filepath.Join(dir, "fleet")
	build := func(folder, path string, env ...string) {
		cmd := exec.Command("go", "build", "-o", path, ".")
		cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build in %s: %v\n%s", folder, err, out)
			os.Exit(1)
		}
	}
	build("..", player, "GOWORK=off") // as it is shipped
	build(".", program)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a program that runs until the test ends.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// lines returns what the program has logged.
func (p *process) lines() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// start runs a program and waits until it logs "serving".
func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Stdout = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // ProcessState has the result
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.end(t, syscall.SIGTERM)
		if t.Failed() {
			t.Logf("%s %v:\n%s", filepath.Base(path), args, p.lines())
		}
	})
	wait(t, "a start", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("%v has ended:\n%s", args, p.lines())
		default:
		}
		return strings.Contains(p.lines(), `"serving"`)
	})
	return p
}

// end sends a signal and returns the exit code.
func (p *process) end(t *testing.T, s os.Signal) int {
	t.Helper()
	_ = p.cmd.Process.Signal(s)
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		t.Error("a program does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// wait waits until ok.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there was no %s", what)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// robot is a simulated robot. Its server is the real one.
type robot struct{ name, address, page string }

// newRobot returns a robot whose server does not run.
func newRobot(t *testing.T, name string) robot {
	t.Helper()
	local := func() string { return fmt.Sprintf("127.0.0.1:%d", freePort(t)) }
	return robot{name: name, address: local(), page: local()}
}

func startRobot(t *testing.T, name string) robot {
	t.Helper()
	r := newRobot(t, name)
	r.serve(t)
	return r
}

// serve starts the robot's server.
func (r robot) serve(t *testing.T) *process {
	t.Helper()
	_, port, _ := strings.Cut(r.address, ":")
	return start(t, player, "-stage", "room", "-bind", "127.0.0.1", "-gp", port, "-http", r.page)
}

// report is what the robot's server says of itself.
type report struct {
	Stopped bool
	Clients []struct {
		Name    string
		Devices map[string]string
		Rate    float64
	}
}

func (r robot) report(t *testing.T) report {
	t.Helper()
	answer, err := http.Get("http://" + r.page + "/status")
	if err != nil {
		t.Fatal(err)
	}
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
	c, err := client.Dial(t.Context(), r.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := errors.Join(c.SetFrequency(50), c.Request(t.Context(), "pr")); err != nil {
		t.Fatal(err)
	}
	return func() int {
		// What has arrived since the last call is old.
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
func startFleet(t *testing.T, robots []robot, args ...string) (*process, *nats.Conn) {
	t.Helper()
	all := []string{"-fleet", "lab"}
	if !slices.Contains(args, "-nats") {
		all = append(all, "-listen", "127.0.0.1:0", "-dir", t.TempDir())
	}
	for _, r := range robots {
		all = append(all, "-robot", r.name+"="+r.address)
	}
	p := start(t, program, append(all, args...)...)
	conn, err := nats.Connect(p.address(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return p, conn
}

// address returns the address of the NATS server that the program uses.
func (p *process) address(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(p.lines()) {
		var l struct{ Msg, NATS string }
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "serving" {
			return l.NATS
		}
	}
	t.Fatal("the program did not log where NATS is")
	return ""
}

// subscribe subscribes and waits until the server knows.
func subscribe(t *testing.T, conn *nats.Conn, subject string) *nats.Subscription {
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
	wait(t, "bridge", func() bool {
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

// acquire asks for the lease until somebody gets it.
func acquire(t *testing.T, conn *nats.Conn, holder string) (token string) {
	t.Helper()
	wait(t, "lease for "+holder, func() bool {
		r := request(t, conn, lease, "", []byte(holder))
		token = r.Token
		return token != ""
	})
	return token
}

func speed(mm int16) []byte { return codec.PositionCommand{Speed: mm}.Append(nil) }

func TestData(t *testing.T) {
	t.Parallel()
	robots := []robot{startRobot(t, "a"), startRobot(t, "b")}
	_, conn := startFleet(t, robots)

	wild := subscribe(t, conn, "player.lab.*.sonar.0.data")
	seen := map[string]bool{}
	for len(seen) < 2 {
		m := next(t, wild)
		seen[m.Subject] = true
		if len(m.Data) != codec.SonarSize || m.Header.Get(bridge.HeaderSchema) != "player.sonar" ||
			m.Header.Get(bridge.HeaderAge) == "" || m.Header.Get(bridge.HeaderSequence) == "" {
			t.Fatalf("%s: %d bytes, headers %v", m.Subject, len(m.Data), m.Header)
		}
		if at, err := time.Parse(time.RFC3339Nano, m.Header.Get(bridge.HeaderTime)); err != nil || time.Since(at).Abs() > time.Minute {
			t.Fatalf("measured at %v: %v", at, err)
		}
	}
	if !seen["player.lab.a.sonar.0.data"] || !seen["player.lab.b.sonar.0.data"] {
		t.Errorf("data of %v", seen)
	}

	// All devices of one robot, in both forms.
	all := subscribe(t, conn, "player.lab.b.>")
	binaries, texts := map[string][]byte{}, map[string]bool{}
	for len(texts) < 7 {
		m := next(t, all)
		key := m.Header.Get(bridge.HeaderSchema) + " " + m.Header.Get(bridge.HeaderSequence)
		if strings.HasSuffix(m.Subject, "."+bridge.Data) {
			binaries[key] = m.Data
			continue
		}
		payload := binaries[key]
		if payload == nil {
			continue
		}
		var j struct {
			Schema string
			Data   struct{ Ranges []int }
		}
		if err := json.Unmarshal(m.Data, &j); err != nil || !strings.HasPrefix(key, j.Schema+" ") {
			t.Fatalf("%s: %s, %v", m.Subject, m.Data, err)
		}
		texts[j.Schema] = true
		for i, mm := range j.Data.Ranges {
			if want := int(binary.BigEndian.Uint16(payload[2*i:])); mm != want {
				t.Fatalf("%s: range %d is %d in JSON and %d in the payload", m.Subject, i, mm, want)
			}
		}
	}

	status := subscribe(t, conn, "player.lab.*.status")
	wait(t, "status of a robot that is read", func() bool {
		m, err := status.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Robot     string
			Connected bool
			Reading   []string
		}
		if err := json.Unmarshal(m.Data, &s); err != nil {
			t.Fatal(err)
		}
		return s.Robot == "a" && s.Connected && slices.Equal(s.Reading, []string{"sonar"})
	})
}

func TestOnlyWhatSomebodyListensToIsRead(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	reads := func(devices string) func() bool {
		return func() bool {
			clients := a.report(t).Clients
			if devices == "" || len(clients) == 0 {
				return len(clients) == 0 && devices == ""
			}
			var open []string
			for letter, access := range clients[0].Devices {
				if access == "r" {
					open = append(open, letter)
				}
			}
			slices.Sort(open)
			return len(clients) == 1 && strings.Join(open, "") == devices && clients[0].Name == "fleet lab"
		}
	}
	status := subscribe(t, conn, "player.lab.a.status")
	for range 2 { // a round has found nobody
		if _, err := status.NextMsg(patience); err != nil {
			t.Fatal(err)
		}
	}
	if !reads("")() {
		t.Fatalf("nobody listens, and the robot has clients: %+v", a.report(t))
	}
	sonar := subscribe(t, conn, "player.lab.a.sonar.0.data")
	wait(t, "reading of sonar", reads("sy"))
	next(t, sonar)
	laser := subscribe(t, conn, "player.*.*.laser.*.json")
	wait(t, "reading of sonar and laser", reads("lsy"))
	next(t, laser)
	if err := sonar.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	wait(t, "reading of laser", reads("ly"))
	if err := laser.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	wait(t, "end of reading", reads(""))
}

func TestRateOfTheFastest(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	subscribe(t, conn, "player.lab.a.sonar.0.data")
	rate := func(want float64) func() bool {
		return func() bool {
			clients := a.report(t).Clients
			return len(clients) == 1 && clients[0].Rate == want
		}
	}
	wait(t, "default rate", rate(bridge.DefaultRate))
	const subject = "player.lab.a.sonar.0.rate"
	if r := request(t, conn, subject, "", []byte("25")); r.Rate != 25 {
		t.Errorf("asked for 25 Hz: %+v", r)
	}
	if r := request(t, conn, subject, "", []byte("5")); r.Rate != 25 {
		t.Errorf("somebody else asked for 5 Hz: %+v", r)
	}
	wait(t, "rate of 25 Hz", rate(25))
	for _, body := range []string{"", "0", "1001", "fast"} {
		if r := request(t, conn, subject, "", []byte(body)); r.Error == "" {
			t.Errorf("a rate of %q is accepted", body)
		}
	}
	wait(t, "rate of 5 Hz or the default, after the requests have expired", func() bool { return rate(5)() || rate(bridge.DefaultRate)() })
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	for _, c := range []struct {
		iface, payload string
		ok             bool
	}{
		{"position", "R", true},
		{"position", "m\x01", true},
		{"sonar", "m\x01", true}, // of the same microcontroller (PROTOCOL 6.4)
		{"server", "e\x01", true},
		{"server", "f\x00\x01", false},
		{"joystick", "R", false}, // the robot has none
		{"lazer", "R", false},
	} {
		r := request(t, conn, "player.lab.a."+c.iface+".0.config", "", []byte(c.payload))
		if r.OK != c.ok || (r.Error == "") != c.ok {
			t.Errorf("%s %q: %+v", c.iface, c.payload, r)
		}
	}
	if !a.report(t).Stopped {
		t.Error("the emergency stop did not reach the robot")
	}
	request(t, conn, "player.lab.a.server.0.config", "", []byte("e\x00"))
	if a.report(t).Stopped {
		t.Error("the release of the emergency stop did not reach the robot")
	}

	// The odometry of a robot that has driven.
	moved := subscribe(t, conn, "player.lab.a.position.0.json")
	x := func() int {
		var m struct{ Data struct{ X int } }
		if err := json.Unmarshal(next(t, moved).Data, &m); err != nil {
			t.Fatal(err)
		}
		return m.Data.X
	}
	token := acquire(t, conn, "alice")
	wait(t, "movement", func() bool {
		if r := request(t, conn, command, token, speed(200)); !r.OK {
			token = acquire(t, conn, "alice")
		}
		return x() > 50
	})
	request(t, conn, lease, token, []byte("release"))
	request(t, conn, "player.lab.a.position.0.config", "", []byte("R"))
	wait(t, "reset of the odometry", func() bool { return x() < 50 })
}

func TestLease(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	refused := func(what, subject, token, body, holder string) {
		t.Helper()
		r := request(t, conn, subject, token, []byte(body))
		if r.Error == "" || r.OK || r.Token != "" || r.Holder != holder {
			t.Errorf("%s: %+v, want an error and the holder %q", what, r, holder)
		}
	}
	refused("a command without a lease", command, "", string(speed(100)), "")
	refused("a command with a token of nothing", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "")
	refused("release without a token", lease, "", "release", "")
	refused("a holder with a bad name", lease, "", "\n", "")

	first := request(t, conn, lease, "", []byte("alice"))
	if first.Token == "" || first.TTL != 1000 || first.Holder != "alice" {
		t.Fatalf("the lease: %+v", first)
	}
	stop := keep(t, conn, lease, first.Token)
	refused("a second holder", lease, "", "bob", "alice")
	refused("a command without a token", command, "", string(speed(100)), "alice")
	refused("a command with a token made up", command, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", string(speed(100)), "alice")
	refused("a renewal with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "", "alice")
	refused("a release with a token made up", lease, "1-AAAAAAAAAAAAAAAAAAAAAAAAAA", "release", "alice")
	refused("a command of wrong size", command, first.Token, "abc", "alice")
	if r := request(t, conn, command, first.Token, speed(100)); !r.OK {
		t.Errorf("the holder's command: %+v", r)
	}
	if r := request(t, conn, lease, first.Token, nil); r.Token != first.Token || r.Holder != "alice" {
		t.Errorf("a renewal: %+v", r)
	}
	// Another device has its own lease.
	if r := request(t, conn, "player.lab.a.ptz.0.lease", "", []byte("bob")); r.Token == "" {
		t.Errorf("the lease of the camera: %+v", r)
	}
	stop()
	if r := request(t, conn, lease, first.Token, []byte("release")); !r.OK {
		t.Fatalf("the release: %+v", r)
	}
	second := request(t, conn, lease, "", nil)
	if second.Token == "" || second.Token == first.Token {
		t.Fatalf("the next lease: %+v", second)
	}
	defer keep(t, conn, lease, second.Token)()
	refused("a command with an earlier token", command, first.Token, string(speed(100)), second.Holder)
	if clients := a.report(t).Clients; len(clients) == 0 {
		t.Error("a lease is held, and the robot has no client")
	}
}

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

// drive sends commands without waiting for answers until stop is called.
func drive(t *testing.T, conn *nats.Conn, token string) (stop func()) {
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

// A holder that falls silent loses the lease: the robot stops, and the next one gets it.
func TestLeaseExpires(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	measured := a.watch(t)
	stop := drive(t, conn, acquire(t, conn, "alice"))
	wait(t, "movement", func() bool { return measured() > 0 })
	// Commands alone renew the lease, here and in the bucket, for longer than the TTL.
	for begin := time.Now(); time.Since(begin) < 3*bridge.TTL; {
		if r := request(t, conn, lease, "", []byte("bob")); r.Token != "" || r.Holder != "alice" {
			t.Fatalf("while alice commands, bob is answered %+v", r)
		}
		if measured() == 0 {
			t.Fatal("while alice commands, the robot stands")
		}
	}
	stop()
	silent := time.Now()
	wait(t, "stop of the robot", func() bool { return measured() == 0 })
	t.Logf("the robot stood %v after the last command", time.Since(silent).Round(time.Millisecond))
	acquire(t, conn, "bob")
	t.Logf("the next one had the lease %v after it", time.Since(silent).Round(time.Millisecond))
}

func TestSignalStopsTheRobots(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer, err := startServer("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer natsServer.Shutdown()
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	token := acquire(t, conn, "alice")
	defer drive(t, conn, token)()
	wait(t, "movement", func() bool { return measured() > 0 })
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	wait(t, "stop of the robot", func() bool { return measured() == 0 })

	// The lease was given up, so the next bridge gives it to the next one.
	startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	r := request(t, conn, lease, "", []byte("bob"))
	if r.Holder != "bob" {
		t.Errorf("after the end of the bridge, bob is answered %+v", r)
	}
	if r := request(t, conn, command, token, speed(100)); r.OK {
		t.Error("a token of before the end of the bridge is good")
	}
}

// A robot whose server restarts is read and commanded again.
func TestRobotRestarts(t *testing.T) {
	t.Parallel()
	a := newRobot(t, "a")
	_, conn := startFleet(t, []robot{a})
	status := subscribe(t, conn, "player.lab.a.status")
	sonar := subscribe(t, conn, "player.lab.a.sonar.0.data")
	unreachable := func() bool {
		m, err := status.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Connected bool
			Error     string
		}
		if err := json.Unmarshal(m.Data, &s); err != nil {
			t.Fatal(err)
		}
		return !s.Connected && s.Error != ""
	}
	wait(t, "status of a robot that cannot be reached", unreachable)
	if r := request(t, conn, lease, "", []byte("alice")); r.Error == "" || r.Token != "" {
		t.Errorf("the lease of a robot that cannot be reached: %+v", r)
	}
	first := a.serve(t)
	next(t, sonar)
	token := acquire(t, conn, "alice")
	defer keep(t, conn, lease, token)()
	if r := request(t, conn, command, token, speed(100)); !r.OK {
		t.Errorf("a command: %+v", r)
	}
	first.end(t, syscall.SIGKILL)
	wait(t, "status of a robot that has gone", unreachable)
	if r := request(t, conn, command, token, speed(100)); r.Error == "" {
		t.Errorf("a command to a robot that has gone: %+v", r)
	}
	a.serve(t)
	for {
		if _, err := sonar.NextMsg(time.Nanosecond); err != nil {
			break // the data of before is taken
		}
	}
	next(t, sonar)
	wait(t, "command after the restart", func() bool { return request(t, conn, command, token, speed(100)).OK })
}

// Without NATS there are no commands, so the robot stops.
func TestNATSEnds(t *testing.T) {
	t.Parallel()
	a := startRobot(t, "a")
	natsServer, err := startServer("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer natsServer.Shutdown()
	p, conn := startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	measured := a.watch(t)
	defer drive(t, conn, acquire(t, conn, "alice"))()
	wait(t, "movement", func() bool { return measured() > 0 })
	natsServer.Shutdown()
	wait(t, "stop of the robot", func() bool { return measured() == 0 })
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// pair is two bridges that share one robot.
type pair struct {
	both   [2]*process
	status *nats.Subscription
	conn   *nats.Conn
	robot  robot
}

func startPair(t *testing.T) *pair {
	t.Helper()
	a := startRobot(t, "a")
	natsServer, err := startServer("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(natsServer.Shutdown)
	p := &pair{robot: a}
	for i := range p.both {
		p.both[i], p.conn = startFleet(t, []robot{a}, "-nats", natsServer.ClientURL())
	}
	p.status = subscribe(t, p.conn, "player.lab.a.status")
	// The first bridge may have served the robot until the second one came.
	wait(t, "robot that keeps its bridge", func() bool {
		before := p.serving(t)
		return p.serving(t) == before
	})
	return p
}

// serving returns the bridge that serves the robot, by its next status.
func (p *pair) serving(t *testing.T) *process {
	t.Helper()
	m, err := p.status.NextMsg(patience)
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Bridge string }
	if err := json.Unmarshal(m.Data, &s); err != nil {
		t.Fatal(err)
	}
	for _, b := range p.both {
		if s.Bridge != "" && strings.Contains(b.lines(), s.Bridge) {
			return b
		}
	}
	t.Fatalf("the bridge %q is unknown", s.Bridge)
	return nil
}

// Bridges share the robots. When one is killed, another one goes on with its leases.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	conn, measured := p.conn, p.robot.watch(t)
	token := acquire(t, conn, "alice")
	stop := drive(t, conn, token)
	defer stop()
	wait(t, "movement", func() bool { return measured() > 0 })
	killed := p.serving(t)
	killed.end(t, syscall.SIGKILL)
	wait(t, "other bridge that serves the robot", func() bool { return p.serving(t) != killed })
	// alice has commanded all the time, and goes on, unless this machine was so busy
	// that the lease ended first.
	if r := request(t, conn, command, token, speed(100)); !r.OK && r.Error != bridge.ErrNoLease.Error() {
		t.Errorf("after a bridge was killed, alice is answered %+v", r)
	} else if !r.OK {
		t.Log("the lease ended before it was taken over")
		token = acquire(t, conn, "alice")
		stop()
		stop = drive(t, conn, token)
	}
	wait(t, "movement with the other bridge", func() bool { return measured() > 0 })
	if r := request(t, conn, lease, "", []byte("bob")); r.Holder != "alice" || r.Token != "" {
		t.Errorf("while alice drives, bob is answered %+v", r)
	}
	stop()
	wait(t, "stop of the robot", func() bool { return measured() == 0 })
	acquire(t, conn, "bob")
	if r := request(t, conn, command, token, speed(100)); r.OK {
		t.Error("the earlier holder's command is obeyed")
	}
}

// A bridge that hangs keeps its connection, so its robot drives on. The other bridge
// stops it, and the first one disturbs nobody when it goes on.
func TestBridgeHangs(t *testing.T) {
	t.Parallel()
	p := startPair(t)
	conn, measured := p.conn, p.robot.watch(t)
	token := acquire(t, conn, "alice")
	stop := drive(t, conn, token)
	wait(t, "movement", func() bool { return measured() > 0 })
	hung := p.serving(t)
	if err := hung.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer hung.cmd.Process.Signal(syscall.SIGCONT)
	stop()
	silent := time.Now()
	wait(t, "stop of the robot", func() bool { return measured() == 0 })
	t.Logf("the robot stood %v after its bridge hung and its holder was silent", time.Since(silent).Round(time.Millisecond))
	bobs := acquire(t, conn, "bob")
	defer keep(t, conn, lease, bobs)()
	// What alice sent meanwhile waits in the socket of the bridge that hangs.
	for range 10 {
		m := nats.NewMsg(command)
		m.Header.Set(bridge.HeaderLease, token)
		m.Data = speed(100)
		if err := conn.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := hung.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	wait(t, "end of the lease in the bridge that goes on", func() bool { return strings.Contains(hung.lines(), `"a lease ends"`) })
	if v := measured(); v != 0 {
		t.Errorf("the robot drives at %d mm/s by a command of an earlier holder", v)
	}
}

func TestOpenServerIsWarnedAbout(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		p := start(t, program, "-listen", address, "-dir", t.TempDir())
		if got := strings.Contains(p.lines(), "every computer on the network"); got != want {
			t.Errorf("-listen %s: a warning: %t", address, got)
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	out, err := exec.Command(program, "-h").Output()
	if err != nil || string(out) != usage {
		t.Errorf("-h: %v\n%s", err, out)
	}
	fs := newFlags(new(options), new(string))
	for _, line := range strings.Split(usage, "\n") {
		name, ok := strings.CutPrefix(line, "  -")
		if !ok {
			continue
		}
		name = strings.Fields(name)[0]
		if name != "h" && fs.Lookup(name) == nil {
			t.Errorf("-h shows -%s, which does not exist", name)
		}
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "robots")
	if err := os.WriteFile(file, []byte("# comment\na localhost:6665\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-robot", "a"}, "NAME=HOST:PORT"},
		{[]string{"-robot", "a.b=localhost:1"}, "letters"},
		{[]string{"-robot", "a=localhost"}, "HOST:PORT"},
		{[]string{"-robot", "a=localhost:1", "-robot", "a=localhost:2"}, "two robots"},
		{[]string{"-robots", file}, "robots:3: want NAME HOST:PORT"},
		{[]string{"-fleet", "a b"}, "-fleet"},
		{[]string{"-creds", "x"}, "-creds is for -nats"},
		{[]string{"-nats", "tls://localhost:1", "-cert", "x"}, "-cert and -key"},
		{[]string{"-frob"}, "frob"},
		{[]string{"extra"}, "unexpected"},
	} {
		if _, err := parseOptions(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
	cmd := exec.Command(program, "-frob")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("a bad flag: %v", err)
	}
}
