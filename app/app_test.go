package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/sys/unix"

	"player/client"
	"player/codec"
	"player/config"
	"player/devices/stage"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/formats/logfile"
	"player/server"
)

// patience is how long a test waits for an event that should happen at once, on a machine
// that may be busy.
const patience = 30 * time.Second

// room is a world with one robot that has all devices.
const room = "simulation/worlds/room.world"

// TestMain runs the tests in the root of the repository, whose worlds and pages they
// read. It keeps the program from changing the Go runtime of the test's process, which is
// also the guard of the servers that run in it.
func TestMain(m *testing.M) {
	if isGuard(os.Args[0]) {
		guard(os.Stderr)
		return
	}
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	for _, name := range []string{"GOMAXPROCS", "GOGC"} {
		if err := os.Setenv(name, "unchanged"); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// atRoot notes the folder in the log of the test, before files are read: TestMain changed it before
// the log began, and go test would take a cached result although a file has changed.
func atRoot(t *testing.T) {
	t.Helper()
	must.Do(t, os.Chdir("."))
}

// output is a program's standard output or error.
type output struct{ *os.File }

func newOutput(t *testing.T) output {
	t.Helper()
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "output")))(t)
	t.Cleanup(func() { file.Close() })
	return output{file}
}

func (o output) text(t *testing.T) string {
	t.Helper()
	text := must.Get(os.ReadFile(o.Name()))(t)
	return string(text)
}

// runs runs the program until it ends by itself.
func runs(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out bytes.Buffer
	errs := newOutput(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = run(ctx, args, &out, errs.File)
	if ctx.Err() != nil {
		t.Fatalf("player %s does not end: %s", strings.Join(args, " "), errs.text(t))
	}
	return out.String(), errs.text(t), err
}

// running is the program while it serves.
type running struct {
	address string
	lines   chan string // of its log
	stop    func() error
}

// starts runs the server in the background, and stops it when the test ends. The first
// argument may be a subcommand that serves.
func starts(t *testing.T, args ...string) *running {
	t.Helper()
	var command []string
	if len(args) > 0 && args[0] == "replay" {
		command, args = args[:1], args[1:]
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := &running{address: "127.0.0.1:" + port, lines: make(chan string, 1000)}
	go func() {
		err := run(ctx, slices.Concat(command, []string{"-bind", "127.0.0.1", "-gp", port}, args), io.Discard, write)
		write.Close()
		ended <- err
	}()
	go func() {
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
		read.Close()
		close(s.lines)
	}()
	s.stop = func() error {
		cancel()
		select {
		case err := <-ended:
			ended <- err // for the next stop
			return err
		case <-time.After(patience):
			return errors.New("the server does not stop")
		}
	}
	t.Cleanup(func() { _ = s.stop() })
	return s
}

// dial connects a client until the test ends.
func (s *running) dial(t *testing.T) *client.Client {
	t.Helper()
	robot := must.Get(client.Dial(t.Context(), s.address))(t)
	t.Cleanup(func() { robot.Close() })
	return robot
}

// line waits for a line of the log with one of these parts.
func (s *running) line(t *testing.T, parts ...string) string {
	t.Helper()
	limit := time.After(patience)
	var seen []string
	for {
		select {
		case line, ok := <-s.lines:
			if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) }) {
				return line
			}
			if seen = append(seen, line); !ok {
				t.Fatalf("the log ends without %q: %s\n%v", parts, strings.Join(seen, "\n"), s.stop())
			}
		case <-limit:
			t.Fatalf("the log has no line with %q: %s", parts, strings.Join(seen, "\n"))
		}
	}
}

// freePort returns a port that nothing listens on and no other test gets.
func freePort(t *testing.T) string {
	t.Helper()
	return strconv.Itoa(ports.Free(t, 1))
}

