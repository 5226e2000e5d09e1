package pictures

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/waiting"
	"player/server/status"
)

// patience is how long a test waits for an expected event.
const patience = 20 * time.Second

// shell returns a camera that is a shell script, in a directory with picture.jpg.
func shell(t *testing.T, script string) (c *Camera, dir string, picture []byte) {
	t.Helper()
	needs.Programs(t)
	dir = t.TempDir()
	picture = draw(t, 50, 32, 24)
	must.Do(t, os.WriteFile(filepath.Join(dir, "picture.jpg"), picture, 0o600))
	c = NewCamera(Source{Name: "front", Command: []string{"sh", "-c", "cd " + dir + "; " + script}, Rate: 1000}, zap.NewNop())
	t.Cleanup(c.Close)
	return c, dir, picture
}

func next(t *testing.T, c *Camera, after uint64) Picture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := c.Next(ctx, after)
	if err != nil {
		t.Fatalf("no picture after %d: %v", after, err)
	}
	return p
}

// A camera runs while a viewer watches. All viewers get its newest picture, complete.
func TestWatch(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	c, dir, picture := shell(t, `echo $$ > pid; while cat picture.jpg; do sleep 0.02; done`)
	if s := c.Status(); s.State != status.Idle || s.Age != nil {
		t.Errorf("without viewers: %+v", s)
	}
	leave, leaveToo := c.Watch(), c.Watch()
	first := next(t, c, 0)
	if second := next(t, c, first.Number); !bytes.Equal(second.JPEG, picture) || second.Number <= first.Number || second.At.Before(first.At) {
		t.Errorf("%d bytes with number %d after %d", len(second.JPEG), second.Number, first.Number)
	}
	leave()
	leave()
	if s := c.Status(); s.State != status.Ready || s.Viewers != 1 || s.Age == nil || s.Pictures < 2 || s.Bytes < 2*uint64(len(picture)) {
		t.Errorf("with a viewer: %+v", s)
	}
	leaveToo()
	text := must.Get(os.ReadFile(filepath.Join(dir, "pid")))(t)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	waiting.Until(t, "the program ends", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	if s := c.Status(); s.State != status.Idle || s.Errors != 0 {
		t.Errorf("without viewers again: %+v", s)
	}
	again := c.Watch()
	defer again()
	if third := next(t, c, 0); third.Number <= first.Number {
		t.Errorf("numbers begin again: %d", third.Number)
	}
}

// Two programs never run at a time, and no child of one survives it.
func TestClose(t *testing.T) {
	t.Parallel()
	c, dir, _ := shell(t, `mkdir running || echo two > two; sleep 1000 & echo $! > child; cat picture.jpg; wait`)
	defer c.Watch()()
	next(t, c, 0)
	text := must.Get(os.ReadFile(filepath.Join(dir, "child")))(t)
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	c.Close()
	waiting.Until(t, "the child of the program ends", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err != nil || bytes.Contains(stat, []byte(") Z ")) // a container may have no process that reaps it
	})
	if s := c.Status(); s.State != status.Idle {
		t.Errorf("closed: %+v", s)
	}
}

// A source that fails is started again, and /status says why.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, want string }{
		"ends":    {`cat picture.jpg; test -e again && exec sleep 1000; touch again; echo; echo no signal >&2; exit 3`, "exit status 3: no signal"},
		"closes":  {`cat picture.jpg; test -e again && exec sleep 1000; touch again; exec >&-; sleep 1000`, "it has closed its standard output"},
		"rubbish": {`test -e again && cat picture.jpg && exec sleep 1000; touch again; exec head -c 4000000 /dev/zero`, ErrRubbish.Error()},
		"floods":  {`test -e again && cat picture.jpg && exec sleep 1000; touch again; while cat picture.jpg picture.jpg picture.jpg; do :; done`, errFlow.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := shell(t, tt.script)
			if name == "floods" { // a large picture, so that the shell is fast enough
				dir := strings.Fields(c.source.Command[2])[1]
				big := draw(t, 1, 1200, 900)
				must.Do(t, os.WriteFile(filepath.Join(strings.TrimSuffix(dir, ";"), "picture.jpg"), big, 0o600))
			}
			defer c.Watch()()
			waiting.Until(t, "the source fails", func() bool { return c.Status().State == status.Failed })
			if s := c.Status(); !strings.Contains(s.Error, tt.want) || s.Errors != 1 {
				t.Errorf("%+v, want %q", s, tt.want)
			}
			waiting.Until(t, "it is started again", func() bool { return c.Status().State == status.Ready })
		})
	}
}

