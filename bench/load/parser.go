package load

import (
	"bytes"
	"encoding/binary"

	"player/codec"
	"player/codec/compact"
)

// blocks is how many blocks a frame of all devices has, unless it is compact.
const blocks = 7

// header is letter and size of a block; a reply has the same (PROTOCOL 1.3).
const header = 3

// stampSize is the size of a stamp in bytes: u64, ns of CLOCK_MONOTONIC.
const stampSize = 8

// parser finds the frames in one connection's bytes, however they are cut. Of plain
// frames it keeps no bytes but a header and a stamp that are cut.
type parser struct {
	head   [header]byte
	have   int // bytes of head
	left   int // bytes of the payload to come
	blocks int // of a frame that is not compact
	seen   int // blocks of this frame that are complete
	size   int // bytes of this frame as a plain one
	stamp  [stampSize]byte
	wanted int // bytes of the stamp to come

	block []byte // payload of a compact block or of a reply
	items compact.Reader
}

// event is the item whose end the parser has reached.
type event uint8

const (
	nothing event = iota
	reply
	refusal // a reply that refuses a device
	frame
)

// next consumes b up to the end of a reply or a frame. stamped is the device
// whose payload begins with a stamp. After nothing, rest is empty.
func (p *parser) next(b []byte, stamped byte) (e event, rest []byte) {
	for len(b) > 0 {
		if p.have < header {
			n := copy(p.head[p.have:], b)
			b = b[n:]
			if p.have += n; p.have < header {
				return nothing, nil
			}
			p.left = int(binary.BigEndian.Uint16(p.head[1:]))
			if p.seen == 0 {
				p.size = 0
			}
			p.size += header + p.left
			if p.wanted = 0; p.head[0] == stamped && p.left >= stampSize {
				p.wanted = stampSize
			}
		}
		if p.wanted > 0 {
			n := copy(p.stamp[stampSize-p.wanted:], b)
			b = b[n:]
			p.wanted -= n
			p.left -= n
		}
		n := min(p.left, len(b))
		if p.head[0] == codec.KindCompact || p.head[0] == codec.KindReply {
			p.block = append(p.block, b[:n]...)
		}
		b = b[n:]
		if p.left -= n; p.left > 0 {
			return nothing, nil
		}
		p.have = 0
		switch p.head[0] {
		case codec.KindReply:
			refused := bytes.IndexByte(p.block, codec.AccessError) >= 0 // no device has this letter
			if p.block = p.block[:0]; refused {
				return refusal, b
			}
			return reply, b
		case codec.KindCompact:
			p.unpack(stamped)
			return frame, b
		}
		if p.seen++; p.seen == p.blocks {
			p.seen = 0
			return frame, b
		}
	}
	return nothing, nil
}

// unpack reads a compact block, which is a frame. The size of one that has no meaning
// is zero.
func (p *parser) unpack(stamped byte) {
	p.size = 0
	p.items.Reset(p.block)
	p.block = p.block[:0]
	for {
		letter, payload, ok, err := p.items.Next()
		if err != nil {
			p.size = 0
		}
		if !ok {
			return
		}
		p.size += header + len(payload)
		if letter == stamped && len(payload) >= stampSize {
			copy(p.stamp[:], payload)
		}
	}
}

// time is the stamp of the frame that was completed last, in ns.
func (p *parser) time() int64 { return int64(binary.BigEndian.Uint64(p.stamp[:])) }
