package compact

import (
	"encoding/binary"
	"math"

	"player/codec"
)

// Payloads of a few numbers (8.4.3). Numbers have as many bytes as they need: 7 bits
// in each, the lowest first, with the highest bit set in all but the last.

// fields is the layout of a payload, a letter for each number: B u8, u and i 16 bits, U
// and I 32 bits. Capital or not, i is signed.
type fields string

// layout returns the layout of a device's payload, empty for a device without one.
func layout(letter byte) fields {
	switch letter {
	case codec.Position:
		return "UIIuiiuB"
	case codec.PTZ:
		return "iii"
	case codec.Joystick:
		return "Uiiiiiiii"
	}
	return ""
}

// width returns the size of a field in bytes.
func width(field byte) int {
	switch field {
	case 'B':
		return 1
	case 'u', 'i':
		return 2
	}
	return 4
}

func (f fields) size() (n int) {
	for i := range len(f) {
		n += width(f[i])
	}
	return n
}

// append appends the code of a payload of the layout's size.
func (f fields) append(dst, payload []byte) []byte {
	for i := range len(f) {
		var v uint64
		for _, b := range payload[:width(f[i])] {
			v = v<<8 | uint64(b)
		}
		payload = payload[width(f[i]):]
		switch f[i] {
		case 'i':
			dst = binary.AppendVarint(dst, int64(int16(v)))
		case 'I':
			dst = binary.AppendVarint(dst, int64(int32(v)))
		default:
			dst = binary.AppendUvarint(dst, v)
		}
	}
	return dst
}

// decode appends the payload of a code. A payload has all fields, a code nothing else.
func (f fields) decode(dst, code []byte) (payload []byte, ok bool) {
	for i := range len(f) {
		v, n := binary.Uvarint(code)
		if n <= 0 || v>>(8*width(f[i])) != 0 {
			return dst, false
		}
		code = code[n:]
		if f[i] == 'i' || f[i] == 'I' {
			v = v>>1 ^ -(v & 1)
		}
		for shift := 8 * (width(f[i]) - 1); shift >= 0; shift -= 8 {
			dst = append(dst, byte(v>>shift))
		}
	}
	return dst, len(f) > 0 && len(code) == 0
}

// timeSize is the size of the time of a freshness payload, in bytes.
const timeSize = 8

// appendFreshness appends the code of the payload of device y (8.4.3).
func appendFreshness(dst, payload []byte) []byte {
	dst = binary.AppendUvarint(dst, binary.BigEndian.Uint64(payload))
	for ages := payload[timeSize:]; len(ages) > 0; ages = ages[4:] {
		dst = binary.AppendUvarint(dst, uint64(binary.BigEndian.Uint32(ages)+1))
	}
	return dst
}

func decodeFreshness(dst, code []byte) (payload []byte, ok bool) {
	at, n := binary.Uvarint(code)
	if n <= 0 {
		return dst, false
	}
	dst = binary.BigEndian.AppendUint64(dst, at)
	for code = code[n:]; len(code) > 0; code = code[n:] {
		var age uint64
		if age, n = binary.Uvarint(code); n <= 0 || age > math.MaxUint32 {
			return dst, false
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(age)-1)
	}
	return dst, true
}

// isVision reports whether a payload has the header that its counts lead to (7.7).
func isVision(payload []byte) bool {
	if len(payload) < codec.VisionHeaderSize {
		return false
	}
	blobs := 0
	for i := 0; i < codec.VisionHeaderSize; i += 2 {
		if payload[i] != index(blobs) || payload[i+1] == 0 {
			return false
		}
		blobs += int(payload[i+1]) - 1
	}
	return len(payload) == codec.VisionHeaderSize+blobs*codec.BlobSize
}

// index returns the byte in the header for a channel's first blob.
func index(blob int) byte { return byte(min(blob, 254)) + 1 }

// appendVision appends the code of a vision payload (8.4.3): the channels that have
// blobs, zero, and the blobs.
func appendVision(dst, payload []byte) []byte {
	for c := range codec.VisionChannels {
		if count := payload[2*c+1] - 1; count > 0 {
			dst = append(dst, byte(c+1), count)
		}
	}
	dst = append(dst, 0)
	return append(dst, payload[codec.VisionHeaderSize:]...)
}

func decodeVision(dst, code []byte) (payload []byte, ok bool) {
	blobs := 0
	for c := range codec.VisionChannels {
		count := byte(0)
		if len(code) >= 2 && code[0] == byte(c+1) {
			count, code = code[1], code[2:]
		}
		if count == math.MaxUint8 { // its byte in the header would be 0
			return dst, false
		}
		dst = append(dst, index(blobs), count+1)
		blobs += int(count)
	}
	if len(code) != 1+blobs*codec.BlobSize || code[0] != 0 {
		return dst, false
	}
	return append(dst, code[1:]...), true
}
