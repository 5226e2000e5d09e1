package ros

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"player/codec"
	"player/formats/telemetry"
)

// ParseOutputs parses a message on io/commands of a device: a DynamicInterfaceGroupValues as JSON. The names of its groups
// do not matter: the topic names the device.
func ParseOutputs(message []byte, d telemetry.Device) (commands []codec.IOCommand, err error) {
	var m struct {
		Groups []struct {
			Names  []string   `json:"interface_names"`
			Values []*float64 `json:"values"`
		} `json:"interface_values"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("the message is no %s: %w", groupType, err)
	}
	for _, group := range m.Groups {
		if len(group.Names) != len(group.Values) {
			return nil, fmt.Errorf("the message has %d names and %d values", len(group.Names), len(group.Values))
		}
		for i, name := range group.Names {
			c, ok := d.ChannelNamed(name, codec.MaxChannels)
			if !ok || c.Role == codec.Input {
				return nil, noChannel("output", name, d, codec.Output)
			}
			if group.Values[i] == nil {
				return nil, fmt.Errorf("the message has no value for %q", c.Name)
			}
			commands = append(commands, codec.IOCommand{Channel: uint8(c.Number), Value: whole(*group.Values[i], c.Unit)})
		}
	}
	if commands == nil {
		return nil, errors.New("the message names no outputs")
	}
	return commands, nil
}

// ParseJoints parses a message on joint_commands of a device: a JointState as JSON. A position is the goal of its joint,
// and null or no position at all stops it; a velocity is the speed on the way.
func ParseJoints(message []byte, d telemetry.Device) (commands []codec.ServoCommand, err error) {
	var m struct {
		Name               []string
		Position, Velocity []*float64
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("the message is no %s: %w", jointType, err)
	}
	if len(m.Name) == 0 {
		return nil, errors.New("the message names no joints")
	}
	for _, list := range [][]*float64{m.Position, m.Velocity} {
		if len(list) != 0 && len(list) != len(m.Name) {
			return nil, fmt.Errorf("the message has %d joints, %d positions and %d velocities", len(m.Name), len(m.Position), len(m.Velocity))
		}
	}
	for i, name := range m.Name {
		c, ok := d.ChannelNamed(name, codec.MaxJoints)
		if !ok {
			return nil, noChannel("joint", name, d, codec.Jointed)
		}
		command := codec.ServoCommand{Joint: uint8(c.Number), Goal: codec.Unknown}
		if len(m.Position) > 0 && m.Position[i] != nil {
			command.Goal = whole(*m.Position[i], c.Unit)
		}
		if len(m.Velocity) > 0 && m.Velocity[i] != nil {
			if v := math.Abs(*m.Velocity[i]); v > 0 { // a speed of 0 would be as fast as the driver likes
				command.Speed = uint32(max(1, whole(v, c.Unit)))
			}
		}
		commands = append(commands, command)
	}
	return commands, nil
}

// whole returns a value of ROS in a unit of PROTOCOL 8.9.7, rounded and within 32 bits.
func whole(v float64, unit string) int32 {
	return int32(math.Round(max(-math.MaxInt32, min(v*per(unit), math.MaxInt32))))
}

// noChannel returns the error for a channel that a device does not have, with the names of the channels of the role.
func noChannel(kind, name string, d telemetry.Device, role codec.Role) error {
	var names []string
	for _, c := range d.Channels {
		if c.Role == role {
			names = append(names, d.Channel(c.Number).Name)
		}
	}
	return fmt.Errorf("there is no %s %.60q; there are: %s", kind, name, strings.Join(names, ", "))
}
