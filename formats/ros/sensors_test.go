package ros

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/formats/telemetry"
)

// rays returns the description of a ranger.
func rays(list ...codec.Rays) telemetry.Description { return telemetry.Description{Rays: list} }

// messages returns the messages by topic. Of a topic with several, it returns the last one.
func messages(c *Converter, list []Message) map[string]any {
	all := map[string]any{}
	for _, m := range list {
		all[c.Topics()[m.Topic].Name] = m.Content
	}
	return all
}

func names(all map[string]any) (names []string) {
	for name := range all {
		if !strings.HasPrefix(name, "/tf") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// frames returns the fixed frames as "child x y heading".
func frames(all map[string]any) (list []string) {
	tf, _ := all["/tf_static"].(TFMessage)
	for _, f := range tf.Transforms {
		heading := 2 * math.Atan2(f.Transform.Rotation.Z, f.Transform.Rotation.W) * 180 / math.Pi
		list = append(list, fmt.Sprintf("%s %.3f %.3f %.0f", f.ChildFrameID, f.Transform.Translation.X, f.Transform.Translation.Y, heading))
	}
	return list
}

// A ranger is a scan if its readings look from one point in equal steps, a Range for each reading if each looks from a
// point of its own, and otherwise points.
func TestRanger(t *testing.T) {
	t.Parallel()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	data := codec.RangerData{Unit: 10, Ranges: []uint16{100, codec.NothingInRange, codec.UnknownRange}}
	ahead := codec.Rays{Count: 3, X: 80, Y: 20, Heading: -45, Step: 45, Near: 50, Far: 5000}
	c := New("r1", []telemetry.Device{{Interface: "ranger", Index: 1, Description: rays(ahead)}})
	got := messages(c, c.Data(0, 1e9, data.Append(nil)))
	scan, _ := got["/r1/ranger_1/scan"].(LaserScan)
	want := LaserScan{Header: Header{Time{Sec: 1}, "r1/ranger1"}, AngleMin: -math.Pi / 4, AngleMax: math.Pi / 4, AngleIncrement: math.Pi / 4,
		RangeMin: 0.05, RangeMax: 5, Ranges: []float32{1, inf, nan}}
	if fmt.Sprint(scan) != fmt.Sprint(want) || len(names(got)) != 1 || !slices.Equal(frames(got), []string{"r1/ranger1 0.080 0.020 0"}) {
		t.Errorf("%+v\n%v %v, want\n%+v", scan, names(got), frames(got), want)
	}

	// Clockwise readings are turned around, and a scan to the rear has a frame that looks to the rear.
	c.Describe(0, rays(codec.Rays{Count: 3, Heading: -135, Step: -45}))
	got = messages(c, c.Data(0, 2e9, data.Append(nil)))
	scan, _ = got["/r1/ranger_1/scan"].(LaserScan)
	if fmt.Sprint(scan.Ranges) != fmt.Sprint([]float32{nan, inf, 1}) || scan.AngleIncrement != math.Pi/4 || scan.RangeMax != 655.33 ||
		!slices.Equal(frames(got), []string{"r1/ranger1 0.000 0.000 180"}) && !slices.Equal(frames(got), []string{"r1/ranger1 0.000 0.000 -180"}) {
		t.Errorf("%+v %v", scan, frames(got))
	}

	single := []codec.Rays{{First: 0, Count: 1, X: 100, Heading: 90, Near: 20, Far: 3000, Cone: 180 / math.Pi}, {First: 2, Count: 1, Heading: -90}}
	c.Describe(0, rays(single...))
	got = messages(c, c.Data(0, 3e9, data.Append(nil)))
	if one, _ := got["/r1/ranger_1/range_0"].(Range); one != (Range{Header{Time{Sec: 3}, "r1/ranger1_0"}, 0, 1, 0.02, 3, 1, 0}) {
		t.Errorf("%+v", one)
	}
	if one, _ := got["/r1/ranger_1/range_2"].(Range); one.RadiationType != 1 || one.Range == one.Range || len(names(got)) != 2 {
		t.Errorf("%+v of %v", one, names(got))
	}
	if !slices.Equal(frames(got), []string{"r1/ranger1_0 0.100 0.000 90", "r1/ranger1_2 0.000 0.000 -90"}) {
		t.Errorf("%v", frames(got))
	}

	// Two scans from two points, of which nothing is seen in one direction.
	c.Describe(0, rays(codec.Rays{Count: 2, X: 500, Step: 90}, codec.Rays{First: 2, Count: 1, X: -500, Heading: 180}))
	got = messages(c, c.Data(0, 4e9, data.Append(nil)))
	cloud, _ := got["/r1/ranger_1/points"].(PointCloud2)
	if cloud.Header.FrameID != "r1/base_link" || cloud.Width != 1 || cloud.Height != 1 || cloud.PointStep != 12 || cloud.RowStep != 12 || len(cloud.Data) != 12 ||
		math.Float32frombits(binary.LittleEndian.Uint32(cloud.Data)) != 1.5 || len(cloud.Fields) != 3 || cloud.Fields[2] != (PointField{"z", 8, 7, 1}) || len(names(got)) != 1 {
		t.Errorf("%+v", cloud)
	}

	// A description of more readings than there are is of other data.
	for _, unknown := range []telemetry.Description{{}, rays(codec.Rays{Count: 4, Step: 1}), rays(codec.Rays{First: 3, Count: 1})} {
		c.Describe(0, unknown)
		if got := names(messages(c, c.Data(0, 5e9, data.Append(nil)))); len(got) > 0 {
			t.Errorf("%+v: %v", unknown, got)
		}
	}
}

// Values are in SI units, those that are not known are NaN, and devices without names number their channels.
func TestChannels(t *testing.T) {
	t.Parallel()
	c := New("", []telemetry.Device{
		{Interface: "io", Index: 2, Description: telemetry.Description{Channels: []codec.Channel{{Number: 1, Unit: "mV", Name: "Battery"}}}},
		{Interface: "servo", Geometry: telemetry.Geometry{X: 100}, Description: telemetry.Description{Channels: []codec.Channel{
			{Number: 0, Unit: "mdeg", Name: "Shoulder"}, {Number: 1, Unit: "um", Name: "Lift"}}}},
	})
	joints := codec.ServoData{Joints: []codec.Joint{{Position: 90000}, {Position: codec.Unknown}, {Position: 7}}}
	all := messages(c, c.Data(1, 2e9, joints.Append(nil)))
	if text := fmt.Sprint(all["/joint_states"]); text != "{{{2 0} } [Shoulder Lift servo_2] [1.5707963267948966 NaN 7] [] []}" {
		t.Error(text)
	}
	if got := frames(all); !slices.Equal(got, []string{"servo 0.100 0.000 0"}) {
		t.Errorf("%v", got)
	}
	values := codec.IOData{Values: []int32{1, 12500, codec.Unknown}}
	got := messages(c, c.Data(0, 21e9, values.Append(nil)))["/io_2/states"]
	if text := fmt.Sprint(got); text != "{{{21 0} } [io_2] [{[io2_0 Battery io2_2] [1 12.5 NaN]}]}" {
		t.Error(text)
	}
	for _, tt := range []struct {
		device  int
		payload []byte
		topic   string
		want    string
	}{
		{0, codec.IOCommand{Channel: 1, Value: 3300}.Append(nil), "/io_2/commands", "{{{1 0} } [io_2] [{[Battery] [3.3]}]}"},
		{1, codec.ServoCommand{Joint: 1, Goal: 50000, Speed: 10000}.Append(nil), "/joint_commands", "{{{1 0} } [Lift] [0.05] [0.01] []}"},
		{1, codec.ServoCommand{Joint: codec.AllJoints, Goal: codec.Unknown}.Append(nil), "/joint_commands", "{{{1 0} } [Shoulder Lift] [NaN NaN] [] []}"},
	} {
		if got := fmt.Sprint(messages(c, c.Command(tt.device, 1e9, tt.payload))[tt.topic]); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// Commands in JSON become commands of the protocol, in units of the channels.
func TestParseCommands(t *testing.T) {
	t.Parallel()
	io := telemetry.Device{Interface: "io", Description: telemetry.Description{Channels: []codec.Channel{
		{Number: 0, Role: codec.Input, Name: "Button"}, {Number: 2, Role: codec.Output, Unit: "mV", Name: "Lamp"}, {Number: 3, Role: codec.Output}}}}
	servo := telemetry.Device{Interface: "servo", Index: 1, Description: telemetry.Description{Channels: []codec.Channel{
		{Number: 0, Role: codec.Jointed, Unit: "mdeg", Name: "Shoulder"}}}}
	joints := func(text string) string {
		got, err := ParseJoints([]byte(text), servo)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got)
	}
	outputs := func(text string) string {
		got, err := ParseOutputs([]byte(text), io)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got)
	}
	goal := func(text string) string {
		got, err := ParseGoal([]byte(text), "r1")
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got.X, got.Y, got.Heading, got.Speed, got.Tag)
	}
	const unknown = "-2147483648"
	for _, tt := range []struct {
		parse      func(string) string
		text, want string
	}{
		{outputs, `{"interface_groups":["io"],"interface_values":[{"interface_names":["Lamp","io_3"],"values":[3.3,1]}]}`, "[{2 3300} {3 1}]"},
		{outputs, `{"interface_values":[{"interface_names":["io_4"],"values":[1e300]}]}`, "[{4 2147483647}]"},
		{outputs, `{"interface_values":[{"interface_names":["io_2"],"values":[1]}]}`, `there is no output "io_2"; there are: Lamp, io_3`},
		{outputs, `{"interface_values":[{"interface_names":["Button"],"values":[1]}]}`, `there is no output "Button"; there are: Lamp, io_3`},
		{outputs, `{"interface_values":[{"interface_names":["io_128"],"values":[1]}]}`, `there is no output "io_128"; there are: Lamp, io_3`},
		{outputs, `{"interface_values":[{"interface_names":["Lamp"],"values":[]}]}`, "the message has 1 names and 0 values"},
		{outputs, `{"interface_values":[{"interface_names":["Lamp"],"values":[null]}]}`, `the message has no value for "Lamp"`},
		{outputs, `{}`, "the message names no outputs"},
		{outputs, `[]`, "the message is no control_msgs/msg/DynamicInterfaceGroupValues: json: cannot unmarshal"},
		{joints, `{"name":["Shoulder"],"position":[1.5707963267948966]}`, "[{0 90000 0}]"},
		{joints, `{"name":["Shoulder","servo1_5"],"position":[null,7],"velocity":[0.1,-2]}`, "[{0 " + unknown + " 5730} {5 7 2}]"},
		{joints, `{"name":["Shoulder"],"velocity":[1e-9]}`, "[{0 " + unknown + " 1}]"},
		{joints, `{"name":["Shoulder"],"position":[-1e300]}`, "[{0 -2147483647 0}]"},
		{joints, `{"name":["Shoulder"],"position":[1,2]}`, "the message has 1 joints, 2 positions and 0 velocities"},
		{joints, `{"name":["Elbow"]}`, `there is no joint "Elbow"; there are: Shoulder`},
		{joints, `{"position":[1]}`, "the message names no joints"},
		{goal, `{"header":{"frame_id":"odom"},"pose":{"position":{"x":1.2346,"y":-2,"z":9},"orientation":{"z":-0.7071068,"w":0.7071068}}}`, "1235 -2000 270 0 0"},
		{goal, `{"header":{"frame_id":"r1/odom"},"pose":{"position":{"x":0,"y":0},"orientation":{"x":0,"y":0,"z":0,"w":1}}}`, "0 0 0 0 0"},
		{goal, `{"pose":{"position":{"x":-1e300,"y":1e300},"orientation":{"z":-0.001,"w":2}}}`, "-2147483647 2147483647 0 0 0"},
		{goal, `{"pose":{"position":{"x":0,"y":0},"orientation":{"z":1e200,"w":1e200}}}`, "0 0 90 0 0"},
		{goal, `{"header":{"frame_id":"/odom"},"pose":{"position":{"x":1,"y":2}}}`, "1000 2000 65535 0 0"},
		{goal, `{"header":{"frame_id":"map"},"pose":{"position":{"x":1,"y":2}}}`, `the goal is in the frame "map": transform it to r1/odom, in which the robot drives`},
		{goal, `{"header":{"frame_id":"r2/odom"},"pose":{"position":{"x":1,"y":2}}}`, `the goal is in the frame "r2/odom": transform it to r1/odom, in which the robot drives`},
		{goal, `{"pose":{"position":{"x":1,"y":null}}}`, "the goal has no x or no y"},
		{goal, `{}`, "the goal has no x or no y"},
		{goal, `7`, "the message is no geometry_msgs/msg/PoseStamped: json: cannot unmarshal"},
		{joints, `7`, "the message is no sensor_msgs/msg/JointState: json: cannot unmarshal"},
	} {
		if got := tt.parse(tt.text); got != tt.want && !(strings.HasSuffix(tt.want, "unmarshal") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// A goal is a pose in the frame of the odometry. The state of the device has its reason, the distance and the goal.
func TestGoal(t *testing.T) {
	t.Parallel()
	c := New("r1", []telemetry.Device{{Interface: "position"}, {Interface: "goto", Index: 1}})
	if text := Schema("diagnostic_msgs/msg/DiagnosticStatus"); !strings.HasPrefix(text, "byte level\nstring name\n") {
		t.Errorf("the definition of a status is %q", text)
	}
	for _, tt := range []struct {
		data codec.GotoData
		want string
	}{
		{codec.GotoData{X: codec.Unknown, Y: codec.Unknown, Distance: codec.UnknownAmount}, "{0 goto idle  []}"},
		{codec.GotoData{State: codec.GotoDriving, X: 1500, Y: -20, Distance: 1234}, "{0 goto driving  [{distance 1.234} {x 1.500} {y -0.020}]}"},
		{codec.GotoData{State: codec.GotoStopped, Reason: codec.GotoRefused, X: 1500, Distance: codec.UnknownAmount}, "{2 goto stopped: refused  [{x 1.500} {y 0.000}]}"},
		{codec.GotoData{State: codec.GotoArrived, Distance: 60}, "{0 goto arrived  [{distance 0.060} {x 0.000} {y 0.000}]}"},
		{codec.GotoData{State: codec.GotoBlocked}, "{1 goto blocked  [{distance 0.000} {x 0.000} {y 0.000}]}"},
		{codec.GotoData{State: codec.GotoStopped, Reason: codec.GotoNoWay}, "{2 goto stopped: no way  [{distance 0.000} {x 0.000} {y 0.000}]}"},
	} {
		if got := fmt.Sprint(messages(c, c.Data(1, 2e9, tt.data.Append(nil)))["/r1/goal_status_1"]); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	for _, tt := range []struct {
		command codec.GotoCommand
		want    string
	}{
		{codec.GotoCommand{X: 1500, Y: -20, Heading: 90}, "{{{1 5} r1/odom} {{1.5 -0.02 0} {0 0 0.7071 0.7071}}}"},
		{codec.GotoCommand{X: 1500, Y: -20, Heading: codec.AnyHeading}, "{{{1 5} r1/odom} {{1.5 -0.02 0} {0 0 0.0000 0.0000}}}"},
		{codec.StopGoto(), "<nil>"},
		{codec.GotoCommand{X: 1500, Y: codec.Unknown}, "<nil>"},
	} {
		got := messages(c, c.Command(1, 1e9+5, tt.command.Append(nil)))["/r1/goal_pose_1"]
		text := fmt.Sprint(got)
		if p, ok := got.(PoseStamped); ok {
			q := p.Pose.Orientation
			text = fmt.Sprintf("{%v {%v {%v %v %.4f %.4f}}}", p.Header, p.Pose.Position, q.X, q.Y, q.Z, q.W)
		}
		if text != tt.want {
			t.Errorf("%s, want %s", text, tt.want)
		}
	}
}

// everything returns a robot with two devices of each interface of the Table, and data and commands for each.
func everything() (devices []telemetry.Device, data, commands [][]byte) {
	payloads := map[string][2][]byte{
		"position": {(&codec.PositionData{}).Append(nil), codec.PositionCommand{}.Append(nil)},
		"laser":    {(&codec.LaserData{}).Append(nil), nil},
		"sonar":    {(&codec.SonarData{}).Append(nil), nil},
		"ranger":   {(&codec.RangerData{Unit: 1, Ranges: make([]uint16, 64)}).Append(nil), nil},
		"misc":     {(&codec.MiscData{}).Append(nil), nil},
		"vision":   {(&codec.VisionData{}).Append(nil), nil},
		"ptz":      {(&codec.PTZData{}).Append(nil), nil},
		"joystick": {(&codec.JoystickData{}).Append(nil), nil},
		"imu":      {(&codec.IMUData{}).Append(nil), nil},
		"gps":      {(&codec.GPSData{Fix: codec.PlainFix}).Append(nil), nil},
		"io":       {(&codec.IOData{Values: []int32{1}}).Append(nil), codec.IOCommand{}.Append(nil)},
		"servo":    {(&codec.ServoData{Joints: make([]codec.Joint, 1)}).Append(nil), codec.ServoCommand{}.Append(nil)},
		"goto":     {(&codec.GotoData{}).Append(nil), codec.GotoCommand{}.Append(nil)},
	}
	var beams []codec.Rays
	for i := range 64 {
		beams = append(beams, codec.Rays{First: i, Count: 1})
	}
	forms := []telemetry.Description{rays(codec.Rays{Count: 64, Step: 1}), rays(codec.Rays{Count: 32, Step: 1}, codec.Rays{First: 32, Count: 32}), rays(beams...)}
	for name, of := range payloads {
		for i := range 3 {
			d := telemetry.Device{Interface: name, Index: i}
			if name == "ranger" {
				d.Description = forms[i]
			}
			devices, data, commands = append(devices, d), append(data, of[0]), append(commands, of[1])
		}
	}
	return devices, data, commands
}

// The Table has the topics, types and frames that messages have, and no others.
func TestTable(t *testing.T) {
	t.Parallel()
	devices, data, commands := everything()
	c := New("", devices)
	for i, d := range devices {
		for _, command := range []bool{false, true} {
			list, payload, convert := Table(), data[i], c.Data
			if command {
				payload, convert = commands[i], c.Command
			}
			for _, m := range convert(i, 1e9, payload) {
				topic := c.Topics()[m.Topic]
				if strings.HasPrefix(topic.Name, "/tf") {
					continue
				}
				row := slices.IndexFunc(list, func(r Row) bool {
					pattern := "^/" + strings.ReplaceAll(TopicOf(strings.ReplaceAll(r.Topic, "#", "NUMBER"), d.Index, 0), "NUMBER", "[0-9]+") + "$"
					return r.Interface == d.Interface && r.Command == command && regexp.MustCompile(pattern).MatchString(topic.Name)
				})
				if row < 0 || list[row].Type != topic.Type {
					t.Errorf("%s of %s:%d is %s, and not in the table", topic.Name, d.Interface, d.Index, topic.Type)
					continue
				}
				header := reflect.ValueOf(m.Content).FieldByName("Header")
				if !header.IsValid() {
					continue
				}
				frame := strings.Split(list[row].Frame, "_")[0]
				if list[row].Frame == "odom" || list[row].Frame == "base_link" {
					frame = list[row].Frame
				} else if frame != "" && d.Index > 0 {
					frame += fmt.Sprint(d.Index)
				}
				if got := header.FieldByName("FrameID").String(); strings.Split(got, "_")[0] != strings.Split(frame, "_")[0] {
					t.Errorf("%s has the frame %q, want %q", topic.Name, got, frame)
				}
			}
		}
	}
	for _, topic := range c.Topics() {
		for part := range strings.SplitSeq(strings.TrimPrefix(topic.Name, "/"), "/") {
			if !legal.MatchString(part) {
				t.Errorf("ROS refuses the name %s", topic.Name)
			}
		}
	}
	for _, r := range Table() {
		if Schema(r.Type) == "" {
			t.Errorf("%s: there is no %s", r.Topic, r.Type)
		}
		found := slices.ContainsFunc(c.Topics(), func(topic Topic) bool {
			first := TopicOf(r.Topic, 2, 63)
			if r.Interface != "ranger" || strings.Contains(r.Topic, "range_") {
				return topic.Name == "/"+strings.Replace(first, "range_63", "range_15", 1)
			}
			return topic.Name == "/"+r.Topic || topic.Name == "/"+TopicOf(r.Topic, 1, 0)
		})
		if !found {
			t.Errorf("no message has the topic %s", r.Topic)
		}
	}
}
