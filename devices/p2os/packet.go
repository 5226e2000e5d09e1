// Package p2os drives the microcontroller of a Pioneer 2 robot (P2OS), which
// carries Player's position, sonar, misc and gripper devices on one serial
// line.
//
// This file is the line's framing: packets, their checksum and the streaming
// parser. Commands are in command.go, the robot's data in sip.go.
package p2os

import "encoding/binary"

// Framing, the same in both directions: FA FB, a count of the bytes that
// follow, the body, and the checksum of the body, high byte first. Integers
// inside a body are little-endian.
const (
	header0 = 0xFA
	header1 = 0xFB

	headSize     = 3 // FA FB count
	checksumSize = 2

	// MaxPacket is the longest packet in bytes, the sender's limit of P2OS. A
	// count that promises more is noise; were it believed, up to 258 bytes of
	// good packets would wait behind it.
	MaxPacket = 198

	minCount = 1 + checksumSize // a body has at least its type
	maxCount = MaxPacket - headSize
)

// Packet is one whole packet with a good checksum, from FA to the checksum.
type Packet []byte

// Body is the packet without its framing, at least one byte.
func (p Packet) Body() []byte { return p[headSize : len(p)-checksumSize] }

// Type is the first byte of the body: a Command towards the robot or echoed
// by it, a kind of data (see SIP) from the robot.
func (p Packet) Type() byte { return p[headSize] }

// appendPacket frames a body of 1 to 193 bytes.
func appendPacket(dst []byte, body ...byte) []byte {
	dst = append(dst, header0, header1, byte(len(body)+checksumSize))
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint16(dst, checksum(body))
}

// checksum adds the body as big-endian 16-bit words; the last byte of an odd
// body is not added but xored into the low byte.
func checksum(body []byte) uint16 {
	var c uint16
	for ; len(body) > 1; body = body[2:] {
		c += binary.BigEndian.Uint16(body)
	}
	if len(body) == 1 {
		c ^= uint16(body[0])
	}
	return c
}

// Stats counts what a Parser made of its input. Every byte fed is in a packet,
// in Garbage, or still waiting for the rest of its packet.
type Stats struct {
	Packets  uint64
	Garbage  uint64 // bytes that belong to no packet
	Checksum uint64 // packets complete but with a wrong checksum
}

// Parser finds packets in a byte stream that is cut anywhere and may lose or
// invent bytes. After a header that turns out false it goes on with the very
// next byte, so that a good packet behind or inside a bad one is found. Its
// memory is the struct; the zero value is ready.
type Parser struct {
	Stats Stats

	buf  [MaxPacket]byte
	r, w int // buf[r:w] is not looked at yet
}

// Next takes in and returns the first packet it completes with the bytes after
// it still to be fed, or nil when all of in is taken:
//
//	for packet, in := p.Next(in); packet != nil; packet, in = p.Next(in) {
//
// The packet is valid until the next call.
func (p *Parser) Next(in []byte) (packet Packet, rest []byte) {
	for {
		switch size, v := inspect(p.buf[p.r:p.w]); v {
		case whole:
			packet = p.buf[p.r : p.r+size : p.r+size]
			p.r += size
			p.Stats.Packets++
			return packet, in
		case damaged:
			p.Stats.Checksum++
			fallthrough
		case noise:
			p.r++
			p.Stats.Garbage++
		case partial:
			if len(in) == 0 {
				return nil, nil
			}
			// A partial packet is shorter than buf: there is always room.
			if p.r > 0 {
				p.w, p.r = copy(p.buf[:], p.buf[p.r:p.w]), 0
			}
			n := copy(p.buf[p.w:], in)
			p.w += n
			in = in[n:]
		}
	}
}

// Reset gives up the packet that is being received, as garbage: for a line
// that was silent too long or changed its speed.
func (p *Parser) Reset() {
	p.Stats.Garbage += uint64(p.w - p.r)
	p.r, p.w = 0, 0
}

type verdict int

const (
	partial verdict = iota // nothing wrong so far, more bytes needed
	whole                  // a good packet
	damaged                // a packet but for its checksum
	noise                  // no packet starts here
)

// inspect judges the packet that starts at b[0]; size is for whole only.
func inspect(b []byte) (size int, v verdict) {
	switch {
	case len(b) > 0 && b[0] != header0,
		len(b) > 1 && b[1] != header1,
		len(b) > 2 && (b[2] < minCount || b[2] > maxCount):
		return 0, noise
	case len(b) < headSize, len(b) < headSize+int(b[2]):
		return 0, partial
	}
	size = headSize + int(b[2])
	if packet := Packet(b[:size]); checksum(packet.Body()) != binary.BigEndian.Uint16(b[size-checksumSize:]) {
		return 0, damaged
	}
	return size, whole
}
