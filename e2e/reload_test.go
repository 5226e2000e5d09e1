package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/app"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/terminals"
	"player/e2e/waiting"
	product "player/server"
	robot "player/simulation/emulator/p2os"
)

// reloadable is a server that reads its file again.
type reloadable struct {
	*server
	file string
}

// startFile starts a server as a service, with a file of the given text.
func startFile(t *testing.T, l launch, text string, flags ...string) *reloadable {
	t.Helper()
	l.alone = true
	file := write(t, t.TempDir(), "robot.cfg", text)
	return &reloadable{server: l.start(t, append(flags, file)...), file: file}
}

// ask writes the file and sends SIGHUP. It waits for a line about it.
func (s *reloadable) ask(t *testing.T, text, line string) {
	t.Helper()
	write(t, filepath.Dir(s.file), filepath.Base(s.file), text)
	before := strings.Count(s.Output.String(), line)
	s.Signal(t, syscall.SIGHUP)
	waiting.Until(t, line, func() bool { return strings.Count(s.Output.String(), line) > before })
}

func (s *reloadable) reload(t *testing.T, text string) {
	t.Helper()
	s.ask(t, text, app.LogReloaded)
}

// other returns a client of another robot of the server.
func (s *reloadable) other(t *testing.T, port int) *peer {
	t.Helper()
	return (&server{address: fmt.Sprintf("127.0.0.1:%d", port)}).dial(t)
}

// A reload changes one robot. The client that drives the other one gets its frames, the
// hardware is not opened again, and its odometry goes on.
func TestReloadDisturbsNobody(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	other := ports.Free(t, 1)
	wheels := fmt.Sprintf("driver ( name \"p2os\" port %q )\n", r.Port())
	// This program ends long after it was asked to.
	slow := write(t, t.TempDir(), "slow.sh", "#!/bin/sh\ntrap '' TERM\nprintf 'g\\0\\002aa'\nexec sleep 60\n")
	plugin := fmt.Sprintf("driver ( name \"slow\" plugin %q provides [\"%d:gripper:0\"] )\n", slow, other)
	s := startFile(t, launch{}, wheels+plugin)
	p := s.dial(t)
	p.mustOpen("yrpagr", "yrpagr")
	p.drivesOff(r)
	q := s.other(t, other)
	q.mustOpen("gr", "gr")
	syncs, opens := r.State().Counts["SYNC0"], r.State().Counts["OPEN"]

	last := p.freshness().Time
	s.ask(t, "# nothing but the text\n"+wheels+plugin, app.LogReloaded)
	q.request("gr") // its robot has not changed
	write(t, filepath.Dir(s.file), filepath.Base(s.file), wheels+fmt.Sprintf("driver ( name \"testpattern\" provides [\"%d:laser:0\"] )\n", other))
	s.Signal(t, syscall.SIGHUP)
	from := r.State().World.X
	p.drives("frames until the reload is done, and another metre", 300, 0, func() bool {
		now := p.freshness().Time
		// A server that waited for the program would send no frame for the 1.5 s that a driver has to stop.
		if gap := time.Duration(now-last) * time.Microsecond; gap > 1400*time.Millisecond {
			t.Fatalf("no frame for %v", gap)
		}
		last = now
		return strings.Count(s.Output.String(), app.LogReloaded) == 2 && r.State().World.X > from+1000
	})
	q.closed()
	s.other(t, other).mustOpen("lr", "lr")
	if state := r.State(); state.Counts["SYNC0"] != syncs || state.Counts["OPEN"] != opens || state.Counts["CLOSE"] > 1 || state.WatchdogTrips != 0 {
		t.Errorf("the robot was opened again: %+v", state)
	}
	p.drive(0, 0)
	p.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
	checkOdometry(t, p, r)
}

// A file with mistakes changes nothing. All of them are in the log.
func TestReloadMistakes(t *testing.T) {
	t.Parallel()
	const text = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{}, text)
	p := s.dial(t)
	p.mustOpen("lr", "lr")
	s.ask(t, "driver ( name \"testpatern\" )\naccess ( allow \"drive\" from \"10.0.0.1\" )\n", app.LogMistakes)
	for _, want := range []string{`robot.cfg:1:`, `testpatern`, `robot.cfg:2:16`, `drive`, `"mistakes":2`} {
		if !s.Printed(want) {
			t.Errorf("the log lacks %s: %s", want, s.Output)
		}
	}
	must.Do(t, os.Remove(s.file))
	s.Signal(t, syscall.SIGHUP)
	s.Await(t, "no such file")
	p.frame(3)
	s.dial(t).mustOpen("lr", "lr")
	s.reload(t, text)
	p.frame(3)
}

