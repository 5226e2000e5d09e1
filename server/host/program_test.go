package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/e2e/must"
	"player/e2e/needs"
	"player/server/looptest"
)

// startProgram runs a shell script; its end comes from the channel.
func startProgram(t *testing.T, s *running, script string) (p *program, exited chan error) {
	t.Helper()
	needs.Programs(t)
	exited = make(chan error, 1)
	s.Do(func(time.Duration) {
		started := must.Get(s.host.StartProgram(func(_ time.Duration, err error) { exited <- err }, "sh", "-c", script))(t)
		p = started.(*program)
	})
	return p, exited
}

// expectEnd waits for the end of a program, and checks its error.
func expectEnd(t *testing.T, exited <-chan error, want string) {
	t.Helper()
	if err := looptest.Receive(t, exited, "end of the program"); fmt.Sprint(err) != want {
		t.Errorf("it ended with %v, want %s", err, want)
	}
}

// well is the end of a program without an error.
const well = "<nil>"

func TestProgramEnds(t *testing.T) {
	s := serve(t, nil)
	for script, want := range map[string]string{
		"exit 0":         well,
		"exit 3":         "exit status 3",
		"kill -KILL $$":  "signal: killed",
		"sleep 0.1":      well,
		"(sleep 1000) &": well, // what it leaves behind is not waited for
	} {
		p, exited := startProgram(t, s, script)
		expectEnd(t, exited, want)
		// Now its number is free: no signal may go there.
		s.Do(func(time.Duration) { p.Signal(syscall.SIGKILL) })
		if pid := p.cmd.Process.Pid; strings.HasSuffix(script, "&") {
			if err := unix.Kill(-pid, syscall.SIGKILL); err != nil {
				t.Errorf("what %q left behind was killed by a signal to a program that had ended", script)
			}
		}
	}
}

// TestProgramGroupIsSignalled: a program takes those that it has started along.
func TestProgramGroupIsSignalled(t *testing.T) {
	s := serve(t, nil)
	fifo := filepath.Join(t.TempDir(), "fifo")
	looptest.Must(t, unix.Mkfifo(fifo, 0o600))
	// The grandchild holds the fifo open; it is gone when that is read to its end.
	p, exited := startProgram(t, s, "(echo up; exec sleep 1000) >"+fifo+" & wait")
	f, err := os.Open(fifo) // waits for the grandchild
	looptest.Must(t, err)
	defer f.Close()
	if n, err := f.Read(make([]byte, 3)); n != 3 {
		t.Fatal(err)
	}
	s.Do(func(time.Duration) { p.Signal(syscall.SIGTERM) })
	expectEnd(t, exited, "signal: terminated")
	looptest.Must(t, looptest.End(t, f)) // of the grandchild
}

func TestProgramNotFound(t *testing.T) {
	s := serve(t, nil)
	s.Do(func(time.Duration) {
		_, err := s.host.StartProgram(nil, "no-such-program-as-this")
		if err == nil || !strings.Contains(err.Error(), "executable file not found") {
			t.Errorf("%v", err)
		}
	})
}

// TestProgramInheritsNothing: neither sockets nor serial lines of the server.
func TestProgramInheritsNothing(t *testing.T) {
	s := serve(t, nil)
	expectEcho(t, s.Dial(), "this connection is open")
	list := filepath.Join(t.TempDir(), "list")
	_, exited := startProgram(t, s, "ls -l /proc/$$/fd >"+list)
	expectEnd(t, exited, well)
	got, err := os.ReadFile(list)
	looptest.Must(t, err)
	for line := range strings.Lines(string(got)) {
		_, link, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if own := strings.HasPrefix(link, "socket:") || strings.HasPrefix(link, "anon_inode:"); own && !inherited(t, link) {
			t.Errorf("the program has %s", link)
		}
	}
}

// inherited reports whether the process that started this one has the file too.
func inherited(t *testing.T, link string) bool {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", os.Getppid()))
	looptest.Must(t, err)
	return slices.ContainsFunc(links, func(fd string) bool {
		to, _ := os.Readlink(fd) // gone again: not that one
		return to == link
	})
}

// TestLoopEndsBeforeProgram: a program that was not stopped does not delay the
// end of the loop.
func TestLoopEndsBeforeProgram(t *testing.T) {
	s := serve(t, nil)
	p, _ := startProgram(t, s, "exec sleep 1000")
	s.Stop()
	p.Signal(syscall.SIGKILL)
	if err := p.cmd.Wait(); fmt.Sprint(err) != "signal: killed" {
		t.Error(err)
	}
}

// The loop's thread may have a timer slack that is meant for the monitor of the
// Go runtime.
func TestProgramKeepsTimeAsUsual(t *testing.T) {
	needs.Programs(t)
	s := serve(t, nil)
	file := filepath.Join(t.TempDir(), "slack")
	exited := make(chan error, 1)
	var err error
	s.Do(func(time.Duration) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 77_000_000, 0, 0, 0)
		if err == nil {
			_, err = s.host.StartProgram(func(_ time.Duration, err error) { exited <- err }, "sh", "-c", "exec cat /proc/self/timerslack_ns >"+file)
		}
	})
	looptest.Must(t, err)
	if err := looptest.Receive(t, exited, "the program's end"); err != nil {
		needs.Missing(t, "this kernel does not tell the timer slack: ", err)
	}
	if got, _ := os.ReadFile(file); string(got) != "50000\n" {
		t.Errorf("a program's timer slack is %s ns", got)
	}
}
