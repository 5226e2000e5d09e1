package ros

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"player/e2e/must"
	"player/e2e/needs"
	"player/e2e/npm"
)

// The messages of the fake that clients/python/player_ros.py is tested with have the fields
// and the types of ROS 2's.
func TestFakeOfROS(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	python3 := needs.Program(t, "python3")
	directory := npm.Install(t, "../logfile/readers")
	const print = "import json, fake_ros; print(json.dumps(fake_ros.DEFINITIONS))"
	python := exec.Command(python3, "-c", print)
	python.Dir = "../../clients/python/tests"
	definitions := must.Get(python.Output())(t)
	node := exec.Command("node", "definitions.js")
	node.Dir, node.Stdin = directory, strings.NewReader(string(definitions))
	equal, err := node.CombinedOutput()
	if err != nil || strings.Count(string(equal), "\n") != strings.Count(string(definitions), `": "`) {
		t.Errorf("%v: %s", err, equal)
	}
}

// The body of the robot and the launch file of examples/ros are well-formed.
func TestExamples(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	const check = "import ast, sys, xml.dom.minidom as x; x.parse(sys.argv[1]); ast.parse(open(sys.argv[2]).read())"
	folder := "../../examples/ros/"
	if out, err := exec.Command(needs.Program(t, "python3"), "-c", check, folder+"pioneer.urdf", folder+"player.launch.py").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The node's table has the rows of Table, except for devices that it does not read.
func TestTableOfNode(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	python3 := needs.Program(t, "python3")
	const print = "import json; from tests import fake_ros; fake_ros.install(); import player_ros; print(json.dumps(player_ros.TABLE))"
	python := exec.Command(python3, "-c", print)
	python.Dir = "../../clients/python"
	var rows [][]any
	must.Do(t, json.Unmarshal(must.Get(python.Output())(t), &rows))
	var got []Row
	for _, r := range rows {
		got = append(got, Row{r[0].(string), r[1].(string), r[2].(string), r[3].(string), r[4].(bool)})
	}
	want := slices.DeleteFunc(Table(), func(r Row) bool {
		return r.Topic == "bumpers" || r.Interface == "vision" || r.Interface == "ptz" || r.Interface == "joystick"
	})
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
