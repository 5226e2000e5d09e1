package e2e

import (
	"bytes"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"player/emulator/line"
	robot "player/emulator/p2os"
)

// farewell is what a robot hears last from a server that dies: VEL2 0, STOP, twice.
var farewell = bytes.Repeat([]byte{0xFA, 0xFB, 6, 32, 0x3B, 0, 0, 0x20, 0x3B, 0xFA, 0xFB, 3, 29, 0, 29}, 2)

// driving starts a server for an emulated robot, and a client that drives it.
func driving(t *testing.T, l launch, flags ...string) (*server, *peer, *robot.Robot) {
	t.Helper()
	r := startRobot(t, robot.Options{})
	s := l.start(t, append(flags, "-pp", r.Port())...)
	await(t, "it listens", func() bool {
		c, err := net.Dial("tcp", s.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	p := s.dial(t)
	p.mustOpen("pa", "pa")
	p.conn.Write(motors(1))
	p.drives("motion", 300, 0, func() bool { return r.State().Left > 100 })
	return s, p, r
}

// stood waits until the robot's wheels stand. Its watchdog must not be the reason.
func stood(t *testing.T, r *robot.Robot) {
	t.Helper()
	await(t, "wheels that stand", func() bool { state := r.State(); return state.WantLeft == 0 && state.WantRight == 0 })
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
			s.signal(t, sig)
			s.ended(t)
			checkFarewell(t, r)
			stood(t, r)
		})
	}
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s, _, r := driving(t, launch{})
			s.signal(t, sig)
			<-s.exited
			stood(t, r)
			await(t, "last words", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), farewell) })
			if log := s.log.String(); s.cmd.ProcessState.ExitCode() != 2 || !strings.Contains(log, "goroutine ") {
				t.Errorf("exit %d, and no dump of the goroutines: %s", s.cmd.ProcessState.ExitCode(), tail(log, 500))
			}
		})
	}
}

// Nothing can be said after SIGKILL: the robot's watchdog stops it.
func TestKillLeavesItToTheWatchdog(t *testing.T) {
	t.Parallel()
	s, _, r := driving(t, launch{})
	s.kill(t)
	await(t, "the watchdog", func() bool { state := r.State(); return state.WatchdogTrips == 1 && state.Left == 0 })
}

// Whoever reads the log dies: the robot drives on, and is stopped in order.
func TestDeadLogStopsTheRobot(t *testing.T) {
	t.Parallel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The shell writes "serving", because the server's log goes elsewhere.
	shell := []string{"sh", "-c", `echo serving; exec "$0" "$@" 2>&3`}
	s, p, r := driving(t, launch{via: shell, files: []*os.File{in}}, "-debug")
	in.Close()
	out.Close() // what is written from now on is an EPIPE
	for range 10 {
		s.dial(t).request("pr") // a line each, with -debug
	}
	p.drives("the other way", -300, 0, func() bool { return r.State().Left < -100 })
	s.signal(t, syscall.SIGTERM)
	s.ended(t)
	checkFarewell(t, r)
	stood(t, r)
}
