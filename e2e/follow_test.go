package e2e

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"player/client/simulation"
	"player/e2e/ports"
)

// The example finds a ball that is behind it by the pictures of the robot's camera, stands about
// 1.5 m away, and follows when the ball is elsewhere. It stands when the pictures are old.
func TestFollow(t *testing.T) {
	t.Parallel()
	port := ports.Free(t, 2)
	dir := t.TempDir()
	follow := filepath.Join(dir, "follow")
	if out, err := exec.Command("go", "build", "-o", follow, "../examples/follow").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	world := write(t, dir, "ball.world", `
		include "`+absolute(t, "../worlds/pioneer.inc")+`"
		pioneer_full ( name "r0" pose [0 0 0 0] )
		model ( name "ball" pose [-3 1 0 0] size [0.15 0.15 0.2] color "orange" gripper_return 1 )`)
	vision := buildVision(t)
	file := write(t, dir, "robot.cfg", fmt.Sprintf(`
		driver ( name "stage" world %q provides ["position:0" "ptz:0"] )
		driver ( name "vision" plugin %q args ["-colors" "../vision/colors.cfg" "http://127.0.0.1:%d/camera/simulated-%d"] provides ["vision:0"] )
	`, world, vision, port+1, port))
	s := launch{port: port}.start(t, "-http", fmt.Sprintf("127.0.0.1:%d", port+1), file)

	program, output := exec.CommandContext(t.Context(), follow, "-addr", fmt.Sprintf("127.0.0.1:%d", port), "-channel", "4"), &lockedBuffer{}
	program.Stdout, program.Stderr = output, output
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Wait() }) // the context of the test ends it
	c := s.dial(t)
	c.request("pr")
	robot := simulation.At(fmt.Sprintf("127.0.0.1:%d", port+1))
	var away, aside float64 // of the ball, m and degrees
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the ball is %.2f m away, %.1f degrees to the left; the program says:\n%s", away, aside, output)
		}
	})
	there := func(what string) {
		t.Helper()
		c.until(what, func() bool {
			at := c.position()
			state, err := robot.State(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, _ := state.Mover("r0")
			ball, _ := state.Mover("ball")
			away = math.Hypot(ball.X-r.X, ball.Y-r.Y)
			aside = math.Remainder(math.Atan2(ball.Y-r.Y, ball.X-r.X)*180/math.Pi-r.Heading, 360)
			return at.Speed == 0 && away > 1.1 && away < 1.9 && math.Abs(aside) < 6
		})
	}
	move := func(x, y float64) {
		t.Helper()
		if _, err := robot.Order(t.Context(), simulation.Order{Move: []simulation.Mover{{Name: "ball", X: x, Y: y}}}); err != nil {
			t.Fatal(err)
		}
	}
	there("the robot is at the ball")
	if text := output.String(); !strings.Contains(text, "searches") || !strings.Contains(text, "is at the ball") {
		t.Errorf("the program says %q", text)
	}
	move(-1, -3)
	there("the robot is at the ball again")

	pids := processes(t, vision)
	if len(pids) != 1 {
		t.Fatalf("programs of vision: %v", pids)
	}
	move(3, 3)
	c.until("the robot moves", func() bool { at := c.position(); return at.Speed != 0 || at.TurnRate != 0 })
	if err := exec.Command("kill", "-STOP", pids[0]).Run(); err != nil {
		t.Fatal(err)
	}
	c.until("the robot stands without new pictures", func() bool {
		at := c.position()
		return at.Speed == 0 && at.TurnRate == 0 && strings.HasSuffix(output.String(), "waits for new pictures\n")
	})
	if err := exec.Command("kill", "-CONT", pids[0]).Run(); err != nil {
		t.Fatal(err)
	}
	there("the robot is at the ball with new pictures")
	if err := program.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.until("the robot stands", func() bool { at := c.position(); return at.Speed == 0 && at.TurnRate == 0 })
}
