package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/app"
	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/process/lastwords"
	"player/server/host"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/create"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
)

// guards returns the guards that a server has.
func (s *server) guards(t *testing.T) (pids []int) {
	t.Helper()
	files := must.Get(filepath.Glob("/proc/[0-9]*/stat"))(t)
	for _, file := range files {
		stat, _ := os.ReadFile(file) // gone again: none
		pid, rest, _ := strings.Cut(string(stat), " ("+lastwords.GuardName+") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(s.Cmd.Process.Pid) && fields[0] != "Z" {
			n := must.Get(strconv.Atoi(pid))(t)
			pids = append(pids, n)
		}
	}
	return pids
}

// guard waits for the server's guard, and returns its process.
func (s *server) guard(t *testing.T) (pid int) {
	t.Helper()
	waiting.Until(t, "a guard", func() bool {
		all := s.guards(t)
		if len(all) > 1 {
			t.Fatalf("there are several guards: %v", all)
		}
		if len(all) == 1 {
			pid = all[0]
		}
		return pid != 0
	})
	return pid
}

// exists reports whether a process runs. One that has ended may keep its number: in a container
// without an init process nothing waits for those whose parents have ended.
func exists(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// deaths are the signals that leave the server no time to say anything.
var deaths = []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL}

// Whatever kills the server, its guard stops the robot, and nothing is left that keeps the
// next server from the line.
func TestGuardStopsTheRobot(t *testing.T) {
	t.Parallel()
	for _, death := range deaths {
		t.Run(death.String(), func(t *testing.T) {
			t.Parallel()
			s, _, r := driving(t, launch{})
			guard := s.guard(t)
			s.Signal(t, death)
			<-s.Ended
			stood(t, r)
			waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
			waiting.Until(t, "the guard's end", func() bool { return !exists(guard) })
			if !s.Printed(app.LogServerDied) {
				t.Error("the guard says nothing")
			}
			launch{}.driving(t, r, "-pp", r.Port())
		})
	}
}

// startArduino starts a robot, and a server with config/examples/arduino.cfg for its port.
func startArduino(t *testing.T, o arduino.Options) (*arduino.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	// Two seconds are more than a busy machine holds up a server or its guard.
	o.Watchdog = 2 * time.Second
	r := emulate(t, arduino.Start, o)
	text := must.Get(os.ReadFile("../config/examples/arduino.cfg"))(t)
	change := strings.NewReplacer("/dev/ttyACM0", o.Line.Link, "  baud", "  boot 100\n  baud")
	return r, serve(t, "%s", change.Replace(string(text)))
}

// The guard knows the last words of each robot: a Create and a Kobuki have no watchdog, and the board's trips later.
func TestGuardStopsEachRobot(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(t *testing.T) (s *server, speed func() float64){
		"create": func(t *testing.T) (*server, func() float64) {
			r, s := startCreate(t, create.Options{})
			return s, func() float64 { return float64(r.State().Left) }
		},
		"kobuki": func(t *testing.T) (*server, func() float64) {
			r, s := startKobuki(t, kobuki.Options{})
			return s, func() float64 { return float64(r.State().Left) }
		},
		"lines": func(t *testing.T) (*server, func() float64) {
			r, s := startArduino(t, arduino.Options{})
			t.Cleanup(func() {
				if trips := r.State().Trips; trips != 0 {
					t.Errorf("its watchdog stopped it %d times", trips)
				}
			})
			return s, func() float64 { return float64(r.State().Left) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, speed := begin(t)
			c := s.dial(t)
			c.mustOpen("pa", "pa")
			c.drive(100, 0)
			waiting.Until(t, "motion", func() bool { return speed() == 100 })
			guard := s.guard(t)
			s.kill(t)
			waiting.Until(t, "wheels that stand", func() bool { return speed() == 0 })
			waiting.Until(t, "the guard's end", func() bool { return !exists(guard) })
		})
	}
}

