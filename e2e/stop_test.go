package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"player/devices"
	"player/e2e/must"
	"player/e2e/waiting"
	product "player/server"
	"player/server/session"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// farewell is the last output of a server that dies to a robot: VEL2 0, STOP, twice.
var farewell = bytes.Repeat([]byte{0xFA, 0xFB, 6, 32, 0x3B, 0, 0, 0x20, 0x3B, 0xFA, 0xFB, 3, 29, 0, 29}, 2)

// driving starts a server for an emulated robot, and a client that drives it.
func driving(t *testing.T, l launch, flags ...string) (*server, *peer, *robot.Robot) {
	t.Helper()
	r := startRobot(t, robot.Options{})
	s, p := l.driving(t, r, append(flags, "-pp", r.Port())...)
	return s, p, r
}

func (l launch) driving(t *testing.T, r *robot.Robot, flags ...string) (*server, *peer) {
	t.Helper()
	s := l.start(t, flags...)
	waiting.Until(t, "it listens", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	p := s.dial(t)
	p.mustOpen("paga", "paga")
	p.drivesOff(r)
	return s, p
}

// drivesOff switches the motors on and drives.
func (p *peer) drivesOff(r *robot.Robot) {
	p.t.Helper()
	p.drives("motion", 300, 0, func() bool {
		if !r.State().Motors {
			p.send(motors(1)...)
		}
		return r.State().Left > 100
	})
}

// stood waits until the robot's wheels stand. Its watchdog must not be the reason.
func stood(t *testing.T, r *robot.Robot) {
	t.Helper()
	waiting.Until(t, "wheels that stand", func() bool { state := r.State(); return state.WantLeft == 0 && state.WantRight == 0 })
	if state := r.State(); state.WatchdogTrips != 0 {
		t.Errorf("only the robot's watchdog stopped it: %+v", state)
	}
}

// Signals that end the process: the robot is stopped, in order or by last words.
func TestSignalsStopTheRobot(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s, _, r := driving(t, launch{})
			s.Signal(t, sig)
			s.ended(t)
			checkFarewell(t, r)
			stood(t, r)
		})
	}
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s, _, r := driving(t, launch{})
			s.Signal(t, sig)
			<-s.Ended
			stood(t, r)
			waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
			if log := s.Output.String(); s.Cmd.ProcessState.ExitCode() != 2 || !strings.Contains(log, "goroutine ") {
				t.Errorf("exit %d, and no dump of the goroutines: %s", s.Cmd.ProcessState.ExitCode(), tail(log, 500))
			}
		})
	}
}

// The server and its guard are killed: the robot's watchdog stops it. The next packet
// would let it drive on, so the first one of the next server is a command to stop. The
// driver learns from a SIP that the robot was left open, and waits 150 ms for it: on a
// busy machine the emulator may send it later, so that is tried again.
func TestKillLeavesItToTheWatchdog(t *testing.T) {
	t.Parallel()
	var moved float64
	for range 4 {
		s, _, r := driving(t, launch{})
		must.Do(t, syscall.Kill(s.guard(t), syscall.SIGKILL))
		s.kill(t)
		waiting.Until(t, "the watchdog", func() bool { state := r.State(); return state.WatchdogTrips == 1 && state.Left == 0 })
		at := r.State().World.X
		start(t, "-pp", r.Port()).dial(t).mustOpen("pr", "pr")
		if moved = r.State().World.X - at; moved == 0 {
			return
		}
	}
	t.Errorf("it drove on four times, the last time by %.2f mm", moved)
}

// The reader of the log dies: the robot drives on, and is stopped in order.
func TestDeadLogStopsTheRobot(t *testing.T) {
	t.Parallel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The shell writes that it serves, because the server's log goes elsewhere.
	shell := []string{"sh", "-c", "echo '" + product.LogServing + `'; exec "$0" "$@" 2>&3`}
	s, p, r := driving(t, launch{via: shell, files: []*os.File{in}}, "-debug")
	in.Close()
	out.Close() // what is written from now on is an EPIPE
	for range 10 {
		s.dial(t).request("pr") // a line each, with -debug
	}
	p.drives("the other way", -300, 0, func() bool { return r.State().Left < -100 })
	s.Signal(t, syscall.SIGTERM)
	s.ended(t)
	checkFarewell(t, r)
	stood(t, r)
}