// write writes a file of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestPrints(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-h"}, "usage: player [flags] [FILE]"},
		{[]string{"-version"}, ", protocol 0.7.4a, go"},
		{[]string{"-stage", "list"}, "room                   A room of 8 m by 6 m with one robot"},
		{[]string{"list"}, "\np2os: "[1:]},
		{[]string{"check", "config/examples/testpattern.cfg"}, "config/examples/testpattern.cfg:4"},
		{[]string{"check", "-stage", room, "-reflex"}, "position:0  reflex    (from -reflex):1"},
		{[]string{"check", "-stage", room, "-goto"}, "goto:0      goto      (from -goto):1"},
		{[]string{"check", "-stage", room, "-deadman", "300", "-reflex"}, "position:0  reflex    (from -reflex):1"},
		{[]string{"check", "-stage", room, "-deadman", "300"}, "not repeat within 300 ms ends (-deadman)"},
	} {
		stdout, stderr, err := runs(t, tt.args...)
		if err != nil || !strings.Contains(stdout, tt.want) {
			t.Errorf("player %s: %v, prints %s\nwant %s", strings.Join(tt.args, " "), err, stdout, tt.want)
		}
		if strings.Contains(stderr, "error") {
			t.Errorf("player %s: %s", strings.Join(tt.args, " "), stderr)
		}
	}
}

// full is an output on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestPrintsOnAFullDisk(t *testing.T) {
	for _, args := range []string{"-h", "-version", "-stage=list"} {
		if err := run(t.Context(), []string{args}, full{}, newOutput(t).File); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("player %s: error %v", args, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-bogus"}, "flag provided but not defined: -bogus (player -h shows all flags)"},
		{[]string{"-gp", "x"}, `invalid value "x" for flag -gp: it is a whole number (player -h shows all flags)`},
		{[]string{"-stage", room, "-http", "8080"}, `-http: "8080" is not HOST:PORT`},
		{[]string{"record", "localhost", "-for", "5"}, "for flag -for: it is a time with its unit, as 500ms, 5s or 2m (player record -h shows all flags)"},
		{[]string{"replay", "-speed", "fast", "x"}, "for flag -speed: it is a number (player replay -h shows all flags)"},
		{[]string{"replay", "nowhere.mcap"}, "nowhere.mcap: no such file or directory"},
		{[]string{"list", "x"}, `unexpected argument "x" (player list -h shows all flags)`},
		{[]string{write(t, "run.mcap", "\x89MCAP0\r\n\x01")}, "run.mcap is a log: player replay "},
		{[]string{"nowhere.cfg"}, "nowhere.cfg: no such file"},
		{[]string{write(t, "bad.cfg", `driver ( name "p2so" )`)}, `unknown driver "p2so"; did you mean "p2os"?`},
		{[]string{write(t, "old.cfg", `driver ( name "deadman" provides ["position:0"] requires ["position:1"] timeout 500 )`)}, "deadman is no driver any more: remove this block"},
		{[]string{"-truth", "x.csv"}, "-run and -truth need a simulated world: add -stage WORLD"},
		{[]string{"-run"}, "-run and -truth need a simulated world: add -stage WORLD"},
		{[]string{"-stage", room, "-truth", "nowhere/x.csv"}, "-truth: open nowhere/x.csv: no such file"},
		{[]string{"-stage", room, "-http", taken.Addr().String()}, "-http: listen tcp " + taken.Addr().String()},
		{[]string{"-stage", room, "-http", "off", "-foxglove", taken.Addr().String()}, "-foxglove: listen tcp " + taken.Addr().String()},
		{[]string{"-bind", "127.0.0.1", "-gp", port}, port + ": address already in use"},
		{[]string{"-bind", "127.0.0.1", "-gp", "8080", "-http", "localhost:8080"}, "the robot on port 8080 (-gp) and the dashboard (-http) have one address, localhost:8080: choose another for one of them"},
		{[]string{"-http", ":7000", "-foxglove", "127.0.0.1:7000"}, "the dashboard (-http) and the server for viewers (-foxglove) have one address"},
		{[]string{"check", "-tls", ":7665", "-tls-cert", "x", "-tls-key", "x", "-http", "127.0.0.1:7665"}, "TLS of the robot on port 6665 (-tls, or tls in the file) and the dashboard (-http) have one address"},
		{[]string{"-foxglove", "[::]:7001", write(t, "two.cfg", `driver ( name "testpattern" provides ["laser:0"] ) driver ( name "testpattern" provides ["7001:laser:0"] )`)},
			"the robot on port 7001 and the server for viewers (-foxglove) have one address"},
		{[]string{"prnt", "localhost"}, "prnt: no such file, and no command of that name; did you mean player print?"},
		{[]string{"foo"}, "foo: no such file, and no command of that name; player -h shows the commands"},
		{[]string{"-gp", "7000", "chek"}, "did you mean player check?"},
		{[]string{"check", "nope.cfg"}, "open nope.cfg: no such file"},
		{[]string{"export", "nowhere.mcap"}, "nowhere.mcap: no such file"},
		{[]string{"-reflex", write(t, "blind.cfg", `driver ( name "testpattern" provides ["laser:0"] )`)}, "-reflex: the robot on port 6665 has no position device"},
		{[]string{"-goto", write(t, "blind.cfg", `driver ( name "testpattern" provides ["position:0" "ptz:0"] )`)},
			"-goto: the robot on port 6665 cannot have goto: it needs something to see with"},
		{[]string{"-reflex", write(t, "blind.cfg", `driver ( name "testpattern" provides ["position:0" "ptz:0"] )`)},
			"-reflex: the robot on port 6665 cannot have reflex: it needs something to see with"},
		{[]string{"-stage", room, "-deadman", "5"}, "-deadman 5: a time is 10 to 60000 ms"},
	} {
		_, _, err := runs(t, tt.args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("player %s: error %v\nwant %s", strings.Join(tt.args, " "), err, tt.want)
		}
		if code := exitCode(err, io.Discard); code != exitUsage {
			t.Errorf("player %s: exit code %d", strings.Join(tt.args, " "), code)
		}
	}
}

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		err     error
		code    int
		message string
	}{
		{nil, 0, ""},
		{errors.New("a flag"), exitUsage, "player: a flag\n"},
		{fmt.Errorf("%w: epoll", errFailed), exitFailure, "player: the server failed: epoll\n"},
	} {
		var stderr bytes.Buffer
		if code := exitCode(tt.err, &stderr); code != tt.code || stderr.String() != tt.message {
			t.Errorf("%v: exit code %d and %q", tt.err, code, stderr.String())
		}
	}
}

