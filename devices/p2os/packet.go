// Package p2os drives the microcontroller of a Pioneer 2 robot (P2OS), which
// carries Player's position, sonar, misc and gripper devices on one serial
// line.
//
// This file is the framing: packets, their checksum and the streaming parser. Commands
// are in command.go, the robot's data in sip.go.
package p2os

import (
	"encoding/binary"

	"player/devices/transport"
)

// Framing, the same in both directions: FA FB, a count of the bytes that
// follow, the body, and the checksum of the body, high byte first. Integers
// inside a body are little-endian.
const (
	header0 = 0xFA
	header1 = 0xFB

	headSize     = 3 // FA FB count
	checksumSize = 2

	// MaxPacket is the longest packet in bytes, which a Pioneer LX sends (its manual, 10.1);
	// P2OS sends up to 198. A larger count is damaged.
	MaxPacket = headSize + 249

	minCount = 1 + checksumSize // a body has at least its type
	maxCount = MaxPacket - headSize
)

// Packet is one complete packet with a good checksum, from FA to the checksum.
type Packet []byte

// Body returns the packet without its framing, at least one byte.
func (p Packet) Body() []byte { return p[headSize : len(p)-checksumSize] }

// Type returns the first byte of the body: a Command towards the robot or echoed
// by it, a kind of data (see SIP) from the robot.
func (p Packet) Type() byte { return p[headSize] }

// appendPacket frames a body of 1 to 247 bytes; P2OS takes up to 198.
func appendPacket(dst []byte, body ...byte) []byte {
	dst = append(dst, header0, header1, byte(len(body)+checksumSize))
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint16(dst, checksum(body))
}

// inspect is a transport.Inspect.
func inspect(b []byte) (size int, v transport.Verdict) {
	switch {
	case len(b) > 0 && b[0] != header0,
		len(b) > 1 && b[1] != header1,
		len(b) > 2 && (b[2] < minCount || b[2] > maxCount):
		return 0, transport.Junk
	case len(b) < headSize, len(b) < headSize+int(b[2]):
		return 0, transport.Partial
	}
	size = headSize + int(b[2])
	if packet := Packet(b[:size]); checksum(packet.Body()) != binary.BigEndian.Uint16(b[size-checksumSize:]) {
		return 0, transport.Damaged
	}
	return size, transport.Whole
}

// checksum adds the body of a packet as big-endian 16-bit words; the last byte of an
// odd body is not added but xored into the low byte.
func checksum(body []byte) (sum uint16) {
	for ; len(body) > 1; body = body[2:] {
		sum += binary.BigEndian.Uint16(body)
	}
	if len(body) == 1 {
		sum ^= uint16(body[0])
	}
	return sum
}
