package logfile

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// writeBuffer combines small writes, in bytes. A chunk of the usual size is one
	// write.
	writeBuffer = 64 << 10
	// chunkHeader is the size of a chunk record without its records and the name of
	// its compression, in bytes: times, size, CRC, and the lengths of both.
	chunkHeader = recordHeader + 8 + 8 + 8 + 4 + 4 + 8
	// indexHeader is the size of a message index record without entries of
	// indexEntry bytes each.
	indexHeader = recordHeader + 2 + 4
	indexEntry  = 8 + 8
	// chunkEntry is the size of a chunk index record without the name of the compression,
	// and channelEntry the size that each channel of the chunk adds.
	chunkEntry   = recordHeader + 8*4 + 4 + 8 + 4 + 8*2
	channelEntry = 2 + 8
)

// Container writes an MCAP file (https://mcap.dev/spec): messages in chunks, behind
// each chunk an index of its messages, and at the end a summary with an index of the
// chunks. It allocates nothing for a message; for a chunk it keeps the few bytes of
// chunkList.
type Container struct {
	out    *bufio.Writer
	offset int64
	crc    uint32 // of the current section of the file
	err    error  // the first one; nothing is written after it

	compressor *zstd.Encoder // nil: chunks are not compressed
	record     []byte
	compressed []byte

	chunk       []byte // the records of the current chunk
	first, last uint64 // times of its messages, ns
	used        []*stream
	messages    int

	schemas  map[uint16]bool
	streams  map[uint16]*stream
	order    []*stream // as they were added
	repeated [2][]byte // for the summary: the schemas, the channels
	chunks   chunkList
	entry    chunkInfo

	metadata, attachments indexRecords
	total                 uint64 // messages
	began, ended          uint64 // times of all messages, ns
}

// stream is a channel of the file.
type stream struct {
	id      uint16
	total   uint64
	entries []byte // index of the messages in the current chunk
}

// indexRecords are records for the summary.
type indexRecords struct {
	count   uint32
	records []byte
}

// NewContainer begins a file with an MCAP profile.
func NewContainer(w io.Writer, profile string) (*Container, error) {
	c := &Container{out: bufio.NewWriterSize(w, writeBuffer), schemas: map[uint16]bool{}, streams: map[uint16]*stream{}}
	c.write([]byte(magic))
	c.writeRecord(opHeader, func(b []byte) []byte { return appendText(appendText(b, profile), "player") })
	return c, c.err
}

// Compress has the chunks compressed. It must be called before the first one ends.
func (c *Container) Compress(level zstd.EncoderLevel) (err error) {
	// Chunks are compressed one by one, so the window needs not be larger than one.
	c.compressor, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(256<<10))
	return err
}

// compression returns the name of the compression in the file.
func (c *Container) compression() string {
	if c.compressor == nil {
		return ""
	}
	return "zstd"
}

// write writes bytes to the file.
func (c *Container) write(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.out.Write(b)
	c.offset += int64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, b[:n])
	c.err = err
}

// writeRecord writes a record outside of chunks.
func (c *Container) writeRecord(code opcode, fill func(b []byte) []byte) {
	c.record = appendRecord(c.record[:0], code, fill)
	c.write(c.record)
}

// AddSchema adds a schema to the current chunk, unless the file has it.
func (c *Container) AddSchema(id uint16, name, encoding string, data []byte) {
	if c.schemas[id] {
		return
	}
	c.schemas[id] = true
	c.addRepeated(0, opSchema, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint16(b, id)
		return appendText(appendText(appendText(b, name), encoding), data)
	})
}

// AddChannel adds a channel to the current chunk, unless the file has it. The pairs
// are keys and values of its metadata.
func (c *Container) AddChannel(id, schema uint16, topic, encoding string, pairs ...string) {
	if c.streams[id] != nil {
		return
	}
	c.order = append(c.order, &stream{id: id})
	c.streams[id] = c.order[len(c.order)-1]
	c.addRepeated(1, opChannel, func(b []byte) []byte {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, id), schema)
		return appendPairs(appendText(appendText(b, topic), encoding), pairs)
	})
}

