package e2e

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"

	"player/client/simulation"
	"player/e2e/acceptance"
	"player/e2e/must"
	"player/e2e/ports"
	"player/e2e/programs"
)

const (
	// ballWidth and ballHeight are of the ball, a box, m.
	ballWidth, ballHeight = 0.15, 0.2
	// focal is the focal length of the camera, zoomed out, in pixels of the image of 160:
	// 80 divided by the tangent of half of its 48.8 degrees.
	focal = 176.4
	// lens is how far the camera is before the middle of the robot, and lensHeight how far
	// above the floor, m (simulation/worlds/pioneer.inc).
	lens, lensHeight = 0.08, 0.45
	// smallest and largest are how many pixels high the ball is where the example stands: 30,
	// up to 10 percent to both sides, and a pixel that its edge may be off by.
	smallest, largest = 26, 34
	// aimed is how far from the middle of the picture the ball is at most then, degrees: the
	// example stops to turn when it is a pixel off, a third of a degree for the camera.
	aimed = 1
)

// apparent returns how high the ball is in the image, in pixels, if its middle is away from that
// of the robot, m, and its nearest and its farthest corner depth before and behind its middle:
// from the foot of the former to the top of the latter.
func apparent(away, depth float64) float64 {
	return focal * (lensHeight/(away-lens-depth) - (lensHeight-ballHeight)/(away-lens+depth))
}

// The example finds a ball at its side by the pictures of the robot's camera, stands where
// its size is as asked, and follows when the ball is elsewhere. It stands when the pictures are
// old.
func TestFollow(t *testing.T) {
	acceptance.Only(t)
	t.Parallel()
	port := ports.Free(t, 2)
	dir := t.TempDir()
	follow := buildProgram(t, "examples/follow")
	world := write(t, dir, "ball.world", fmt.Sprintf(`
		include "`+absolute(t, "../simulation/worlds/pioneer.inc")+`"
		pioneer_full ( name "r0" pose [0 0 0 0] )
		model ( name "ball" pose [0 2.2 0 0] size [%v %v %v] color "orange" gripper_return 1 )`, ballWidth, ballWidth, ballHeight))
	vision := buildProgram(t, "visitors/vision")
	file := write(t, dir, "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "ptz:0"] )
		driver ( name "vision" plugin %q args ["-colors" "../visitors/vision/colors.cfg" "http://127.0.0.1:%d/camera/simulated-%d"] provides ["vision:0"] )
	`, world, vision, port+1, port))
	s := launch{port: port}.start(t, "-http", fmt.Sprintf("127.0.0.1:%d", port+1), file)

	program := programs.Start(t, exec.Command(follow, "-addr", fmt.Sprintf("127.0.0.1:%d", port), "-channel", "4"))
	c := s.dial(t)
	c.request("pr")
	robot := simulation.At(fmt.Sprintf("127.0.0.1:%d", port+1))
	var away, aside float64 // of the ball, m and degrees
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the ball is %.2f m away, %.1f degrees to the left", away, aside)
		}
	})
	atBall := func() bool {
		state := must.Get(robot.State(t.Context()))(t)
		r, _ := state.Mover("r0")
		ball, _ := state.Mover("ball")
		away = math.Hypot(ball.X-r.X, ball.Y-r.Y)
		aside = math.Remainder(math.Atan2(ball.Y-r.Y, ball.X-r.X)*180/math.Pi-r.Heading, 360)
		return apparent(away, ballWidth/math.Sqrt2) > smallest && apparent(away, ballWidth/2) < largest && math.Abs(aside) < aimed
	}
	there := func(what string) {
		t.Helper()
		c.until(what, func() bool { return c.position().Speed == 0 && atBall() })
	}
	move := func(x, y float64) {
		t.Helper()
		must.Get(robot.Order(t.Context(), simulation.Order{Move: []simulation.Mover{{Name: "ball", X: x, Y: y}}}))(t)
	}
	there("the robot is at the ball") // which was out of its sight
	move(1.5, 2.5)
	there("the robot is at the ball again")

	pids := processes(t, vision)
	if len(pids) != 1 {
		t.Fatalf("programs of vision: %v", pids)
	}
	move(2, 0.5)
	c.until("the robot moves", func() bool { at := c.position(); return at.Speed != 0 || at.TurnRate != 0 })
	must.Do(t, exec.Command("kill", "-STOP", pids[0]).Run())
	frames := 0
	c.until("the robot stands without new pictures", func() bool {
		frames++
		if at := c.position(); at.Speed != 0 || at.TurnRate != 0 {
			frames = 0
		}
		return frames > 20
	})
	if atBall() {
		t.Error("the robot has reached the ball: that it stands proves nothing")
	}
	must.Do(t, exec.Command("kill", "-CONT", pids[0]).Run())
	there("the robot is at the ball with new pictures")
	program.Signal(t, os.Interrupt)
	c.until("the robot stands", func() bool { at := c.position(); return at.Speed == 0 && at.TurnRate == 0 })
}
