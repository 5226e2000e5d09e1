// Package codec encodes and decodes the Player protocol (docs/PROTOCOL.md):
// message framing and the devices' payloads. It is pure: bytes in, bytes out,
// no clock, no sockets. Frames, payloads and commands allocate nothing; answers to
// questions, which are text, do. All integers are big-endian.
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
	Kind    byte // KindRequest, KindCommand, KindConfig; any other is Malformed
	Device  byte // the second byte of the header: a device letter, or 'r' for a request
	Size    int  // payload size as declared, 0..65535
	Payload []byte
	// Malformed reports that the message is of an unknown kind or larger than
	// MaxPayload. It has no Payload: the decoder skips it as it arrives
	// (PROTOCOL 1.5).
	Malformed bool
}

// Splitter cuts a byte stream into messages of a header and a payload, wherever the stream is
// cut. It copies only messages that come in pieces. The zero value is ready to use.
type Splitter struct {
	partial []byte // the start of an incomplete message
	done    bool   // partial holds the message that the last Next returned
}

// Next returns the first message in in, and the input that follows it. The message is nil when
// in holds no complete one; then all of in is consumed and kept. head is the size of a header,
// and size reads the payload's size from a header. The message is valid until the next call.
func (s *Splitter) Next(in []byte, head int, size func(header []byte) int) (message, rest []byte) {
	if s.done {
		s.partial, s.done = s.partial[:0], false
	}
	if len(s.partial) == 0 && len(in) >= head {
		if end := head + size(in); len(in) >= end {
			return in[:end:end], in[end:]
		}
	}
	if in = s.fill(in, head); len(s.partial) < head {
		return nil, nil
	}
	end := head + size(s.partial)
	if in = s.fill(in, end); len(s.partial) < end {
		return nil, nil
	}
	s.done = true
	return s.partial, in
}

// fill moves bytes from in to partial until partial holds want bytes or in is empty.
func (s *Splitter) fill(in []byte, want int) []byte {
	n := min(max(want-len(s.partial), 0), len(in))
	s.partial = append(s.partial, in[:n]...)
	return in[n:]
}

// Waiting returns the start of an incomplete message.
func (s *Splitter) Waiting() []byte { return s.partial }

// Decoder splits a client's byte stream into messages, wherever the stream is cut (PROTOCOL
// 1.4). It keeps at most ClientHeaderSize+MaxPayload bytes, and none while messages arrive
// in one piece. The zero value is ready to use.
type Decoder struct {
	split Splitter
	skip  int // payload bytes of a malformed message still to be dropped
}

// Clone returns a decoder in the state of d, with its own buffer.
func (d *Decoder) Clone() Decoder {
	return Decoder{Splitter{bytes.Clone(d.split.partial), d.split.done}, d.skip}
}

// Next decodes the first message in in and returns the input that follows it. If in holds no
// complete message, ok is false and all of in is consumed; the decoder keeps the part that
// it needs.
func (d *Decoder) Next(in []byte) (m Message, rest []byte, ok bool) {
	n := min(d.skip, len(in))
	d.skip -= n
	message, rest := d.split.Next(in[n:], ClientHeaderSize, payloadSize)
	if message == nil {
		return Message{}, nil, false
	}
	if m = header(message); m.Malformed {
		d.skip = m.Size
	} else {
		m.Payload = message[ClientHeaderSize:]
	}
	return m, rest, true
}

// payloadSize returns the size of the payload that Next keeps.
func payloadSize(b []byte) int {
	if m := header(b); !m.Malformed {
		return m.Size
	}
	return 0
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

// AppendRequest appends a device request. pairs alternates device and access letters, for
// example "srpw" (manual 3.3).
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

// Block splits the first server message off b, for clients. ok is false if b has no complete
// message.
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
