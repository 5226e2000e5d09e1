package main

import (
	"flag"
	"os"
	"testing"
	"time"

	"player/client/subsumption"
	"player/client/subsumption/pilot"
	"player/devices/stage"
	"player/examples/lab"
)

var update = flag.Bool("update", false, "write the figure of docs/SUBSUMPTION.md")

// TestBuilding: the target is on the other side of a building with a
// courtyard.
func TestBuilding(t *testing.T) {
	l, err := lab.Open("../../simulation/worlds/subsumption-building.world")
	if err != nil {
		t.Fatal(err)
	}
	robot := l.Robots[0]
	jbot := newJBot([]subsumption.Target{{X: 6500}})
	robot.Stack, robot.Tasks = jbot.stack, []pilot.Task{jbot.navmode}
	took := l.RunUntil(10*time.Minute, func() bool { return len(jbot.prowl.Targets) == 0 })
	if d := robot.Distance(6.5, 0); d > 0.3 {
		t.Errorf("after %v the robot is %.2f m from its target", took, d)
	}
	if *update {
		draw(t, l)
	}
}

func draw(t *testing.T, l *lab.Lab) {
	figure := lab.Figure{
		Title: "A building in the way: two jobs over the same layers",
		Layers: []lab.Legend{
			{Layer: "prowl", Meaning: "drives to its target"},
			{Layer: "obstacle", Meaning: "steers around what is in front"},
			{Layer: "xlate", Meaning: "turns once around and scans"},
			{Layer: "perimeter", Meaning: "follows what is beside it"},
			{Layer: "ir", Meaning: "turns away from what is near"},
		},
		Goals: []stage.Vec{{X: 6.5}},
	}
	if err := os.WriteFile("../../docs/subsumption-building.svg", []byte(figure.Draw(l)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCrossingAloneFails shows that the second job is needed.
func TestCrossingAloneFails(t *testing.T) {
	l, err := lab.Open("../../simulation/worlds/subsumption-building.world")
	if err != nil {
		t.Fatal(err)
	}
	jbot := newJBot([]subsumption.Target{{X: 6500}})
	l.Robots[0].Stack = jbot.stack // without navmode
	if took := l.RunUntil(10*time.Minute, func() bool { return len(jbot.prowl.Targets) == 0 }); took < 10*time.Minute {
		t.Errorf("without the other job it reached the target in %v: this world proves nothing", took)
	}
}
