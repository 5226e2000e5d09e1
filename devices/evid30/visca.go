// Package evid30 drives a Sony EVI-D30 camera or a later one of the family, Player's
// ptz device, by VISCA on a serial line.
//
// This file is the framing: packets and the streaming parser. Requests are in
// request.go, replies in reply.go, ranges and units in model.go; the driver is in
// driver.go, and the state of the camera's commands in head.go.
package evid30

import (
	"bytes"

	"player/devices/transport"
)

// Framing: a header byte with the sender's and receiver's addresses, 1 to 14
// bytes, FF. The controller is address 0; the one camera on its line is 1.
const (
	headerFromCamera = 0x90
	terminator       = 0xFF

	minPacket = 3
	// MaxPacket is the longest packet in bytes, either way.
	MaxPacket = 16
)

// Packet is one complete packet of the camera, from its header to FF.
type Packet []byte

// Body returns the bytes between header and FF, at least one byte.
func (p Packet) Body() []byte { return p[1 : len(p)-1] }

// inspect is a transport.Inspect. VISCA has no checksum: the bytes from a header to the next FF are a packet if their
// length is right and no other header is among them. DecodeReply checks more.
func inspect(b []byte) (size int, v transport.Verdict) {
	if len(b) == 0 {
		return 0, transport.Partial
	}
	if b[0] != headerFromCamera {
		return 0, transport.Junk
	}
	b = b[:min(len(b), MaxPacket)]
	end := bytes.IndexByte(b, terminator)
	again := bytes.IndexByte(b[1:], headerFromCamera)
	switch {
	case again >= 0 && (end < 0 || 1+again < end), // the header of the next packet
		end < 0 && len(b) == MaxPacket,
		end >= 0 && end+1 < minPacket:
		return 0, transport.Damaged
	case end < 0:
		return 0, transport.Partial
	}
	return end + 1, transport.Whole
}
