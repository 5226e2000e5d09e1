package load

import (
	"slices"
	"testing"
	"time"

	"player/bench/baseline"
	"player/codec"
	"player/codec/compact"
)

// stampedFrame is a large frame whose laser payload begins with a stamp.
func stampedFrame(stamp time.Duration) []byte {
	f := baseline.NewFrame(807)
	f.Stamp(stamp)
	return f.Bytes
}

// compacted returns a frame in compact form.
func compacted(frame []byte) []byte {
	var items []byte
	for rest := frame; len(rest) > 0; {
		letter, payload, behind, _ := codec.Block(rest)
		items = compact.Append(items, letter, payload, codec.Scan{})
		rest = behind
	}
	return codec.AppendBlock(nil, codec.KindCompact, items)
}

// A reply, a refusal, a frame and a compact one, cut at every byte into two pieces, and into single
// bytes.
func TestParserFindsFramesHoweverCut(t *testing.T) {
	var stream []byte
	stream = codec.AppendBlock(stream, codec.KindReply, []byte("lrsr"))
	stream = codec.AppendBlock(stream, codec.KindReply, []byte("lrse"))
	stream = append(stream, stampedFrame(0x0102030405060708)...)
	stream = append(stream, compacted(stampedFrame(0x1112131415161718))...)
	check := func(pieces ...[]byte) {
		t.Helper()
		p := parser{blocks: blocks}
		var got []event
		var stamps []int64
		for _, b := range pieces {
			for len(b) > 0 {
				var e event
				e, b = p.next(b, codec.Laser)
				if e != nothing {
					got = append(got, e)
				}
				if e == frame {
					stamps = append(stamps, p.time())
					if p.size != 807 {
						t.Fatalf("a frame of %d bytes, want 807", p.size)
					}
				}
			}
		}
		if !slices.Equal(got, []event{reply, refusal, frame, frame}) {
			t.Fatalf("found %v, want a reply, a refusal and two frames", got)
		}
		if stamps[0] != 0x0102030405060708 || stamps[1] != 0x1112131415161718 {
			t.Fatalf("stamps %x", stamps)
		}
	}
	for cut := range len(stream) + 1 {
		check(stream[:cut], stream[cut:])
	}
	var bits [][]byte
	for i := range stream {
		bits = append(bits, stream[i:i+1])
	}
	check(bits...)
}

func TestParserCountsTheSizeOfEachFrame(t *testing.T) {
	p := parser{blocks: blocks}
	for _, size := range []int{85, 807, 85} {
		if e, rest := p.next(baseline.NewFrame(size).Bytes, codec.Laser); e != frame || len(rest) != 0 || p.size != size {
			t.Fatalf("event %d size %d, want a frame of %d", e, p.size, size)
		}
	}
}

func TestParserAllocatesNothing(t *testing.T) {
	p := parser{blocks: blocks}
	b := stampedFrame(0)
	if n := testing.AllocsPerRun(100, func() { p.next(b, codec.Laser) }); n != 0 {
		t.Fatalf("%g allocations a frame", n)
	}
}
