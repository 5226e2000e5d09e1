package peer

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"player/codec"
	"player/devices"
)

func limit(letter byte) int {
	switch letter {
	case 's':
		return 32
	case 'g':
		return 2
	case 'r':
		return 0
	}
	return -1
}

// read gives the stream to a Reader in the given pieces and returns its blocks
// and its error.
func read(pieces ...[]byte) (blocks []string, err error) {
	var r Reader
	for _, in := range pieces {
		for {
			letter, payload, rest, ok, err := r.Next(in, limit)
			if err != nil {
				return blocks, err
			}
			if !ok {
				break
			}
			blocks = append(blocks, fmt.Sprintf("%c%x", letter, payload))
			in = rest
		}
	}
	return blocks, nil
}

func stream() (all []byte, want []string) {
	sonar := bytes.Repeat([]byte{7}, 32)
	for range 2 {
		all = codec.AppendBlock(all, 's', sonar)
		all = codec.AppendBlock(all, 'r', nil)
		all = codec.AppendBlock(all, 'g', []byte{1, 2})
		want = append(want, fmt.Sprintf("s%x", sonar), "r", "g0102")
	}
	return all, want
}

// A stream may be cut anywhere.
func TestReaderCuts(t *testing.T) {
	all, want := stream()
	for size := range len(all) {
		if got, err := read(slices.Collect(slices.Chunk(all, size+1))...); err != nil || !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d: %q, %v", size+1, got, err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for _, tt := range []struct{ stream, want string }{
		{"Traceback", `it sends 'T', which is no letter of its devices`},
		{"g\x00\x03", `it sends a block 'g' of 3 bytes, the most is 2`},
		{"s\xff\xff", `it sends a block 's' of 65535 bytes, the most is 32`},
	} {
		for i := range tt.stream {
			blocks, err := read([]byte("g\x00\x01a"+tt.stream[:i]), []byte(tt.stream[i:]))
			if err == nil || err.Error() != tt.want || !slices.Equal(blocks, []string{"g61"}) {
				t.Errorf("%q cut at %d: %q, %v, want %s", tt.stream, i, blocks, err, tt.want)
			}
		}
	}
}

// For any input, in any pieces, the memory is bounded and the pieces make
// no difference.
func FuzzReader(f *testing.F) {
	all, _ := stream()
	f.Add(all, uint8(3))
	f.Add([]byte("s\x00\x05xyz"), uint8(1))
	f.Add([]byte("g\x00\x03"), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, n uint8) {
		var r Reader
		var pieces [][]byte
		for piece := range slices.Chunk(in, int(n)+1) {
			pieces = append(pieces, piece)
		}
		whole, errWhole := read(in)
		cut, errCut := read(pieces...)
		if !slices.Equal(whole, cut) || (errWhole == nil) != (errCut == nil) {
			t.Errorf("whole %q, %v; in pieces of %d %q, %v", whole, errWhole, n+1, cut, errCut)
		}
		if _, _, _, ok, _ := r.Next(in, limit); !ok && len(r.split.Waiting()) > codec.BlockHeaderSize+32 {
			t.Errorf("%d bytes are kept", len(r.split.Waiting()))
		}
	})
}

func TestReaderAllocatesNothing(t *testing.T) {
	all, _ := stream()
	var r Reader
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		in := all
		i = (i + 1) % 40
		for _, piece := range [][]byte{in[:i], in[i:]} {
			for ok := true; ok; {
				_, _, piece, ok, _ = r.Next(piece, limit)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCheckData(t *testing.T) {
	for _, tt := range []struct {
		spec devices.Spec
		size int
		ok   bool
	}{
		{devices.Sonar(), 32, true}, {devices.Sonar(), 31, false}, {devices.Sonar(), 0, false},
		{devices.Vision(), 64, true}, {devices.Vision(), 0, true},
	} {
		if err := CheckData(tt.spec, make([]byte, tt.size)); (err == nil) != tt.ok {
			t.Errorf("%d bytes of %s: %v", tt.size, tt.spec.Name, err)
		}
	}
}