// The whole program: a simulated robot with reflexes, its dashboard, and an
// orderly end.
func TestServes(t *testing.T) {
	truth := filepath.Join(t.TempDir(), "truth.csv")
	s := starts(t, "-stage", room, "-reflex", "-http", "127.0.0.1:0", "-truth", truth)
	if line := s.line(t, `"`+server.LogServing+`"`); !strings.Contains(line, s.address) {
		t.Error(line)
	}
	page := s.line(t, `"url"`)
	_, page, _ = strings.Cut(page, `"url":"`)
	page, _, _ = strings.Cut(page, `"`)
	reply := must.Get(http.Get(page + "/robots"))(t)
	defer reply.Body.Close()
	robots, err := io.ReadAll(reply.Body)
	if err != nil || !strings.Contains(string(robots), s.address) || !strings.Contains(string(robots), `"mover":0`) {
		t.Errorf("the dashboard's robots: %s, %v", robots, err)
	}
	robot := s.dial(t)
	must.Do(t, robot.Request(t.Context(), "prlr"))
	must.Do(t, s.stop())
	if text, err := os.ReadFile(truth); err != nil || !strings.HasPrefix(string(text), "time_s,robot,") || strings.Count(string(text), "\n") < 2 {
		t.Errorf("the truth: %s, %v", text, err)
	}
}

