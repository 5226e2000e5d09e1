package logfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/foxglove/mcap/go/mcap"
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

// Repaired is what Repair has done.
type Repaired struct {
	Whole    bool   // there was nothing to do
	Messages int    // in the log, also those of other programs
	Damage   error  // what was missing from the log, nil if only the index
	Kept     string // where the original is; empty: it was replaced
}

// Repair makes a log whole that was not closed, that is damaged, or that has no index.
// It copies what can be read, and replaces the file when the copy is on the disk. The
// original is kept if more than the end of it could not be read.
func Repair(path string, progress Progress) (done Repaired, err error) {
	whole, err := isWhole(path, progress)
	if err != nil || whole {
		return Repaired{Whole: whole}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return done, err
	}
	// What a repair has left that was interrupted is overwritten.
	out, err := os.OpenFile(path+repairing, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return done, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	done, err = copyLog(out, path, info.Size(), progress)
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return done, err
	}
	if done.Damage != nil && done.Damage != errCut {
		done.Kept = path + damaged
		if err := os.Rename(path, done.Kept); err != nil {
			return done, err
		}
	}
	return done, os.Rename(out.Name(), path)
}

// isWhole reports whether a log was closed, is not damaged, and has an index.
func isWhole(path string, progress Progress) (bool, error) {
	r, err := Open(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	if r.growing {
		return false, fmt.Errorf("%s is being recorded: repair it when it is not", path)
	}
	messages := 0
	r.copy = func(token mcap.TokenType, _ []byte) {
		if token == mcap.TokenMessage {
			messages++
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	for n := 0; ; n++ {
		if _, err := r.NextRecord(); err != nil {
			break
		}
		if n%progressEvery == 0 {
			progress(r.Offset()/2, info.Size())
		}
	}
	return r.Damage() == nil && (r.indexes > 0 || messages == 0) && isIndexed(path), nil
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
	return footer[0] == byte(mcap.OpFooter) && binary.LittleEndian.Uint64(footer[1:]) == 8+8+4 &&
		binary.LittleEndian.Uint64(content) != 0 && bytes.Equal(content[8+8+4:], mcap.Magic)
}

// copyLog copies what can be read of the log at path, of size bytes, chunk by chunk.
func copyLog(out io.Writer, path string, size int64, progress Progress) (done Repaired, err error) {
	r, err := Open(path)
	if err != nil {
		return done, err
	}
	defer r.Close()
	var c *container
	chunks := 0
	r.copy = func(token mcap.TokenType, record []byte) {
		if c == nil {
			of := profile
			if header, wrong := mcap.ParseHeader(record); token == mcap.TokenHeader && wrong == nil {
				of = header.Profile
			}
			if c, err = newContainer(out, of); err != nil {
				return
			}
			r.attachment = c.addAttachment
		}
		if r.chunks != chunks || len(c.chunk) >= looseChunk {
			if c.compressor == nil && r.unpack.used != "" && c.chunks.count == 0 {
				err = c.compress(zstd.SpeedFastest)
			}
			chunks = r.chunks
			_ = c.endChunk() // c keeps the error
		}
		c.copy(token, record)
	}
	for n := 0; err == nil && (c == nil || c.err == nil); n++ {
		if _, end := r.NextRecord(); end != nil {
			break
		}
		if n%progressEvery == 0 {
			progress((size+r.Offset())/2, size)
		}
	}
	switch {
	case err != nil:
		return done, err
	case c == nil:
		return done, fmt.Errorf("%s: %w", path, r.Damage())
	}
	if err := c.close(); err != nil {
		return done, err
	}
	return Repaired{Messages: int(c.total), Damage: r.Damage()}, nil
}

// copy adds a record of another file. Messages of a channel that is not known are left
// out.
func (c *container) copy(token mcap.TokenType, record []byte) {
	switch token {
	case mcap.TokenSchema:
		if s, err := mcap.ParseSchema(record); err == nil {
			c.addSchema(s.ID, s.Name, s.Encoding, s.Data)
		}
	case mcap.TokenChannel:
		if s, err := mcap.ParseChannel(record); err == nil {
			c.addChannel(s.ID, s.SchemaID, s.Topic, s.MessageEncoding, pairs(s.Metadata)...)
		}
	case mcap.TokenMessage:
		if m, err := mcap.ParseMessage(record); err == nil && c.streams[m.ChannelID] != nil {
			c.addMessage(m.ChannelID, m.Sequence, m.LogTime, m.PublishTime, m.Data)
		}
	case mcap.TokenMetadata:
		if m, err := mcap.ParseMetadata(record); err == nil {
			c.addMetadata(m.Name, pairs(m.Metadata)...)
		}
	}
}

// pairs returns the keys and values of a map, sorted.
func pairs(m map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, key, m[key])
	}
	return list
}

// addAttachment copies an attachment.
func (c *container) addAttachment(a *mcap.AttachmentReader) error {
	at, crc := c.offset, crc32.NewIEEE()
	fields := appendIntegers(nil, a.LogTime, a.CreateTime)
	fields = appendIntegers(appendText(appendText(fields, a.Name), a.MediaType), a.DataSize)
	c.write(appendIntegers([]byte{byte(mcap.OpAttachment)}, uint64(len(fields))+a.DataSize+4))
	c.write(fields)
	_, _ = crc.Write(fields) // a hash does not fail
	if _, err := io.Copy(io.MultiWriter(crc, writerFunc(c.write)), a.Data()); err != nil {
		return err
	}
	c.write(binary.LittleEndian.AppendUint32(nil, crc.Sum32()))
	c.attachments.add(mcap.OpAttachmentIndex, func(b []byte) []byte {
		b = appendIntegers(b, uint64(at), uint64(c.offset-at), a.LogTime, a.CreateTime, a.DataSize)
		return appendText(appendText(b, a.Name), a.MediaType)
	})
	return c.err
}

// writerFunc is an io.Writer whose errors are kept elsewhere.
type writerFunc func(b []byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }
