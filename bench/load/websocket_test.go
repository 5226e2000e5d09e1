package load

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// Frames of all lengths, cut everywhere, carry the stream.
func TestWebSocketHoweverCut(t *testing.T) {
	var stream []byte
	var want bytes.Buffer
	for _, n := range []int{0, 1, 125, 126, 300, 1 << 16} {
		text := strings.Repeat("x", n)
		switch {
		case n < 126:
			stream = append(stream, 0x82, byte(n))
		case n < 1<<16:
			stream = binary.BigEndian.AppendUint16(append(stream, 0x82, 126), uint16(n))
		default:
			stream = binary.BigEndian.AppendUint64(append(stream, 0x82, 127), uint64(n))
		}
		stream = append(stream, text...)
		want.WriteString(text)
	}
	for _, cut := range []int{1, 2, 3, 7, 100, 1 << 20} {
		var w webSocket
		var got bytes.Buffer
		for rest := bytes.Clone(stream); len(rest) > 0; {
			n := min(cut, len(rest))
			got.Write(w.content(rest[:n]))
			rest = rest[n:]
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("cut in pieces of %d bytes, %d bytes come, want %d", cut, got.Len(), want.Len())
		}
	}
}
