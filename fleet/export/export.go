// Package export writes the recording of a fleet (docs/FLEET.md) to a file that
// viewers of MCAP draw.
package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/nats-io/nats.go/jetstream"

	"player/codec"
	"player/fleet/bridge"
	"player/formats/foxglove"
	"player/formats/ros"
	"player/formats/telemetry"
)

const (
	// chunkSize is the size of a chunk before its compression, in bytes. A viewer
	// reads a whole chunk for each message that it jumps to.
	chunkSize = 1 << 20
	// deliveryLimit bounds the wait for a message that the stream has.
	deliveryLimit = 30 * time.Second
)

// ErrNothing means that a Choice has no data.
var ErrNothing = errors.New("nothing was recorded of these robots at that time")

// Choice selects the data of an export.
type Choice struct {
	Fleet  string
	Robots []string // none: all
	// Messages that the stream got from From to To. From zero: since the oldest.
	From, To time.Time
	// Stream has the messages; empty: the stream of -record.
	Stream string
	// ROS: the messages are of ROS 2, otherwise of package telemetry.
	ROS bool
	// Reach is the reading, in m, from which on a laser sees nothing, for ROS; 0: the range of an
	// LMS 200 and of the simulator.
	Reach float64
}

// Summary describes an export.
type Summary struct {
	Robots   int
	Messages int // of devices; each gives several in the file
	// Renamed has the robots whose names ROS does not take: "robot-1 is robot_1".
	Renamed []string
}

// Write writes the chosen data to out. Topics and frames begin with the name of the robot.
// The time of a message is when its data was measured. For ROS 2, index gets the description
// of out, and file is the name of out. progress is called with the number of messages
// of the recording that were read, and of all.
func Write(ctx context.Context, js jetstream.JetStream, c Choice, out, index io.Writer, file string, progress func(done, total int64)) (Summary, error) {
	// First the devices: a viewer needs to know them with the first message.
	robots := map[string]*robot{}
	descriptions := map[string]telemetry.Description{} // by robot and device
	earlier := c
	if !c.From.IsZero() {
		earlier.From = c.From.Add(-bridge.DescribePeriod)
	}
	if err := earlier.each(ctx, js, true, half(progress, 0), func(s sample) error {
		if len(s.described) > 0 {
			descriptions[address(s.robot, s.device)] = described(s.described)
		}
		if s.stored.Before(c.From) {
			return nil
		}
		r := robots[s.robot]
		if r == nil {
			r = &robot{newest: map[int]time.Time{}}
			robots[s.robot] = r
		}
		if r.index(s.device) < 0 {
			r.devices = append(r.devices, s.device)
		}
		return nil
	}); err != nil {
		return Summary{}, err
	}
	if len(robots) == 0 {
		return Summary{}, ErrNothing
	}
	for name, r := range robots {
		for i := range r.devices {
			r.devices[i].Description = descriptions[address(name, r.devices[i])]
		}
	}
	summary := Summary{Robots: len(robots)}
	names := slices.Sorted(maps.Keys(robots))
	for i, inROS := range ros.Names(ros.Robot, names) {
		name, r := names[i], robots[names[i]]
		if !c.ROS {
			r.convert = drawn(name, r.devices)
			continue
		}
		r.convert = converted(inROS, r.devices, c.Reach)
		if inROS != name {
			summary.Renamed = append(summary.Renamed, name+" is "+inROS)
		}
	}

	w, err := newWriter(out, c.ROS)
	if err != nil {
		return Summary{}, err
	}
	err = c.each(ctx, js, false, half(progress, 1), func(s sample) error {
		r := robots[s.robot]
		if r == nil {
			return nil // its first message came since
		}
		device := r.index(s.device)
		if device < 0 || r.newest[device].Equal(s.measured) {
			return nil // repeated, as the bridge does with data that does not change
		}
		r.newest[device] = s.measured
		summary.Messages++
		return r.convert(device, s.measured.UnixNano(), s.payload, w.write)
	})
	err = errors.Join(err, w.file.Close())
	if err == nil && c.ROS {
		_, err = index.Write(w.index(file))
	}
	return summary, err
}

