package e2e

import (
	"testing"

	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
)

// The cables of robot and laser are swapped: both drivers hear nothing, and name the hardware
// that answers on their ports, whether both have just been switched on or for good.
func TestSwappedAndSilent(t *testing.T) {
	t.Parallel()
	for name, always := range map[string]string{"opened by a client": "0", "always on": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{})
			l := startLaser(t, laser.Options{})
			s := serve(t, `
				driver ( name "p2os" provides ["position:0"] port %q alwayson %s )
				driver ( name "sicklms200" provides ["laser:0"] port %q alwayson %[2]s )`, l.Port(), always, r.Port())
			if always == "0" {
				s.dial(t).mustOpen("prlr", "pele")
			}
			s.Await(t, "swap the ports of p2os and sicklms200")
			s.Await(t, "swap the ports of sicklms200 and p2os")
			// The next refusals also say so.
			if always == "0" {
				s.dial(t).mustOpen("prlr", "pele")
			}
			s.Await(t, "sicklms200 answered here, at 9600 baud: swap the ports of p2os and sicklms200; no answer")
			s.Await(t, "p2os answered here, at 9600 baud: swap the ports of sicklms200 and p2os; no answer")
			if state := r.State(); state.Open || state.Connected {
				t.Errorf("the robot was not left as it was: %+v", state)
			}
		})
	}
}

// A line on which nothing answers is probed once. A client that opens the device
// meanwhile is served at once.
func TestHardwareThatComesWhileItIsLookedFor(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	r.Silence()
	s := start(t, "-pp", r.Port())
	c := s.dial(t)
	c.mustOpen("pr", "pe")
	r.Speak()
	if tries := c.mustOpen("pr", "pr"); tries > 1 {
		t.Errorf("the robot was refused %d times", tries)
	}
}