// addRepeated adds a record to the current chunk that the summary repeats.
func (c *Container) addRepeated(list int, code opcode, fill func(b []byte) []byte) {
	at := len(c.chunk)
	c.chunk = appendRecord(c.chunk, code, fill)
	c.repeated[list] = append(c.repeated[list], c.chunk[at:]...)
}

// AddMessage adds a message to the current chunk. Its channel must be known.
func (c *Container) AddMessage(channel uint16, sequence uint32, logged, published uint64, data []byte) {
	le := binary.LittleEndian
	s := c.streams[channel]
	if len(s.entries) == 0 {
		c.used = append(c.used, s)
	}
	s.entries = le.AppendUint64(le.AppendUint64(s.entries, logged), uint64(len(c.chunk)))
	s.total++
	c.chunk = append(c.chunk, byte(opMessage))
	c.chunk = le.AppendUint64(c.chunk, uint64(2+4+8+8+len(data)))
	c.chunk = le.AppendUint32(le.AppendUint16(c.chunk, channel), sequence)
	c.chunk = le.AppendUint64(le.AppendUint64(c.chunk, logged), published)
	c.chunk = append(c.chunk, data...)
	if c.messages == 0 {
		c.first, c.last = logged, logged
	}
	c.first, c.last = min(c.first, logged), max(c.last, logged)
	c.messages++
}

// EndFullChunk writes the current chunk if it is large.
func (c *Container) EndFullChunk() error {
	if len(c.chunk) < looseChunk {
		return nil
	}
	return c.endChunk()
}

// endChunk writes the current chunk and its index, and passes them to the operating
// system.
func (c *Container) endChunk() error {
	if len(c.chunk) == 0 || c.err != nil {
		return c.err
	}
	if c.messages == 0 {
		c.first, c.last = 0, 0
	}
	records := c.chunk
	if c.compressor != nil {
		c.compressed = c.compressor.EncodeAll(c.chunk, c.compressed[:0])
		records = c.compressed
	}
	le, name := binary.LittleEndian, c.compression()
	entry := &c.entry
	*entry = chunkInfo{uint64(c.offset), c.first, c.last, uint64(len(records)), uint64(len(c.chunk)), entry.channels[:0]}
	b := append(c.record[:0], byte(opChunk))
	b = appendIntegers(b, uint64(chunkHeader-recordHeader+len(name)+len(records)), c.first, c.last, entry.size)
	b = appendText(le.AppendUint32(b, crc32.ChecksumIEEE(c.chunk)), name)
	b = le.AppendUint64(b, entry.stored)
	c.write(b)
	c.write(records)
	b = b[:0]
	for _, s := range c.used {
		entry.channels = append(entry.channels, channelCount{s.id, uint64(len(s.entries) / indexEntry)})
		b = append(b, byte(opMessageIndex))
		b = le.AppendUint64(b, uint64(indexHeader-recordHeader+len(s.entries)))
		b = appendText(le.AppendUint16(b, s.id), s.entries)
		s.entries = s.entries[:0]
	}
	c.write(b)
	c.record = b
	c.chunks.add(entry)
	if c.messages > 0 {
		if c.total == 0 {
			c.began, c.ended = c.first, c.last
		}
		c.began, c.ended = min(c.began, c.first), max(c.ended, c.last)
		c.total += uint64(c.messages)
	}
	c.chunk, c.used, c.messages = c.chunk[:0], c.used[:0], 0
	if c.err == nil {
		c.err = c.out.Flush()
	}
	return c.err
}

// Messages returns how many messages were added to a channel.
func (c *Container) Messages(channel uint16) uint64 {
	if s := c.streams[channel]; s != nil {
		return s.total
	}
	return 0
}

// Times returns the times of the first and the last message of all written chunks, ns.
func (c *Container) Times() (first, last uint64) { return c.began, c.ended }

