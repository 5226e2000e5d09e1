// Package devicetest has tests for all drivers of serial hardware: tests of a parser, of a
// Probe, and of recordings.
package devicetest

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

// Hex reads bytes written as "FA FB 03".
func Hex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b
}

// Parser makes a parser: its Framing, the buffer, and the function that returns the next packet.
type Parser func() (f *transport.Framing, buf []byte, next func(in []byte) (packet, rest []byte))

// Framed is a parser of nothing but a Framing.
func Framed(inspect transport.Inspect, size int) Parser {
	return func() (*transport.Framing, []byte, func(in []byte) (packet, rest []byte)) {
		f, buf := &transport.Framing{}, make([]byte, size)
		return f, buf, func(in []byte) (packet, rest []byte) { return f.Next(buf, in, inspect) }
	}
}

// Find gives a new parser the parts of a stream. It returns copies of the packets, the counts,
// and how many bytes wait.
func (p Parser) Find(parts ...[]byte) (packets [][]byte, stats transport.Stats, waiting int) {
	f, buf, next := p()
	for _, part := range parts {
		packets = append(packets, collect(next, part)...)
	}
	return packets, f.Stats, len(f.Waiting(buf))
}

func collect(next func(in []byte) (packet, rest []byte), in []byte) (packets [][]byte) {
	for packet, rest := next(in); packet != nil; packet, rest = next(rest) {
		packets = append(packets, bytes.Clone(packet))
	}
	return packets
}

// Stream is a stream and the expected result of a parser.
type Stream struct {
	Name            string
	In              []byte
	Packets         [][]byte
	Garbage, Broken uint64
}

// Copies returns a function that makes Streams, in Hex, in which a parser must find copies of one packet.
func Copies(t testing.TB, packet string) func(name, in string, n int, garbage, broken uint64) Stream {
	return func(name, in string, n int, garbage, broken uint64) Stream {
		return Stream{name, Hex(t, in), slices.Repeat([][]byte{Hex(t, packet)}, n), garbage, broken}
	}
}

// Cut tests that a parser gives the same result for streams wherever they are cut.
func (p Parser) Cut(t *testing.T, streams ...Stream) {
	t.Helper()
	for _, s := range streams {
		want := transport.Stats{Packets: uint64(len(s.Packets)), Garbage: s.Garbage, Broken: s.Broken}
		differs := func(parts ...[]byte) bool {
			got, stats, _ := p.Find(parts...)
			if slices.EqualFunc(got, s.Packets, bytes.Equal) && stats == want {
				return false
			}
			t.Errorf("%s, cut behind %d bytes: %d packets % .200X, %+v, want %d, %+v", s.Name, len(parts[0]), len(got), got, stats, len(s.Packets), want)
			return true
		}
		for cut := 0; cut <= len(s.In) && !differs(s.In[:cut], s.In[cut:]); cut++ {
		}
		differs(append([][]byte{nil}, slices.Collect(slices.Chunk(s.In, 1))...)...)
	}
}

// Noise tests that a parser finds a packet behind random bytes, many of which begin one. The
// packet must have a checksum: by chance another packet may hide it.
func (p Parser) Noise(t *testing.T, packet []byte, begin ...byte) {
	t.Helper()
	const rounds = 500
	random := rand.New(rand.NewPCG(1, 2))
	f, buf, next := p()
	found := 0
	count := func(in []byte) {
		for _, got := range collect(next, in) {
			if bytes.Equal(got, packet) {
				found++
			}
		}
	}
	for range rounds {
		noise := make([]byte, random.IntN(300))
		for i := range noise {
			noise[i] = byte(random.Uint32())
			if at := random.IntN(len(begin) + 1); at < len(begin) {
				noise[i] = begin[at]
			}
		}
		count(noise)
		count(packet)
	}
	count(make([]byte, len(buf))) // a size that lies may wait for bytes at the very end
	if found != rounds {
		t.Errorf("found %d of %d packets, %+v", found, rounds, f.Stats)
	}
}

// Account tests, with any input, that every byte is accounted for, that each packet is in the
// input and passes check, and that a parser gives the same result for the input byte by byte.
func (p Parser) Account(t *testing.T, in []byte, check func(packet []byte)) {
	t.Helper()
	got, stats, waiting := p.Find(in)
	total := stats.Garbage + uint64(waiting)
	for _, packet := range got {
		total += uint64(len(packet))
		if !bytes.Contains(in, packet) {
			t.Fatalf("% X is not in % X", packet, in)
		}
		check(packet)
	}
	if total != uint64(len(in)) || stats.Packets != uint64(len(got)) {
		t.Fatalf("%d bytes of %d accounted for, %+v", total, len(in), stats)
	}
	split, again, _ := p.Find(slices.Collect(slices.Chunk(in, 1))...)
	if !slices.EqualFunc(split, got, bytes.Equal) || again != stats {
		t.Fatalf("byte by byte % X %+v, at once % X %+v", split, again, got, stats)
	}
}

// Encoding returns a function that tests that the bytes of a driver equal want, in Hex.
func Encoding(t *testing.T) func(name string, got []byte, want string) {
	return func(name string, got []byte, want string) {
		t.Helper()
		if !bytes.Equal(got, Hex(t, want)) {
			t.Errorf("%s: % X, want %s", name, got, want)
		}
	}
}
