package acts

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/codec"
	"player/devices/devicetest"
	"player/devices/transport"
)

// recording reads one recorded packet.
func recording(t testing.TB, name string) []byte {
	return devicetest.Hex(t, strings.Join(devicetest.Lines(t, "testdata/"+name), ""))
}

var recordings = map[Version]string{V10: "acts10.hex", V12: "acts12.hex"}

// parserOf makes parsers that are set as p is.
func parserOf(p Parser) devicetest.Parser {
	return func() (*transport.Framing, []byte, func(in []byte) (packet, rest []byte)) {
		p := p
		return &p.Framing, p.buf[:], func(in []byte) (packet, rest []byte) { return p.Next(in) }
	}
}

// feed gives the parser one chunk after the other and returns copies of the packets.
func feed(p *Parser, chunks ...[]byte) (packets [][]byte) {
	for _, in := range chunks {
		for packet, in := p.Next(in); packet != nil; packet, in = p.Next(in) {
			packets = append(packets, bytes.Clone(packet))
		}
	}
	return packets
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func TestSizes(t *testing.T) {
	for v, want := range map[Version]int{V10: 3264, V12: 5248} {
		if got := v.MaxPacket(); got != want || got > bufferSize {
			t.Errorf("version %d: longest packet %d, want %d; buffer %d", v, got, want, bufferSize)
		}
	}
}

func TestParserCutAnywhere(t *testing.T) {
	for v, name := range recordings {
		recorded := recording(t, name)
		packets := [][]byte{recorded, v.AppendPacket(nil, nil), v.AppendPacket(nil, fullImage()), recorded}
		if got := len(packets[2]); got != v.MaxPacket() {
			t.Fatalf("version %d: a full image has %d bytes, want %d", v, got, v.MaxPacket())
		}
		parserOf(Parser{Version: v}).Cut(t, devicetest.Stream{Name: name, In: bytes.Join(packets, nil), Packets: packets})
	}
}

func TestParserRecovers(t *testing.T) {
	good := recording(t, "acts10.hex")
	edit := func(at int, b byte) []byte {
		damaged := bytes.Clone(good)
		damaged[at] = b
		return damaged
	}
	n := uint64(len(good))
	for _, tt := range []struct {
		name            string
		in              [][]byte
		packets         int // copies of good to come out
		garbage, broken uint64
	}{
		{"noise before, between, after", [][]byte{{0, 255, 2}, good, {9}, good, {7, 7}}, 2, 6, 0},
		{"first byte twice", [][]byte{{1}, good}, 1, 1, 0},
		{"zero byte in the header", [][]byte{edit(40, 0), good}, 1, n, 0},
		{"count over ten", [][]byte{edit(63, codec.MaxBlobs+2), good}, 1, n, 0},
		{"index does not follow", [][]byte{edit(62, 5), good}, 1, n, 0},
		{"zero byte in a blob", [][]byte{edit(70, 0), good}, 1, n, 1},
		{"digit of an area too large", [][]byte{edit(64, 65), good}, 1, n, 1},
		{"truncated in the header", [][]byte{good[:31], good}, 1, 31, 0},
	} {
		stream := devicetest.Stream{Name: tt.name, In: bytes.Join(tt.in, nil), Packets: slices.Repeat([][]byte{good}, tt.packets), Garbage: tt.garbage, Broken: tt.broken}
		parserOf(Parser{}).Cut(t, stream)
		if _, _, waiting := parserOf(Parser{}).Find(stream.In); waiting != 0 {
			t.Errorf("%s: %d bytes wait", tt.name, waiting)
		}
	}
}

// TestParserFindsPacketsInNoise puts random bytes full of ones, which begin a
// header, before packets, and between them a zero, which is in no packet.
func TestParserFindsPacketsInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for v, name := range recordings {
		want := recording(t, name)
		p := Parser{Version: v}
		const rounds = 500
		for range rounds {
			noise := make([]byte, random.IntN(300))
			for i := range noise {
				noise[i] = []byte{1, 1, 2, byte(random.Uint32())}[random.IntN(4)]
			}
			if got := feed(&p, noise, []byte{0}, want); !equal(got, [][]byte{want}) {
				t.Fatalf("version %d after % X: % X", v, noise, got)
			}
		}
	}
}

// TestParserWrongVersion: a parser of one version accepts nothing from a server
// of the other.
func TestParserWrongVersion(t *testing.T) {
	for v, name := range recordings {
		p := Parser{Version: V12 - v}
		packet := recording(t, name)
		if got := feed(&p, packet, packet, packet); got != nil {
			t.Errorf("a packet of version %d is % X in version %d", v, got, p.Version)
		}
	}
}