// addMetadata writes metadata. The pairs are keys and values.
func (c *Container) addMetadata(name string, pairs ...string) {
	at := c.offset
	c.writeRecord(opMetadata, func(b []byte) []byte { return appendPairs(appendText(b, name), pairs) })
	c.metadata.add(opMetadataIndex, func(b []byte) []byte {
		return appendText(appendIntegers(b, uint64(at), uint64(c.offset-at)), name)
	})
}

func (r *indexRecords) add(code opcode, fill func(b []byte) []byte) {
	r.count++
	r.records = appendRecord(r.records, code, fill)
}

// size returns the highest size of the closed file, in bytes: the summary offsets, of which
// each kind of record has one, the end of the data and the footer are below 1 KiB.
func (c *Container) size() int64 {
	n := c.offset + 1<<10 + int64(len(c.chunk)) + c.chunks.bytes + int64(c.chunks.count*len(c.compression())) + int64(len(c.streams)*channelEntry)
	return n + int64(len(c.repeated[0])+len(c.repeated[1])+len(c.attachments.records)+len(c.metadata.records))
}

// Close ends the last chunk, and writes the summary.
func (c *Container) Close() error {
	if err := c.endChunk(); err != nil {
		return err
	}
	c.writeRecord(opDataEnd, func(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, c.crc) })
	c.crc = 0
	summary := c.offset
	offsets := c.writeSummary()
	summaryOffsets := c.offset
	c.write(offsets)
	c.record = append(c.record[:0], byte(opFooter))
	c.record = appendIntegers(c.record, 8+8+4, uint64(summary), uint64(summaryOffsets))
	c.write(c.record)
	c.write(append(binary.LittleEndian.AppendUint32(nil, c.crc), magic...))
	if c.err == nil {
		c.err = c.out.Flush()
	}
	return c.err
}

// writeSummary writes the records of the summary and returns the summary offsets.
func (c *Container) writeSummary() (offsets []byte) {
	group := func(code opcode, write func()) {
		at := c.offset
		if write(); c.offset > at {
			offsets = appendRecord(offsets, opSummaryOffset, func(b []byte) []byte {
				return appendIntegers(append(b, byte(code)), uint64(at), uint64(c.offset-at))
			})
		}
	}
	group(opSchema, func() { c.write(c.repeated[0]) })
	group(opChannel, func() { c.write(c.repeated[1]) })
	group(opStatistics, func() { c.writeRecord(opStatistics, c.appendStatistics) })
	group(opChunkIndex, func() { c.chunks.each(c.writeChunkIndex) })
	group(opAttachmentIndex, func() { c.write(c.attachments.records) })
	group(opMetadataIndex, func() { c.write(c.metadata.records) })
	return offsets
}

func (c *Container) appendStatistics(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(le.AppendUint64(b, c.total), uint16(len(c.schemas)))
	for _, n := range []uint32{uint32(len(c.streams)), c.attachments.count, c.metadata.count, uint32(c.chunks.count)} {
		b = le.AppendUint32(b, n)
	}
	b = appendIntegers(b, c.began, c.ended)
	b = le.AppendUint32(b, uint32(len(c.streams)*channelEntry))
	for _, s := range c.order {
		b = le.AppendUint64(le.AppendUint16(b, s.id), s.total)
	}
	return b
}

// writeChunkIndex writes the index of one chunk.
func (c *Container) writeChunkIndex(i *chunkInfo) {
	c.writeRecord(opChunkIndex, func(b []byte) []byte {
		le, name := binary.LittleEndian, c.compression()
		length := chunkHeader + uint64(len(name)) + i.stored
		b = appendIntegers(b, i.first, i.last, i.offset, length)
		b = le.AppendUint32(b, uint32(len(i.channels)*channelEntry))
		at := i.offset + length
		for _, channel := range i.channels {
			b = le.AppendUint64(le.AppendUint16(b, channel.id), at)
			at += indexHeader + channel.messages*indexEntry
		}
		b = le.AppendUint64(b, at-i.offset-length)
		return appendIntegers(appendText(b, name), i.stored, i.size)
	})
}
