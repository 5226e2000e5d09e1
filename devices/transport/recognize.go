package transport

import (
	"bytes"
	"encoding/binary"
)

// recognizeSize is how many bytes Remember keeps: two scans of a SICK laser, the
// longest packets of all, so that one of them is whole.
const recognizeSize = 2048

// Remember appends p to the bytes that were heard, and returns the last of them, as many
// as Recognize needs.
func Remember(heard, p []byte) []byte {
	heard = append(heard, p...)
	return heard[max(0, len(heard)-recognizeSize):]
}

// Recognize returns which hardware has sent p, which may begin and end anywhere: "a
// P2OS robot", "a SICK laser" or "a VISCA camera". It is empty for anything else, such
// as noise or the driver's own requests on a line that returns them. Drivers call it
// when their own hardware does not answer: ports are easily swapped.
func Recognize(p []byte) string {
	for i := range p {
		if isP2OS(p[i:]) {
			return "a P2OS robot"
		}
		if isSICK(p[i:]) {
			return "a SICK laser"
		}
	}
	for i := range p { // last: VISCA has no checksum
		if isVISCA(p[i:]) {
			return "a VISCA camera"
		}
	}
	return ""
}

// isP2OS reports whether b begins with a packet of a robot: FA FB, a length, a body,
// its checksum with the high byte first. A body of one byte is no proof: it may be a
// request that the line has returned.
func isP2OS(b []byte) bool {
	if len(b) < 3 || b[0] != 0xFA || b[1] != 0xFB {
		return false
	}
	end := 3 + int(b[2])
	if b[2] < 4 || len(b) < end {
		return false
	}
	return P2OSChecksum(b[3:end-2]) == binary.BigEndian.Uint16(b[end-2:])
}

// P2OSChecksum adds the body of a packet as big-endian 16-bit words; the last byte of an
// odd body is not added but xored into the low byte.
func P2OSChecksum(body []byte) (sum uint16) {
	for ; len(body) > 1; body = body[2:] {
		sum += binary.BigEndian.Uint16(body)
	}
	if len(body) == 1 {
		sum ^= uint16(body[0])
	}
	return sum
}

// isSICK reports whether b begins with a telegram of a laser: 02, address 80, a
// length, a content, its CRC. A scan may take as long as a driver listens at one speed,
// so its beginning is enough: code B0 and a length of 256 bytes to 1 kB. Of 2 kB of
// noise, one in some ten thousand is misread by that.
func isSICK(b []byte) bool {
	if len(b) < 4 || b[0] != 0x02 || b[1] != 0x80 {
		return false
	}
	end := 4 + int(binary.LittleEndian.Uint16(b[2:]))
	if len(b) < end+2 {
		return len(b) > 4 && b[3] > 0 && b[3] < 4 && b[4] == 0xB0
	}
	return SICKCRC(b[:end]) == binary.LittleEndian.Uint16(b[end:])
}

// SICKCRC is SICK's checksum: a 16-bit shift register with polynomial 8005, into
// which each byte goes together with the one before it.
func SICKCRC(b []byte) uint16 {
	var c, previous uint16
	for _, v := range b {
		carry := c&0x8000 != 0
		c <<= 1
		if carry {
			c ^= 0x8005
		}
		c ^= previous<<8 | uint16(v)
		previous = uint16(v)
	}
	return c
}

// isVISCA reports whether b begins with a reply of camera 1: 90, what it is (4
// acknowledgement, 5 completion or answer, 6 error, 38 network change), up to 13 more
// bytes, FF.
func isVISCA(b []byte) bool {
	if len(b) < 3 || b[0] != 0x90 {
		return false
	}
	end := bytes.IndexByte(b[:min(len(b), 16)], 0xFF)
	switch kind := b[1] >> 4; {
	case kind == 4 || b[1] == 0x38:
		return end == 2
	case kind == 5:
		return end >= 2
	case kind == 6:
		return end == 3
	}
	return false
}