// TestParserReset: a packet that the server cut short does not spoil the answer to the next
// request, and neither does a stray byte in an image without blobs, which appears the same.
func TestParserReset(t *testing.T) {
	good := recording(t, "acts10.hex")
	empty := V10.AppendPacket(nil, nil)
	for _, rest := range [][]byte{good[:89], {1}, {1, 1, 1, 1}, empty[:63]} {
		for _, answer := range [][]byte{good, empty} {
			var p Parser
			feed(&p, rest)
			p.Reset()
			if got := feed(&p, answer); !equal(got, [][]byte{answer}) {
				t.Errorf("after % X: % X", rest, got)
			}
			if want := (transport.Stats{Packets: 1, Garbage: uint64(len(rest))}); p.Stats != want {
				t.Errorf("%+v, want %+v", p.Stats, want)
			}
		}
	}
}

// TestDetect: in every image the version is found, or an image of V10 is
// complete when nothing follows it.
func TestDetect(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	settled := 0
	for range 3000 {
		var blobs []Blob
		for channel := range codec.VisionChannels {
			for range random.IntN(codec.MaxBlobs+1) * (random.IntN(12) / 11) {
				n := func() int { return random.IntN(255) }
				blobs = append(blobs, Blob{channel, random.IntN(1 << 17), n(), n(), n(), n(), n(), n()})
			}
		}
		for v := range recordings {
			packet := v.AppendPacket(nil, blobs)
			p := Parser{Detect: true}
			cut := random.IntN(len(packet))
			got := feed(&p, packet[:cut], packet[cut:])
			if got == nil && v == V10 {
				got = [][]byte{p.Settle()}
				settled++
			} else if p.Detect || p.Version != v {
				t.Fatalf("version %d of %+v is taken for %d", v, blobs, p.Version)
			}
			if want := (transport.Stats{Packets: 1}); !equal(got, [][]byte{packet}) || p.Stats != want {
				t.Fatalf("% X, %+v, want % X", got, p.Stats, packet)
			}
		}
	}
	if settled == 0 || settled > 500 {
		t.Errorf("%d of 3000 images were doubtful", settled)
	}
}

// TestSettle: only exactly one packet of V10 is accepted.
func TestSettle(t *testing.T) {
	empty := V10.AppendPacket(nil, nil)
	for name, in := range map[string][]byte{
		"nothing":       nil,
		"half a packet": empty[:63],
		"more":          append(bytes.Clone(empty), 1),
		"noise":         {7, 7, 7},
	} {
		p := Parser{Detect: true}
		if got := feed(&p, in); got != nil || p.Settle() != nil {
			t.Errorf("%s: a packet", name)
		}
	}
	p := Parser{Version: V10}
	if feed(&p, empty[:63]); p.Settle() != nil {
		t.Error("a packet of a known version is settled")
	}
}

func FuzzParser(f *testing.F) {
	for v, name := range recordings {
		f.Add(byte(v), recording(f, name))
		f.Add(byte(v), v.AppendPacket([]byte{1, 0}, fullImage()[:12]))
		f.Add(byte(v), v.AppendPacket(nil, nil))
	}
	f.Fuzz(func(t *testing.T, version byte, in []byte) {
		v := Version(version % 2)
		parserOf(Parser{Version: v}).Account(t, in, func(packet []byte) {
			if len(packet) > v.MaxPacket() {
				t.Fatalf("a packet of %d bytes", len(packet))
			}
			blobs := v.AppendBlobs(nil, packet)
			again := v.AppendPacket(nil, blobs)
			if len(blobs) > v.maxNumber() {
				// Indices above 254 are the server's choice.
				packet, again = packet[v.headerSize():], again[v.headerSize():]
			}
			if !bytes.Equal(again, packet) {
				t.Fatalf("% X re-encodes to % X", packet, again)
			}
			if v == V12 {
				var q Parser
				old := AppendV10(nil, packet)
				if !equal(feed(&q, old), [][]byte{old}) || len(V10.AppendBlobs(nil, old)) != len(blobs) {
					t.Fatalf("% X is % X in version 1.0", packet, old)
				}
			}
		})
		found := Parser{Detect: true}
		whole := feed(&found, in)
		var bytewise Parser
		bytewise.Detect = true
		if split := feed(&bytewise, slices.Collect(slices.Chunk(in, 1))...); !equal(split, whole) || found.Stats != bytewise.Stats || found.Version != bytewise.Version {
			t.Fatalf("byte by byte %d packets %+v, at once %d %+v", len(split), bytewise.Stats, len(whole), found.Stats)
		}
		if rest := found.Settle(); rest != nil && (len(rest) > V10.MaxPacket() || len(found.Waiting(found.buf[:])) > 0) {
			t.Fatalf("settled % X", rest)
		}
	})
}