// child returns the only child of a process.
func child(t *testing.T, parent int) (pid int) {
	t.Helper()
	waiting.Until(t, "a child of "+strconv.Itoa(parent), func() bool {
		for _, file := range must.Get(filepath.Glob("/proc/[0-9]*/stat"))(t) {
			stat, _ := os.ReadFile(file) // gone again: none
			if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
				pid = must.Get(strconv.Atoi(filepath.Base(filepath.Dir(file))))(t)
			}
		}
		return pid != 0
	})
	return pid
}

// The kernel kills all processes of a container when its first one ends. So the server is its second
// one, and the first one ends after the guard. Signals reach the server, and its exit code is passed on.
func TestGuardInAContainer(t *testing.T) {
	t.Parallel()
	needs.Root(t)
	container := launch{via: []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}}
	s, _, r := driving(t, container)
	first := child(t, s.Cmd.Process.Pid)
	must.Do(t, syscall.Kill(child(t, first), syscall.SIGKILL))
	stood(t, r)
	waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
	if code := s.Code(t); code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit %d", code)
	}
	s, _, r = driving(t, container)
	must.Do(t, syscall.Kill(child(t, s.Cmd.Process.Pid), syscall.SIGTERM))
	s.ended(t)
	checkFarewell(t, r)
}

// A server that ends in order leaves no guard, which has said nothing.
func TestGuardEndsWithItsServer(t *testing.T) {
	t.Parallel()
	s, _, r := driving(t, launch{})
	guard := s.guard(t)
	s.stop(t)
	checkFarewell(t, r)
	waiting.Until(t, "the guard's end", func() bool { return !exists(guard) })
	if s.Printed(app.LogServerDied) {
		t.Error("the guard took it for a death")
	}
}

// Signals that end programs at a terminal and by their group do not end a guard.
func TestGuardOutlivesSignals(t *testing.T) {
	t.Parallel()
	s, _, r := driving(t, launch{})
	guard := s.guard(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		must.Do(t, syscall.Kill(guard, sig))
	}
	if group, err := syscall.Getpgid(guard); err != nil || group != guard {
		t.Errorf("it is in the group %d, %v", group, err)
	}
	s.kill(t)
	stood(t, r)
}

// A guard that is killed is named and replaced, while the robot drives on.
func TestGuardIsReplaced(t *testing.T) {
	t.Parallel()
	page := fmt.Sprintf("127.0.0.1:%d", ports.Free(t, 1))
	s, p, r := driving(t, launch{}, "-http", page)
	first := s.guard(t)
	must.Do(t, syscall.Kill(first, syscall.SIGKILL))
	s.Await(t, host.LogNoGuard)
	if code, body := fetch(t, "GET", "http://"+page+"/healthz"); code != 503 || !strings.Contains(body, `"guard":"missing"`) {
		t.Errorf("/healthz: %d, %s", code, body)
	}
	waiting.Until(t, "another guard", func() bool { all := s.guards(t); return len(all) == 1 && all[0] != first })
	s.Await(t, host.LogGuardBack)
	if code, body := fetch(t, "GET", "http://"+page+"/healthz"); code != 200 || !strings.Contains(body, `"guard":"ready"`) {
		t.Errorf("/healthz: %d, %s", code, body)
	}
	p.drives("the other way", -300, 0, func() bool { return r.State().Left < -100 })
	s.kill(t)
	stood(t, r)
}

// A line that is closed is also closed in the guard: the driver that is set up again opens
// it at once, and so does another program.
func TestGuardLetsGo(t *testing.T) {
	t.Parallel()
	s, p, r := driving(t, launch{})
	guard := s.guard(t)
	for range 3 {
		p.mustOpen("pcgc", "pcgc")
		p.mustOpen("pa", "pa")
	}
	p.mustOpen("pcgc", "pcgc")
	if s.Printed(host.LogBusy) {
		t.Error("the line was busy")
	}
	waiting.Until(t, "a guard without a line", func() bool {
		links := must.Get(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", guard)))(t)
		for _, link := range links {
			if to, _ := os.Readlink(link); strings.HasPrefix(to, "/dev/pts/") {
				return false
			}
		}
		return true
	})
	s.kill(t)
	if s.Printed(app.LogServerDied) {
		t.Error("the guard had something to say")
	}
	launch{}.driving(t, r, "-pp", r.Port())
}
