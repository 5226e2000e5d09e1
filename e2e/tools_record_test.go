package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/devices/readlog"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/terminals"
	"player/e2e/waiting"
	"player/formats/logfile"
	product "player/server"
)

// The messages that player record has written of a run are in the server's own log, with the
// same times, and player replay serves it.
func TestRecordTool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, write(t, dir, "robot.cfg", `
		driver ( name "testpattern" rate 50 provides ["position:0" "sonar:0"] )
		driver ( name "writelog" file "theirs.mcap" open 1 requires ["position:0" "sonar:0"] )`))
	ours, theirs := filepath.Join(dir, "ours.mcap"), filepath.Join(dir, "theirs.mcap")
	c := startTool(t, nil, "record", s.address, "-o", ours)
	waiting.Until(t, "a log", func() bool { return hasLogged(t, ours, 50) })
	c.Signal(t, syscall.SIGINT)
	if code := c.Code(t); code != 0 || !strings.Contains(c.errors.String(), " sonar, position in "+ours) {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	s.stop(t)
	recorded, damage := readLog(t, ours)
	if damage != nil || !strings.Contains(c.errors.String(), fmt.Sprintf("\n%d ", len(recorded))) {
		t.Errorf("%v, %d messages, %s", damage, len(recorded), c.errors)
	}
	at := times(t, theirs)
	var shift time.Duration
	for i, m := range times(t, ours).order {
		theirs, known := at.of[m.key]
		if !known {
			t.Fatalf("message %d, %s, is not in the server's log", i, m.key)
		}
		difference := time.Duration(m.at - theirs)
		if i == 0 {
			shift = difference // of the two clocks at the starts
		}
		if d := difference - shift; d < -50*time.Microsecond || d > 50*time.Microsecond {
			t.Errorf("message %d has another time by %v than message 0", i, d)
		}
	}

	code, _, errs := uses(t, "record", start(t, "-stage", room).address, "pr", "-o", ours)
	if code != 2 || !strings.Contains(errs, ours) {
		t.Errorf("an existing log: exit %d, %s", code, errs)
	}

	code, out, errs := uses(t, "record", "-json", "-for", "300ms", start(t, "-stage", room).address, "pr", "-o", filepath.Join(dir, "short.mcap"))
	if want := `{"file":"` + filepath.Join(dir, "short.mcap") + `","messages":`; code != 0 || !strings.HasPrefix(out, want) || strings.Contains(errs, "messages in") {
		t.Errorf("for a program: exit %d, %s%s, want %s", code, out, errs, want)
	}

	port := ports.Free(t, 1)
	r := startTool(t, nil, "replay", "-bind", "127.0.0.1", "-gp", fmt.Sprint(port), "-speed", "10", ours)
	waiting.Until(t, "serving", func() bool { return strings.Contains(r.errors.String(), product.LogServing) })
	p := (&server{address: fmt.Sprintf("127.0.0.1:%d", port)}).dial(t)
	if reply := p.request("prsrlr"); reply != "prsrle" {
		t.Errorf("reply %q", reply)
	}
	waiting.Until(t, "the end of the log", func() bool { return strings.Contains(r.errors.String(), readlog.LogEnd) })
	if got := fmt.Sprintf("/sonar %x", p.payload('s')); !slices.Contains(recorded, got) {
		t.Errorf("replayed %s, which was not recorded", got)
	}
	r.Signal(t, syscall.SIGTERM)
	if code := r.Code(t); code != 0 {
		t.Errorf("exit %d, %s", code, r.errors)
	}
}

// message is a message of a log, and when it was recorded, ns since 1970.
type message struct {
	key string
	at  int64
}

// messages are the messages of a log that come once.
type messages struct {
	order []message
	of    map[string]int64
}

// times returns the messages of a log whose payload comes once, with their times.
func times(t *testing.T, path string) messages {
	t.Helper()
	r := must.Get(logfile.Open(path))(t)
	defer r.Close()
	m := messages{of: map[string]int64{}}
	for {
		next, err := r.Next()
		if err != nil {
			return m
		}
		if next.Channel.Content == logfile.Data && next.Channel.Interface == "position" { // its time makes it unique
			key := fmt.Sprintf("%x", next.Payload)
			m.of[key] = next.Time
			m.order = append(m.order, message{key, next.Time})
		}
	}
}

// A lost server ends a recording, which has the data from before.
func TestRecordLost(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	path := filepath.Join(t.TempDir(), "run.mcap")
	c := startTool(t, nil, "record", s.address, "prsr", "-o", path)
	waiting.Until(t, "a log", func() bool { return hasLogged(t, path, 20) })
	s.kill(t)
	if code := c.Code(t); code != 1 || !strings.Contains(c.errors.String(), "\nplayer: ") {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	if recorded, damage := readLog(t, path); damage != nil || len(recorded) < 20 {
		t.Errorf("%d messages, %v", len(recorded), damage)
	}
}

func TestRecordMistakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := write(t, dir, "text", "this is no log")
	for _, tt := range []struct{ args, want string }{
		{"record localhost", "needs a host and a file"},
		{"record -o run.mcap", "needs a host and a file"},
		{"record localhost pw -o run.mcap", `"pw"`},
		{"record -for -1s localhost -o x", "-for -1s"},
		{fmt.Sprintf("record 127.0.0.1:%d -o run.mcap", ports.Free(t, 1)), "connection refused"},
		{"replay", "player: replay "},
		{"replay " + dir + "/none.mcap", "no such file"},
		{"replay " + text, "not a log"},
		{"replay -speed 1000 " + text, "-speed"},
		{"replay -pp /dev/null " + text, "-pp"},
	} {
		code, _, errs := uses(t, strings.Fields(tt.args)...)
		if code != 2 || !strings.Contains(errs, tt.want) {
			t.Errorf("player %s: exit %d, %s\nwant exit 2, %s", tt.args, code, errs, tt.want)
		}
	}
	if _, err := os.Stat("run.mcap"); err == nil {
		t.Error("there is a log, though nothing was recorded")
	}
}

// A replay in a terminal says which moment is played, and other lines take its place.
func TestReplayShowsItsPosition(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.mcap")
	if code, _, errs := uses(t, "record", start(t, "-stage", room).address, "pr", "-for", "1s", "-o", path); code != 0 {
		t.Fatal(errs)
	}
	master, terminal := terminals.OpenBoth(t)
	port := ports.Free(t, 1)
	replay := startTool(t, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stderr = terminal, terminal
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "replay", "-bind", "127.0.0.1", "-gp", fmt.Sprint(port), path)
	var seen strings.Builder
	until := func(want string) {
		t.Helper()
		must.Do(t, master.SetReadDeadline(time.Now().Add(patience)))
		for buf := make([]byte, 1000); !strings.Contains(seen.String(), want); {
			n, err := master.Read(buf)
			if err != nil {
				t.Fatalf("%v: %q, want %q", err, seen.String(), want)
			}
			seen.Write(buf[:n])
		}
	}
	until("waiting for a client")
	reader := startTool(t, nil, "print", fmt.Sprintf("127.0.0.1:%d", port), "pr")
	until(", 100 %, 1 times as fast")
	until("ended: ")
	replay.Signal(t, syscall.SIGTERM)
	until(product.LogShutdown)
	if text := seen.String(); !strings.Contains(text, "waiting for a client\r\x1b[K") {
		t.Errorf("the position stays before the line: %q", text)
	}
	if code := replay.Code(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	_ = reader.Code(t) // its server has gone
}
