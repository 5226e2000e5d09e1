package logfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// magic is at the beginning and at the end of an MCAP file.
const magic = "\x89MCAP0\r\n"

// opcode is the kind of a record.
type opcode byte

const (
	opHeader opcode = iota + 1
	opFooter
	opSchema
	opChannel
	opMessage
	opChunk
	opMessageIndex
	opChunkIndex
	opAttachment
	opAttachmentIndex
	opStatistics
	opMetadata
	opMetadataIndex
	opSummaryOffset
	opDataEnd
)

// recordHeader is the size of a record's code and length in bytes.
const recordHeader = 1 + 8

var (
	errTooLarge  = errors.New("a record is too large")
	errNoRecord  = errors.New("a record has no kind")
	errBadRecord = errors.New("a record is damaged")
)

// readHeader reads the kind and the size of the next record. The error is io.EOF at
// the end of the file, and io.ErrUnexpectedEOF if the file ends within the header.
func readHeader(in *bufio.Reader) (code opcode, size uint64, err error) {
	var b [recordHeader]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return 0, 0, err
	}
	code, size = opcode(b[0]), binary.LittleEndian.Uint64(b[1:])
	if code == 0 { // after a power failure a file may end in zeros
		return 0, 0, errNoRecord
	}
	return code, size, nil
}

// cutRecord splits the first record from the records of a chunk. If the record is
// incomplete, ok is false and nothing is left.
func cutRecord(b []byte) (code opcode, record, rest []byte, ok bool) {
	if len(b) < recordHeader {
		return 0, nil, nil, false
	}
	size := binary.LittleEndian.Uint64(b[1:])
	if size > uint64(len(b)-recordHeader) {
		return 0, nil, nil, false
	}
	end := recordHeader + int(size)
	return opcode(b[0]), b[recordHeader:end], b[end:], true
}

// fields reads the fields of a record in their order. After the end of the record
// they are zero, and bad is set.
type fields struct {
	left []byte
	bad  bool
}

// bytes returns the next n bytes.
func (f *fields) bytes(n uint64) []byte {
	if n > uint64(len(f.left)) {
		f.left, f.bad = nil, true
		return nil
	}
	b := f.left[:n]
	f.left = f.left[n:]
	return b
}

// integer returns an integer of size bytes.
func (f *fields) integer(size uint64) (v uint64) {
	for i, b := range f.bytes(size) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (f *fields) u16() uint16 { return uint16(f.integer(2)) }
func (f *fields) u32() uint32 { return uint32(f.integer(4)) }
func (f *fields) u64() uint64 { return f.integer(8) }

// text returns bytes with their length before them.
func (f *fields) text() []byte { return f.bytes(f.integer(4)) }

// pairs returns the keys and values of a map, one after the other.
func (f *fields) pairs() (list []string) {
	in := fields{left: f.text()}
	for len(in.left) > 0 && !in.bad {
		list = append(list, string(in.text()), string(in.text()))
	}
	f.bad = f.bad || in.bad
	return list
}

// err returns an error if a field was missing.
func (f *fields) err() error {
	if f.bad {
		return errBadRecord
	}
	return nil
}

// value returns the value of a key in pairs, empty if there is none.
func value(pairs []string, key string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == key {
			return pairs[i+1]
		}
	}
	return ""
}

// appendRecord appends a record. fill appends the record's content.
func appendRecord(b []byte, code opcode, fill func(b []byte) []byte) []byte {
	at := len(b)
	b = append(b, byte(code), 0, 0, 0, 0, 0, 0, 0, 0)
	b = fill(b)
	binary.LittleEndian.PutUint64(b[at+1:], uint64(len(b)-at-recordHeader))
	return b
}

// appendText appends a string or bytes with their length.
func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// appendPairs appends a map of keys and values, given one after the other.
func appendPairs(b []byte, pairs []string) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	for _, text := range pairs {
		b = appendText(b, text)
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendIntegers appends integers of 64 bits.
func appendIntegers(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