// half returns the progress of one of the two readings: the first has headers only.
func half(progress func(done, total int64), first int64) func(done, total int64) {
	return func(done, total int64) { progress(first*total+done, 2*total) }
}

// robot is a robot of the recording.
type robot struct {
	devices []telemetry.Device
	convert conversion
	newest  map[int]time.Time // when the last data was measured, by place in devices
}

// index returns the place of a device, or -1.
func (r *robot) index(device telemetry.Device) int {
	return slices.IndexFunc(r.devices, func(d telemetry.Device) bool {
		return d.Interface == device.Interface && d.Index == device.Index && d.Geometry == device.Geometry
	})
}

// address is what distinguishes a device of a fleet.
func address(robot string, d telemetry.Device) string {
	return fmt.Sprintf("%s %s:%d", robot, d.Interface, d.Index)
}

// described returns the description that a header has. Lines that are none are skipped.
func described(lines []string) (d telemetry.Description) {
	keys := func(string) (byte, bool) { return 0, true } // the subject has named the device
	for _, line := range lines {
		if r, ok := codec.ParseRays(line, keys); ok {
			d.Rays = append(d.Rays, r)
			continue
		}
		if strings.Count(line, " ") == 5 {
			line += " " // a header keeps no space at its end, and an empty name is behind one
		}
		if c, ok := codec.ParseChannel(line, keys); ok {
			d.Channels = append(d.Channels, c)
		}
	}
	return d
}

// conversion makes messages of data of a device, taken at ns since 1970.
type conversion func(device int, taken int64, payload []byte, write func(topic, int64, []byte) error) error

// topic is a topic of the file.
type topic struct {
	ros.Topic
	encoding, schemaEncoding string
}

// drawn returns the conversion to the messages of package telemetry.
func drawn(name string, devices []telemetry.Device) conversion {
	converter := telemetry.New(name, devices)
	var topics []topic
	for _, t := range converter.Topics() {
		schema := foxglove.SchemaOf(t.Message)
		topics = append(topics, topic{ros.Topic{Name: t.Name, Type: schema.Name, Schema: string(schema.Text)}, "json", "jsonschema"})
	}
	return func(device int, taken int64, payload []byte, write func(topic, int64, []byte) error) error {
		for _, m := range converter.Data(device, taken, payload) {
			text, err := json.Marshal(m.Content)
			if err != nil {
				return err
			}
			if err := write(topics[m.Topic], taken, text); err != nil {
				return err
			}
		}
		return nil
	}
}

// converted returns the conversion to messages of ROS 2.
func converted(name string, devices []telemetry.Device, reach float64) conversion {
	converter := ros.New(name, devices)
	converter.Reach = reach
	return func(device int, taken int64, payload []byte, write func(topic, int64, []byte) error) error {
		for _, m := range converter.Data(device, taken, payload) {
			if err := write(topic{converter.Topics()[m.Topic], "cdr", "ros2msg"}, taken, ros.AppendCDR(nil, m.Content)); err != nil {
				return err
			}
		}
		return nil
	}
}

// sample is a message of the recording.
type sample struct {
	robot     string
	device    telemetry.Device
	stored    time.Time // by the stream
	measured  time.Time
	described []string // the lines of the device's description; none: another message has them
	payload   []byte
}

