package e2e

import (
	"fmt"
	"math"
	"testing"

	"player/client"
	"player/codec"
	"player/e2e/waiting"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
)

// The wheels of a robot slip when it turns, and its gyroscope's centre drifts. By its wheels
// it is where it is not; with the gyroscope, where it is.
func TestGyro(t *testing.T) {
	t.Parallel()
	for _, gyro := range []bool{false, true} {
		t.Run(fmt.Sprint(gyro), func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{Subclass: "p3dx", MotorsOn: true, Slip: 0.25, Gyro: robot.Gyro{Fitted: true, Drift: 0.02},
				Line: line.Options{Baud: 38400}})
			s := start(t, write(t, t.TempDir(), "robot.cfg",
				fmt.Sprintf(`driver ( name "p2os" provides ["position:0"] port %q gyro %v )`, r.Port(), gyro)))
			c := s.dial(t)
			c.mustOpen("pa", "pa")
			opened := r.State().SIPs
			c.until("a second at rest, and a half", func() bool { return r.State().SIPs > opened+15 })
			for range 2 {
				turned := r.State().World.Heading
				c.drives("a quarter turn", 0, 40, func() bool { return r.State().World.Heading > turned+90 })
				c.drive(0, 0)
				c.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
				gone := r.State().World
				c.drives("half a metre", 300, 0, func() bool {
					w := r.State().World
					return math.Hypot(w.X-gone.X, w.Y-gone.Y) > 500
				})
				c.drive(0, 0)
				c.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
			}
			c.until("some more frames", counter(10))
			got, want := c.position(), r.State().World
			off := math.Abs(math.Remainder(float64(got.Heading)-want.Heading, 360))
			away := math.Hypot(float64(got.X)-want.X, float64(got.Y)-want.Y)
			if right := off < 4 && away < 50; right != gyro {
				t.Errorf("gyro %v: %+v, it is at %+v: off by %.1f degrees and %.0f mm", gyro, got, want, off, away)
			}
		})
	}
}

// The answer to a question (PROTOCOL 8.9.4) and /status say what the charger does.
func TestCharge(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{Subclass: "p3at-sh"})
	s := start(t, "-pp", r.Port(), "-http", "127.0.0.1:0")
	page := s.dashboard(t)
	c, err := client.Dial(t.Context(), s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ask := func() string {
		lines, err := c.Ask(t.Context(), codec.QuestionCharge)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(lines)
	}
	if got := ask(); got != "[]" {
		t.Errorf("before anybody has opened it: %s", got)
	}
	if err := c.Request(t.Context(), "pr"); err != nil {
		t.Fatal(err)
	}
	for stage, word := range map[byte]string{0: "[m no]", 1: "[m bulk]", 3: "[m float]", 255: "[]"} {
		r.SetCharge(stage)
		waiting.Until(t, word, func() bool { return ask() == word })
	}
	r.SetCharge(2)
	waiting.Until(t, "overcharge in /status", func() bool { return status(t, page).Robots[0].Devices["misc"].Charge == "overcharge" })
}
