package logfile

import (
	"slices"
	"strings"

	"player/codec"
	"player/formats/telemetry"
)

const (
	// descriptionName is the name of the metadata that describes a device, with the topic of its data and its lines.
	descriptionName = "player/description"
	topicKey        = "topic"
	linesKey        = "lines"
	// maxDescriptions bounds the descriptions of a log, in bytes. A ranger of 8192 single beams has 0.5 MB.
	maxDescriptions = 4 << 20
)

// Describes reports whether logs have descriptions of the devices of an interface. Of lasers and sonars they have the
// geometry instead.
func Describes(iface string) bool { return iface == "ranger" || iface == "io" || iface == "servo" }

// Describe returns the lines of a description: the answers to questions r and i (PROTOCOL 8.9.6, 8.9.7) about a
// device, with its address as the name. They are empty for an interface that has none in logs, and for a device that does
// not describe itself.
func Describe(iface string, index int, d telemetry.Description) string {
	key := codec.Entry{Interface: iface, Index: index}.Address()
	var lines []string
	if !Describes(iface) {
		return ""
	}
	for _, r := range d.Rays {
		lines = append(lines, r.Line(key))
	}
	for _, c := range d.Channels {
		lines = append(lines, c.Line(key))
	}
	return strings.Join(lines, "\n")
}

// parseDescription is the inverse of Describe. It skips lines that it cannot parse.
func parseDescription(lines string) (d telemetry.Description) {
	const any = 1 // all lines are about one device
	keys := func(string) (byte, bool) { return any, true }
	for line := range strings.SplitSeq(lines, "\n") {
		if r, ok := codec.ParseRays(line, keys); ok {
			r.Device = 0
			d.Rays = append(d.Rays, r)
		} else if c, ok := codec.ParseChannel(line, keys); ok {
			c.Device = 0
			d.Channels = append(d.Channels, c)
		}
	}
	return d
}

// description is a description of the device of a channel in a Batch.
type description struct {
	channel int
	lines   string
}

// Describe adds a description to the log, which holds for the data behind it: the lines of the function Describe. channel
// is the index in Info.Channels.
func (b *Batch) Describe(channel int, lines string) {
	b.descriptions = append(b.descriptions, description{channel, lines})
}

// Learn takes over the descriptions of another batch: one of the same channel is replaced.
func (b *Batch) Learn(other *Batch) {
	for _, d := range other.descriptions {
		b.descriptions = slices.DeleteFunc(b.descriptions, func(old description) bool { return old.channel == d.channel })
		b.descriptions = append(b.descriptions, d)
	}
}

// Describe writes the descriptions of a batch, between two chunks. WriteChunk does the same. Errors come from WriteChunk.
func (w *Writer) Describe(b *Batch) {
	for _, d := range b.descriptions {
		w.file.addMetadata(descriptionName, topicKey, w.topics[d.channel], linesKey, d.lines)
	}
}

// addDescription keeps the lines of a description. Descriptions beyond maxDescriptions are left out.
func (r *Reader) addDescription(pairs map[string]string) {
	topic, lines := pairs[topicKey], pairs[linesKey]
	if r.described += len(lines); r.described <= maxDescriptions && len(topic) <= maxText {
		r.descriptions[topic] = lines
	}
}
