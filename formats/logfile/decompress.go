package logfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

var (
	errCutChunk = errors.New("a chunk ends within its header")
	errSize     = errors.New("a chunk does not have its size")
	errChecksum = errors.New("a chunk does not have its checksum")
)

// decompressor opens chunks. It never makes more than maxChunk bytes of one.
type decompressor struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
	out  []byte
	used string // the compression of the first chunk that has one
}

// open returns the records of a chunk. They are valid until the next call, and only as long
// as the chunk, because they may be a part of it.
func (d *decompressor) open(chunk []byte) ([]byte, error) {
	le := binary.LittleEndian
	const times = 8 + 8
	if len(chunk) < chunkHeader-recordHeader {
		return nil, errCutChunk
	}
	size, crc, names := le.Uint64(chunk[times:]), le.Uint32(chunk[times+8:]), uint64(le.Uint32(chunk[times+8+4:]))
	rest := chunk[times+8+4+4:]
	if uint64(len(rest)) < names+8 || le.Uint64(rest[names:]) != uint64(len(rest))-names-8 {
		return nil, errCutChunk
	}
	if size > maxChunk {
		return nil, errSize
	}
	name, records := string(rest[:names]), rest[names+8:]
	if name != "" {
		var err error
		if records, err = d.decompress(name, records, int(size)); err != nil {
			return nil, err
		}
		d.used = name
	}
	switch {
	case uint64(len(records)) != size:
		return nil, errSize
	case crc != 0 && crc32.ChecksumIEEE(records) != crc:
		return nil, errChecksum
	}
	return records, nil
}

// decompress returns size bytes at most.
func (d *decompressor) decompress(name string, in []byte, size int) (out []byte, err error) {
	if cap(d.out) < size {
		d.out = make([]byte, 0, size)
	}
	switch name {
	case "zstd":
		if d.zstd == nil {
			// The options are ours, and valid.
			d.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxChunk))
		}
		out, err = d.zstd.DecodeAll(in, d.out[:0])
	case "lz4":
		if d.lz4 == nil {
			d.lz4 = lz4.NewReader(nil)
		}
		d.lz4.Reset(bytes.NewReader(in))
		var n int
		n, err = io.ReadFull(d.lz4, d.out[:size])
		out = d.out[:n]
	default:
		err = fmt.Errorf("a chunk is compressed with %.20q, which is unknown", name)
	}
	if cap(out) > cap(d.out) {
		d.out = out
	}
	return out, err
}

// close ends the goroutines of the decompressors.
func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
		d.zstd = nil
	}
}
