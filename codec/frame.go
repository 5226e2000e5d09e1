// Package codec encodes and decodes the Player protocol (docs/PROTOCOL.md):
// message framing and the devices' payloads. It is pure: bytes in, bytes out,
// no clock, no sockets, no allocation. All integers are big-endian.
package codec

import (
	"bytes"
	"encoding/binary"
)

// Device letters (manual table 3a; Joystick is an extension, PROTOCOL 7.8).
// Server is the server itself, not a device of the robot: clients configure it
// (manual 3.6) and read it (PROTOCOL 8.1).
const (
	Laser    byte = 'l'
	Sonar    byte = 's'
	Position byte = 'p'
	Gripper  byte = 'g'
	Misc     byte = 'm'
	Vision   byte = 'v'
	PTZ      byte = 'z'
	Joystick byte = 'j'
	Server   byte = 'y'
)

// Access codes (manual table 3b). Only the server sends AccessError.
const (
	AccessRead  byte = 'r'
	AccessWrite byte = 'w'
	AccessAll   byte = 'a'
	AccessClose byte = 'c'
	AccessError byte = 'e'
)

// First bytes of the messages. A request is "dr", a command 'c' + device, a
// configuration 'x' + device; a reply is 'r'. A data block starts with its
// device letter.
const (
	KindRequest byte = 'd'
	KindCommand byte = 'c'
	KindConfig  byte = 'x'
	KindReply   byte = 'r'
	// KindCompact is a block that stands for the blocks of a frame (PROTOCOL 8.4).
	KindCompact byte = 'Z'
	// KindAnswer answers a question (PROTOCOL 8.9).
	KindAnswer byte = 'Y'
)

const (
	// ClientHeaderSize is the header of every client message in bytes: kind,
	// device (or 'r' after 'd'), size as u16 (PROTOCOL 1.2).
	ClientHeaderSize = 4
	// BlockHeaderSize is the header of every server message in bytes: letter,
	// size as u16 (PROTOCOL 1.3).
	BlockHeaderSize = 3
	// MaxPayload is the largest client payload that a decoder keeps, in bytes.
	// A request that names all 256 letters once fits, and every command and
	// configuration is far smaller. Larger payloads are legal but skipped
	// (PROTOCOL 1.5). A larger value costs that much memory for each client
	// that sends its messages in pieces.
	MaxPayload = 512
	// MaxBlock is the largest payload a block can carry: its size is a u16.
	MaxBlock = 65535
)

// Message is one client message. Payload points into the decoder's input or
// its buffer and is valid until the next call of Next.
type Message struct {
	Kind    byte // KindRequest, KindCommand, KindConfig; anything else is Malformed
	Device  byte // the second byte of the header: a device letter, or 'r' for a request
	Size    int  // payload size as declared, 0..65535
	Payload []byte
	// Malformed reports that the message is of an unknown kind or larger than
	// MaxPayload. It has no Payload: the decoder skips it as it arrives
	// (PROTOCOL 1.5).
	Malformed bool
}

// Decoder splits a client's byte stream into messages, wherever the stream is
// cut (PROTOCOL 1.4). It keeps at most ClientHeaderSize+MaxPayload bytes, and
// none while messages arrive whole. The zero value is ready to use.
type Decoder struct {
	partial []byte // the start of an incomplete message
	done    bool   // partial holds the message that the last Next returned
	skip    int    // payload bytes of a malformed message still to be dropped
}

// Clone returns a decoder that goes on where d is, and shares nothing with it.
func (d *Decoder) Clone() Decoder { return Decoder{bytes.Clone(d.partial), d.done, d.skip} }

// Next decodes the first message in in and returns the input that follows it.
// If in holds no complete message, ok is false and all of in is consumed; the
// decoder keeps what it needs of it.
func (d *Decoder) Next(in []byte) (m Message, rest []byte, ok bool) {
	if d.done {
		d.partial, d.done = d.partial[:0], false
	}
	if d.skip > 0 {
		n := min(d.skip, len(in))
		d.skip -= n
		in = in[n:]
	}
	if len(d.partial) == 0 {
		if len(in) >= ClientHeaderSize {
			m = header(in)
			if m.Malformed {
				d.skip = m.Size
				return m, in[ClientHeaderSize:], true
			}
			if end := ClientHeaderSize + m.Size; len(in) >= end {
				m.Payload = in[ClientHeaderSize:end]
				return m, in[end:], true
			}
		}
		if len(in) == 0 {
			return Message{}, nil, false
		}
	}
	if in = d.fill(in, ClientHeaderSize); len(d.partial) < ClientHeaderSize {
		return Message{}, nil, false
	}
	m = header(d.partial)
	if m.Malformed {
		d.skip = m.Size
		d.done = true
		return m, in, true
	}
	if in = d.fill(in, ClientHeaderSize+m.Size); len(d.partial) < ClientHeaderSize+m.Size {
		return Message{}, nil, false
	}
	m.Payload = d.partial[ClientHeaderSize:]
	d.done = true
	return m, in, true
}

// fill moves bytes from in to partial until partial holds want bytes or in is
// empty.
func (d *Decoder) fill(in []byte, want int) []byte {
	n := min(want-len(d.partial), len(in))
	if n <= 0 {
		return in
	}
	d.partial = append(d.partial, in[:n]...)
	return in[n:]
}

// header reads the four header bytes. The second byte of a request must be
// 'r' (PROTOCOL 1.5).
func header(b []byte) Message {
	m := Message{Kind: b[0], Device: b[1], Size: int(binary.BigEndian.Uint16(b[2:]))}
	known := m.Kind == KindRequest && m.Device == 'r' || m.Kind == KindCommand || m.Kind == KindConfig
	m.Malformed = !known || m.Size > MaxPayload
	return m
}

// AppendMessage appends a client message (PROTOCOL 1.2). payload must not be
// longer than MaxBlock.
func AppendMessage(dst []byte, kind, device byte, payload []byte) []byte {
	dst = append(dst, kind, device)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(payload)))
	return append(dst, payload...)
}

// AppendRequest appends a device request. pairs alternates device and access
// letters, as in "srpw" (manual 3.3).
func AppendRequest(dst []byte, pairs []byte) []byte {
	return AppendMessage(dst, KindRequest, 'r', pairs)
}

// AppendBlock appends a server message: a data block, or a reply if letter is
// KindReply (PROTOCOL 1.3). payload must not be longer than MaxBlock.
func AppendBlock(dst []byte, letter byte, payload []byte) []byte {
	return append(AppendBlockHeader(dst, letter, len(payload)), payload...)
}

// AppendBlockHeader appends the header of a block with a payload of size
// bytes.
func AppendBlockHeader(dst []byte, letter byte, size int) []byte {
	return append(dst, letter, byte(size>>8), byte(size))
}

// Block splits the first server message off b, for clients. ok is false if b
// does not hold a whole message.
func Block(b []byte) (letter byte, payload, rest []byte, ok bool) {
	if len(b) < BlockHeaderSize {
		return 0, nil, b, false
	}
	end := BlockHeaderSize + int(binary.BigEndian.Uint16(b[1:]))
	if len(b) < end {
		return 0, nil, b, false
	}
	return b[0], b[BlockHeaderSize:end], b[end:], true
}
