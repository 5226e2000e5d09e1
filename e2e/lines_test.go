package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/arduino"
	"player/simulation/emulator/line"
)

// startArduino starts a robot, and a server with config/examples/arduino.cfg for its port.
func startArduino(t *testing.T, o arduino.Options, change ...string) (*arduino.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	// Two seconds are more than a busy machine holds up a server or its guard, and less
	// than TestLinesWatchdog drives.
	o.Watchdog = 2 * time.Second
	r := emulate(t, arduino.Start, o)
	text := must.Get(os.ReadFile("../config/examples/arduino.cfg"))(t)
	change = append(change, "/dev/ttyACM0", o.Line.Link, "  baud", "  boot 100\n  baud")
	return r, serve(t, "%s", strings.NewReplacer(change...).Replace(string(text)))
}

func TestLinesDrive(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]arduino.Options{
		"plain": {},
		"noise": {Line: line.Options{Noise: line.Noise{Seed: 3, Garbage: 0.02, Swallow: 0.02}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := startArduino(t, o)
			c := s.dial(t)
			c.mustOpen("pasrmr", "pasrmr")
			c.drive(200, 0)
			c.until("it has driven 200 mm, at 200 mm/s", func() bool {
				p := c.position()
				return p.X > 200 && p.Speed > 150 && p.Speed < 250
			})
			c.drive(0, 45)
			c.until("it has turned", func() bool { h := c.position().Heading; return h > 20 && h < 180 })
			c.drive(0, 0)
			c.until("it stands", func() bool { p := c.position(); return p.Speed == 0 && p.TurnRate == 0 })
			state, p := r.State(), c.position()
			if dx := state.X - float64(p.X); name == "plain" && (dx > 3 || dx < -3) {
				t.Errorf("it is at %+v, its odometry at %+v", state, p)
			}
			if state.Trips != 0 || name == "plain" && state.Unknown != 0 {
				t.Errorf("robot %+v", state)
			}
			if sonar := c.sonar(); sonar[0] != 1200 || sonar[1] != 800 || sonar[2] != 3500 || sonar[3] != 0 {
				t.Errorf("sonar %v", sonar)
			}
			r.Bump(true)
			c.until("the bumper is pressed", func() bool { b := c.payload(codec.Misc); return b[0] == 1 && b[2] == 116 })
			c.drive(100, 0)
			waiting.Until(t, "it drives", func() bool { return r.State().Left == 100 })
			c.conn.Close()
			waiting.Until(t, "it stops", func() bool { return r.State().Left == 0 })
		})
	}
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

func TestLinesMotors(t *testing.T) {
	t.Parallel()
	r, s := startArduino(t, arduino.Options{})
	c := s.dial(t)
	c.mustOpen("pa", "pa")
	c.send(motors(0)...)
	waiting.Until(t, "its motors are off", func() bool { return !r.State().Motors })
	c.send(motors(1)...)
	waiting.Until(t, "its motors are on", func() bool { return r.State().Motors })
	r.Unplug()
	s.Await(t, retry.LogUnavailable)
	must.Do(t, r.Plug())
	s.Await(t, retry.LogBack)
	c.position()
}

func TestLinesFail(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		o      arduino.Options
		change []string
	}{
		"no line of text comes at 115200 bit/s":        {arduino.Options{Line: line.Options{Baud: 9600}}, nil},
		"none is like those of read and poll, such as": {arduino.Options{}, []string{`"O {`, `"P {`, `"S {`, `"P {`, `"K {`, `"P {`, `"B {`, `"P {`}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, s := startArduino(t, tt.o, tt.change...)
			s.dial(t).mustOpen("pr", "pe")
			s.Await(t, want)
		})
	}
}