// The robot has the processor before its pictures: the program, with its children, is nicer than this process. Its
// timers are as exact as other programs', whatever the timer slack of this process.
func TestBehind(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	nice := func(pid string) string {
		stat := must.Get(os.ReadFile("/proc/" + pid + "/stat"))(t)
		_, after, _ := bytes.Cut(stat, []byte(") "))
		return string(bytes.Fields(after)[16])
	}
	own := must.Get(strconv.Atoi(nice("self")))(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	must.Do(t, unix.Prctl(unix.PR_SET_TIMERSLACK, 77_000_000, 0, 0, 0))
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }() // zero: as it was
	ctx, end := context.WithCancel(t.Context())
	p := must.Get(startProgram(ctx, []string{"sh", "-c", "sleep 1000 & echo $!; cat /proc/self/timerslack_ns; wait"}))(t)
	defer p.Close() // its error is that it was killed
	defer end()
	lines := bufio.NewScanner(p)
	for _, what := range []string{"child", "slack"} {
		if !lines.Scan() {
			t.Fatalf("no %s: %v", what, lines.Err())
		}
		if what == "child" {
			for _, pid := range []string{strconv.Itoa(p.cmd.Process.Pid), lines.Text()} {
				if got, want := nice(pid), strconv.Itoa(min(own+behind, 19)); got != want {
					t.Errorf("a nice value of %s, want %s", got, want)
				}
			}
		} else if lines.Text() != "50000" {
			t.Errorf("a slack of %s ns", lines.Text())
		}
	}
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack != 77_000_000 {
		t.Errorf("this thread has a slack of %d ns: %v", slack, err)
	}
}

// The error names a program that does not exist.
func TestMissing(t *testing.T) {
	t.Parallel()
	c := NewCamera(Source{Name: "front", Command: []string{"/nonexistent/camera"}, Rate: 1}, zap.NewNop())
	defer c.Close()
	defer c.Watch()()
	waiting.Until(t, "the source fails", func() bool { return c.Status().State == status.Failed })
	if s := c.Status(); !strings.Contains(s.Error, "/nonexistent/camera") {
		t.Errorf("%+v", s)
	}
	if _, err := c.Next(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "/nonexistent/camera") {
		t.Errorf("the error of who waits: %v", err)
	}
}

// An address may reply with the parts of a page that replaces its picture.
func TestAddress(t *testing.T) {
	t.Parallel()
	picture := draw(t, 50, 32, 24)
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "action=stream" {
			http.NotFound(w, r)
			return
		}
		defer close(gone)
		for r.Context().Err() == nil {
			fmt.Fprintf(w, "--x\r\nContent-Type: image/jpeg\r\n\r\n%s\r\n", picture)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}))
	defer server.Close()
	c := NewCamera(Source{Name: "front", Address: server.URL + "/?action=stream", Rate: 1000}, zap.NewNop())
	leave := c.Watch()
	if p := next(t, c, 1); !bytes.Equal(p.JPEG, picture) {
		t.Errorf("%d bytes", len(p.JPEG))
	}
	leave()
	c.Close()
	<-gone
	missing := NewCamera(Source{Name: "front", Address: server.URL, Rate: 1000}, zap.NewNop())
	defer missing.Close()
	defer missing.Watch()()
	waiting.Until(t, "the source fails", func() bool { return strings.Contains(missing.Status().Error, "404 Not Found") })
}

