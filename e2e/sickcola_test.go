package e2e

import (
	"testing"

	"player/devices/retry"
	"player/e2e/must"
	"player/simulation/emulator/sickcola"
)

// A sensor on the network measures a wall, and again when it was cut off and is back.
func TestSensorOverNetwork(t *testing.T) {
	t.Parallel()
	l := emulate(t, sickcola.Start, sickcola.Options{}) // 2 m from the walls
	s := serve(t, `driver ( name "sickcola" provides ["laser:0"] port %q )`, l.Address())
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	sees := func() bool { ahead := c.scan()[180]; return ahead > 1.99 && ahead < 2.01 }
	c.until("a wall ahead", sees)
	l.Unplug()
	s.Await(t, retry.LogUnavailable)
	must.Do(t, l.Plug())
	s.Await(t, retry.LogBack)
	c.until("the wall again", sees)
}
