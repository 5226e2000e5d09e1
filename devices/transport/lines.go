package transport

import "bytes"

// maxLine is the longest line in bytes; longer ones are garbage. Boards that send JSON
// have lines of 350 bytes.
const maxLine = 512

// Lines cuts input into lines of text. The zero value is ready.
type Lines struct {
	Framing

	buf [maxLine]byte
}

// Next consumes in up to the end of the first line, and returns the line without its
// end and the rest of in. ok is false when in is used up. The line is valid until the
// next call.
func (l *Lines) Next(in []byte) (line, rest []byte, ok bool) {
	b, rest := l.Framing.Next(l.buf[:], in, inspectLine)
	if b == nil {
		return nil, nil, false
	}
	return bytes.TrimSuffix(b[:len(b)-1], []byte{'\r'}), rest, true
}

// inspectLine recognises a line of text.
func inspectLine(b []byte) (size int, v Verdict) {
	for i, c := range b {
		if c == '\n' {
			return i + 1, Whole
		}
		if c >= 0x7F || c < ' ' && c != '\r' && c != '\t' {
			return 0, Junk
		}
	}
	if len(b) == maxLine {
		return 0, Junk
	}
	return 0, Partial
}