// A world ends the server at its quit_time, although no client is connected.
func TestQuitTime(t *testing.T) {
	include := must.Get(filepath.Abs("simulation/worlds/pioneer.inc"))(t)
	world := write(t, "short.world", fmt.Sprintf("include %q\nquit_time 1\nspeedup 0\npioneer2dx ( pose [0 0 0 0] )", include))
	args := []string{"-bind", "127.0.0.1", "-gp", freePort(t), "-stage", world, "-http", "off"}
	_, log, err := runs(t, append(args, "-run")...)
	if err != nil || !strings.Contains(log, "the simulation has reached its quit_time") {
		t.Errorf("%v: %s", err, log)
	}
	_, _, err = runs(t, append(args, "-truth", "/dev/full")...)
	if err == nil || !strings.Contains(err.Error(), "truth file /dev/full: ") || exitCode(err, io.Discard) != exitFailure {
		t.Errorf("the truth on a full disk: %v", err)
	}
}

// A truth that cannot be written is logged when that happens, and not only at the end.
func TestTruthOnAFullDisk(t *testing.T) {
	include := must.Get(filepath.Abs("simulation/worlds/pioneer.inc"))(t)
	s := starts(t, "-stage", write(t, "fast.world", fmt.Sprintf("include %q\nspeedup 0\npioneer2dx ( pose [0 0 0 0] )", include)), "-http", "off", "-truth", "/dev/full")
	if line := s.line(t, "no space left"); !strings.Contains(line, `"level":"error"`) || !strings.Contains(line, "the truth") {
		t.Error(line)
	}
	if err := s.stop(); err == nil || !strings.Contains(err.Error(), "truth file /dev/full: ") {
		t.Error(err)
	}
}

// Something else may have the default address of the dashboard: the robot is served.
func TestDefaultDashboardTaken(t *testing.T) {
	needs.DefaultPort(t)
	for limit := time.Now().Add(patience); ; {
		taken, err := net.Listen("tcp", defaultDashboard)
		if err == nil {
			defer taken.Close()
		} else if !errors.Is(err, unix.EADDRINUSE) { // by another program of this computer, which is as good
			t.Fatal(err)
		}
		s := starts(t, "-stage", room)
		offered := s.line(t, LogNoDashboard, `"url":`)
		s.line(t, `"`+server.LogServing+`"`)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if strings.Contains(offered, LogNoDashboard) {
			return
		}
		if err == nil || time.Now().After(limit) { // otherwise that program may have ended meanwhile
			t.Fatalf("the server logs %s", offered)
		}
	}
}

// A robot of a world may have the default address of the dashboard: it is served, without
// a dashboard. One that has the address of -http is refused.
func TestWorldTakesTheDashboard(t *testing.T) {
	port := freePort(t)
	world := write(t, "two.world", "position ( pose [0 0 0] ) position ( pose [3 0 0] port "+port+" )")
	_, _, err := runs(t, "-bind", "127.0.0.1", "-stage", world, "-http", "127.0.0.1:"+port)
	want := "the robot on port " + port + " and the dashboard (-http) have one address, 127.0.0.1:" + port
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	o := options{port: 1, bind: "127.0.0.1"}
	conf := &config.Server{Robots: []config.Robot{{Port: 8080}}}
	log, lines := observer.New(zap.WarnLevel)
	dash, err := openDashboard(o, conf, &simulation{world: &stage.World{}}, &cameras{}, zap.New(log))
	if dash != nil || err != nil || lines.Len() != 1 || !strings.Contains(lines.All()[0].ContextMap()["error"].(string), "have one address") {
		t.Errorf("%v, %v, %v", dash, err, lines.All())
	}
}

