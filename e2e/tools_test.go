package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"player/e2e/ports"
	"player/e2e/programs"
	"player/e2e/waiting"
	"player/server/session"
	"player/tools"
)

// tool is a subcommand of player while it runs.
type tool struct {
	*programs.Program
	out, errors *waiting.Output
}

// startTool starts a subcommand; prepare may change how.
func startTool(t *testing.T, prepare func(*exec.Cmd), args ...string) *tool {
	t.Helper()
	c := &tool{out: &waiting.Output{}, errors: &waiting.Output{}}
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = c.out, c.errors
	if prepare != nil {
		prepare(cmd)
	}
	c.Program = programs.Start(t, cmd)
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // before it is asked to end: it may be stopped
	return c
}

// uses runs a subcommand until it ends.
func uses(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c := startTool(t, nil, args...)
	code = c.Code(t)
	return code, c.out.String(), c.errors.String()
}

// pattern starts a server with all devices, whose values are a test pattern.
func pattern(t *testing.T, flags ...string) *server {
	t.Helper()
	return start(t, append([]string{write(t, t.TempDir(), "pattern.cfg", `driver ( name "testpattern" )`)}, flags...)...)
}

// Whatever talks to a robot refuses wrong arguments, and reports a robot that is
// not there, with exit code 2 and one line.
func TestToolMistakes(t *testing.T) {
	t.Parallel()
	nowhere := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	s := serve(t, `driver ( name "testpattern" provides ["laser:0"] )`)
	for _, tt := range []struct{ args, want string }{
		{"print", "needs a host and devices"},
		{"print localhost", "needs a host and devices"},
		{"print localhost lrs", "pairs"},
		{"print localhost pw", "only read"},
		{"print localhost pr -n x", "-n"},
		{"print localhost pr -n -1", "must not be negative"},
		{"print " + s.address + " lr -rate 0", "frequency 0 Hz"},
		{"print " + nowhere + " pr", "connection refused: no server listens there"},
		{"drive", "needs a host"},
		{"drive -speed 0 localhost", "a speed is 1 to"},
		{"drive " + s.address, "drive needs a terminal"},
		{"latency", "needs a host"},
		{"latency -for 0s localhost", "must be positive"},
		{"latency " + s.address + " pr", "device p asked 'r' granted 'e': " + session.NoSuchDevice},
		{"status", "needs a host"},
		{"status " + nowhere, "connection refused: no dashboard listens there"},
		{"status " + s.address, tools.NoDashboard},
		{"stop", "needs a host"},
		{"stop " + nowhere, "connection refused"},
		{"stop " + s.address, "device p asked 'a' granted 'e': " + session.NoSuchDevice},
		{"print " + s.address + " lrsr", "device s asked 'r' granted 'e': " + session.NoSuchDevice},
	} {
		code, out, errs := uses(t, strings.Fields(tt.args)...)
		if code != 2 || out != "" || !strings.Contains(errs, tt.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("player %s: exit %d, %s%s\nwant exit 2, one line with %s", tt.args, code, out, errs, tt.want)
		}
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	s := pattern(t)
	code, out, errs := uses(t, "print", s.address, "srlrpr", "-n", "3", "-rate", "50")
	if code != 0 || errs != "" || strings.Count(out, "\n") != 3 || strings.Count(out, "| sonar ranges ") != 3 || strings.Count(out, "| laser nearest ") != 3 {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}

	code, out, errs = uses(t, "print", "-json", "-n", "2", s.address, "lrmr")
	decoder := json.NewDecoder(strings.NewReader(out))
	for n := 0; ; n++ {
		var round struct {
			Time  float64 `json:"time_s"`
			Laser struct {
				Age    *float64 `json:"age_ms"`
				Ranges []int    `json:"ranges_mm"`
			}
			Misc struct {
				Battery int `json:"battery_decivolt"`
			}
		}
		if err := decoder.Decode(&round); err == io.EOF && n == 2 {
			break
		} else if err != nil || round.Time == 0 || round.Laser.Age == nil || len(round.Laser.Ranges) != 361 || round.Misc.Battery == 0 {
			t.Fatalf("exit %d, %v, %s%s", code, err, out, errs)
		}
	}
	if code != 0 {
		t.Errorf("exit %d", code)
	}
}

// Ctrl-C ends printing as asked; the end of the server is a failure.
func TestPrintEnds(t *testing.T) {
	t.Parallel()
	s := pattern(t)
	c := startTool(t, nil, "print", s.address, "pr")
	waiting.Until(t, "a line", func() bool { return strings.Contains(c.out.String(), "\n") })
	c.Signal(t, syscall.SIGINT)
	if code := c.Code(t); code != 0 || c.errors.String() != "" {
		t.Errorf("exit %d, %s", code, c.errors)
	}
	c = startTool(t, nil, "print", s.address, "pr")
	waiting.Until(t, "a line", func() bool { return strings.Contains(c.out.String(), "\n") })
	s.kill(t)
	if code := c.Code(t); code != 1 || !strings.HasPrefix(c.errors.String(), "player: ") {
		t.Errorf("exit %d, %s", code, c.errors)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	s := pattern(t)
	code, out, errs := uses(t, "latency", s.address, "lrpr", "-rate", "50", "-for", "1500ms")
	if code != 0 || errs != "" {
		t.Errorf("exit %d, %s", code, errs)
	}
	for _, want := range []string{"round trip ", " Hz  jitter ", " rounds, ", "time between rounds:\n", "as seen from here:\n", "50 % up to ", "#"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
	c := startTool(t, nil, "latency", s.address, "-for", "1h")
	waiting.Until(t, "a line", func() bool { return strings.Contains(c.out.String(), " Hz ") })
	c.Signal(t, syscall.SIGINT)
	if code := c.Code(t); code != 0 || !strings.Contains(c.out.String(), "#") {
		t.Errorf("exit %d, %s%s", code, c.out, c.errors)
	}
}
