package logfile

import (
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

const (
	// messageOverhead, channelOverhead and chunkOverhead are the bytes that the format adds
	// to a message, to a channel with messages in a chunk, and to a chunk, with their
	// entries in the indexes.
	messageOverhead = recordHeader + 2 + 4 + 8 + 8 + indexEntry
	channelOverhead = indexHeader + channelEntry
	chunkOverhead   = chunkHeader + chunkEntry + 64 // a name of a compression, and the bytes that it adds to noise
	// MaxIndex is the memory, in bytes, that the index of a file may take while it is
	// written: a day at four chunks a second with eight channels.
	MaxIndex = 12 << 20
)

// Info describes the server in the log.
type Info struct {
	Server   string    // version of the server
	Start    time.Time // of the server; times of messages count from here
	Channels []Channel
	Cameras  []string // the recorded cameras, in channels behind Channels
	Compress bool     // with zstd
}

// Batch collects messages. Once it has grown it allocates nothing.
type Batch struct {
	payloads []byte
	entries  []entry
	channels int // at most so many channels have messages

	descriptions []description
}

type entry struct {
	channel int           // index in Info.Channels, or behind it of a camera
	stamp   time.Duration // since Info.Start
	end     int           // of the payload
}

// Add copies a message of the channel with this index in Info.Channels. The first of
// Info.Cameras has the index behind those, and payloads of AppendPicture.
func (b *Batch) Add(channel int, stamp time.Duration, payload []byte) {
	b.payloads = append(b.payloads, payload...)
	b.entries = append(b.entries, entry{channel, stamp, len(b.payloads)})
	b.channels = max(b.channels, channel+1)
}

// Len returns the number of messages.
func (b *Batch) Len() int { return len(b.entries) }

// Size returns the most bytes that the batch takes in the file.
func (b *Batch) Size() int {
	n := len(b.payloads) + messageOverhead*len(b.entries) + channelOverhead*min(b.channels, len(b.entries)) + chunkOverhead
	for _, d := range b.descriptions {
		n += len(d.lines) + chunkOverhead // a record and its index
	}
	return n
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.payloads, b.entries, b.channels, b.descriptions = b.payloads[:0], b.entries[:0], 0, b.descriptions[:0]
}

// Writer writes one log. After any failure the chunks written by WriteChunk can be read;
// Close adds the index of the file for programs that jump to a time.
type Writer struct {
	file   *Container
	start  uint64   // ns since 1970
	topics []string // of the channels
}

// NewWriter starts a log. Errors come from w.
func NewWriter(w io.Writer, info Info) (*Writer, error) {
	file, err := NewContainer(w, profile)
	if err != nil {
		return nil, err
	}
	if info.Compress {
		if err := file.Compress(zstd.SpeedFastest); err != nil {
			return nil, err
		}
	}
	var topics []string
	for _, c := range info.Channels {
		if c.Content == Data {
			topics = append(topics, c.Topic())
		}
	}
	file.addMetadata(profile, "devices", strings.Join(topics, " "), "server", info.Server, "start", info.Start.UTC().Format(time.RFC3339Nano))
	// The schemas go into the first chunk.
	schemas := map[string]uint16{}
	log := &Writer{file: file, start: uint64(info.Start.UnixNano())}
	for i, c := range info.Channels {
		log.topics = append(log.topics, c.Topic())
		name := c.schemaName()
		if schemas[name] == 0 {
			schemas[name] = uint16(len(schemas) + 1) // zero means none
			file.AddSchema(schemas[name], name, encoding, []byte(c.schema()))
		}
		file.AddChannel(uint16(i), schemas[name], c.Topic(), encoding, pairsOf(c.Geometry)...)
	}
	var pictures []string
	for _, camera := range info.Cameras {
		pictures = append(pictures, pictureTopic+camera)
	}
	file.AddPictures(uint16(len(info.Channels)), pictures)
	return log, file.out.Flush()
}

// WriteChunk writes the messages of a batch and passes them to the operating
// system. After an error the log accepts nothing more.
func (w *Writer) WriteChunk(b *Batch) error {
	w.Describe(b)
	begin := 0
	for _, e := range b.entries {
		at := w.start + uint64(e.stamp)
		w.file.AddMessage(uint16(e.channel), 0, at, at, b.payloads[begin:e.end])
		begin = e.end
	}
	return w.file.endChunk()
}

// Size returns the most bytes that the file has once it is closed.
func (w *Writer) Size() int64 { return w.file.size() }

// IndexMemory returns how many bytes of memory the index takes until Close.
func (w *Writer) IndexMemory() int { return w.file.chunks.memory() }

// Close ends the log. It does not close the file.
func (w *Writer) Close() error { return w.file.Close() }
