package logfile

import (
	"bufio"
	"io"
	"math"
	"strings"
	"time"

	"github.com/foxglove/mcap/go/mcap"
)

const (
	// writeBuffer combines the small writes of the library, in bytes. A chunk
	// of the usual size is one write.
	writeBuffer = 64 << 10
	// neverChunk is a chunk size in bytes that no chunk reaches.
	neverChunk = math.MaxInt64
	// summaryRoom is reserved in a file for what Close writes, in bytes:
	// schemas and channels again, and statistics.
	summaryRoom = 16 << 10
	// messageOverhead and chunkOverhead are added by the format, in bytes.
	messageOverhead = 31
	chunkOverhead   = 64
)

// Info describes the server in the log.
type Info struct {
	Server   string    // version of the server
	Start    time.Time // of the server; times of messages count from here
	Channels []Channel
}

// Batch collects messages. Once it has grown it allocates nothing.
type Batch struct {
	payloads []byte
	entries  []entry
}

type entry struct {
	channel int           // index in Info.Channels
	stamp   time.Duration // since Info.Start
	end     int           // of the payload
}

// Add copies a message of the channel with this index in Info.Channels.
func (b *Batch) Add(channel int, stamp time.Duration, payload []byte) {
	b.payloads = append(b.payloads, payload...)
	b.entries = append(b.entries, entry{channel, stamp, len(b.payloads)})
}

// Len returns the number of messages.
func (b *Batch) Len() int { return len(b.entries) }

// Size returns the most bytes that the batch takes in the file.
func (b *Batch) Size() int { return len(b.payloads) + messageOverhead*len(b.entries) + chunkOverhead }

// Reset empties the batch.
func (b *Batch) Reset() { b.payloads, b.entries = b.payloads[:0], b.entries[:0] }

// Writer writes one log. What WriteChunk has written can be read whatever
// happens afterwards; Close adds a summary for other programs.
//
// Chunks are not compressed: an hour of laser scans at 10 Hz is 27 MB, and the
// robot needs its processor for other work. They are not indexed, so memory
// does not grow with the file.
type Writer struct {
	mcap    *mcap.Writer
	options *mcap.WriterOptions
	buffer  *bufio.Writer
	start   uint64 // ns since 1970
	message mcap.Message
}

// NewWriter starts a log. Errors are those of w.
func NewWriter(w io.Writer, info Info) (*Writer, error) {
	buffer := bufio.NewWriterSize(w, writeBuffer)
	options := &mcap.WriterOptions{IncludeCRC: true, Chunked: true, ChunkSize: neverChunk, SkipMessageIndexing: true, SkipChunkIndex: true}
	m, err := mcap.NewWriter(buffer, options)
	if err != nil {
		return nil, err
	}
	if err := m.WriteHeader(&mcap.Header{Profile: profile}); err != nil {
		return nil, err
	}
	var topics []string
	for _, c := range info.Channels {
		if c.Content == Data {
			topics = append(topics, c.Topic())
		}
	}
	if err := m.WriteMetadata(&mcap.Metadata{Name: profile, Metadata: map[string]string{
		"server":  info.Server,
		"start":   info.Start.UTC().Format(time.RFC3339Nano),
		"devices": strings.Join(topics, " "),
	}}); err != nil {
		return nil, err
	}
	// The schemas go into the first chunk.
	schemas := map[string]uint16{}
	for i, c := range info.Channels {
		name := c.schemaName()
		if schemas[name] == 0 {
			schemas[name] = uint16(len(schemas) + 1) // zero means none
			if err := m.WriteSchema(&mcap.Schema{ID: schemas[name], Name: name, Encoding: encoding, Data: []byte(c.schema())}); err != nil {
				return nil, err
			}
		}
		if err := m.WriteChannel(&mcap.Channel{ID: uint16(i), SchemaID: schemas[name], Topic: c.Topic(), MessageEncoding: encoding}); err != nil {
			return nil, err
		}
	}
	return &Writer{mcap: m, options: options, buffer: buffer, start: uint64(info.Start.UnixNano())}, buffer.Flush()
}

// WriteChunk writes the messages of a batch and passes them to the operating
// system. After an error the log accepts nothing more.
func (w *Writer) WriteChunk(b *Batch) error {
	begin := 0
	for i, e := range b.entries {
		if i == len(b.entries)-1 {
			// The library ends a chunk after the message that makes it too
			// large. There is no other way to end one.
			w.options.ChunkSize = 0
		}
		at := w.start + uint64(e.stamp)
		w.message = mcap.Message{ChannelID: uint16(e.channel), LogTime: at, PublishTime: at, Data: b.payloads[begin:e.end]}
		if err := w.mcap.WriteMessage(&w.message); err != nil {
			return err
		}
		begin = e.end
	}
	w.options.ChunkSize = neverChunk
	w.mcap.ChunkIndexes = w.mcap.ChunkIndexes[:0]
	return w.buffer.Flush()
}

// Size returns the most bytes that the file has once it is closed.
func (w *Writer) Size() int64 { return int64(w.mcap.Offset()) + summaryRoom }

// Close ends the log. It does not close the file.
func (w *Writer) Close() error {
	if err := w.mcap.Close(); err != nil {
		return err
	}
	return w.buffer.Flush()
}
