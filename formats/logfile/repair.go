package logfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// repairing and damaged are the suffixes of the copy while it is written, and of
	// an original that has damage in its middle.
	repairing = ".repairing"
	damaged   = ".damaged"
	// looseChunk is the size in bytes of the chunks that are made of messages outside
	// of chunks.
	looseChunk = 1 << 20
)

var errNoHeader = errors.New("the log does not begin with a header")

// Repaired is the result of Repair.
type Repaired struct {
	Intact   bool   // there was nothing to do
	Messages int    // in the log, including other programs' messages
	Damage   error  // the missing part of the log, nil if only the index
	Kept     string // where the original is; empty: it was replaced
}

// Repair completes a log that was not closed, is damaged, or has no index. It copies the
// readable part, and replaces the file when the copy is on the disk. The original is kept if
// more than its end could not be read.
func Repair(path string, progress Progress) (done Repaired, err error) {
	intact, err := isIntact(path, progress)
	if err != nil || intact {
		return Repaired{Intact: intact}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return done, err
	}
	// The copy of a repair that was interrupted is overwritten.
	out, err := os.OpenFile(path+repairing, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return done, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	r, err := Open(path)
	if err == nil {
		done, err = copyLog(out, r, info.Size(), progress)
		err = errors.Join(err, r.Close())
	}
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return done, err
	}
	if done.Damage != nil && done.Damage != ErrCut {
		done.Kept = path + damaged
		if _, err := os.Lstat(done.Kept); err == nil {
			return done, fmt.Errorf("%s exists, from an earlier repair: move it away", done.Kept)
		}
		if err := os.Rename(path, done.Kept); err != nil {
			return done, err
		}
	}
	return done, os.Rename(out.Name(), path)
}

// isIntact reports whether a log was closed, is not damaged, and has an index.
func isIntact(path string, progress Progress) (bool, error) {
	r, err := Open(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if r.growing {
		return false, fmt.Errorf("%s is being recorded: repair it when it is not", path)
	}
	messages := 0
	r.copy = func(code opcode, _ []byte) error {
		if code == opMessage {
			messages++
		}
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	r.drain(func() { progress(r.Offset()/2, info.Size()) })
	return r.Damage() == nil && (r.indexes > 0 || messages == 0) && isIndexed(path), nil
}

// drain reads the records to the end of the log, and calls progress from time to time.
func (r *Reader) drain(progress func()) {
	for n := 0; ; n++ {
		if _, end := r.NextRecord(); end != nil {
			return
		}
		if n%progressEvery == 0 {
			progress()
		}
	}
}

// isIndexed reports whether a file ends with the footer of a closed MCAP file with a
// summary.
func isIndexed(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var footer [recordHeader + 8 + 8 + 4 + 8]byte
	info, err := file.Stat()
	if err != nil {
		return false
	}
	if _, err := file.ReadAt(footer[:], info.Size()-int64(len(footer))); err != nil {
		return false
	}
	content := footer[recordHeader:]
	return opcode(footer[0]) == opFooter && binary.LittleEndian.Uint64(footer[1:]) == 8+8+4 &&
		binary.LittleEndian.Uint64(content) != 0 && string(content[8+8+4:]) == magic
}

// copyLog copies the readable part of a log of size bytes, chunk by chunk.
func copyLog(out io.Writer, r *Reader, size int64, progress Progress) (done Repaired, err error) {
	var c *Container
	chunks := 0
	r.copy = func(code opcode, record []byte) error {
		f := fields{left: record}
		if code == opHeader && c == nil {
			c, err = NewContainer(out, string(f.text()))
			return err
		}
		if c == nil {
			return errNoHeader
		}
		if r.chunks != chunks || len(c.chunk) >= looseChunk {
			if c.compressor == nil && r.unpack.used != "" && c.chunks.count == 0 {
				if err := c.Compress(zstd.SpeedFastest); err != nil {
					return err
				}
			}
			chunks = r.chunks
			if err := c.endChunk(); err != nil {
				return err
			}
		}
		c.copy(code, f)
		return c.err
	}
	r.attach = func(length uint64, content *bufio.Reader) error {
		switch {
		case c == nil:
			return errNoHeader
		case length > uint64(size-r.in.n+int64(content.Buffered())):
			return io.ErrUnexpectedEOF
		}
		return c.copyAttachment(length, content)
	}
	r.drain(func() { progress((size+r.Offset())/2, size) })
	if c == nil {
		return done, errors.Join(err, r.Damage())
	}
	if err := c.Close(); err != nil {
		return done, err
	}
	return Repaired{Messages: int(c.total), Damage: r.Damage()}, nil
}

// copy adds a record of another file. It leaves out a damaged record, and a message of an
// unknown channel.
func (c *Container) copy(code opcode, f fields) {
	switch code {
	case opSchema:
		if id, name, of, data := f.u16(), f.text(), f.text(), f.text(); !f.bad {
			c.AddSchema(id, string(name), string(of), data)
		}
	case opChannel:
		if id, schema, topic, of, pairs := f.u16(), f.u16(), f.text(), f.text(), f.pairs(); !f.bad {
			c.AddChannel(id, schema, string(topic), string(of), pairs...)
		}
	case opMessage:
		if id, sequence, logged, published := f.u16(), f.u32(), f.u64(), f.u64(); !f.bad && c.streams[id] != nil {
			c.AddMessage(id, sequence, logged, published, f.left)
		}
	case opMetadata:
		if name, pairs := f.text(), f.pairs(); !f.bad {
			c.addMetadata(string(name), pairs...)
		}
	}
}

// copyAttachment copies an attachment of size bytes. It leaves out a damaged one.
func (c *Container) copyAttachment(size uint64, in *bufio.Reader) error {
	// Its fields are before its content.
	begin, _ := in.Peek(int(min(size, uint64(in.Size()))))
	f := fields{left: begin}
	logged, created, name, kind, data := f.u64(), f.u64(), string(f.text()), string(f.text()), f.u64()
	if f.bad || data != size-uint64(len(begin)-len(f.left))-4 { // the CRC
		_, err := io.CopyN(io.Discard, in, int64(size))
		return err
	}
	at := c.offset
	c.write(appendIntegers([]byte{byte(opAttachment)}, size))
	if _, err := io.CopyN(writerFunc(c.write), in, int64(size)); err != nil {
		return err
	}
	c.attachments.add(opAttachmentIndex, func(b []byte) []byte {
		b = appendIntegers(b, uint64(at), uint64(c.offset-at), logged, created, data)
		return appendText(appendText(b, name), kind)
	})
	return c.err
}

// writerFunc is an io.Writer; the function itself keeps its errors.
type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }
