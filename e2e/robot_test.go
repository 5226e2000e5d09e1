package e2e

import (
	"math"
	"slices"
	"testing"

	"player/codec"
	driver "player/devices/p2os"
	"player/e2e/acceptance"
	robot "player/simulation/emulator/p2os"
)

// Every model tells right millimetres and degrees, and has its sonars at Player's
// places.
func TestRobotModels(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	// The robot's own numbers of the sonars at the 16 places; -1: none.
	places := map[string][]int{
		"amigo": {0, 1, -1, 2, 3, -1, 4, 5, -1, -1, 6, -1, -1, 7, -1, -1}, "pion1m": {0, 1, 2, 3, 4, 5, -1, 6, -1, -1, -1, -1, -1, -1, -1, -1},
		"perfpb":   {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
		"powerbot": {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
	}
	places["amigo-sh"], places["powerbot-sh"], places["p2pb"] = places["amigo"], places["powerbot"], places["perfpb"]
	places["pion1x"], places["psos1m"], places["pionat"] = places["pion1m"], places["pion1m"], places["pion1m"]
	for _, name := range robot.Models() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{Subclass: name, MotorsOn: true})
			order := places[name]
			if order == nil {
				order = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
			}
			var want codec.SonarData
			for place, number := range order {
				if number >= 0 {
					want[place] = uint16(1000 + 50*place)
					r.SetSonar(number, float64(want[place]))
				}
			}
			s := start(t, "-pp", r.Port())
			c := s.dial(t)
			c.mustOpen("pasr", "pasr")
			c.until("all sonars", func() bool {
				got := c.sonar()
				return !slices.ContainsFunc(got[:], func(mm uint16) bool { return mm > 1800 }) && near(got, want)
			})
			c.drives("a metre", 400, 0, func() bool { return r.State().World.X > 1000 })
			c.drives("half a turn", 0, 50, func() bool { return r.State().World.Heading > 180 })
			c.drives("a curve", 200, -40, func() bool { return r.State().World.Heading < 90 })
			c.drive(0, 0)
			c.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
			c.until("two frames", counter(4))
			checkOdometry(t, c, r)
			if s.Printed(driver.LogUnknown) || s.Printed(driver.LogMissing) || s.Printed(driver.LogOpenedAnew) {
				t.Errorf("log:\n%s", tail(s.Output.String(), 2000))
			}
		})
	}
}

func near(got, want codec.SonarData) bool {
	for i := range got {
		if math.Abs(float64(got[i])-float64(want[i])) > 1 {
			return false
		}
	}
	return true
}
