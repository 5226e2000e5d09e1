package main

import (
	"strings"
	"testing"
	"time"

	"player/client/subsumption/sense"
	"player/e2e/needs"
	"player/examples/lab"
)

// build places a robot in a room with a light. It has looked for the light
// unless photo is off.
func build(t *testing.T, off, invert, targets, fence string) (*lab.Lab, *lab.Robot) {
	t.Helper()
	l, err := lab.Open("../../simulation/worlds/subsumption-light.world")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := newStack(targets, fence)
	if err != nil {
		t.Fatal(err)
	}
	if err := masks(stack, off, "", invert); err != nil {
		t.Fatal(err)
	}
	robot := l.Robots[0]
	robot.Stack = stack
	if !strings.Contains(off, "photo") {
		robot.Eye = &sense.Eye{Channel: lightChannel}
		l.Wait(4 * time.Second)
	}
	return l, robot
}

const lightX, lightY = 3.6, 4.9

func TestMoth(t *testing.T) {
	l, robot := build(t, "motion,xlate", "", "", "")
	if took := l.RunUntil(3*time.Minute, func() bool { return robot.Distance(lightX, lightY) < 0.3 }); took >= 3*time.Minute {
		t.Errorf("the moth is %.2f m from the light", robot.Distance(lightX, lightY))
	}
}

func TestCockroach(t *testing.T) {
	l, robot := build(t, "motion,xlate", "photo", "", "")
	nearest := 100.0
	l.RunUntil(2*time.Minute, func() bool { nearest = min(nearest, robot.Distance(lightX, lightY)); return false })
	if nearest < 1 {
		t.Errorf("the cockroach came within %.2f m of the light", nearest)
	}
}

func TestPetRests(t *testing.T) {
	l, robot := build(t, "photo,motion,xlate", "prowl", "", "")
	begin := robot.Pose()
	l.Run(time.Minute)
	if d := robot.Distance(begin.X, begin.Y); d > 1.5 {
		t.Errorf("undisturbed, the pet went %.2f m", d)
	}
	if last := robot.Track[len(robot.Track)-1]; last.Command.Speed != 0 {
		t.Errorf("it does not rest: %+v", last)
	}
}

func TestFence(t *testing.T) {
	needs.Time(t)
	l, robot := build(t, "photo,motion", "", "", "-0.5,-0.5 1.5,1")
	worst := 0.0
	l.RunUntil(5*time.Minute, func() bool {
		p := robot.Pose() // its odometry began at (0.7, 0.7)
		worst = max(worst, 0.2-p.X, p.X-2.2, 0.2-p.Y, p.Y-1.7)
		return false
	})
	// The robot needs a quarter of a circle of 0.2 m to turn, and something
	// may be in the way.
	if worst > 0.5 {
		t.Errorf("the robot was %.2f m outside the fence", worst)
	}
	if worst < 0.05 {
		t.Error("the robot never reached the fence: this test proves nothing")
	}
}

// TestEverything runs all nine layers for a while: each of them wins.
func TestEverything(t *testing.T) {
	l, robot := build(t, "", "", "4,4", "-0.5,-0.5 5,5.1")
	l.Run(3 * time.Minute)
	won := map[string]int{}
	for _, s := range robot.Track {
		won[s.Layer]++
	}
	for _, layer := range []string{"motion", "ir", "boundary", "sonar", "photo", "xlate", "prowl"} {
		if won[layer] == 0 {
			t.Errorf("%s never won: %v", layer, won)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ targets, fence, off string }{
		{"1", "", ""}, {"", "1,1", ""}, {"", "1,1 2,2 3,3", ""}, {"", "", "potho"},
	} {
		stack, err := newStack(c.targets, c.fence)
		if err == nil {
			err = masks(stack, c.off, "", "")
		}
		if err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}
