// Package logfile defines the format of logs: the devices' data, commands and
// configurations with their times, in MCAP files (https://mcap.dev).
// docs/LOGS.md describes it for authors of other readers.
package logfile

import (
	_ "embed" // layouts
	"fmt"
	"strconv"
	"strings"

	"player/formats/telemetry"
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
	Geometry telemetry.Geometry
}

// geometryKey names the geometry in the metadata of a channel.
const geometryKey = "geometry"

// pairsOf returns the metadata of a channel with a geometry, keys and values.
func pairsOf(g telemetry.Geometry) []string {
	if g == (telemetry.Geometry{}) {
		return nil
	}
	return []string{geometryKey, fmt.Sprintf("%g %g %g %g %g", g.X, g.Y, g.Heading, g.Length, g.Width)}
}

// parseGeometry is the inverse of pairsOf. A text that it cannot parse gives zero.
func parseGeometry(text string) (g telemetry.Geometry) {
	words := strings.Fields(text)
	values := [...]*float64{&g.X, &g.Y, &g.Heading, &g.Length, &g.Width}
	if len(words) != len(values) {
		return telemetry.Geometry{}
	}
	for i, word := range words {
		var err error
		if *values[i], err = strconv.ParseFloat(word, 64); err != nil {
			return telemetry.Geometry{}
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

// layouts has the layouts of payloads, by interface: data (PROTOCOL 7) and commands
// (PROTOCOL 5.1); and the one of all configurations.
//
//go:embed layouts.txt
var layouts string

// schema returns the layout of a channel's payloads, empty if unknown.
func (c Channel) schema() string {
	of := c.Interface + suffixes[c.Content]
	if c.Content == Configuration {
		of = "configuration"
	}
	for line := range strings.Lines(layouts) {
		if name, fields, _ := strings.Cut(strings.TrimSpace(line), ": "); name == of {
			return strings.ReplaceAll(fields, ", ", "\n")
		}
	}
	return ""
}