// each calls do with each chosen message that has data. headers: without payloads.
func (c Choice) each(ctx context.Context, js jetstream.JetStream, headers bool, progress func(done, total int64), do func(sample) error) error {
	config := jetstream.OrderedConsumerConfig{HeadersOnly: headers}
	for _, name := range c.Robots {
		config.FilterSubjects = append(config.FilterSubjects, bridge.Subject(c.Fleet, name, bridge.Every, bridge.Data))
	}
	if !c.From.IsZero() {
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &c.From
	}
	stream := cmp.Or(c.Stream, bridge.Stream(c.Fleet))
	consumer, err := js.OrderedConsumer(ctx, stream, config)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("the fleet %s has no recording: start it with -record; or it is in another -domain or -stream than %s", c.Fleet, stream)
	}
	if err != nil {
		return err
	}
	total, read := int64(consumer.CachedInfo().NumPending), int64(0)
	if total == 0 {
		return nil
	}
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		next, end := context.WithTimeout(ctx, deliveryLimit)
		m, err := messages.Next(jetstream.NextContext(next))
		end()
		if err != nil {
			return fmt.Errorf("reading the recording: %w", err)
		}
		about, err := m.Metadata()
		if err != nil {
			return err
		}
		read = min(read+1, total) // a recording that goes on gets more
		progress(read, total)
		if about.Timestamp.After(c.To) {
			return nil
		}
		// Data has the time when it was measured; a message without a time is no data.
		at, err := time.Parse(time.RFC3339Nano, m.Headers().Get(bridge.HeaderTime))
		if spec, ok := bridge.Named(bridge.Device(m.Subject())); ok && err == nil {
			device := telemetry.Device{Interface: spec.Name, Index: spec.Index}
			described := m.Headers()[bridge.HeaderDescription]
			if err := do(sample{bridge.RobotOf(m.Subject()), device, about.Timestamp, at, described, m.Data()}); err != nil {
				return err
			}
		}
		if about.NumPending == 0 {
			return nil
		}
	}
}

// writer writes the file.
type writer struct {
	file         *mcap.Writer
	schemas      map[string]uint16
	channels     map[string]uint16 // by topic
	streams      []ros.Stream      // by channel, from 1
	began, ended uint64            // ns since 1970
}

func newWriter(out io.Writer, inROS bool) (*writer, error) {
	file, err := mcap.NewWriter(out, &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize, Compression: mcap.CompressionZSTD, IncludeCRC: true})
	if err != nil {
		return nil, err
	}
	header := &mcap.Header{Library: "player fleet"}
	if inROS {
		header.Profile = "ros2"
	}
	return &writer{file: file, schemas: map[string]uint16{}, channels: map[string]uint16{}, began: math.MaxUint64}, file.WriteHeader(header)
}

// write writes a message, and before it the schema and channel of its topic if the file lacks them.
func (w *writer) write(t topic, taken int64, data []byte) (err error) {
	channel, known := w.channels[t.Name]
	if !known {
		if channel, err = w.add(t); err != nil {
			return err
		}
		w.channels[t.Name] = channel
	}
	at := uint64(taken)
	w.began, w.ended = min(w.began, at), max(w.ended, at)
	w.streams[channel-1].Messages++
	return w.file.WriteMessage(&mcap.Message{ChannelID: channel, LogTime: at, PublishTime: at, Data: data})
}

// add adds a channel, and its schema unless it is there.
func (w *writer) add(t topic) (channel uint16, err error) {
	if len(w.streams) == math.MaxUint16 {
		return 0, fmt.Errorf("a file has room for %d topics: export fewer robots", len(w.streams))
	}
	schema, known := w.schemas[t.Type]
	if !known {
		schema = uint16(len(w.schemas) + 1) // zero means none
		w.schemas[t.Type] = schema
		if err := w.file.WriteSchema(&mcap.Schema{ID: schema, Name: t.Type, Encoding: t.schemaEncoding, Data: []byte(t.Schema)}); err != nil {
			return 0, err
		}
	}
	w.streams = append(w.streams, ros.Stream{Topic: t.Topic})
	channel = uint16(len(w.streams))
	var metadata map[string]string
	if t.encoding == "cdr" {
		metadata = map[string]string{ros.QualityKey: t.Quality()}
	}
	return channel, w.file.WriteChannel(&mcap.Channel{ID: channel, SchemaID: schema, Topic: t.Name, MessageEncoding: t.encoding, Metadata: metadata})
}

// index returns the description of a bag of ROS 2.
func (w *writer) index(file string) []byte {
	return ros.AppendBagIndex(nil, file, min(w.began, w.ended), w.ended, w.streams)
}