// A log is exported as files and as a stream, even if its end is missing, repaired, and
// served.
func TestExport(t *testing.T) {
	file := newOutput(t)
	w := must.Get(logfile.NewWriter(file, logfile.Info{Start: time.Unix(0, 0), Channels: []logfile.Channel{{Interface: "position", Content: logfile.Data}}}))(t)
	var b logfile.Batch
	b.Add(0, time.Second, new(codec.PositionData).Append(nil))
	must.Do(t, w.WriteChunk(&b))
	stdout, stderr, err := runs(t, "export", file.Name())
	if err != nil || !strings.HasPrefix(stdout, "device,time_s,") || !strings.Contains(stderr, logfile.ErrCut.Error()) {
		t.Errorf("a log that was not closed: %s%s, %v", stdout, stderr, err)
	}
	cut := newOutput(t)
	must.Get(cut.WriteString(file.text(t)))(t)
	damaged := newOutput(t)
	must.Get(damaged.WriteString(file.text(t)))(t)
	for _, want := range []string{`"whole":false,"messages":1,"damage":"` + logfile.ErrCut.Error(), `"whole":true}`} {
		if stdout, _, err := runs(t, "repair", "-json", damaged.Name()); err != nil || !strings.HasPrefix(stdout, fmt.Sprintf(`{"log":%q,`, damaged.Name())+want) {
			t.Errorf("repaired: %s, %v; want %s", stdout, err, want)
		}
	}
	for _, want := range []string{": 1 messages are left; " + logfile.ErrCut.Error(), ": whole, nothing was done"} {
		if stdout, stderr, err := runs(t, "repair", cut.Name()); err != nil || stderr != "" || !strings.HasPrefix(stdout, cut.Name()+want) {
			t.Errorf("repaired: %s%s, %v; want %q", stdout, stderr, err, want)
		}
	}
	must.Do(t, w.Close())
	directory := t.TempDir()
	stdout, stderr, err = runs(t, "export", file.Name(), directory)
	if csv := filepath.Join(directory, "position.csv"); err != nil || stdout != csv+"\n" || stderr != "" {
		t.Errorf("exported %s%s, %v, want %s", stdout, stderr, err, csv)
	}
	drawn := filepath.Join(directory, "drawn.mcap")
	if stdout, stderr, err = runs(t, "export", file.Name(), drawn); err != nil || stdout != drawn+"\n" || stderr != "" {
		t.Errorf("exported %s%s, %v, want %s", stdout, stderr, err, drawn)
	}
	if text, err := os.ReadFile(drawn); err != nil || !strings.HasPrefix(string(text), "\x89MCAP0") {
		t.Errorf("%.20q, %v", text, err)
	}
	// The name of a file in the folder is too long: the folder is not left behind.
	parent := t.TempDir()
	_, _, err = runs(t, "export", "-ros", file.Name(), filepath.Join(parent, "deep", strings.Repeat("x", 250)))
	if left, _ := os.ReadDir(parent); err == nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
	s := starts(t, "replay", "-speed", "2", "-loop", file.Name())
	s.line(t, `"`+server.LogServing+`"`)
	robot := s.dial(t)
	if err := robot.Request(t.Context(), "pr"); err != nil {
		t.Errorf("the position of the log: %v", err)
	}
}

// A robot with real motors that any computer can drive is worth a warning.
func TestWarnsOfOpenMotors(t *testing.T) {
	s := starts(t, "-bind", "0.0.0.0") // the last -bind counts
	s.line(t, "every computer on the network can drive this robot")
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

// The server links no library for tests. The mcap module imports one, and belongs to
// the tests itself.
func TestLinksNoTestLibrary(t *testing.T) {
	needs.Programs(t)
	out := must.Get(exec.Command("go", "list", "-deps", ".").Output())(t)
	for name := range strings.FieldsSeq(string(out)) {
		if name == "testing" || strings.Contains(name, "testify") || strings.Contains(name, "mcap") {
			t.Errorf("the server links %s", name)
		}
	}
}

// An error may have text that a peer has sent.
func TestErrorsAreLegible(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	exitCode(errors.Join(errors.New("robot \x1b]0;title\x07"), errors.New("\ttoo \u202eno")), &shown)
	if want := "player: robot \\x1b]0;title\\x07\n\ttoo \\u202eno\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
}
