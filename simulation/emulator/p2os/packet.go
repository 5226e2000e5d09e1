package p2os

import (
	"encoding/binary"
	"fmt"

	"player/simulation/emulator/line"
)

// A packet is FA FB n body checksum: n counts the body and the 2 bytes of the
// checksum, high byte first. Numbers in the body are little-endian. Both
// directions have the same format (Pioneer 2 Operations Manual, packet
// protocol).
const (
	head1, head2 = 0xFA, 0xFB
	overhead     = 5 // FA FB n, checksum
	minCount     = 3 // a body of one byte: a command without argument
	maxCount     = 195
	// maxCount is 198 bytes for a complete packet, minus the 3 bytes that n does not count.
	// A larger n is not a packet; accepting it would make the robot ignore more than one
	// packet.
)

// Types of integer arguments in the body of a command, 2 bytes each.
const (
	argPositive = 0x3B
	argNegative = 0x1B // absolute value
)

// checksum adds the body in 16-bit words, first byte high, and combines an odd
// last byte with exclusive or.
func checksum(body []byte) uint16 {
	var c uint16
	for len(body) > 1 {
		c += binary.BigEndian.Uint16(body)
		body = body[2:]
	}
	if len(body) == 1 {
		c ^= uint16(body[0])
	}
	return c
}

func packetOf(body []byte) []byte {
	packet := append([]byte{head1, head2, byte(len(body) + 2)}, body...)
	return binary.BigEndian.AppendUint16(packet, checksum(body))
}

// parsePacket returns the body of a packet. ok reports whether p is a packet
// with a correct checksum.
func parsePacket(p []byte) (body []byte, ok bool) {
	if len(p) < overhead+1 || p[0] != head1 || p[1] != head2 || int(p[2]) != len(p)-3 {
		return nil, false
	}
	body = p[3 : len(p)-2]
	return body, binary.BigEndian.Uint16(p[len(p)-2:]) == checksum(body)
}

// Frame splits off a packet, with a right or wrong checksum, or the junk
// before the next FA.
func (r *Robot) Frame(buf []byte) (n int, note string) {
	switch {
	case buf[0] != head1, len(buf) > 1 && buf[1] != head2, len(buf) > 2 && (buf[2] < minCount || buf[2] > maxCount):
		return line.Junk(buf, head1), "junk"
	case len(buf) < 3 || len(buf) < int(buf[2])+3:
		return 0, ""
	}
	n = int(buf[2]) + 3
	body, ok := parsePacket(buf[:n])
	if !ok {
		return n, "bad checksum"
	}
	note = fmt.Sprintf("cmd %d %s", body[0], commandName(body[0]))
	if a := parseArg(body); a.given {
		note += fmt.Sprintf(" %d", a.value)
	}
	return n, note
}

// An arg is the integer argument of a command.
type arg struct {
	given  bool
	value  int
	lo, hi byte // as sent; VEL2 packs two signed bytes
}

func parseArg(body []byte) arg {
	if len(body) < 4 || body[1] != argPositive && body[1] != argNegative {
		return arg{}
	}
	a := arg{given: true, value: int(binary.LittleEndian.Uint16(body[2:])), lo: body[2], hi: body[3]}
	if body[1] == argNegative {
		a.value = -a.value
	}
	return a
}
