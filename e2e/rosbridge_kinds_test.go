package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"player/e2e/waiting"
)

// kinds is a robot with the devices that 0.7.4a had not, and a recorder.
const kinds = `driver ( name "testpattern" provides ["ranger:0" "imu:0" "gps:0" "io:0" "servo:0"] )
	driver ( name "writelog" file "run.mcap" requires ["ranger:0" "io:0" "servo:0"] )`

// A program gets rangers, inputs, outputs and joints, and commands them; a log of that becomes a bag with the same topics.
func TestRosbridgeKinds(t *testing.T) {
	t.Parallel()
	config := write(t, t.TempDir(), "robot.cfg", kinds)
	s := start(t, "-rosbridge", "127.0.0.1:0", config)
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	for _, topic := range []string{"/ranger/scan", "/io/states", "/joint_states", "/tf_static"} {
		p.send(`{"op":"subscribe","topic":%q}`, topic)
	}
	var scan struct {
		Header struct {
			Frame string `json:"frame_id"`
		}
		Min       float64 `json:"angle_min"`
		Increment float64 `json:"angle_increment"`
		Ranges    []float64
	}
	decode(t, p.message("/ranger/scan"), &scan)
	if scan.Header.Frame != "ranger" || scan.Min >= 0 || scan.Increment <= 0 || len(scan.Ranges) < 100 || scan.Ranges[0] != 2 {
		t.Errorf("%+v", scan)
	}
	var group struct {
		Values []struct {
			Names  []string `json:"interface_names"`
			Values []float64
		} `json:"interface_values"`
	}
	p.send(`{"op":"publish","topic":"/io/commands","msg":{"interface_values":[{"interface_names":["Lamp"],"values":[1]}]}}`)
	waiting.Until(t, "the lamp", func() bool {
		decode(t, p.message("/io/states"), &group)
		return len(group.Values) == 1 && len(group.Values[0].Values) == 4 && group.Values[0].Names[2] == "Lamp" && group.Values[0].Values[2] == 1
	})
	p.send(`{"op":"publish","topic":"/joint_commands","msg":{"name":["Elbow"],"position":[1.5707963267948966]}}`)
	var joints struct {
		Name     []string
		Position []float64
	}
	waiting.Until(t, "the elbow", func() bool {
		decode(t, p.message("/joint_states"), &joints)
		return strings.Join(joints.Name, " ") == "Shoulder Elbow" && joints.Position[1] > 1.57 && joints.Position[1] < 1.5708
	})
	p.send(`{"op":"publish","topic":"/joint_commands","msg":{"name":["Knee"],"position":[1]}}`)
	m := p.next(func(m rosMessage) bool { return m.Op == "status" })
	if m.Level != "error" {
		t.Errorf("an unknown joint: %+v", m)
	}
	if values, ok := p.call("/io/reset", "{}"); !ok {
		t.Error(values)
	}
	s.stop(t)
	folder := filepath.Join(t.TempDir(), "drive")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(filepath.Dir(config), "run.mcap")
	if code, _, errs := uses(t, "export", "-ros", log, folder); code != 0 {
		t.Fatal(errs)
	}
	index, err := os.ReadFile(filepath.Join(folder, "metadata.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{"/ranger/scan", "/io/states", "/io/commands", "/joint_states", "/joint_commands", "/tf_static"} {
		if !strings.Contains(string(index), "name: "+topic+"\n") {
			t.Errorf("the bag has no %s", topic)
		}
	}
}

func decode(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
