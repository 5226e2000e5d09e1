// Package logfile defines the format of logs: the devices' data, commands and
// configurations with their times, in MCAP files (https://mcap.dev).
// docs/LOGS.md describes it for authors of other readers.
package logfile

import (
	"fmt"
	"strconv"
	"strings"

	"player/foxglove"
)

const (
	// encoding is the message encoding of every channel and the encoding of
	// every schema: payloads as in PROTOCOL 5 to 7, described by a schema.
	encoding = "player"
	// profile is the MCAP profile of the file, and the name of its metadata.
	profile = "player"
)

// Content is the kind of a channel's messages.
type Content uint8

const (
	Data          Content = iota // data that the device published (PROTOCOL 7)
	Command                      // commands to the device (PROTOCOL 5)
	Configuration                // configurations of the device (PROTOCOL 6)
)

// suffixes holds the suffix of a topic for each content.
var suffixes = [...]string{Data: "", Command: "/command", Configuration: "/configuration"}

// Channel is one stream of messages in a log.
type Channel struct {
	Interface string // "position"
	Index     int    // of the device, as in a configuration file
	Content   Content

	// Schema describes the payloads (docs/LOGS.md). A Writer fills it in.
	Schema string
	// Geometry is the device's place on the robot.
	Geometry foxglove.Geometry
}

// geometryKey names the geometry in the metadata of a channel.
const geometryKey = "geometry"

// pairsOf returns the metadata of a channel with a geometry, keys and values.
func pairsOf(g foxglove.Geometry) []string {
	if g == (foxglove.Geometry{}) {
		return nil
	}
	return []string{geometryKey, fmt.Sprintf("%g %g %g %g %g", g.X, g.Y, g.Heading, g.Length, g.Width)}
}

// parseGeometry is the inverse of pairsOf. A text that it cannot parse gives zero.
func parseGeometry(text string) (g foxglove.Geometry) {
	words := strings.Fields(text)
	values := [...]*float64{&g.X, &g.Y, &g.Heading, &g.Length, &g.Width}
	if len(words) != len(values) {
		return foxglove.Geometry{}
	}
	for i, word := range words {
		var err error
		if *values[i], err = strconv.ParseFloat(word, 64); err != nil {
			return foxglove.Geometry{}
		}
	}
	return g
}

// Topic is the channel's name in the file: "/laser", "/position:1/command".
func (c Channel) Topic() string {
	if c.Index == 0 {
		return "/" + c.Interface + suffixes[c.Content]
	}
	return fmt.Sprintf("/%s:%d%s", c.Interface, c.Index, suffixes[c.Content])
}

// parseTopic is the inverse of Topic.
func parseTopic(topic string) (c Channel, ok bool) {
	name, ok := strings.CutPrefix(topic, "/")
	for _, content := range []Content{Command, Configuration} {
		if short, cut := strings.CutSuffix(name, suffixes[content]); cut {
			name, c.Content = short, content
		}
	}
	c.Interface = name
	if before, after, indexed := strings.Cut(name, ":"); indexed {
		index, err := strconv.Atoi(after)
		if err != nil {
			return Channel{}, false
		}
		c.Interface, c.Index = before, index
	}
	plain := strings.Trim(c.Interface, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	return c, ok && plain && c.Interface != "" && c.Topic() == topic
}

// schemaName returns the name of the schema in the file: "player/position".
func (c Channel) schemaName() string {
	if c.Content == Configuration { // one layout for all devices
		return profile + suffixes[Configuration]
	}
	return profile + "/" + c.Interface + suffixes[c.Content]
}

// schema returns the layout of an interface's payloads, empty if unknown.
func (c Channel) schema() string {
	switch c.Content {
	case Command:
		return commandLayouts()[c.Interface]
	case Configuration:
		return "char code\nrest argument"
	}
	return dataLayouts()[c.Interface]
}

// dataLayouts returns the payloads of PROTOCOL 7.
func dataLayouts() map[string]string {
	return map[string]string{
		"position": "u32 server_time_ms\ni32 x_mm\ni32 y_mm\nu16 heading_deg\ni16 speed_mm_per_s\ni16 turn_rate_deg_per_s\nu16 compass_deg\nu8 stall",
		"sonar":    "u16[16] range#_mm",
		"laser":    "u16[361] range#_mm",
		"misc": "bits8 front_bumper0 front_bumper1 front_bumper2 front_bumper3 front_bumper4\n" +
			"bits8 rear_bumper0 rear_bumper1 rear_bumper2 rear_bumper3 rear_bumper4\nu8 battery_decivolt",
		"gripper": "bits8 paddles_open paddles_closed paddles_moving paddles_error lift_up lift_down lift_moving lift_error\n" +
			"bits8 gripper_limit lift_limit outer_beam inner_beam left_paddle_open right_paddle_open",
		"ptz":      "i16 pan_deg\ni16 tilt_deg\ni16 zoom",
		"vision":   "blobs",
		"joystick": "u32 buttons\ni16[8] axis#",
	}
}

// commandLayouts returns the payloads of PROTOCOL 5.1.
func commandLayouts() map[string]string {
	return map[string]string{
		"position": "i16 speed_mm_per_s\ni16 turn_rate_deg_per_s",
		"ptz":      "i16 pan_deg\ni16 tilt_deg\ni16 zoom",
		"gripper":  "u8 command\nu8 argument",
	}
}
