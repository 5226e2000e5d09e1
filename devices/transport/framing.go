package transport

import "iter"

// Framing finds the packets of a protocol in a byte stream that is cut anywhere and may lose
// or invent bytes. After a false beginning it goes on with the very next byte, so a good
// packet behind or inside a bad one is found. The parsers of all drivers use it: each brings
// an Inspect function, which recognises its packets, and a buffer as large as its longest
// packet. The zero value is ready.
type Framing struct {
	Stats Stats

	r, w int // buf[r:w] is not inspected yet
}

// Stats counts the results of the input. Every byte fed is in a packet, in Garbage, or still
// waiting for the rest of its packet. Drivers add to Broken, or to Garbage, the packets with
// contents that do not fit.
type Stats struct {
	Packets uint64 // complete packets, whatever the protocol calls them
	Garbage uint64 // bytes that belong to no packet
	Broken  uint64 // packets with a good beginning and a bad rest: a wrong checksum, an impossible byte
}

// Verdict is how an Inspect judges the first bytes of the input.
type Verdict int

const (
	Partial Verdict = iota // nothing wrong so far, more bytes needed
	Whole                  // a good packet
	Damaged                // the beginning of a packet, then an error
	Junk                   // no packet starts here
)

// Inspect judges the packet that starts at b[0]; size is for Whole only. It must not
// return Partial for as many bytes as the buffer holds.
type Inspect func(b []byte) (size int, v Verdict)

// Begins judges the beginning of a packet of at least size bytes: head is its first ones.
func Begins(b, head []byte, size int) Verdict {
	for i, c := range b[:min(len(b), len(head))] {
		if c != head[i] {
			return Junk
		}
	}
	if len(b) < size {
		return Partial
	}
	return Whole
}

// Next consumes in up to the end of the first packet, and returns that packet and
// the rest of in. The packet is nil when in is used up, and only then: buf may hold
// further packets when the rest is empty. It lies in buf and is valid until the next call.
// buf must be the same in each call.
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
			// A partial packet is shorter than buf: there is always room.
			if f.r > 0 {
				f.w, f.r = copy(buf, buf[f.r:f.w]), 0
			}
			n := copy(buf[f.w:], in)
			f.w += n
			in = in[n:]
		}
	}
}

// Waiting returns the bytes of an incomplete packet.
func (f *Framing) Waiting(buf []byte) []byte { return buf[f.r:f.w] }

// Take counts the next n waiting bytes as a packet.
func (f *Framing) Take(n int) {
	f.r += n
	f.Stats.Packets++
}

// Reset discards the packet that is being received, as garbage. It is for a transport that
// was silent too long or changed its speed. It is also called before a request: the answer
// must not wait behind the rest of another packet.
func (f *Framing) Reset() {
	f.Stats.Garbage += uint64(f.w - f.r)
	f.r, f.w = 0, 0
}

// Parser is a Framing with its buffer.
type Parser struct {
	Framing

	inspect Inspect
	buf     []byte
}

// NewParser returns a parser of packets of at most size bytes.
func NewParser(inspect Inspect, size int) Parser {
	return Parser{inspect: inspect, buf: make([]byte, size)}
}

// Next consumes in up to the end of the first packet, and returns that packet and the rest of
// in. The packet is nil when in is used up:
//
//	for packet, in := p.Next(in); packet != nil; packet, in = p.Next(in) {
//
// The packet is valid until the next call.
func (p *Parser) Next(in []byte) (packet, rest []byte) {
	return p.Framing.Next(p.buf, in, p.inspect)
}

// Packets returns the packets in the received bytes. Each is valid until the next.
func Packets(heard []byte, inspect Inspect, size int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := NewParser(inspect, size)
		for packet, rest := p.Next(heard); packet != nil && yield(packet); packet, rest = p.Next(rest) {
		}
	}
}
