package logfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/foxglove/mcap/go/mcap"
)

const (
	// maxChunk bounds records and chunks in bytes, and with them the memory of
	// a reader. Programs that rewrite logs make chunks of 4 MiB.
	maxChunk = 16 << 20
	// maxChannels and maxText bound the description of the channels in a log.
	maxChannels = 1024
	maxText     = 4 << 10 // bytes, of a topic or a schema
	// readBuffer combines the small reads of the library, in bytes.
	readBuffer = 64 << 10
)

var (
	errNoLog = errors.New("this is not a log (MCAP)")
	// errCut describes the end of a log that its writer did not close.
	errCut = errors.New("the log was not closed: what came after its last whole chunk is lost")
	// ErrRecording describes the end of a log that is being written.
	ErrRecording = errors.New("the log is being recorded: this is what it has so far")
)

// Message is one recorded message.
type Message struct {
	Channel *Channel // the same pointer for all messages of a channel
	Time    int64    // when it was recorded, ns since 1970
	Payload []byte
}

// Reader reads a log from its start, one chunk at a time. Logs of other
// programs may be compressed (zstd, lz4) or have no chunks.
type Reader struct {
	in       counter
	close    func() error
	lexer    *mcap.Lexer
	buf      []byte
	chunk    []byte // what is left to read of the current chunk
	unpack   decompressor
	schemas  map[uint16]string
	channels map[uint16]*Channel // by id, without those of other programs
	message  mcap.Message

	server  string
	start   time.Time
	closed  bool // the end of the log was read
	growing bool // a recorder is writing it
	ended   bool
	damage  error
	skipped int // damaged chunks
	chunks  int // that were begun
	indexes int // message indexes that were read

	// copy, if set, is given the records that a copy of the log needs.
	copy func(mcap.TokenType, []byte)
	// attachment, if set, is given the attachments.
	attachment func(*mcap.AttachmentReader) error
}

// Open opens a log, which must be a regular file: to open a pipe would wait for a
// writer that may never come. The error names the file.
func Open(path string) (*Reader, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file)
	if err != nil {
		_ = file.Close() // opened for reading only
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.close = file.Close
	r.growing = IsLocked(file)
	return r, nil
}