// A picture may be drawn, at the given rate.
func TestDraw(t *testing.T) {
	t.Parallel()
	needs.Time(t)
	drawn := 0
	c := NewCamera(Source{Name: "front", Rate: 500, Draw: func(context.Context) ([]byte, View, error) {
		if drawn++; drawn == 3 {
			return nil, View{}, errors.New("the world has ended")
		}
		return []byte{byte(drawn)}, View{FOV: float64(drawn)}, nil
	}}, zap.NewNop())
	defer c.Close()
	leave := c.Watch()
	defer leave()
	if p := next(t, c, 1); p.JPEG[0] != 2 || p.View.FOV != 2 {
		t.Errorf("picture %d, %+v", p.JPEG[0], p.View)
	}
	waiting.Until(t, "the failure", func() bool { return strings.Contains(c.Status().Error, "the world has ended") })
	waiting.Until(t, "another picture", func() bool { return c.Status().State == status.Ready })
}

// drawn returns a camera with drawn pictures, and the calls of Runs.
func drawn() (c *Camera, runs chan bool) {
	runs = make(chan bool, 4)
	draw := func(context.Context) ([]byte, View, error) { return []byte{1}, View{}, nil }
	return NewCamera(Source{Name: "drawn", Rate: 1000, Runs: func(on bool) { runs <- on }, Draw: draw}, zap.NewNop()), runs
}

// The source learns once that a camera begins to run, however many watch, and once that it
// has ended.
func TestRuns(t *testing.T) {
	t.Parallel()
	c, runs := drawn()
	leave := []func(){c.Watch(), c.Watch()}
	next(t, c, 0)
	leave[0]()
	c.Close()
	leave[1]()
	if begun, ended := <-runs, <-runs; !begun || ended || len(runs) > 0 {
		t.Fatalf("%v and %v, and %d more", begun, ended, len(runs))
	}
}

// A camera that was closed does not run for viewers that come late: a reload has another one
// for the same device.
func TestWatchAfterClose(t *testing.T) {
	t.Parallel()
	c, runs := drawn()
	c.Close()
	leave := c.Watch()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if p, err := c.Next(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || len(runs) > 0 {
		t.Errorf("%v, picture %d", err, p.Number)
	}
	leave()
	c.Close()
}

// Pictures above the rate are dropped, but not the pictures of a source that jitters at the rate.
func TestRate(t *testing.T) {
	t.Parallel()
	start := time.Unix(1e9, 0)
	passed := func(rate float64, times ...time.Duration) uint64 {
		c := NewCamera(Source{Rate: rate}, zap.NewNop())
		for _, at := range times {
			c.pass(t.Context(), []byte{1}, start.Add(at))
		}
		return c.counts.Pictures
	}
	var fast, jitter []time.Duration
	for i := range 300 {
		fast = append(fast, time.Duration(i)*10*time.Millisecond)
		jitter = append(jitter, time.Duration(i)*100*time.Millisecond+time.Duration(i%3)*15*time.Millisecond)
	}
	if n := passed(10, fast...); n < 29 || n > 31 {
		t.Errorf("100 Hz for 3 s, at most 10: %d pictures", n)
	}
	if n := passed(10, jitter...); n < 270 {
		t.Errorf("10 Hz with jitter, at most 10: %d of 300", n)
	}
}

// If a camera wants a password, the error says how to give it.
func TestPasswords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		user string // in the address
		ways []string
		want string
	}{
		{"", []string{`Basic realm="cam"`}, "write the address as http://USER:PASSWORD@HOST/"},
		{"me:secret@", []string{`basic realm="cam"`}, "user or password in the address are wrong"},
		{"me:secret@", []string{`Digest realm="cam", nonce="1"`}, `it wants digest authentication, which curl does: command ["curl"`},
		{"", []string{`Digest realm="cam"`, `Basic realm="cam"`}, "write the address as"},
		{"", []string{"Bearer"}, "a way of authentication that is not known"},
		{"", nil, "a way of authentication that is not known"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Www-Authenticate"] = tt.ways
			w.WriteHeader(http.StatusUnauthorized)
		}))
		source := Source{Address: strings.Replace(server.URL, "//", "//"+tt.user, 1)}
		if _, err := source.open(t.Context()); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: ") ||
			!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", tt.ways, err, tt.want)
		}
		server.Close()
	}
}
