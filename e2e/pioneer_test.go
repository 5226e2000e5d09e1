package e2e

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"player/client"
	"player/codec"
	"player/devices/retry"
	"player/e2e/must"
	"player/e2e/waiting"
	tracker "player/simulation/emulator/acts"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
	"player/simulation/emulator/sony"
)

// A whole Pioneer: the real binary with the flags of the manual, all four
// pieces of hardware, and a client that uses only the manual's protocol.
func TestPioneer(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	l := startLaser(t, laser.Options{})
	c := startCamera(t, sony.Options{})
	v := startTracker(t, tracker.Options{})
	s := start(t, "-pp", r.Port(), "-lp", l.Port(), "-zp", c.Port(), "-vp", strconv.Itoa(v.Port()))
	p := s.dial(t)
	p.mustOpen("lrsrpagamrvrza", "lrsrpagamrvrza")
	if got := p.frame(7); got != "l722 s32 p21 g2 m3 v64 z6" {
		t.Fatalf("first frame %s", got)
	}

	// Drive, once the client has switched on the motors.
	p.send(motors(1)...)
	waiting.Until(t, "motor power", func() bool { return r.State().Motors })
	p.drives("half a metre", 300, 20, func() bool { w := r.State().World; return math.Hypot(w.X, w.Y) > 500 })
	p.drive(0, 0)
	p.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
	p.until("a fresh frame", counter(14))
	checkOdometry(t, p, r)

	// Pan and grip.
	p.untilPoints(30, 10, 512)
	p.message('c', 'g', codec.GripClose, 0)
	waiting.Until(t, "the gripper closes", func() bool { return r.State().Paddles == 0 })

	// Unplug and replug each one: it comes back without a new request, and the
	// others are not disturbed.
	p.drivesOff(r)
	r.Unplug()
	p.until("the watchdog stops the robot", func() bool { return r.State().Left == 0 })
	must.Do(t, r.Plug())
	p.until("the robot is back", func() bool { return r.State().Open })
	moved := p.position()
	p.until("some frames", counter(70))
	if now := p.position(); now.X != moved.X && r.State().WantLeft != 0 {
		t.Errorf("the robot moves by itself: %+v, then %+v", moved, now)
	}

	var far [laser.Values]uint16
	for i := range far {
		far[i] = 4321
	}
	l.Unplug()
	p.until("some frames", counter(70))
	l.SetRanges(far)
	must.Do(t, l.Plug())
	p.laserReads(4321)

	c.Unplug()
	p.until("some frames", counter(70))
	must.Do(t, c.Plug())
	waiting.Until(t, "the camera's loss and return in the log", func() bool {
		return s.Logged(`"evid30"`, retry.LogUnavailable) && s.Logged(`"evid30"`, retry.LogBack)
	})
	p.until("some frames", counter(70))
	p.untilPoints(-20, 5, 100)

	v.HangUp()
	must.Do(t, v.SetBlobs(3, tracker.Blob{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70}))
	p.sees(3, codec.Blob{Area: 1234, X: 80, Y: 60, Left: 70, Right: 90, Top: 50, Bottom: 70})

	// Leave while it drives.
	p.drivesOff(r)
	s.stop(t)
	checkFarewell(t, r)
}

// laserReads waits for a scan in which every reading is mm.
func (p *peer) laserReads(mm uint16) {
	p.t.Helper()
	waiting.Until(p.t, "a scan", func() bool {
		for _, r := range next[codec.LaserData](p, codec.Laser) {
			if r != mm {
				return false
			}
		}
		return true
	})
}

// The answer to a question says that the motors are off (PROTOCOL 8.9.2), and that the button on the
// robot was pressed.
func TestMotorsOff(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	s := start(t, "-pp", r.Port())
	c := must.Get(client.Dial(t.Context(), s.address))(t)
	defer c.Close()
	must.Do(t, c.Request(t.Context(), "pr"))
	off := func() bool {
		lines := must.Get(c.Ask(t.Context(), codec.QuestionObstacles))(t)
		return slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "motors ") })
	}
	if !off() {
		t.Error("nothing stands in the way of a robot whose motors are off")
	}
	r.PressMotorButton()
	waiting.Until(t, "motors that are on", func() bool { return !off() })
}
