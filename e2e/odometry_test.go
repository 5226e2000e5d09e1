package e2e

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	driver "player/devices/p2os"
	"player/e2e/waiting"
	"player/simulation/emulator/create"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// stalls holds up the line of a robot and stops the server in turn, for random times
// below those after which a robot counts as lost. It returns a function that ends that.
func stalls(t *testing.T, s *server, line *line.Line) (end func()) {
	rnd := rand.New(rand.NewPCG(1, 2))
	quit, done := make(chan struct{}), make(chan struct{})
	pause := func(most time.Duration) {
		select {
		case <-quit:
		case <-time.After(time.Duration(rnd.Int64N(int64(most)))):
		}
	}
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			line.Pause()
			pause(700 * time.Millisecond)
			if rnd.IntN(2) == 0 {
				s.Cmd.Process.Signal(syscall.SIGSTOP)
				pause(500 * time.Millisecond)
				s.Cmd.Process.Signal(syscall.SIGCONT)
			}
			line.Release()
			pause(300 * time.Millisecond)
		}
	}()
	return func() { close(quit); <-done }
}

// Packets that come late and together, and of which some are lost, tell all of the way.
func TestOdometryOfAStalledLine(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"p3dx", "p2dx"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{Subclass: model, MotorsOn: true, Line: line.Options{Noise: line.Noise{Seed: 4, Swallow: 0.4}}})
			s := start(t, "-pp", r.Port())
			c := s.dial(t)
			c.mustOpen("payr", "payr")
			end := stalls(t, s, r.Line)
			c.drives("a metre", 400, 0, func() bool { return r.State().World.X > 1000 })
			c.drives("a curve", 250, 60, func() bool { return r.State().World.Heading > 180 })
			c.drives("way back", 450, 0, func() bool { return r.State().World.X < -700 })
			end()
			// Stopped for longer than a line may be silent: the robot's watchdog stops it. A packet
			// is heard before: the counters of a Pioneer 3 do not tell the way of a second more.
			c.until("a packet", func() bool { return c.age() < 150*time.Millisecond })
			resume := s.Pause(t)
			waiting.Until(t, "the watchdog", func() bool { return r.State().WatchdogTripped && r.State().Left == 0 })
			resume()
			c.drives("on", 300, 0, func() bool { return r.State().Left > 250 })
			c.drive(0, 0)
			c.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
			c.until("two frames", counter(4))
			checkOdometry(t, c, r)
			if s.Printed(driver.LogMissing) || s.Printed(driver.LogOpenedAnew) {
				t.Errorf("log:\n%s", tail(s.Output.String(), 2000))
			}
		})
	}
}

func TestCreateOdometryOfAStalledLine(t *testing.T) {
	t.Parallel()
	r, s := startCreate(t, create.Options{})
	c := s.dial(t)
	c.mustOpen("pa", "pa")
	before := r.State().X
	end := stalls(t, s, r.Line)
	c.drive(400, 0)
	c.until("it has driven two metres", func() bool { return r.State().X > before+2000 })
	end()
	c.drive(0, 0)
	c.until("it stands", func() bool { return r.State().Left == 0 && c.position().Speed == 0 })
	if dx := r.State().X - before - float64(c.position().X); math.Abs(dx) > 2 {
		t.Errorf("its odometry is %.1f mm behind", dx)
	}
}