// Lock marks a file as one that is being recorded, until it is closed or the process
// ends. Some network disks cannot.
func Lock(file *os.File) { _ = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// IsLocked reports whether a recorder has the file locked.
func IsLocked(file *os.File) bool {
	fd := int(file.Fd())
	err := syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		err = syscall.Flock(fd, syscall.LOCK_UN)
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// NewReader reads a log from in. The error is errNoLog or an error of in.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{in: counter{r: in}, schemas: map[uint16]string{}, channels: map[uint16]*Channel{}, close: func() error { return nil }}
	var err error
	r.lexer, err = mcap.NewLexer(bufio.NewReaderSize(&r.in, readBuffer), &mcap.LexerOptions{
		EmitChunks:    true,
		MaxRecordSize: maxChunk,
		AttachmentCallback: func(a *mcap.AttachmentReader) error {
			if r.attachment == nil {
				return nil
			}
			return r.attachment(a)
		},
	})
	switch {
	case r.in.failed():
		return nil, r.in.err
	case err != nil:
		return nil, errNoLog
	}
	return r, nil
}

// Next returns the next message. Its Payload is valid until the next call. The
// only error is io.EOF: a log that cannot be read further ends there, and
// Damage returns the reason.
func (r *Reader) Next() (Message, error) {
	for {
		if m, err := r.NextRecord(); err != nil || m.Channel != nil {
			return m, err
		}
	}
}

// NextRecord is Next for a caller that must not block while other programs'
// messages are skipped: it returns after each record. Channel is nil unless
// the record is a message of ours; Payload is set for any message. It reads at
// most one chunk, of 16 MiB.
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

// next reads a record. m.Channel is nil unless it is a message of ours.
func (r *Reader) next() (m Message, err error) {
	defer func() {
		// The library slices by unchecked lengths, so a damaged log can make
		// it panic. That becomes an error.
		if p := recover(); p != nil {
			m, err = Message{}, fmt.Errorf("damaged record: %v", p)
		}
	}()
	token, record, err := r.nextToken()
	if err != nil {
		return m, err
	}
	if r.copy != nil {
		r.copy(token, record)
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
	case mcap.TokenMessageIndex:
		r.indexes++
	case mcap.TokenChunk:
		r.openChunk(record)
	case mcap.TokenDataEnd, mcap.TokenFooter:
		r.closed = true
		return m, io.EOF // the summary that follows repeats what was read before
	}
	return m, nil
}

// nextToken reads a record of the current chunk, or of the file if there is none.
func (r *Reader) nextToken() (mcap.TokenType, []byte, error) {
	for len(r.chunk) > 0 {
		code, record, rest, ok := cutRecord(r.chunk)
		if r.chunk = rest; !ok {
			r.skipped++
			break
		}
		switch code {
		case mcap.OpSchema:
			return mcap.TokenSchema, record, nil
		case mcap.OpChannel:
			return mcap.TokenChannel, record, nil
		case mcap.OpMessage:
			return mcap.TokenMessage, record, nil
		}
	}
	token, record, err := r.lexer.Next(r.buf)
	if cap(record) > cap(r.buf) {
		r.buf = record[:0]
	}
	return token, record, err
}

// cutRecord splits the first record from the records of a chunk. If it is not whole,
// ok is false and nothing is left.
func cutRecord(b []byte) (code mcap.OpCode, record, rest []byte, ok bool) {
	if len(b) < recordHeader {
		return 0, nil, nil, false
	}
	size := binary.LittleEndian.Uint64(b[1:])
	if size > uint64(len(b)-recordHeader) {
		return 0, nil, nil, false
	}
	end := recordHeader + int(size)
	return mcap.OpCode(b[0]), b[recordHeader:end], b[end:], true
}

// openChunk begins to read a chunk. One that is damaged is left out.
func (r *Reader) openChunk(record []byte) {
	r.chunks++
	var err error
	if r.chunk, err = r.unpack.open(record); err != nil {
		r.skipped++
	}
}

func (r *Reader) addSchema(record []byte) error {
	s, err := mcap.ParseSchema(record)
	if err != nil || s.Encoding != encoding {
		return err
	}
	if len(r.schemas) >= maxChannels || len(s.Data) > maxText {
		return fmt.Errorf("schema %.40q: too many schemas, or too long", s.Name)
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
		return fmt.Errorf("channel %.40q: too many channels, or too long", c.Topic)
	}
	channel.Schema, channel.Geometry = r.schemas[c.SchemaID], parseGeometry(c.Metadata[geometryKey])
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
	r.start, _ = time.Parse(time.RFC3339Nano, m.Metadata["start"]) // zero if unknown
	return nil
}

// end ends the log and keeps the reason.
func (r *Reader) end(err error) {
	r.ended = true
	r.unpack.close()
	var truncated *mcap.ErrTruncatedRecord
	switch {
	case r.in.failed(): // an error of the disk takes precedence
		r.damage = r.in.err
	case !r.closed && r.growing:
		r.damage = ErrRecording
	case !r.closed && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &truncated)):
		r.damage = errCut
	case !r.closed:
		r.damage = fmt.Errorf("the log is damaged and cannot be read further than about %d bytes: %w", r.in.n, err)
	case r.skipped > 0:
		r.damage = fmt.Errorf("the log is damaged: %d chunks were left out", r.skipped)
	}
}

// Damage returns, after io.EOF, what is missing from the log, or nil.
func (r *Reader) Damage() error { return r.damage }

// Offset returns how much of the file was read, in bytes.
func (r *Reader) Offset() int64 { return r.in.n }

// Close closes the file.
func (r *Reader) Close() error {
	if !r.ended {
		r.ended = true
		r.unpack.close()
	}
	return r.close()
}

// counter counts bytes read and keeps the first error: the library does not
// return all of them.
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

// failed reports whether reading ended with an error other than io.EOF.
func (c *counter) failed() bool { return c.err != nil && c.err != io.EOF }
