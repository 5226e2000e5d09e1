// Package export writes what a fleet has recorded (docs/FLEET.md) to a file that
// viewers of MCAP draw.
package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"player/fleet/bridge"
	"player/foxglove"
)

const (
	// chunkSize is the size of a chunk before its compression, in bytes. A viewer
	// reads a whole chunk for each message that it jumps to.
	chunkSize = 1 << 20
	// deliveryLimit bounds the wait for a message that the stream has.
	deliveryLimit = 30 * time.Second
)

// ErrNothing means that there is no data of what is chosen.
var ErrNothing = errors.New("nothing was recorded of these robots at that time")

// Choice is what is exported.
type Choice struct {
	Fleet  string
	Robots []string // none: all
	// Messages that the stream got from From to To. From zero: since the oldest.
	From, To time.Time
}

// Summary is what was exported.
type Summary struct {
	Robots   int
	Messages int // of devices; each gives several in the file
}

// Write writes the chosen data to out, in the messages of package foxglove. Topics and
// frames begin with the name of the robot. The time of a message is when its data was
// measured.
func Write(ctx context.Context, conn *nats.Conn, c Choice, out io.Writer) (Summary, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return Summary{}, err
	}
	// First the devices: a viewer needs to know them with the first message.
	robots := map[string]*robot{}
	if err := c.each(ctx, js, true, func(s sample) error {
		r := robots[s.robot]
		if r == nil {
			r = &robot{newest: map[string]time.Time{}}
			robots[s.robot] = r
		}
		if !slices.ContainsFunc(r.devices, func(d foxglove.Device) bool { return d.Interface == s.iface }) {
			r.devices = append(r.devices, foxglove.Device{Interface: s.iface})
		}
		return nil
	}); err != nil {
		return Summary{}, err
	}
	if len(robots) == 0 {
		return Summary{}, ErrNothing
	}
	for name, r := range robots {
		r.converter = foxglove.New(name, r.devices)
		r.channels = make([]uint16, len(r.converter.Topics()))
	}

	w, err := newWriter(out)
	if err != nil {
		return Summary{}, err
	}
	summary := Summary{Robots: len(robots)}
	err = c.each(ctx, js, false, func(s sample) error {
		r := robots[s.robot]
		if r == nil {
			return nil // its first message came since
		}
		device := slices.IndexFunc(r.devices, func(d foxglove.Device) bool { return d.Interface == s.iface })
		if device < 0 || r.newest[s.iface].Equal(s.measured) {
			return nil // repeated, as the bridge does with data that does not change
		}
		r.newest[s.iface] = s.measured
		summary.Messages++
		return w.write(r, r.converter.Data(device, s.measured.UnixNano(), s.payload), s.measured)
	})
	return summary, errors.Join(err, w.file.Close())
}

// robot is a robot of the recording.
type robot struct {
	devices   []foxglove.Device
	converter *foxglove.Converter
	channels  []uint16             // of the file by topic of the converter; 0: not there yet
	newest    map[string]time.Time // when the last data was measured, by interface
}

// sample is a message of the recording.
type sample struct {
	robot, iface string
	measured     time.Time
	payload      []byte
}

// each calls do with each chosen message that has data. headers: without payloads.
func (c Choice) each(ctx context.Context, js jetstream.JetStream, headers bool, do func(sample) error) error {
	config := jetstream.OrderedConsumerConfig{HeadersOnly: headers}
	for _, name := range c.Robots {
		config.FilterSubjects = append(config.FilterSubjects, bridge.Subject(c.Fleet, name, "*", bridge.Data))
	}
	if !c.From.IsZero() {
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &c.From
	}
	consumer, err := js.OrderedConsumer(ctx, bridge.Stream(c.Fleet), config)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("the fleet %s has no recording: start it with -record", c.Fleet)
	}
	if err != nil {
		return err
	}
	if consumer.CachedInfo().NumPending == 0 {
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
		if about.Timestamp.After(c.To) {
			return nil
		}
		// Data has the time when it was measured; what has none is no data.
		if at, err := time.Parse(time.RFC3339Nano, m.Headers().Get(bridge.HeaderTime)); err == nil {
			if err := do(sample{bridge.RobotOf(m.Subject()), bridge.Interface(m.Subject()), at, m.Data()}); err != nil {
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
	file     *mcap.Writer
	schemas  map[string]uint16
	channels uint16 // so far
}

func newWriter(out io.Writer) (*writer, error) {
	file, err := mcap.NewWriter(out, &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize, Compression: mcap.CompressionZSTD, IncludeCRC: true})
	if err != nil {
		return nil, err
	}
	return &writer{file: file, schemas: map[string]uint16{}}, file.WriteHeader(&mcap.Header{Library: "player fleet"})
}

// write writes the messages of one sample.
func (w *writer) write(r *robot, messages []foxglove.Message, measured time.Time) error {
	for _, m := range messages {
		text, err := json.Marshal(m.Content)
		if err != nil {
			return err
		}
		channel := &r.channels[m.Topic]
		if *channel == 0 {
			if *channel, err = w.add(r.converter.Topics()[m.Topic]); err != nil {
				return err
			}
		}
		at := uint64(measured.UnixNano())
		if err := w.file.WriteMessage(&mcap.Message{ChannelID: *channel, LogTime: at, PublishTime: at, Data: text}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a channel, and its schema unless it is there.
func (w *writer) add(topic foxglove.Topic) (channel uint16, err error) {
	if w.channels == math.MaxUint16 {
		return 0, fmt.Errorf("a file has room for %d topics: export fewer robots", w.channels)
	}
	schema, known := w.schemas[topic.Schema.Name]
	if !known {
		schema = uint16(len(w.schemas) + 1) // zero means none
		w.schemas[topic.Schema.Name] = schema
		if err := w.file.WriteSchema(&mcap.Schema{ID: schema, Name: topic.Schema.Name, Encoding: "jsonschema", Data: topic.Schema.Text}); err != nil {
			return 0, err
		}
	}
	w.channels++
	return w.channels, w.file.WriteChannel(&mcap.Channel{ID: w.channels, SchemaID: schema, Topic: topic.Name, MessageEncoding: "json"})
}
