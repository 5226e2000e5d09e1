package lab_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"player/client/subsumption"
	"player/client/subsumption/sense"
	"player/devices/stage"
	"player/examples/lab"
)

var update = flag.Bool("update", false, "write the figures of docs/SUBSUMPTION.md")

// The article's colours and their meaning.
var legends = map[string]string{
	"photo":  "turns towards the light",
	"prowl":  "drives straight on, or to its target",
	"cruise": "drives straight on",
	"ir":     "turns away from what is within 18 inches",
	"sonar":  "steers around what is within 1 m",
	"bump":   "backs up, turns, goes on: ballistic",
	"escape": "breaks out of what bump cannot",
}

func legend(layers ...string) (out []lab.Legend) {
	for _, l := range layers {
		out = append(out, lab.Legend{Layer: l, Meaning: legends[l]})
	}
	return out
}

func open(t *testing.T, world string) (*lab.Lab, *lab.Robot) {
	t.Helper()
	l, err := lab.Open("../../simulation/worlds/" + world)
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Robots[0]
}

// draw writes the figure if the flag -update is set.
func draw(t *testing.T, name string, l *lab.Lab, f lab.Figure) {
	t.Helper()
	if !*update {
		matches(t, name, f.Draw(l))
		return
	}
	if err := os.WriteFile("../../docs/subsumption-"+name+".svg", []byte(f.Draw(l)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sequence lists the layers that won, in order.
func sequence(r *lab.Robot) string {
	var names []string
	for _, s := range lab.Segments(r.Track) {
		names = append(names, s.Layer)
	}
	return strings.Join(names, " ")
}

// layer shortens the stacks below.
var layer = subsumption.NewLayer

// targets are in metres, in odometry coordinates.
func targets(xy ...float64) (out []subsumption.Target) {
	for i := 0; i < len(xy); i += 2 {
		out = append(out, subsumption.Target{X: int(math.Round(xy[i] * 1000)), Y: int(math.Round(xy[i+1] * 1000))})
	}
	return out
}

// resting is a prowl layer that stands still without a target.
func resting(p *subsumption.Prowl) *subsumption.Layer {
	l := layer("prowl", p)
	l.Inverted = true
	return l
}

// Section VI.A: a light behind a low wall, and a hassock without an echo. The
// numbers in the pattern are from the article's analysis.
func TestSeekingALight(t *testing.T) {
	l, robot := open(t, "subsumption-light.world")
	robot.Eye = &sense.Eye{Channel: stage.LightChannel}
	l.Wait(4 * time.Second) // the camera finds the light
	robot.Stack = subsumption.New(
		layer("bump", &subsumption.Bump{}),
		layer("ir", &subsumption.IR{}),
		layer("photo", subsumption.Photo{}),
		layer("prowl", &subsumption.Prowl{}),
	)
	const lightX, lightY = 3.6, 4.9
	if took := l.RunUntil(time.Minute, func() bool { return robot.Distance(lightX, lightY) < 0.15 }); took >= time.Minute {
		t.Errorf("the robot is %.2f m from the light after %v", robot.Distance(lightX, lightY), took)
	}
	got := sequence(robot)
	pattern := regexp.MustCompile(`^` +
		`photo ` + // 2: full speed, turning left to the light
		`prowl ` + // 3: straight to it
		`ir photo (?:ir photo ){4,}` + // 4, 5, 6: oscillates along the wall
		`prowl ` + // 7: the wall has ended
		`bump ` + // 8: the hassock
		`photo prowl`) // 9
	if !pattern.MatchString(got) {
		t.Errorf("layers %q do not match %q", got, pattern)
	}
	segments := lab.Segments(robot.Track)
	turned := func(s lab.Segment) float64 {
		return math.Remainder(s.Steps[len(s.Steps)-1].Pose.Heading-s.Steps[0].Pose.Heading, 2*math.Pi)
	}
	if d := turned(segments[2]); d >= 0 {
		t.Errorf("the left detector sees the wall first: ir must turn right, not by %.2f rad", d)
	}
	marks := []lab.Mark{{X: 0.35, Y: 1.0, Text: "2"}}
	mark := func(n int, layer string, from int, dx, dy float64) int {
		for i := from; i < len(segments); i++ {
			if s := segments[i]; s.Layer == layer {
				at := s.Steps[len(s.Steps)/2].Pose
				marks = append(marks, lab.Mark{X: at.X + dx, Y: at.Y + dy, Text: fmt.Sprint(n)})
				return i
			}
		}
		t.Errorf("there is no segment %q from %d on", layer, from)
		return from
	}
	mark(3, "prowl", 0, -0.25, 0.1)
	mark(4, "ir", 0, -0.1, 0.25)
	mark(5, "photo", 2, 0, -0.25)
	mark(6, "ir", 8, 0, -0.25)
	at := mark(7, "prowl", 4, 0.28, 0)
	if d := turned(segments[at+1]); segments[at+1].Layer == "bump" && d >= 0 {
		t.Errorf("the left bumper hit the hassock: bump must turn right, not by %.2f rad", d)
	}
	at = mark(8, "bump", at, 0.28, 0)
	mark(9, "photo", at, 0.28, 0)
	marks = append(marks, lab.Mark{X: lightX + 0.4, Y: lightY, Text: "10"})
	draw(t, "light", l, lab.Figure{
		Title:  "Seeking a light over a low wall",
		Layers: legend("photo", "prowl", "ir", "bump"),
		Marks:  marks,
	})
}

// Section VI.B: a waypoint at the place of the light. The robot slows down and
// stops.
func TestSeekingAWaypoint(t *testing.T) {
	l, robot := open(t, "subsumption-light.world")
	prowl := &subsumption.Prowl{Targets: targets(2.9, 4.2)}
	robot.Stack = subsumption.New(
		layer("bump", &subsumption.Bump{}),
		layer("ir", &subsumption.IR{}),
		resting(prowl),
	)
	const goalX, goalY = 3.6, 4.9 // the robot's odometry begins at (0.7, 0.7)
	l.RunUntil(2*time.Minute, func() bool { return len(prowl.Targets) == 0 })
	l.Run(2 * time.Second)
	if d := robot.Distance(goalX, goalY); d > 0.27 {
		t.Errorf("the robot stopped %.2f m from its target", d)
	}
	if got, pattern := sequence(robot), regexp.MustCompile(`^prowl (?:ir prowl ){5,}bump prowl$`); !pattern.MatchString(got) {
		t.Errorf("layers %q do not match %q", got, pattern)
	}
	for i, s := range robot.Track[len(robot.Track)-200:] {
		d := math.Hypot(s.Pose.X-goalX, s.Pose.Y-goalY)
		if limit := int(300*(d+0.05)/0.914) + 1; s.Command.Speed > limit {
			t.Errorf("step %d: %d mm/s at %.2f m from the target, at most %d", i, s.Command.Speed, d, limit)
		}
	}
	if last := robot.Track[len(robot.Track)-1]; last.Command != (subsumption.Command{}) {
		t.Errorf("the last command is %+v", last.Command)
	}
	draw(t, "waypoint", l, lab.Figure{
		Title:  "Seeking a waypoint: it slows down and stops",
		Layers: legend("prowl", "ir", "bump"),
		Goals:  []stage.Vec{{X: goalX, Y: goalY}},
	})
}

// Section VI.C, 1 and 2: eight feet out and back.
func TestOutAndBack(t *testing.T) {
	for _, c := range []struct {
		name, world, title string
		sees               bool // has detectors
	}{
		{"chair", "subsumption-chair.world", "Out and back with a chair in the way: prowl and bump", false},
		{"box", "subsumption-box.world", "Out and back with a box in the way: prowl, bump and ir", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, robot := open(t, c.world)
			const eightFeet = 2.438
			prowl := &subsumption.Prowl{Targets: targets(eightFeet, 0, 0, 0)}
			ir := layer("ir", &subsumption.IR{})
			ir.Disabled = !c.sees
			robot.Stack = subsumption.New(layer("bump", &subsumption.Bump{}), ir, resting(prowl))
			away := 0.0
			l.RunUntil(2*time.Minute, func() bool { away = max(away, robot.Pose().X); return len(prowl.Targets) == 0 })
			if away < eightFeet-0.27 {
				t.Errorf("the robot came only %.2f m far", away)
			}
			if d := robot.Distance(0, 0); d > 0.27 {
				t.Errorf("the robot is %.2f m from where it began", d)
			}
			got := sequence(robot)
			if hits := strings.Contains(got, "bump"); hits == c.sees {
				t.Errorf("layers %q", got)
			}
			layers := legend("prowl", "bump")
			if c.sees {
				layers = legend("prowl", "ir")
			}
			draw(t, c.name, l, lab.Figure{Title: c.title, Layers: layers, Goals: []stage.Vec{{X: eightFeet}, {}}})
		})
	}
}

// pace walks back and forth, driven by the clock.
type pace struct {
	speed int
	turns time.Duration
}

func (p pace) Act(now time.Duration, _ *subsumption.Sensors, _ subsumption.Signals) subsumption.Output {
	speed := p.speed
	if now/p.turns%2 != 0 {
		speed = -speed
	}
	return subsumption.Output{Speed: speed, Flag: true}
}

// Section VI.C, 4: a square, with obstacles and moving feet in the way.
func TestSquare(t *testing.T) {
	l, robot := open(t, "subsumption-square.world")
	corners := targets(3, 0, 3, 3, 0, 3, 0, 0)
	prowl := &subsumption.Prowl{Targets: corners}
	robot.Stack = subsumption.New(
		layer("bump", &subsumption.Bump{}),
		layer("ir", &subsumption.IR{}),
		layer("sonar", &subsumption.Sonar{}),
		resting(prowl),
	)
	l.Robots[1].Stack = subsumption.New(layer("pace", pace{300, 5 * time.Second}))
	var goals []stage.Vec
	for _, c := range corners {
		goals = append(goals, stage.Vec{X: 1.5 + float64(c.X)/1000, Y: 1.5 + float64(c.Y)/1000})
	}
	left := len(corners)
	l.RunUntil(4*time.Minute, func() bool {
		if len(prowl.Targets) < left {
			if goal := goals[len(corners)-left]; robot.Distance(goal.X, goal.Y) > 0.27 {
				t.Errorf("at %+v the robot is %.2f m away", goal, robot.Distance(goal.X, goal.Y))
			}
			left = len(prowl.Targets)
		}
		return left == 0
	})
	if left > 0 {
		t.Errorf("%d corners are left", left)
	}
	if got := sequence(robot); !strings.Contains(got, "sonar") || strings.Contains(got, "bump") {
		t.Errorf("layers %q: it steers around everything and hits nothing", got)
	}
	draw(t, "square", l, lab.Figure{Title: "A square of waypoints, with boxes and moving feet in the way", Layers: legend("prowl", "sonar", "ir"), Goals: goals})
}

// A corner that the detectors do not see: with bump alone the robot stays in
// it.
func TestCorner(t *testing.T) {
	for _, c := range []struct {
		name, title string
		escapes     bool
	}{
		{"caught", "A corner without escape: three minutes", false},
		{"escape", "The same corner with escape: until it is out", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, robot := open(t, "subsumption-corner.world")
			escape := layer("escape", &subsumption.Escape{})
			escape.Disabled = !c.escapes
			robot.Stack = subsumption.New(
				escape,
				layer("bump", &subsumption.Bump{}),
				layer("ir", &subsumption.IR{}),
				layer("cruise", subsumption.Cruise{}),
			)
			l.RunUntil(time.Minute, func() bool { return robot.Pose().X > 2 })
			const limit = 3 * time.Minute
			took := l.RunUntil(limit, func() bool { return robot.Pose().X < 1 })
			if free := took < limit; free != c.escapes {
				t.Errorf("out of the corner after %v; layers %q", took, sequence(robot))
			}
			layers := legend("cruise", "bump")
			if c.escapes {
				layers = legend("cruise", "bump", "escape")
			}
			draw(t, "corner-"+c.name, l, lab.Figure{Title: c.title, Layers: layers})
		})
	}
}
