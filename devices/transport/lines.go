package transport

// maxLine is the longest line in bytes; longer ones are garbage. Boards that send JSON
// have lines of 350 bytes.
const maxLine = 512

// Lines cuts input into lines of text, which end with LF, CR, CR LF or LF CR. The zero value
// is ready.
type Lines struct {
	Framing

	end byte // of the line before: the other byte of CR LF and LF CR may follow; zero: it has
	buf [maxLine]byte
}

// Next consumes in up to the end of the first line, and returns the line without its
// end and the rest of in. ok is false when in is used up. The line is valid until the
// next call.
func (l *Lines) Next(in []byte) (line, rest []byte, ok bool) {
	for rest = in; ; {
		var b []byte
		if b, rest = l.Framing.Next(l.buf[:], rest, inspectLine); b == nil {
			return nil, nil, false
		}
		line, end := b[:len(b)-1], b[len(b)-1]
		if len(line) == 0 && l.end != 0 && end != l.end {
			l.end = 0
			continue
		}
		l.end = end
		return line, rest, true
	}
}

// inspectLine recognises a line of text.
func inspectLine(b []byte) (size int, v Verdict) {
	for i, c := range b {
		if c == '\n' || c == '\r' {
			return i + 1, Whole
		}
		if c >= 0x7F || c < ' ' && c != '\t' {
			return 0, Junk
		}
	}
	if len(b) == maxLine {
		return 0, Junk
	}
	return 0, Partial
}
