package main

import (
	"flag"
	"os"
	"testing"
	"time"

	"player/client/subsumption"
	"player/e2e/acceptance"
	"player/e2e/needs"
	"player/examples/lab"
)

var update = flag.Bool("update", false, "write the figure of docs/SUBSUMPTION.md")

// All ten robots reach the other side and come back, though they meet in the
// middle.
func TestThereAndBack(t *testing.T) {
	acceptance.Alone(t)
	needs.Time(t)
	l, err := lab.Open("../../simulation/worlds/subsumption-fleet.world")
	if err != nil {
		t.Fatal(err)
	}
	var prowls []*subsumption.Prowl
	for _, robot := range l.Robots {
		stack, prowl := newStack()
		robot.Stack = stack
		prowls = append(prowls, prowl)
	}
	if len(prowls) != 10 {
		t.Fatalf("%d robots", len(prowls))
	}
	took := l.RunUntil(10*time.Minute, func() bool {
		for _, p := range prowls {
			if len(p.Targets) > 0 {
				return false
			}
		}
		return true
	})
	for i, robot := range l.Robots {
		if len(prowls[i].Targets) > 0 {
			t.Errorf("%s is at %+v after %v, with targets %v left", robot.Name(), robot.Pose(), took, prowls[i].Targets)
		}
	}
	t.Logf("all were back after %v", took)
	if *update {
		figure := lab.Figure{Title: "Ten robots, each to the other side and back", ByRobot: true}
		if err := os.WriteFile("../../docs/subsumption-fleet.svg", []byte(figure.Draw(l)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
