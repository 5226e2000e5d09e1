package logfile

import "encoding/binary"

// listBlock is how much memory a chunkList takes at a time, in bytes. It never copies its
// contents, so it takes at most one block more than it needs.
const listBlock = 16 << 10

// chunkList keeps the index data of each chunk of a file, in about 15 bytes and 2 for each
// of its channels: most values are differences, and values that follow from others are left
// out.
type chunkList struct {
	blocks [][]byte
	count  int
	bytes  int64 // of the index in the file, without the names of the compression

	end   uint64 // offset behind the last chunk and its index, without its compression's name
	first uint64 // of the last chunk
	entry []byte
}

// chunkInfo describes a chunk.
type chunkInfo struct {
	offset       uint64 // in the file
	first, last  uint64 // times of its messages, ns
	stored, size uint64 // bytes of its records in the file, and not compressed
	channels     []channelCount
}

// channelCount is how many messages of a channel are in a chunk.
type channelCount struct {
	id       uint16
	messages uint64
}

// end returns the offset behind a chunk and its index, except for the name of its
// compression.
func (i *chunkInfo) end() uint64 {
	end := i.offset + chunkHeader + i.stored
	for _, c := range i.channels {
		end += indexHeader + c.messages*indexEntry
	}
	return end
}

// add appends a chunk.
func (l *chunkList) add(i *chunkInfo) {
	b := binary.AppendUvarint(l.entry[:0], i.offset-l.end)
	b = binary.AppendVarint(b, int64(i.first-l.first))
	for _, v := range []uint64{i.last - i.first, i.stored, i.size - i.stored, uint64(len(i.channels))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, c := range i.channels {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.id)), c.messages)
	}
	l.entry, l.end, l.first = b, i.end(), i.first
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last])+len(b) > cap(l.blocks[last]) {
		l.blocks = append(l.blocks, make([]byte, 0, max(listBlock, len(b))))
		last++
	}
	l.blocks[last] = append(l.blocks[last], b...)
	l.count++
	l.bytes += int64(chunkEntry + len(i.channels)*channelEntry)
}

// each calls f with the chunks in their order. The chunkInfo is valid until f returns.
func (l *chunkList) each(f func(*chunkInfo)) {
	var i chunkInfo
	end := uint64(0)
	for _, b := range l.blocks {
		next := func() uint64 {
			v, n := binary.Uvarint(b)
			b = b[n:]
			return v
		}
		for len(b) > 0 {
			i.offset = end + next()
			delta, n := binary.Varint(b)
			b = b[n:]
			i.first += uint64(delta)
			i.last = i.first + next()
			i.stored = next()
			i.size = i.stored + next()
			i.channels = i.channels[:0]
			for range next() {
				i.channels = append(i.channels, channelCount{uint16(next()), next()})
			}
			end = i.end()
			f(&i)
		}
	}
}

// memory returns how many bytes of memory the list takes.
func (l *chunkList) memory() int { return len(l.blocks) * listBlock }
