package load

import (
	"bytes"
	"encoding/binary"
)

// webSocket is the client's side of a WebSocket (RFC 6455) that carries a stream of bytes, like
// NATS's. Compression is not offered.
type webSocket struct {
	answer []byte // to the handshake, cut
	open   bool
	head   []byte // of a frame, cut
	left   int    // bytes of the frame that have not come
}

// openingHandshake asks for a WebSocket. The key is not random: nothing caches here.
const openingHandshake = "GET / HTTP/1.1\r\nHost: nats\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"

// opens takes bytes of the answer to the handshake, until open, and returns those behind it.
func (w *webSocket) opens(b []byte) (rest []byte, err error) {
	w.answer = append(w.answer, b...)
	head, rest, whole := bytes.Cut(w.answer, []byte("\r\n\r\n"))
	if !whole {
		return nil, nil
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
		return nil, errNATS
	}
	w.open, w.answer = true, nil
	return rest, nil
}

// frame returns bytes as a frame. A client masks, and with zeros the bytes stay as they are.
func (*webSocket) frame(b []byte) []byte {
	const binaryMessage, masked, long, longer, mask = 0x82, 0x80, 126, 127, "\x00\x00\x00\x00"
	head := []byte{binaryMessage}
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
		if w.left == 0 {
			w.head, b = append(w.head, b[0]), b[1:]
			if size, whole := w.size(); whole {
				w.left, w.head = size, w.head[:0]
			}
			continue
		}
		n := min(w.left, len(b))
		all = append(all, b[:n]...)
		w.left, b = w.left-n, b[n:]
	}
	return all
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
