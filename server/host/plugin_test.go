package host

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/e2e/must"
	"player/e2e/needs"
	"player/process/descriptors"
	"player/server/looptest"
)

// plugin is a shell script with pipes.
type plugin struct {
	program        devices.Program
	stdin          devices.Port
	stdout, stderr *inbox
	exited         chan error
}

func startPlugin(t *testing.T, script string) (*running, *plugin) {
	t.Helper()
	needs.Programs(t)
	s := serve(t, nil)
	p := &plugin{stdout: newInbox(), stderr: newInbox(), exited: make(chan error, 1)}
	var err error
	s.Do(func(time.Duration) {
		p.program, p.stdin, err = s.host.StartPlugin(p.stdout, p.stderr, func(_ time.Duration, err error) { p.exited <- err }, "sh", "-c", script)
	})
	looptest.Must(t, err)
	return s, p
}

func TestPluginPipes(t *testing.T) {
	s, p := startPlugin(t, "echo ready >&2; exec cat")
	p.stderr.expect(t, "ready\n")
	s.Do(func(time.Duration) { p.stdin.Write([]byte("hello")) })
	p.stdout.expect(t, "hello")
	s.Do(func(time.Duration) { p.stdin.Close() }) // cat has read to the end
	expectEnd(t, p.exited, well)
	looptest.Receive(t, p.stdout.gone, "end of stdout")
	looptest.Receive(t, p.stderr.gone, "end of stderr")
}

// The last output arrives, and the end is reported with its reason.
func TestPluginEnds(t *testing.T) {
	_, p := startPlugin(t, "echo last; exit 7")
	p.stdout.expect(t, "last\n")
	expectEnd(t, p.exited, "exit status 7")
	s, p := startPlugin(t, "exec sleep 1000")
	s.Do(func(time.Duration) { p.program.Signal(syscall.SIGTERM) })
	expectEnd(t, p.exited, "signal: terminated")
}

// A plugin that has ended before the loop reads says why before its end is reported, also if the loop
// serves the end first. A process that keeps the output open does not keep the end.
func TestPluginEndsBehindItsOutput(t *testing.T) {
	needs.Programs(t)
	for script, kept := range map[string]bool{"echo why; exit 7": false, "setsid sleep 2 & echo why; exit 7": true} {
		s, out, exited := serve(t, nil), newInbox(), make(chan int, 1)
		s.Do(func(now time.Duration) {
			started, _, err := s.host.StartPlugin(out, ignore{}, func(time.Duration, error) { exited <- len(out.gone) }, "sh", "-c", script)
			looptest.Must(t, err)
			p := started.(*program)
			must.Do(t, unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
			p.Hangup(now, nil)
			if len(exited) > 0 {
				t.Error("the end is reported before the output was read")
			}
		})
		if gone := looptest.Receive(t, exited, "end of the plugin"); gone == 0 && !kept {
			t.Errorf("%s: the end comes before the end of the output", script)
		}
		out.expect(t, "why\n")
	}
}

// A plugin that ends leaves nothing behind: its group is killed, so its pipes
// have no writer any more.
func TestPluginLeavesNoOrphans(t *testing.T) {
	_, p := startPlugin(t, "sleep 1000 & exit 0")
	expectEnd(t, p.exited, well)
	looptest.Receive(t, p.stdout.gone, "end of the orphan")
	looptest.Receive(t, p.stderr.gone, "end of the orphan")
}

// A plugin may close its standard input: it goes on, and bytes that are written to it are
// lost.
func TestPluginDoesNotListen(t *testing.T) {
	s, p := startPlugin(t, "exec <&-; echo deaf; exec sleep 1000")
	p.stdout.expect(t, "deaf\n")
	s.Do(func(time.Duration) {
		p.stdin.Write([]byte("lost"))
		p.stdin.Write([]byte("lost"))
	})
	s.Do(func(time.Duration) {
		if len(p.exited) > 0 {
			t.Error("the plugin has ended")
		}
		p.program.Signal(syscall.SIGKILL)
	})
	expectEnd(t, p.exited, "signal: killed")
}

func TestPluginNotFound(t *testing.T) {
	s := serve(t, nil)
	s.Do(func(time.Duration) {
		const tries = 50
		before := openDescriptors(t)
		for range tries {
			_, _, err := s.host.StartPlugin(newInbox(), newInbox(), nil, "no-such-program-as-this")
			if err == nil || !strings.HasPrefix(err.Error(), "plugin no-such-program-as-this: ") {
				t.Errorf("%v", err)
			}
		}
		// The process opens and closes some of its own meanwhile.
		if after := openDescriptors(t); after >= before+tries {
			t.Errorf("%d descriptors are open, before %d", after, before)
		}
	})
}

// openDescriptors returns how many descriptors this process has open.
func openDescriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Error(err)
	}
	return len(list)
}

// A plugin that there are no descriptors for is not started.
func TestNoDescriptorForAPlugin(t *testing.T) {
	needs.Programs(t)
	ports := descriptors.NewShare(9)
	s := serve(t, func(with *setup) { with.descriptors = ports })
	s.Do(func(time.Duration) {
		_ = ports.Take(1)
		if _, _, err := s.host.StartPlugin(ignore{}, ignore{}, nil, "true"); err == nil {
			t.Error("a plugin was started with 8 descriptors")
		}
		ports.Return(1)
		if err := ports.Take(9); err != nil {
			t.Error("a plugin that was not started keeps descriptors")
		}
		ports.Return(9)
	})
	exited := make(chan error, 1)
	s.Do(func(time.Duration) {
		if _, _, err := s.host.StartPlugin(ignore{}, ignore{}, func(_ time.Duration, err error) { exited <- err }, "true"); err != nil {
			t.Error(err)
		}
	})
	expectEnd(t, exited, well)
	s.Await("the plugin's descriptors are given back", func(time.Duration) bool {
		if ports.Take(9) != nil {
			return false
		}
		ports.Return(9)
		return true
	})
}
