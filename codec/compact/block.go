package compact

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"player/codec"
)

// A compact block is a sequence of items (8.4.2): a letter, the number size*4+form,
// and a code of size bytes. An item stands for a block of a plain frame.
const (
	formRaw      = 0 // the code is the payload
	formCoded    = 1 // by the device's letter
	formSelected = 2 // part of a laser scan (8.4.7)
)

var errItem = errors.New("a compact block has an item without a meaning")

// Append appends the item of a device's payload. scan applies to laser scans only.
func Append(dst []byte, letter byte, payload []byte, scan codec.Scan) []byte {
	if letter == codec.Laser && scan != (codec.Scan{}) && len(payload) == codec.LaserSize {
		return insertHead(appendSelected(dst, payload, scan), len(dst), letter, formSelected)
	}
	start := len(dst)
	if dst = appendCode(dst, letter, payload); len(dst)-start < len(payload) {
		return insertHead(dst, start, letter, formCoded)
	}
	return insertHead(append(dst[:start], payload...), start, letter, formRaw)
}

// appendCode appends the code of form 1. It is no shorter than the payload if there is
// none.
func appendCode(dst []byte, letter byte, payload []byte) []byte {
	switch {
	case letter == codec.Laser && len(payload) == codec.LaserSize, letter == codec.Sonar && len(payload) == codec.SonarSize:
		return AppendRanges(dst, payload)
	case letter == codec.Ranger && len(payload) >= unitSize && len(payload)%2 == 0 && len(payload) <= codec.MaxRangerSize:
		return appendRanger(dst, payload)
	case letter == codec.Vision && isVision(payload):
		return appendVision(dst, payload)
	case letter == codec.Server && len(payload) >= timeSize && len(payload)%4 == 0:
		return appendFreshness(dst, payload)
	case len(payload) == layout(letter).size():
		return layout(letter).append(dst, payload)
	}
	return append(dst, payload...)
}

// insertHead puts letter and size before the code that begins at start.
func insertHead(dst []byte, start int, letter byte, form uint64) []byte {
	var head [1 + binary.MaxVarintLen16]byte
	head[0] = letter
	n := 1 + binary.PutUvarint(head[1:], uint64(len(dst)-start)<<2|form)
	dst = append(dst, head[:n]...)
	copy(dst[start+n:], dst[start:])
	copy(dst[start:], head[:n])
	return dst
}

// Reader decodes a compact block to the blocks of a plain frame. The zero value has none.
type Reader struct {
	// Interface returns the letter of a device's interface by the byte of the device, and 0 if the interface has none.
	// Nil: all devices have letters.
	Interface func(code byte) (letter byte)

	items   []byte // that are left
	payload []byte
}

// Reset begins with the payload of a compact block, which must stay as it is until
// its items are used up.
func (r *Reader) Reset(block []byte) { r.items = block }

// Next returns the next block. The payload is valid until the next call. ok is false after
// the last item, and with an error; after an error nothing more can be read. In a scan with
// selected readings the others are 0.
func (r *Reader) Next() (letter byte, payload []byte, ok bool, err error) {
	if len(r.items) == 0 {
		return 0, nil, false, nil
	}
	letter = r.items[0]
	head, n := binary.Uvarint(r.items[1:])
	rest := r.items[min(1+max(n, 0), len(r.items)):]
	r.items = nil
	if n <= 0 || head>>2 > uint64(len(rest)) {
		return 0, nil, false, errItem
	}
	code, rest := rest[:head>>2], rest[head>>2:]
	switch head & 3 {
	case formRaw:
		payload, ok = code, true
	case formCoded:
		by := letter
		if r.Interface != nil {
			by = r.Interface(by)
		}
		payload, ok = r.decode(by, code)
	case formSelected:
		payload, ok = r.decodeSelected(code)
	}
	if !ok {
		return 0, nil, false, errItem
	}
	r.items = rest
	return letter, payload, true, nil
}

// decode decodes a code of form 1.
func (r *Reader) decode(letter byte, code []byte) (payload []byte, ok bool) {
	switch letter {
	case codec.Laser:
		return r.decodeRanges(codec.LaserSize, code)
	case codec.Sonar:
		return r.decodeRanges(codec.SonarSize, code)
	case codec.Ranger:
		return r.decodeRanger(code)
	case codec.Vision:
		r.payload, ok = decodeVision(r.payload[:0], code)
	case codec.Server:
		r.payload, ok = decodeFreshness(r.payload[:0], code)
	default:
		r.payload, ok = layout(letter).decode(r.payload[:0], code)
	}
	return r.payload, ok
}

func (r *Reader) decodeRanges(size int, code []byte) (payload []byte, ok bool) {
	r.grow(size)
	return r.payload, DecodeRanges(r.payload, code)
}

// unitSize is the size of the unit with which a ranger's payload begins, in bytes.
const unitSize = 2

// appendRanger appends the code of a ranger's payload (8.4.3).
func appendRanger(dst, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(binary.BigEndian.Uint16(payload)))
	payload = payload[unitSize:]
	dst = binary.AppendUvarint(dst, uint64(len(payload)/2))
	return AppendRanges(dst, payload)
}

func (r *Reader) decodeRanger(code []byte) (payload []byte, ok bool) {
	unit, n := binary.Uvarint(code)
	if n <= 0 || unit > math.MaxUint16 {
		return nil, false
	}
	count, m := binary.Uvarint(code[n:])
	if m <= 0 || count > codec.MaxReadings {
		return nil, false
	}
	r.grow(unitSize + 2*int(count))
	binary.BigEndian.PutUint16(r.payload, uint16(unit))
	return r.payload, DecodeRanges(r.payload[unitSize:], code[n+m:])
}

// grow makes the payload n zeros.
func (r *Reader) grow(n int) {
	r.payload = slices.Grow(r.payload[:0], n)[:n]
	clear(r.payload)
}
