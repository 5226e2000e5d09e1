package logfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foxglove/mcap/go/mcap"
)

const (
	// maxChunk bounds records and chunks in bytes, and so the memory of a
	// reader. Programs that rewrite logs make chunks of 4 MiB.
	maxChunk = 16 << 20
	// maxChannels and maxText bound what a log says of its channels.
	maxChannels = 1024
	maxText     = 4 << 10 // bytes, of a topic or a schema
	// readBuffer joins the small reads of the library, in bytes.
	readBuffer = 64 << 10
)

var (
	errNoLog = errors.New("this is not a log (MCAP)")
	// errCut says how a log ends whose writer did not come to close it.
	errCut = errors.New("the log was not closed: what came after its last whole chunk is lost")
)

// Message is one recorded message.
type Message struct {
	Channel *Channel // the same pointer for all messages of a channel
	Time    int64    // when it was taken, ns since 1970
	Payload []byte
}

// Reader reads a log from its beginning, a chunk at a time. Logs that other
// programs have written may be compressed (zstd, lz4), or without chunks.
type Reader struct {
	in       counter
	close    func() error
	lexer    *mcap.Lexer
	buf      []byte
	schemas  map[uint16]string
	channels map[uint16]*Channel // ours
	message  mcap.Message

	server  string
	start   time.Time
	closed  bool // the end of the log was seen
	ended   bool
	damage  error
	skipped int // damaged chunks
}

// Open opens a log. The error names the file.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file)
	if err != nil {
		_ = file.Close() // it was only read
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.close = file.Close
	return r, nil
}

// NewReader reads a log from in. The error says that it is none, or is of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: counter{r: in}, schemas: map[uint16]string{}, channels: map[uint16]*Channel{}, close: func() error { return nil }}
	decompressors, err := decompressors()
	if err != nil {
		return nil, err
	}
	r.lexer, err = mcap.NewLexer(bufio.NewReaderSize(&r.in, readBuffer), &mcap.LexerOptions{
		ValidateChunkCRCs:        true,
		EmitInvalidChunks:        true,
		MaxDecompressedChunkSize: maxChunk,
		MaxRecordSize:            maxChunk,
		Decompressors:            decompressors,
	})
	switch {
	case r.in.failed():
		return nil, r.in.err
	case err != nil:
		return nil, errNoLog
	}
	return r, nil
}

// Next returns the next message; its Payload is valid until the next call. At
// the end of the log the error is io.EOF, and there is no other: a log that
// cannot be read further ends there, and Damage says so.
func (r *Reader) Next() (Message, error) {
	for {
		if m, err := r.NextRecord(); err != nil || m.Channel != nil {
			return m, err
		}
	}
}

// NextRecord is Next for a reader that must not be kept waiting by what other
// programs have logged beside ours: it returns after each record. Channel is
// nil unless that is a message of ours; Payload is what any message holds. At
// the most it reads a chunk, of 16 MiB.
func (r *Reader) NextRecord() (Message, error) {
	if r.ended {
		return Message{}, io.EOF
	}
	m, err := r.next()
	if err != nil {
		r.end(err)
		return Message{}, io.EOF
	}
	return m, nil
}

// next reads a record; m.Channel is nil unless it is a message of ours.
func (r *Reader) next() (m Message, err error) {
	defer func() {
		// The library slices by lengths that it has not checked: what panics in
		// a damaged log is an error.
		if p := recover(); p != nil {
			m, err = Message{}, fmt.Errorf("damaged record: %v", p)
		}
	}()
	token, record, err := r.lexer.Next(r.buf)
	if cap(record) > cap(r.buf) {
		r.buf = record[:0]
	}
	switch {
	case token == mcap.TokenInvalidChunk:
		r.skipped++
		return m, nil
	case err != nil:
		return m, err
	}
	switch token {
	case mcap.TokenMessage:
		if err := r.message.PopulateFrom(record, false); err != nil {
			return m, err
		}
		return Message{r.channels[r.message.ChannelID], int64(r.message.LogTime), r.message.Data}, nil
	case mcap.TokenSchema:
		return m, r.addSchema(record)
	case mcap.TokenChannel:
		return m, r.addChannel(record)
	case mcap.TokenMetadata:
		return m, r.addMetadata(record)
	case mcap.TokenDataEnd, mcap.TokenFooter:
		r.closed = true
		return m, io.EOF // behind it, what was there before is summed up
	}
	return m, nil
}

func (r *Reader) addSchema(record []byte) error {
	s, err := mcap.ParseSchema(record)
	if err != nil || s.Encoding != encoding {
		return err
	}
	if len(r.schemas) >= maxChannels || len(s.Data) > maxText {
		return fmt.Errorf("schema %.40q is one too many, or too long", s.Name)
	}
	r.schemas[s.ID] = string(s.Data)
	return nil
}

func (r *Reader) addChannel(record []byte) error {
	c, err := mcap.ParseChannel(record)
	if err != nil {
		return err
	}
	channel, ours := parseTopic(c.Topic)
	if c.MessageEncoding != encoding || !ours {
		return nil
	}
	if len(r.channels) >= maxChannels || len(c.Topic) > maxText {
		return fmt.Errorf("channel %.40q is one too many, or too long", c.Topic)
	}
	channel.Schema = r.schemas[c.SchemaID]
	if old := r.channels[c.ID]; old == nil || *old != channel {
		r.channels[c.ID] = &channel
	}
	return nil
}

func (r *Reader) addMetadata(record []byte) error {
	m, err := mcap.ParseMetadata(record)
	if err != nil || m.Name != profile {
		return err
	}
	r.server = m.Metadata["server"]
	r.start, _ = time.Parse(time.RFC3339Nano, m.Metadata["start"]) // zero: it is not known
	return nil
}

// end ends the log and keeps why.
func (r *Reader) end(err error) {
	r.ended = true
	r.lexer.Close()
	var truncated *mcap.ErrTruncatedRecord
	switch {
	case r.in.failed(): // the disk's word counts
		r.damage = r.in.err
	case !r.closed && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &truncated)):
		r.damage = errCut
	case !r.closed:
		r.damage = fmt.Errorf("the log is damaged and cannot be read further than about %d bytes: %w", r.in.n, err)
	case r.skipped > 0:
		r.damage = fmt.Errorf("the log is damaged: %d chunks were left out", r.skipped)
	}
}

// Damage says, after io.EOF, what is missing; nil: nothing.
func (r *Reader) Damage() error { return r.damage }

// Offset is how much of the file was read, in bytes.
func (r *Reader) Offset() int64 { return r.in.n }

// Close closes the file.
func (r *Reader) Close() error {
	if !r.ended {
		r.ended = true
		r.lexer.Close()
	}
	return r.close()
}

// counter counts what is read, and keeps the error: the library does not hand
// on all of them.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil {
		c.err = err
	}
	return n, err
}

// failed says whether reading has ended otherwise than at the end.
func (c *counter) failed() bool { return c.err != nil && c.err != io.EOF }
