package rosbridge

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/config/rights"
	"player/e2e/must"
	"player/e2e/needs"
	"player/formats/telemetry"
	"player/visitors"
)

// Devices of all kinds have the topics of the table; a ranger has those of its form, and those that it may have if its form
// is not known before it is open.
func TestTable(t *testing.T) {
	robot := visitors.Robot{Name: "r"}
	add := func(name string, index int, rays ...codec.Rays) {
		robot.Devices = append(robot.Devices, visitors.Device{Code: byte(0x80 + len(robot.Devices)),
			Device: telemetry.Device{Interface: name, Index: index, Description: telemetry.Description{Rays: rays}}})
	}
	add("position", 0)
	add("position", 1)
	add("laser", 0)
	add("laser", 1)
	add("ranger", 0, codec.Rays{Count: 9, Step: 1})
	add("ranger", 1, codec.Rays{Count: 1}, codec.Rays{First: 1, Count: 1})
	add("ranger", 2, codec.Rays{Count: 2, Step: 1}, codec.Rays{First: 2, Count: 1})
	add("ranger", 3)
	add("sonar", 2)
	add("io", 0)
	add("servo", 1)
	add("goto", 0)
	add("goto", 1)
	add("joystick", 0)
	add("gripper", 0)
	add("unheard", 0)
	p, n := programOf(t, all, robot)
	var got []string
	for _, topic := range p.server.topics {
		if !strings.Contains(topic.name, "/sonar_2/range_") || strings.HasSuffix(topic.name, "_15") {
			got = append(got, topic.name)
		}
	}
	if want := "/goal_status /goal_status_1 /io/states /joint_states_1 /joy /odom /odom_1 /ranger/scan /ranger_1/range_0 /ranger_1/range_1 /ranger_2/points /ranger_3/points " +
		"/ranger_3/scan /scan /scan_1 /sonar_2/range_15 /tf /tf_static"; strings.Join(got, " ") != want {
		t.Errorf("topics %q, want %q", got, want)
	}
	for message, want := range map[string]string{
		`{"op":"publish","topic":"/io/commands","msg":{"interface_values":[]}}`:                       `command io:0 of 0 {"interface_values":[]}`,
		`{"op":"publish","topic":"joint_commands_1","msg":{}}`:                                        "command servo:1 of 0 {}",
		`{"op":"publish","topic":"/goal_pose_1","msg":{}}`:                                            "command goto:1 of 0 {}",
		`{"op":"unadvertise","topic":"/goal_pose"}`:                                                   "release goto:0 of 0",
		`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":1}}}`:                                "drive 0 1000 0",
		`{"op":"publish","topic":"/cmd_vel","msg":{}}`:                                                "release goto:0 of 0 release goto:1 of 0 drive 0 0 0",
		`{"op":"advertise","topic":"/goal_pose","type":"geometry_msgs/PoseStamped"}`:                  "",
		`{"op":"subscribe","topic":"/goal_status_1","type":"diagnostic_msgs/DiagnosticStatus"}`:       "",
		`{"op":"unadvertise","topic":"/joint_commands_1"}`:                                            "release servo:1 of 0",
		`{"op":"call_service","service":"/servo_1/power","args":[true]}`:                              "servo_1/power 0 true",
		`{"op":"call_service","service":"/servo_1/stop"}`:                                             "servo_1/stop 0 false",
		`{"op":"call_service","service":"/io/reset"}`:                                                 "io/reset 0 false",
		`{"op":"advertise","topic":"/io/commands","type":"control_msgs/DynamicInterfaceGroupValues"}`: "",
		`{"op":"advertise","topic":"/joint_commands_1","type":"sensor_msgs/msg/JointState"}`:          "",
		`{"op":"subscribe","topic":"/ranger_2/points","type":"sensor_msgs/PointCloud2"}`:              "",
	} {
		n.actions = nil
		if a := say(t, p, n, "%s", message); a.Op != "" || strings.Join(n.actions, " ") != want {
			t.Errorf("%s: %q and %+v, want %q", message, n.actions, a, want)
		}
	}
	for _, message := range []string{
		`{"op":"advertise","id":"a","topic":"/io/commands","type":"std_msgs/msg/Bool"}`, `{"op":"publish","id":"a","topic":"/odom_1"}`,
		`{"op":"publish","id":"a","topic":"/cmd_vel_1","msg":{}}`, `{"op":"advertise","id":"a","topic":"/goal_pose","type":"geometry_msgs/msg/Pose"}`, `{"op":"subscribe","id":"a","topic":"/ranger_2/scan"}`,
	} {
		if a := say(t, p, n, "%s", message); !a.isError(`"a"`) {
			t.Errorf("%s: %+v", message, a)
		}
	}
	reads, m := programOf(t, rights.Read, robot)
	if a := say(t, reads, m, `{"op":"publish","topic":"/io/commands","msg":{}}`); !a.isError("") || m.actions != nil {
		t.Errorf("without the right: %+v, %q", a, m.actions)
	}
}