// troubled is the server with the driver trouble, built once.
var troubled = sync.OnceValues(func() (path string, err error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	dir := scratch
	catalogue, err := os.ReadFile("../app/catalogue.go")
	if err != nil {
		return "", err
	}
	catalogue = bytes.Replace(catalogue, []byte("\t\tp2os.Kind(),"), []byte("\t\tp2os.Kind(), trouble.Kind(),"), 1)
	catalogue = bytes.Replace(catalogue, []byte("import ("), []byte("import (\n\t\""+"player/devices"+"/trouble\""), 1)
	if err := os.WriteFile(filepath.Join(dir, "catalogue.go"), catalogue, 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "app/catalogue.go"):           filepath.Join(dir, "catalogue.go"),
		filepath.Join(root, "devices/trouble/trouble.go"): filepath.Join(root, "e2e/testdata/trouble/trouble.go"),
	}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "troubled")
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", path, "..").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// troubledDriving is driving with the driver trouble, behind reflex; a test pattern
// is the laser.
func troubledDriving(t *testing.T) (*server, *peer, *robot.Robot) {
	t.Helper()
	return launch{}.troubledDriving(t)
}

func (l launch) troubledDriving(t *testing.T) (*server, *peer, *robot.Robot) {
	t.Helper()
	path := must.Get(troubled())(t)
	r := startRobot(t, robot.Options{})
	file := write(t, t.TempDir(), "trouble.cfg", fmt.Sprintf(`
		driver ( name "trouble" port %q provides ["position:1" "sonar:0" "gripper:0" "misc:0"] )
		driver ( name "reflex" requires ["position:1" "misc:0"] ) # sees obstacles when it touches them
		driver ( name "testpattern" provides ["laser:0"] )`, r.Port()))
	l.binary = path
	s, p := l.driving(t, r, file)
	return s, p, r
}

const (
	panicNow    = 200 // of package trouble
	panicInTick = 201
	hang        = 202
)

func (p *peer) grip(command byte) { p.message('c', 'g', command, 0) }

// A driver panics while its robot drives: the robot is stopped, everybody else goes
// on, and it drives again when it is commanded. After the third panic it is off.
func TestDriverPanics(t *testing.T) {
	t.Parallel()
	s, p, r := troubledDriving(t)
	other := s.dial(t)
	other.mustOpen("yrlr", "yrlr")
	aging := s.dial(t)
	aging.mustOpen("yrsr", "yrsr")
	for i, fault := range []func(){
		func() { p.grip(panicNow) },
		func() { p.message('x', 'p', '!') },
		func() { p.grip(panicInTick) },
	} {
		if i > 0 {
			aging.until("fresh data again", func() bool { return aging.age() < 300*time.Millisecond })
			p.drivesOff(r)
		}
		fault()
		waiting.Until(t, "last words", func() bool { return bytes.Count(r.Heard(line.HostToDevice), farewell) > i })
		waiting.Until(t, "wheels that stand", func() bool { state := r.State(); return state.WantLeft == 0 && state.WantRight == 0 })
		other.frame(2)
		aging.until("old data", func() bool { return aging.age() > 500*time.Millisecond })
		waiting.Until(t, "a line in the log", func() bool { return strings.Count(s.Output.String(), `"`+devices.LogPanicked+`"`) == i+1 })
	}
	s.Await(t, devices.ErrSwitchedOff.Error())
	if got := s.dial(t).request("prsrlr"); got != "peselr" {
		t.Errorf("reply %q", got)
	}
	s.Await(t, session.LogAccessRefused)
	if log := s.Output.String(); !strings.Contains(log, "trouble.(*Driver).Configure trouble.go:") {
		t.Errorf("no stack in the log: %s", tail(log, 2000))
	}
	other.frame(2)
	s.stop(t)
}

// The loop hangs: the second signal kills the server, but not before the robot is
// stopped.
func TestHangingLoopStopsTheRobot(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			l, _ := inTerminal(t) // with a file and without a terminal SIGHUP reloads
			s, p, r := l.troubledDriving(t)
			p.grip(hang)
			waiting.Until(t, "the end", func() bool {
				_ = s.Cmd.Process.Signal(sig) // those that come at the same time count once
				return !s.Alive()
			})
			stood(t, r)
			waiting.Until(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
		})
	}
}
