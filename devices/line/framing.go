package line

// Framing finds the frames of a protocol in a byte stream that is cut anywhere
// and may lose or invent bytes. After a beginning that turns out false it goes
// on with the very next byte, so that a good frame behind or inside a bad one
// is found. It is the part that the parsers of all drivers share; what a frame
// is, each of them says with an inspect function, and the buffer is theirs, as
// large as their longest frame. So a parser's memory is its struct. The zero
// value is ready.
type Framing struct {
	Stats Stats

	r, w int // buf[r:w] is not looked at yet
}

// Stats counts what became of the input. Every byte fed is in a packet, in
// Garbage, or still waiting for the rest of its packet.
type Stats struct {
	Packets uint64 // whole frames, whatever the protocol calls them
	Garbage uint64 // bytes that belong to no packet
	Broken  uint64 // packets that had a beginning but not the rest: a wrong checksum, an impossible byte
}

// Verdict is what the first bytes of the input are.
type Verdict int

const (
	Partial Verdict = iota // nothing wrong so far, more bytes needed
	Whole                  // a good packet
	Damaged                // a packet that began, but is none
	Junk                   // no packet starts here
)

// Inspect judges the packet that starts at b[0]; size is for Whole only. Of as
// many bytes as the buffer holds it must not say Partial.
type Inspect func(b []byte) (size int, v Verdict)

// Next takes in and returns the first packet it completes with the bytes after
// it still to be fed, or nil when all of in is taken. The packet lies in buf
// and is valid until the next call. buf is the same in each call.
func (f *Framing) Next(buf, in []byte, inspect Inspect) (packet, rest []byte) {
	for {
		switch size, v := inspect(buf[f.r:f.w]); v {
		case Whole:
			packet = buf[f.r : f.r+size : f.r+size]
			f.Take(size)
			return packet, in
		case Damaged:
			f.Stats.Broken++
			fallthrough
		case Junk:
			f.r++
			f.Stats.Garbage++
		case Partial:
			if len(in) == 0 {
				return nil, nil
			}
			// What is partial is shorter than buf: there is always room.
			if f.r > 0 {
				f.w, f.r = copy(buf, buf[f.r:f.w]), 0
			}
			n := copy(buf[f.w:], in)
			f.w += n
			in = in[n:]
		}
	}
}

// Waiting is what was received of a packet that is not whole yet.
func (f *Framing) Waiting(buf []byte) []byte { return buf[f.r:f.w] }

// Take counts the next n bytes that wait as a packet.
func (f *Framing) Take(n int) {
	f.r += n
	f.Stats.Packets++
}

// Reset gives up the packet that is being received, as garbage: for a line that
// was silent too long or changed its speed, and before a request, whose answer
// must not wait behind the rest of something else.
func (f *Framing) Reset() {
	f.Stats.Garbage += uint64(f.w - f.r)
	f.r, f.w = 0, 0
}