// rosapi's lists and details agree with each other and with the topics that can be subscribed to.
func TestRosapi(t *testing.T) {
	p, n := programOf(t, rights.Read, robotOf("a", "pslmz"), robotOf("b", "l"))
	ask := func(service, args string, values any) {
		t.Helper()
		a := say(t, p, n, `{"op":"call_service","service":"/rosapi/%s","args":%s}`, service, args)
		if a.Result == nil || !*a.Result {
			t.Fatalf("%s %s: %s", service, args, a.Values)
		}
		must.Do(t, json.Unmarshal(a.Values, values))
	}
	var topics struct{ Topics, Types []string }
	ask("topics", "{}", &topics)
	for _, want := range []string{"/a/odom", "/a/scan", "/a/sonar/range_15", "/a/cmd_vel", "/b/scan", "/tf", "/tf_static"} {
		if !slices.Contains(topics.Topics, want) {
			t.Errorf("no topic %s in %q", want, topics.Topics)
		}
	}
	var raw struct {
		Types []string
		Texts []string `json:"typedefs_full_text"`
	}
	ask("topics_and_raw_types", "[]", &raw)
	if !slices.Equal(raw.Types, topics.Types) || slices.Contains(raw.Texts, "") || len(raw.Texts) != len(raw.Types) {
		t.Errorf("raw types: %q and %d texts", raw.Types, len(raw.Texts))
	}
	var node struct{ Subscribing, Publishing, Services []string }
	ask("node_details", `["player"]`, &node)
	for i, topic := range topics.Topics {
		var kind struct{ Type string }
		ask("topic_type", fmt.Sprintf("[%q]", topic), &kind)
		var same struct{ Topics []string }
		ask("topics_for_type", fmt.Sprintf("[%q]", kind.Type), &same)
		var publishers struct{ Publishers []string }
		ask("publishers", fmt.Sprintf("[%q]", topic), &publishers)
		a := say(t, p, n, `{"op":"subscribe","topic":%q,"type":%q}`, topic, kind.Type)
		sent := a.Op == ""
		if kind.Type != topics.Types[i] || !slices.Contains(same.Topics, topic) ||
			sent != slices.Equal(publishers.Publishers, []string{"/player"}) ||
			sent != slices.Contains(node.Publishing, topic) || sent == slices.Contains(node.Subscribing, topic) {
			t.Errorf("%s: %s, %q of the type, publishers %q, sent: %v",
				topic, kind.Type, same.Topics, publishers.Publishers, sent)
		}
		var details struct{ Typedefs []typedef }
		ask("message_details", fmt.Sprintf("[%q]", kind.Type), &details)
		described := map[string]bool{}
		for _, d := range details.Typedefs {
			described[d.Type] = true
			if len(d.Names) != len(d.Types) || len(d.Names) != len(d.Lengths) || !strings.Contains(d.Type, "/msg/") {
				t.Errorf("%s: the fields of %s: %+v", topic, d.Type, d)
			}
		}
		for _, d := range details.Typedefs {
			for _, field := range d.Types {
				if strings.Contains(field, "/") && !described[field] {
					t.Errorf("%s: %s has a field of type %s, which is not described", kind.Type, d.Type, field)
				}
			}
		}
	}
	var services struct{ Services []string }
	ask("services", "{}", &services)
	for _, service := range services.Services {
		var kind struct{ Type string }
		ask("service_type", fmt.Sprintf("[%q]", service), &kind)
		var same struct{ Services []string }
		ask("services_for_type", fmt.Sprintf("[%q]", kind.Type), &same)
		if !slices.Contains(same.Services, service) || !slices.Contains(node.Services, service) {
			t.Errorf("%s is %s, but not in %q", service, kind.Type, same.Services)
		}
	}
	var request struct{ Typedefs []typedef }
	ask("service_request_details", `["std_srvs/SetBool"]`, &request)
	const want = `[{std_srvs/srv/SetBool_Request [data] [bool] [-1] [] [] []}]`
	if got := fmt.Sprint(request.Typedefs); got != want {
		t.Errorf("SetBool: %s, want %s", got, want)
	}
}

// The node in Python has the same services for a robot's devices as rosbridge.
func TestServicesOfNode(t *testing.T) {
	t.Parallel()
	needs.Programs(t)
	python := exec.Command(needs.Program(t, "python3"), "-c", `
import json
from tests import fake_ros
fake_ros.install()
import player_ros
fake_ros.Node.parameters = {"host": "127.0.0.1", "port": 1}
node = player_ros.PlayerNode()
for interface in "io", "servo":
    for index in 0, 1:
        node.robots[0].serve(interface, index)
print(json.dumps({"/" + name: "std_srvs/srv/" + kind.__name__ for name, (kind, _) in node.services.items()}))
node.end()`)
	python.Dir = "../../clients/python"
	var got map[string]string
	must.Do(t, json.Unmarshal(must.Get(python.Output())(t), &got))
	robot := visitors.Robot{Name: "r"}
	for i, d := range []telemetry.Device{{Interface: "position"}, {Interface: "io"}, {Interface: "io", Index: 1}, {Interface: "servo"}, {Interface: "servo", Index: 1}} {
		robot.Devices = append(robot.Devices, visitors.Device{Code: byte(0x80 + i), Device: d})
	}
	robot.Devices[0].Code = codec.Position
	p, _ := programOf(t, all, robot)
	want := map[string]string{}
	for _, v := range p.server.servicesOf(0) {
		want[v.name] = v.kind
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
