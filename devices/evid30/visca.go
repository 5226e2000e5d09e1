// Package evid30 drives a Sony EVI-D30 camera, Player's ptz device, by VISCA on
// a serial line.
//
// This file is the line's framing: packets and the streaming parser. Requests
// are in request.go, replies in reply.go, units in units.go; the driver is in
// driver.go, and what it knows of the camera's commands in head.go.
package evid30

import "bytes"

// Framing: a header byte with the sender's and receiver's addresses, 1 to 14
// bytes, FF. The controller is address 0; the one camera on its line is 1.
const (
	headerFromCamera = 0x90
	terminator       = 0xFF

	minPacket = 3
	// MaxPacket is the longest packet in bytes, either way.
	MaxPacket = 16
)

// Packet is one whole packet of the camera, from its header to FF.
type Packet []byte

// Body is what stands between header and FF, at least one byte.
func (p Packet) Body() []byte { return p[1 : len(p)-1] }

// Stats counts what a Parser made of its input. Every byte fed is in a packet,
// in Garbage, or still waiting for the rest of its packet.
type Stats struct {
	Packets   uint64
	Garbage   uint64 // bytes that belong to no packet
	Malformed uint64 // packets begun that are too short, too long, or cut off by another
}

// Parser finds the camera's packets in a byte stream that is cut anywhere and
// may lose or invent bytes. VISCA has no checksum: what runs from a header to
// the next FF is a packet if its length is right and no other header is in it.
// Reply knows more. Its memory is the struct; the zero value is ready.
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
		case malformed:
			p.Stats.Malformed++
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
// that was silent too long.
func (p *Parser) Reset() {
	p.Stats.Garbage += uint64(p.w - p.r)
	p.r, p.w = 0, 0
}

type verdict int

const (
	partial   verdict = iota // nothing wrong so far, more bytes needed
	whole                    // a good packet
	malformed                // a packet that began, but is none
	noise                    // no packet starts here
)

// inspect judges the packet that starts at b[0]; size is for whole only.
func inspect(b []byte) (size int, v verdict) {
	if len(b) == 0 {
		return 0, partial
	}
	if b[0] != headerFromCamera {
		return 0, noise
	}
	b = b[:min(len(b), MaxPacket)]
	end := bytes.IndexByte(b, terminator)
	again := bytes.IndexByte(b[1:], headerFromCamera)
	switch {
	case again >= 0 && (end < 0 || 1+again < end), // the header of the next packet
		end < 0 && len(b) == MaxPacket,
		end >= 0 && end+1 < minPacket:
		return 0, malformed
	case end < 0:
		return 0, partial
	}
	return end + 1, whole
}
