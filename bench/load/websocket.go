package load

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// webSocket is the client's side of a WebSocket (RFC 6455). It carries messages, or a stream of bytes
// like NATS's. Compression is not offered.
type webSocket struct {
	answer []byte // to the handshake, cut
	open   bool
	head   []byte // of a frame, cut
	inside bool   // in the content of a frame
	kind   byte   // of the frame
	left   int    // bytes of the frame that have not come
}

// Kinds of frames: the opcodes of RFC 6455.
const (
	textFrame   = 1
	binaryFrame = 2
	pingFrame   = 9
	pongFrame   = 10
)

// handshake asks the server at an address for a WebSocket. The key is not random: nothing caches here.
func handshake(address string) []byte {
	return []byte("GET / HTTP/1.1\r\nHost: " + address + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n")
}

var errRefused = errors.New("the server opens no WebSocket")

// opens takes bytes of the answer to the handshake, until open, and returns those behind it.
func (w *webSocket) opens(b []byte) (rest []byte, err error) {
	w.answer = append(w.answer, b...)
	head, rest, whole := bytes.Cut(w.answer, []byte("\r\n\r\n"))
	if !whole {
		return nil, nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
		return nil, errRefused
	}
	w.open, w.answer = true, nil
	return rest, nil
}

// frame returns bytes as a whole frame of a kind. A client masks, and with zeros the bytes stay as they are.
func (*webSocket) frame(kind byte, b []byte) []byte {
	const last, masked, long, longer, mask = 0x80, 0x80, 126, 127, "\x00\x00\x00\x00"
	head := []byte{last | kind}
	switch {
	case len(b) < long:
		head = append(head, masked|byte(len(b)))
	case len(b) < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, masked|long), uint16(len(b)))
	default:
		head = binary.BigEndian.AppendUint64(append(head, masked|longer), uint64(len(b)))
	}
	return append(append(head, mask...), b...)
}

// content removes the frames' headers from the stream, in place.
func (w *webSocket) content(b []byte) []byte {
	all := b[:0]
	for len(b) > 0 {
		var p piece
		p, b = w.next(b)
		all = append(all, p.content...)
	}
	return all
}

// piece is bytes of the content of one frame.
type piece struct {
	kind    byte
	content []byte
	last    bool // the frame ends behind them
}

// next takes the first piece of b. It is zero if b ends in the head of a frame.
func (w *webSocket) next(b []byte) (p piece, rest []byte) {
	for !w.inside {
		if len(b) == 0 {
			return p, nil
		}
		w.head, b = append(w.head, b[0]), b[1:]
		if size, whole := w.size(); whole {
			w.inside, w.kind, w.left, w.head = true, w.head[0]&0x0f, size, w.head[:0]
		}
	}
	n := min(w.left, len(b))
	w.left -= n
	w.inside = w.left > 0
	return piece{w.kind, b[:n], !w.inside}, b[n:]
}

// size returns how long the content of a frame is, if its head is whole.
func (w *webSocket) size() (n int, whole bool) {
	if len(w.head) < 2 {
		return 0, false
	}
	switch n, long := int(w.head[1]), w.head[2:]; {
	case n == 126 && len(long) == 2:
		return int(binary.BigEndian.Uint16(long)), true
	case n == 127 && len(long) == 8:
		return int(binary.BigEndian.Uint64(long)), true
	default:
		return n, n < 126
	}
}
