// Package acts drives ACTS, the colour tracker behind Player's vision device,
// as a client of its TCP server.
//
// This file is the framing: requests, packets and the streaming parser. The content
// of packets is in blob.go, the driver in driver.go, and the search for the server
// in search.go.
package acts

import (
	"player/codec"
	"player/devices/transport"
)

// The client's requests, one byte each. The server sends one packet for each Request and
// none without.
const (
	Request byte = '0'
	Quit    byte = '1' // the program ends, not the connection (ARIA, ArACTS_1_2::requestQuit)
)

const (
	// Port is the server's. ACTS 1.0 means it, but listens on 35091, which is
	// the same with its bytes swapped.
	Port = 5001

	areaSize = 4 // bytes of a blob's area
)

// Version is the version of the protocol. A packet is a header with the index
// of the first blob and the count of blobs of each channel, then the blobs in
// channel order: area, centre and bounding box. Versions differ in how wide all
// these numbers but the area are: one byte, or two of six bits.
//
// No byte is zero: each is sent as its value plus one.
type Version byte

// The versions.
const (
	V10 Version = iota // the version for clients of Player (manual 3.5.1)
	V12                // also 2.0
)

// width returns the bytes of a number other than an area.
func (v Version) width() int { return 1 + int(v) }

// headerSize in bytes: 64 or 128.
func (v Version) headerSize() int { return codec.VisionChannels * 2 * v.width() }

// blobSize in bytes: 10 or 16.
func (v Version) blobSize() int { return areaSize + 6*v.width() }

// MaxPacket is the longest packet of a version in bytes: 3264 or 5248.
func (v Version) MaxPacket() int {
	return v.headerSize() + codec.VisionChannels*codec.MaxBlobs*v.blobSize()
}

// bufferSize is MaxPacket of V12.
const bufferSize = 5248

// Packet is one complete packet: header and blobs.
type Packet []byte

// Parser finds packets in a byte stream that is cut anywhere. Packets have no start tag and
// no checksum: a header is accepted if its indices are the running sums of its counts, and a
// packet if its bytes can be blobs. After a false header the parser goes on with the very
// next byte. Some damage cannot be detected this way: bytes 01 before a packet look like
// channels without blobs, and a packet that was cut takes its rest from the next one.
// Therefore Reset before each Request. A zero value with its Version is ready.
type Parser struct {
	Version Version
	// Detect accepts packets of both versions until a packet can only be of one; then
	// Version is set, and Detect is false. A packet that may be the beginning of a longer
	// one of V12 waits for the rest: see Settle.
	Detect bool
	transport.Framing

	buf [bufferSize]byte
}

// Next consumes in up to the end of the first packet, and returns that packet
// and the rest of in. The packet is nil when in is used up:
//
//	for packet, in := p.Next(in); packet != nil; packet, in = p.Next(in) {
//
// The packet is valid until the next call.
func (p *Parser) Next(in []byte) (packet Packet, rest []byte) {
	return p.Framing.Next(p.buf[:], in, p.inspect)
}

// Settle is called when no more bytes come. It returns the waiting packet of V10, which
// might have been the beginning of one of V12, such as an image without blobs; otherwise
// nil. Detect stays as it is. The packet is valid until the next call.
func (p *Parser) Settle() Packet {
	b := p.Waiting(p.buf[:])
	size, v := V10.inspect(b)
	if !p.Detect || v != transport.Whole || size != len(b) {
		return nil
	}
	p.Take(size)
	return Packet(b)
}

// inspect is a transport.Inspect; it finds the version if there is Detect.
func (p *Parser) inspect(b []byte) (size int, v transport.Verdict) {
	if !p.Detect {
		return p.Version.inspect(b)
	}
	// V12 comes first: a packet of V12 can begin with a shorter one of V10, but hardly the
	// other way round.
	for _, version := range []Version{V12, V10} {
		size, v = version.inspect(b)
		if v == transport.Whole {
			p.Version, p.Detect = version, false
		}
		if v == transport.Whole || v == transport.Partial {
			break
		}
	}
	return size, v
}

// inspect is a transport.Inspect for one version.
func (v Version) inspect(b []byte) (size int, result transport.Verdict) {
	width, header, blobSize := v.width(), v.headerSize(), v.blobSize()
	total := 0
	for at := 0; at < header; at += width {
		if len(b) < at+width {
			return 0, transport.Partial
		}
		n, ok := v.number(b[at:])
		if !ok {
			return 0, transport.Junk
		}
		if isIndex := at/width%2 == 0; isIndex {
			// A server may send anything for an index that does not fit.
			if n != total && total <= v.maxNumber() {
				return 0, transport.Junk
			}
			continue
		}
		if n > codec.MaxBlobs {
			return 0, transport.Junk
		}
		total += n
	}
	size = header + total*blobSize
	if len(b) < size {
		return 0, transport.Partial
	}
	for blob := b[header:size]; len(blob) > 0; blob = blob[blobSize:] {
		if _, ok := v.decodeBlob(blob); !ok {
			return 0, transport.Damaged
		}
	}
	return size, transport.Whole
}
