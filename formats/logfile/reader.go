package logfile

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"syscall"
	"time"
)

const (
	// maxChunk bounds records and chunks in bytes, and with them the memory of
	// a reader. Programs that rewrite logs make chunks of 4 MiB.
	maxChunk = 16 << 20
	// maxChannels and maxText bound the description of the channels in a log.
	maxChannels = 1024
	maxText     = 4 << 10 // bytes, of a topic or a schema
	// readBuffer combines small reads, in bytes.
	readBuffer = 64 << 10
)

var (
	errNoLog = errors.New("this is not a log (MCAP)")
	// ErrCut describes the end of a log that its writer did not close.
	ErrCut = errors.New("the log was not closed: data after its last whole chunk is lost")
	// ErrRecording describes the end of a log that is still being written.
	ErrRecording = errors.New("the log is being recorded: this is its content so far")
)

// Message is one recorded message.
type Message struct {
	Channel *Channel // the same pointer for all messages of a channel
	Camera  string   // of its picture (JPEG); then Channel is nil
	Time    int64    // when it was recorded, ns since 1970
	Payload []byte
}

// Reader reads a log from its start, one chunk at a time. Logs of other
// programs may be compressed (zstd, lz4) or have no chunks.
type Reader struct {
	in       counter
	records  *bufio.Reader // of in
	file     *os.File      // nil: in is none
	close    func() error
	buf      []byte
	chunk    []byte // the unread rest of the current chunk
	unpack   decompressor
	schemas  map[uint16]string
	channels map[uint16]*Channel // by id, without other programs' channels
	cameras  map[uint16]string   // by id, of channels with pictures
	foreign  map[uint16]bool     // ids of channels of other programs, and of cameras

	descriptions map[string]string // lines, by the topic of data
	described    int               // bytes of all descriptions

	server  string
	start   time.Time
	closed  bool // the end of the log was read
	growing bool // a recorder is writing it
	ended   bool
	damage  error
	skipped int  // damaged chunks
	chunks  int  // that were begun
	indexes int  // message indexes that were read
	asked   bool // the summary was read

	// copy, if set, is given the records, and attach the attachments.
	copy   func(opcode, []byte) error
	attach func(size uint64, content *bufio.Reader) error
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
	r.file, r.close = file, file.Close
	r.growing = IsLocked(file)
	return r, nil
}

// Lock locks a file as one that is being recorded, until it is closed or the process
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
	r := &Reader{in: counter{r: in}, schemas: map[uint16]string{}, channels: map[uint16]*Channel{}, cameras: map[uint16]string{}, descriptions: map[string]string{}, foreign: map[uint16]bool{}, close: func() error { return nil }}
	r.records = bufio.NewReaderSize(&r.in, readBuffer)
	begin := make([]byte, len(magic))
	switch _, err := io.ReadFull(r.records, begin); {
	case r.in.failed():
		return nil, r.in.err
	case err != nil || string(begin) != magic:
		return nil, errNoLog
	}
	return r, nil
}

// Next returns the next message of a device. Its Payload is valid until the next call. The
// only error is io.EOF: the log ends where it cannot be read further, and Damage returns the
// reason.
func (r *Reader) Next() (Message, error) {
	for {
		if m, err := r.NextRecord(); err != nil || m.Channel != nil {
			return m, err
		}
	}
}

// NextRecord is Next for a caller that must not block while other programs'
// messages are skipped, or that wants pictures: it returns after each record. Channel
// is nil unless the record is a message of a device, and Camera empty unless it is a
// picture; Payload is set for any message. It reads at most one chunk, of 16 MiB.
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
	code, record, err := r.nextRecord()
	if err == nil && r.copy != nil {
		err = r.copy(code, record)
	}
	if err != nil {
		return m, err
	}
	switch f := (fields{left: record}); code {
	case opMessage:
		id := f.u16()
		_, at, _ := f.u32(), f.u64(), f.u64()
		return Message{r.channels[id], r.cameras[id], int64(at), f.left}, f.err()
	case opSchema:
		return m, r.addSchema(f)
	case opChannel:
		return m, r.addChannel(f)
	case opMetadata:
		return m, r.addMetadata(f)
	case opMessageIndex:
		r.indexes++
	case opChunk:
		return m, r.openChunk(record)
	case opDataEnd, opFooter:
		r.closed = true
		return m, io.EOF // the summary repeats data of the chunks
	}
	return m, nil
}

