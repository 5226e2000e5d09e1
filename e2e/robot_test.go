package e2e

import (
	"encoding/json"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/e2e/acceptance"
	"player/e2e/waiting"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
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
			if s.Printed("not known") || s.Printed("missing") {
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

// The dashboard gets the shape of the model once the robot has said what it is.
func TestShapeOfTheModel(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{Subclass: "amigo"})
	s := start(t, "-pp", r.Port(), "-http", "127.0.0.1:0")
	page := s.dashboard(t)
	get := func(path string, v any) {
		t.Helper()
		reply, err := http.Get(page + path)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		if err := json.NewDecoder(reply.Body).Decode(v); err != nil && reply.StatusCode != http.StatusNoContent {
			t.Fatal(err)
		}
	}
	var list struct{ Robots []struct{ Address string } }
	get("robots", &list)
	shape := func() (front float64, sonars int) {
		var got struct {
			Outline []struct{ X, Y float64 }
			Sonars  []struct{ X, Y, Heading float64 }
		}
		get("shape?robot="+list.Robots[0].Address, &got)
		for _, v := range got.Outline {
			front = max(front, v.X)
		}
		for _, p := range got.Sonars {
			if p.X != 0 {
				sonars++
			}
		}
		return front, sonars
	}
	if front, sonars := shape(); front != 0 || sonars != 0 {
		t.Errorf("before the robot is known: front at %v m, %d sonars, want no content", front, sonars)
	}
	s.dial(t).mustOpen("pr", "pr")
	if front, sonars := shape(); front != 0.16 || sonars != 8 {
		t.Errorf("an AmigoBot: front at %v m, %d sonars", front, sonars)
	}
}

// A robot that is not there is reported within 2 s, and meanwhile the client gets the
// frames of what it has open.
func TestAbsentRobotIsToldSoon(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	r.Silence()
	l := startLaser(t, laser.Options{})
	s := start(t, "-pp", r.Port(), "-lp", l.Port())
	c := s.dial(t)
	c.mustOpen("yrlr", "yrlr")
	begin := c.freshness().Time
	c.message('d', 'r', 's', 'r')
	frames := 0
	for {
		letter, payload := c.block()
		if letter == codec.Laser {
			frames++
		}
		if letter == codec.KindReply {
			if string(payload) != "se" {
				t.Fatalf("request answered %s", payload)
			}
			break
		}
	}
	if frames < 5 { // of 10 a second, for 1.9 seconds
		t.Errorf("%d frames while the robot was looked for", frames)
	}
	// The server's own clock: the test may be late.
	if took := time.Duration(c.freshness().Time-begin) * time.Microsecond; took > 4*time.Second { // 1.9 s, and what the machine takes
		t.Errorf("reported after %v", took)
	}
	s.Await(t, "no answer at 9600 to 115200 baud")
}

// A laser on the port of the robot is named.
func TestLaserOnTheRobotsPort(t *testing.T) {
	t.Parallel()
	l := startLaser(t, laser.Options{Line: line.Options{Baud: 38400, Garble: true, Paced: true}, Streaming: true})
	s := start(t, "-pp", l.Port(), "-lp", filepath.Join(t.TempDir(), "none"))
	c := s.dial(t)
	waiting.Until(t, "the laser is named", func() bool { // a scan may be late, on a busy machine
		c.mustOpen("pr", "pe")
		return s.Printed("a SICK laser is heard here, not a robot: are the ports swapped?")
	})
}
