package ros

import (
	"os/exec"
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
