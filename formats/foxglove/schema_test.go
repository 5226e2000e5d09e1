package foxglove

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"player/codec"
	"player/formats/telemetry"
)

// Each message has the type that its topic has declared, and no list is null.
func TestTopics(t *testing.T) {
	payloads := map[string][]byte{
		"position": (&codec.PositionData{}).Append(nil), "sonar": (&codec.SonarData{1: 1}).Append(nil), "laser": (&codec.LaserData{}).Append(nil), "misc": (&codec.MiscData{}).Append(nil),
		"gripper": (&codec.GripperData{Beams: 255}).Append(nil), "vision": (&codec.VisionData{}).Append(nil), "ptz": (&codec.PTZData{}).Append(nil), "joystick": (&codec.JoystickData{}).Append(nil),
		"ranger": (&codec.RangerData{Unit: 1, Ranges: []uint16{5, codec.UnknownRange}}).Append(nil), "imu": (&codec.IMUData{}).Append(nil),
		"gps": (&codec.GPSData{Fix: codec.PlainFix}).Append(nil), "io": (&codec.IOData{Values: []int32{1}}).Append(nil),
		"servo": (&codec.ServoData{Joints: make([]codec.Joint, 1)}).Append(nil),
	}
	var devices []telemetry.Device
	for name := range payloads {
		devices = append(devices, telemetry.Device{Interface: name})
	}
	c := telemetry.New("", devices)
	commands := map[string][]byte{"position": make([]byte, 4), "ptz": make([]byte, 6), "gripper": make([]byte, 2), "io": make([]byte, 5), "servo": make([]byte, 9)}
	const taken = 1785233700123456789 // ns since 1970
	seen := map[int]bool{}
	check := func(messages []telemetry.Message) {
		for _, m := range messages {
			seen[m.Topic] = true
			topic := c.Topics()[m.Topic]
			of := SchemaOf(topic.Message)
			if want := SchemaOf(m.Content); of.Name != want.Name {
				t.Errorf("%s: %s, want %s", topic.Name, of.Name, want.Name)
			}
			text, err := json.Marshal(m.Content)
			if err != nil || strings.Contains(string(text), "null") {
				t.Errorf("%s: %s, %v", topic.Name, text, err)
			}
			var schema description
			fields := map[string]any{}
			if err := errors.Join(json.Unmarshal(of.Text, &schema), json.Unmarshal(text, &fields)); err != nil || len(schema.Properties) != len(fields) {
				t.Errorf("%s: schema %s, %v", topic.Name, of.Text, err)
			}
		}
	}
	for i, device := range devices {
		check(c.Data(i, taken, payloads[device.Interface]))
		if device.Interface == "ranger" { // it is shown by where its readings look
			for _, rays := range [][]codec.Rays{{{Count: 2, Step: 1}}, {{Count: 1}, {First: 1, Count: 1}}, {{Count: 2, Step: 1}, {First: 1, Count: 1}}} {
				c.Describe(i, telemetry.Description{Rays: rays})
				check(c.Data(i, taken, payloads[device.Interface]))
			}
		}
		check(c.Command(i, taken, commands[device.Interface]))
		check(c.Configuration(i, taken, []byte("R")))
	}
	for i, topic := range c.Topics() {
		if !seen[i] {
			t.Errorf("%s has no messages", topic.Name)
		}
	}
}

func TestSchemaName(t *testing.T) {
	for message, want := range map[any]string{telemetry.Log{}: "foxglove.Log", telemetry.Control{}: "player.Control"} {
		if got := SchemaOf(message).Name; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
