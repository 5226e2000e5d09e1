package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"player/e2e/must"
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

// A program gives goals, sees the robot arrive, and ends a goal by a cmd_vel of zeros and by leaving.
func TestRosbridgeGoal(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room, "-goto", "-rosbridge", "127.0.0.1:0")
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	watcher, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	watcher.send(`{"op":"subscribe","topic":"/goal_status"}`)
	until := func(message string) map[string]string {
		t.Helper()
		var status struct {
			Message string
			Values  []struct{ Key, Value string }
		}
		waiting.Until(t, message, func() bool {
			decode(t, watcher.message("/goal_status"), &status)
			return status.Message == message
		})
		values := map[string]string{}
		for _, v := range status.Values {
			values[v.Key] = v.Value
		}
		return values
	}
	goal := func(x float64) {
		p.send(`{"op":"publish","topic":"/goal_pose","msg":{"header":{"frame_id":"odom"},"pose":{"position":{"x":%g,"y":-0.25}}}}`, x)
	}
	until("idle")
	p.send(`{"op":"publish","topic":"/goal_pose","msg":{"header":{"frame_id":"map"},"pose":{"position":{"x":1,"y":1}}}}`)
	if m := p.next(func(m rosMessage) bool { return m.Op == "status" }); m.Level != "error" {
		t.Errorf("a goal in the map: %+v", m)
	}
	goal(0.5)
	values := until("arrived")
	if left, err := strconv.ParseFloat(values["distance"], 64); err != nil || left > 0.2 || values["x"] != "0.500" || values["y"] != "-0.250" {
		t.Errorf("arrived: %v", values)
	}
	goal(-1.5)
	until("driving")
	p.send(`{"op":"publish","topic":"/cmd_vel","msg":{}}`)
	until("stopped: command")
	goal(-1.5)
	until("driving")
	p.send(`{"op":"publish","topic":"/cmd_vel","msg":{"angular":{"z":0.2}}}`)
	until("stopped: other")
	goal(-1.5) // the place of a goal that has ended is a new goal
	until("driving")
	if _, ok := p.call("/emergency_stop", "{}"); !ok {
		t.Error("no emergency stop")
	}
	until("stopped: emergency")
	if _, ok := p.call("/release", "{}"); !ok {
		t.Error("no release")
	}
	goal(-1.5)
	until("driving")
	p.ws.CloseNow()
	until("stopped: command")
}

func decode(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// A goal that waits for its device to start is not driven to after a command to the wheels.
func TestRosbridgeGoalThatWaits(t *testing.T) {
	t.Parallel()
	far, gate, opened := start(t, "-stage", room), must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), make(chan struct{})
	t.Cleanup(func() { gate.Close() })
	go func() {
		for {
			here, err := gate.Accept()
			if err != nil {
				return
			}
			go func() {
				defer here.Close()
				<-opened
				there, err := net.Dial("tcp", far.address)
				if err != nil {
					return
				}
				defer there.Close()
				go io.Copy(there, here)
				io.Copy(here, there)
			}()
		}
	}()
	robot := fmt.Sprintf("driver ( name %q provides [%q %q] remote %q )", "passthrough", "position:0", "laser:0", gate.Addr())
	s := start(t, "-goto", "-rosbridge", "127.0.0.1:0", write(t, t.TempDir(), "robot.cfg", robot))
	p, _ := openROS(t, s.rosbridge(t), "127.0.0.1", "")
	p.send(`{"op":"publish","topic":"/goal_pose","msg":{"pose":{"position":{"x":0.5,"y":0}}}}`)
	p.send(`{"op":"publish","topic":"/cmd_vel","msg":{"angular":{"z":0.2}}}`)
	p.send(`{"op":"subscribe","topic":"/goal_status"}`)
	p.call("/rosapi/topics", "{}") // rosbridge has taken all
	close(opened)
	var status struct{ Message string }
	for range 5 {
		if decode(t, p.message("/goal_status"), &status); status.Message != "idle" {
			t.Fatalf("the goal is %s", status.Message)
		}
	}
	p.send(`{"op":"publish","topic":"/goal_pose","msg":{"pose":{"position":{"x":0.5,"y":0}}}}`)
	waiting.Until(t, "a later goal", func() bool {
		decode(t, p.message("/goal_status"), &status)
		return status.Message == "driving"
	})
}