// nextRecord reads a record of the current chunk, or of the file if there is none.
func (r *Reader) nextRecord() (opcode, []byte, error) {
	if len(r.chunk) > 0 {
		code, record, rest, ok := cutRecord(r.chunk)
		if r.chunk = rest; ok {
			return code, record, nil
		}
		if err := r.leaveOut(); err != nil {
			return 0, nil, err
		}
	}
	code, size, err := readHeader(r.records)
	switch {
	case err != nil:
		return 0, nil, err
	case code == opAttachment:
		return code, nil, r.skip(size)
	case size > maxChunk:
		return 0, nil, errTooLarge
	}
	if uint64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	record := r.buf[:size]
	if _, err := io.ReadFull(r.records, record); err != nil {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return code, record, nil
}

// skip reads an attachment.
func (r *Reader) skip(size uint64) error {
	if r.attach != nil {
		return r.attach(size, r.records)
	}
	_, err := io.CopyN(io.Discard, r.records, int64(min(size, math.MaxInt64)))
	return err
}

// openChunk begins to read a chunk. It leaves out a damaged one.
func (r *Reader) openChunk(record []byte) (err error) {
	r.chunks++
	if r.chunk, err = r.unpack.open(record); err != nil {
		return r.leaveOut()
	}
	return nil
}

// leaveOut leaves out the rest of a damaged chunk. Schemas and channels are in the first
// chunk that needs them, so without it all later messages would be unknown: they are taken
// from the summary, which repeats them.
func (r *Reader) leaveOut() error {
	r.skipped++
	if r.asked || r.file == nil {
		return nil
	}
	r.asked = true
	for rest := r.summary(); len(rest) > 0; {
		var code opcode
		var record []byte
		var ok bool
		if code, record, rest, ok = cutRecord(rest); !ok {
			return nil
		}
		var err error
		switch code {
		case opSchema:
			err = r.addSchema(fields{left: record})
		case opChannel:
			err = r.addChannel(fields{left: record})
		default:
			continue
		}
		if err == nil && r.copy != nil {
			err = r.copy(code, record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// summary returns the summary of the file, empty if the file was not closed or is damaged.
func (r *Reader) summary() []byte {
	info, err := r.file.Stat()
	if err != nil {
		return nil
	}
	const footer = recordHeader + 8 + 8 + 4 // with the CRC at its end
	end := info.Size() - footer - int64(len(magic))
	last := make([]byte, footer)
	if _, err := r.file.ReadAt(last, end); err != nil || opcode(last[0]) != opFooter {
		return nil
	}
	f := fields{left: last[recordHeader:]}
	begin, _, crc := f.u64(), f.u64(), f.u32()
	if begin == 0 || begin > uint64(end) || uint64(end)-begin > maxChunk {
		return nil
	}
	summary := make([]byte, uint64(end)-begin)
	if _, err := r.file.ReadAt(summary, int64(begin)); err != nil {
		return nil
	}
	if crc != 0 && crc32.Update(crc32.ChecksumIEEE(summary), crc32.IEEETable, last[:footer-4]) != crc {
		return nil
	}
	return summary
}

func (r *Reader) addSchema(f fields) error {
	id, name, of, data := f.u16(), f.text(), f.text(), f.text()
	if f.bad || string(of) != encoding {
		return f.err()
	}
	if len(r.schemas) >= maxChannels || len(data) > maxText {
		return fmt.Errorf("schema %.40q: too many schemas, or too long", name)
	}
	r.schemas[id] = string(data)
	return nil
}

func (r *Reader) addChannel(f fields) error {
	id, schema, topic, of, pairs := f.u16(), f.u16(), string(f.text()), f.text(), f.pairs()
	if f.bad || r.channels[id] != nil || r.foreign[id] {
		return f.err() // an id has one meaning in a file
	}
	channel, ours := parseTopic(topic)
	if string(of) != encoding || !ours {
		r.foreign[id] = true
		if camera := cameraOf(topic, string(of)); camera != "" && len(r.cameras) < maxChannels {
			r.cameras[id] = camera
		}
		return nil
	}
	if len(r.channels) >= maxChannels || len(topic) > maxText {
		return fmt.Errorf("channel %.40q: too many channels, or too long", topic)
	}
	channel.Schema, channel.Geometry = r.schemas[schema], parseGeometry(value(pairs, geometryKey))
	r.channels[id] = &channel
	return nil
}

func (r *Reader) addMetadata(f fields) error {
	name, pairs := f.text(), f.pairs()
	if !f.bad && string(name) == descriptionName {
		r.addDescription(map[string]string{topicKey: value(pairs, topicKey), linesKey: value(pairs, linesKey)})
	}
	if f.bad || string(name) != profile {
		return f.err()
	}
	r.server = value(pairs, "server")
	r.start, _ = time.Parse(time.RFC3339Nano, value(pairs, "start")) // zero if unknown
	return nil
}

// end ends the log and keeps the reason.
func (r *Reader) end(err error) {
	r.ended = true
	r.unpack.close()
	switch {
	case r.in.failed(): // an error of the disk takes precedence
		r.damage = r.in.err
	case !r.closed && r.growing:
		r.damage = ErrRecording
	case !r.closed && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		r.damage = ErrCut
	case !r.closed:
		r.damage = fmt.Errorf("the log is damaged and cannot be read further than about %d bytes: %w", r.in.n, err)
	case r.skipped > 0:
		r.damage = fmt.Errorf("the log is damaged: %d chunks were left out", r.skipped)
	}
}

// Damage returns, after io.EOF, an error about the missing part of the log, or nil.
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

// counter counts bytes read and keeps the first error.
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