// Signals that come faster than they are served: the newest file counts.
func TestReloadsInARow(t *testing.T) {
	t.Parallel()
	port := ports.Free(t, 1)
	const one = `driver ( name "testpattern" provides ["laser:0"] )`
	two := one + fmt.Sprintf(` driver ( name "testpattern" provides ["%d:sonar:0"] )`, port)
	s := startFile(t, launch{}, one)
	p := s.dial(t)
	p.mustOpen("lr", "lr")
	for i := range 100 {
		write(t, filepath.Dir(s.file), filepath.Base(s.file), []string{one, two}[i%2])
		s.Signal(t, syscall.SIGHUP)
	}
	waiting.Until(t, "the robot of the newest file", func() bool { return !isFree(port) })
	s.other(t, port).mustOpen("sr", "sr")
	p.frame(3)
}

// A port that cannot be listened on is reported, and the rest goes on. A later reload
// tries it again.
func TestReloadPortTaken(t *testing.T) {
	t.Parallel()
	taken := must.Get(net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))))(t)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	const one = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{}, one)
	p := s.dial(t)
	p.mustOpen("lr", "lr")
	two := one + fmt.Sprintf(` driver ( name "testpattern" provides ["%d:sonar:0"] ) driver ( name "testpattern" provides ["sonar:0"] )`, port)
	s.reload(t, two)
	if !s.Printed(product.LogNotServed) || !s.Printed("already in use") {
		t.Error("nothing is logged about the port")
	}
	s.dial(t).mustOpen("sr", "sr")
	taken.Close()
	s.reload(t, two)
	s.other(t, port).mustOpen("sr", "sr")
	p.frame(3)
	s.reload(t, one)
	waiting.Until(t, "a closed port", func() bool { return isFree(port) })
	p.frame(3)
}

// A robot on an address of this very program is refused, and says whose it is.
func TestReloadTakesTheDashboard(t *testing.T) {
	t.Parallel()
	page := ports.Free(t, 1)
	const text = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{}, text, "-http", fmt.Sprintf("127.0.0.1:%d", page))
	s.ask(t, text+fmt.Sprintf(` driver ( name "testpattern" provides ["%d:laser:0"] )`, page), app.LogMistakes)
	want := regexp.MustCompile(fmt.Sprintf(`"level":"error".*\b%d\b.*\(-http\)`, page))
	if !want.MatchString(s.Output.String()) {
		t.Errorf("the log lacks %s: %s", want, s.Output)
	}
}

// A world goes on unless one of its files has changed.
func TestReloadWorld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const robots = "include \"pioneer.inc\"\ninclude \"extra.inc\"\npioneer_full ( pose [-1 0 0 0] )\n"
	write(t, dir, "own.world", robots)
	write(t, dir, "extra.inc", "# nothing\n")
	text := fmt.Sprintf(`driver ( name "stage" world %q )`, filepath.Join(dir, "own.world"))
	truth := filepath.Join(dir, "truth.csv")
	s := startFile(t, launch{}, text, "-truth", truth)
	p := s.dial(t)
	p.mustOpen("pa", "pa")
	p.drives("motion", 200, 0, func() bool { return p.position().X > 200 })
	s.reload(t, text+fmt.Sprintf(` driver ( name "testpattern" provides ["%d:laser:0"] )`, ports.Free(t, 1)))
	if x := p.position().X; x < 200 {
		t.Errorf("the world began again: %d", x)
	}
	write(t, dir, "extra.inc", "model ( size [1 1 1] pose [3 3 0 0] )\n")
	s.reload(t, text)
	p.closed()
	q := s.dial(t)
	q.mustOpen("pa", "pa")
	if x := q.position().X; x != 0 {
		t.Errorf("the world did not begin again: %d", x)
	}
	q.drives("motion", 200, 0, func() bool { return q.position().X > 100 })
	s.stop(t)
	rows := must.Get(os.ReadFile(truth))(t)
	if n := strings.Count(string(rows), "time_s,"); n != 2 {
		t.Errorf("%d headers in the truth, want one for each world", n)
	}
}

// The dashboard shows the robots that there are now, and keeps its port.
func TestReloadDashboard(t *testing.T) {
	t.Parallel()
	port := ports.Free(t, 1)
	page := fmt.Sprintf("http://127.0.0.1:%d/", port)
	const one = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{}, one, "-http", strings.Trim(strings.TrimPrefix(page, "http://"), "/"))
	s.reload(t, one+` dashboard ( robots ["10.9.8.7:6665"] )`)
	if code, text := fetch(t, "GET", page+"robots"); code != 200 || !strings.Contains(text, "10.9.8.7:6665") {
		t.Errorf("%d %s", code, text)
	}
	s.reload(t, one+` access ( allow "write" from "127.0.0.1" )`)
	if code, _ := fetch(t, "GET", page+"robots"); code != 403 {
		t.Errorf("a visitor without rights gets %d", code)
	}
	s.reload(t, one)
	if code, text := fetch(t, "GET", page+"robots"); code != 200 || strings.Contains(text, "10.9.8.7:6665") {
		t.Errorf("%d %s", code, text)
	}
	if n := len(status(t, page).Robots); n != 1 {
		t.Errorf("%d robots", n)
	}
}

