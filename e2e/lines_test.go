package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/arduino"
)

// startArduino starts a robot, and a server with config/examples/arduino.cfg for its port.
func startArduino(t *testing.T, o arduino.Options) (*arduino.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	// Two seconds are more than a busy machine holds up a server or its guard, and less
	// than TestLinesWatchdog drives.
	o.Watchdog = 2 * time.Second
	r := emulate(t, arduino.Start, o)
	text := must.Get(os.ReadFile("../config/examples/arduino.cfg"))(t)
	change := strings.NewReplacer("/dev/ttyACM0", o.Line.Link, "  baud", "  boot 100\n  baud")
	return r, serve(t, "%s", change.Replace(string(text)))
}

// A command is repeated, so that the watchdog of the board does not stop the robot;
// a server that is killed, with its guard, repeats nothing.
func TestLinesWatchdog(t *testing.T) {
	t.Parallel()
	r, s := startArduino(t, arduino.Options{})
	c := s.dial(t)
	c.mustOpen("pa", "pa")
	c.drive(100, 0)
	c.until("it has driven for three seconds", func() bool { return c.position().X > 300 })
	if trips := r.State().Trips; trips != 0 {
		t.Fatalf("its watchdog stopped it %d times", trips)
	}
	must.Do(t, syscall.Kill(s.guard(t), syscall.SIGKILL))
	s.kill(t)
	waiting.Until(t, "its watchdog stops it", func() bool { return r.State().Trips == 1 })
}