// inTerminal returns a launch of servers with a controlling terminal.
func inTerminal(t *testing.T) (l launch, terminal *os.File) {
	t.Helper()
	terminal, program := terminals.OpenBoth(t)
	defer program.Close()
	// The shell makes it its terminal by opening it.
	return launch{alone: true, via: []string{"sh", "-c", `exec "$0" "$@" <` + program.Name()}}, terminal
}

// The meaning of SIGHUP is decided when the server starts: nothing under nohup, the end of
// the terminal if there is one.
func TestReloadOrEnd(t *testing.T) {
	t.Parallel()
	const text = `driver ( name "testpattern" provides ["laser:0"] )`
	t.Run("nohup", func(t *testing.T) {
		t.Parallel()
		s := startFile(t, launch{via: []string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}}, text)
		p := s.dial(t)
		p.mustOpen("lr", "lr")
		s.Signal(t, syscall.SIGHUP)
		p.frame(3)
		if s.Printed(app.LogReloaded) {
			t.Error("an ignored signal reloads")
		}
	})
	t.Run("terminal", func(t *testing.T) {
		t.Parallel()
		l, terminal := inTerminal(t)
		s := startFile(t, l, text)
		p := s.dial(t)
		p.mustOpen("lr", "lr")
		terminal.Close()
		p.closed()
		s.ended(t)
	})
}

// The service manager learns when the configuration is read, and that it is refused.
func TestReloadNotifies(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	conn := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"}))(t)
	defer conn.Close()
	next := func() string {
		buffer := make([]byte, 4096)
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		n := must.Get(conn.Read(buffer))(t)
		return string(buffer[:n])
	}
	const text = `driver ( name "testpattern" provides ["laser:0"] )`
	s := startFile(t, launch{env: []string{"NOTIFY_SOCKET=" + socket}}, text)
	begin := next()
	s.reload(t, text)
	if got := next(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("%q", got)
	}
	if got := next(); got != begin || !strings.HasPrefix(got, "READY=1\nSTATUS=") {
		t.Errorf("%q, at the start %q", got, begin)
	}
	s.ask(t, "driver ( )", app.LogMistakes)
	next()
	if got := next(); !strings.HasPrefix(got, begin) || got == begin {
		t.Errorf("%q after a reload that was refused, %q before", got, begin)
	}
}

// After a hundred reloads that change everything they can, a server has as many
// descriptors and goroutines as after the first.
func TestReloadLeavesNothing(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	other := ports.Free(t, 1)
	texts := [2]string{}
	for i := range texts {
		texts[i] = fmt.Sprintf(`driver ( name "p2os" port %q )
			driver ( name "stage" world "room" provides ["%d:position:0"] )
			driver ( name "testpattern" provides ["laser:0"] alwayson %d )
			driver ( name "writelog" requires ["laser:0"] file "run.mcap" files 1 )
			dashboard ( robots ["10.9.8.%d:6665"] )`, r.Port(), other, i, i+1)
	}
	texts[1] += fmt.Sprintf(` driver ( name "testpattern" provides ["%d:laser:0"] )`, ports.Free(t, 1))
	s := startFile(t, launch{}, texts[0], "-http", fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1)))
	p := s.dial(t)
	p.mustOpen("pagr", "pagr")
	p.drivesOff(r)
	fds := func() int {
		entries := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Cmd.Process.Pid)))(t)
		return len(entries)
	}
	cycle := func() {
		s.reload(t, texts[1])
		p.drive(300, 0)
		s.reload(t, texts[0])
		p.drive(300, 0)
	}
	cycle()
	before := fds()
	for range 49 {
		cycle()
	}
	waiting.Until(t, "no more descriptors than before", func() bool { return fds() <= before })
	if state := r.State(); state.Counts["OPEN"] > 2 || state.WantLeft == 0 {
		t.Errorf("the robot was disturbed: %+v", state)
	}
	p.frame(3)
	s.Signal(t, unix.SIGQUIT) // it prints all goroutines
	<-s.Ended
	if n := strings.Count(s.Output.String(), "\ngoroutine "); n > 25 {
		t.Errorf("%d goroutines", n)
	}
}
