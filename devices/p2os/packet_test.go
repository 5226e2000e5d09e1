package p2os

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

// unhex reads bytes written as "FA FB 03".
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// recording reads a file of packets, one a line; lines marked ! have a wrong
// checksum.
func recording(t testing.TB, name string) (packets [][]byte, bad int) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, marked := strings.CutPrefix(line, "! ")
		if marked {
			bad++
		}
		packets = append(packets, unhex(t, line))
	}
	return packets, bad
}

// feed gives the parser chunks in turn and returns copies of the packets.
func feed(p *Parser, chunks ...[]byte) (packets [][]byte) {
	for _, in := range chunks {
		for packet, in := p.Next(in); packet != nil; packet, in = p.Next(in) {
			packets = append(packets, bytes.Clone(packet))
		}
	}
	return packets
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

var packetTests = []struct{ body, packet string }{
	{"00", "FA FB 03 00 00 00"},
	{"01", "FA FB 03 01 00 01"},
	{"02", "FA FB 03 02 00 02"},
	{"1D", "FA FB 03 1D 00 1D"},
	{"07 3B", "FA FB 04 07 3B 07 3B"},
	{"04 3B 01 00", "FA FB 06 04 3B 01 00 05 3B"},
	{"20 3B 04 FC", "FA FB 06 20 3B 04 FC 25 37"},
	{"01 FF FF", "FA FB 05 01 FF FF 01 00"}, // 01FF xor FF: no carry
	{"02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00",
		"FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55"},
	{"32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00",
		"FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93"},
}

func TestPacket(t *testing.T) {
	for _, tt := range packetTests {
		body, want := unhex(t, tt.body), unhex(t, tt.packet)
		if got := appendPacket([]byte("before"), body...); string(got) != "before"+string(want) {
			t.Errorf("body %s: packet % X, want %s", tt.body, got, tt.packet)
		}
		var p Parser
		got := feed(&p, want)
		if !equal(got, [][]byte{want}) {
			t.Fatalf("%s: parsed % X", tt.packet, got)
		}
		packet := Packet(got[0])
		if !bytes.Equal(packet.Body(), body) || packet.Type() != body[0] {
			t.Errorf("%s: body % X, type %X", tt.packet, packet.Body(), packet.Type())
		}
	}
}

func TestParserCutAnywhere(t *testing.T) {
	packets, _ := recording(t, "wrap.hex")
	packets = append(packets, appendPacket(nil, make([]byte, MaxPacket-5)...)) // as long as can be
	stream := bytes.Join(packets, nil)
	for cut := range len(stream) + 1 {
		var p Parser
		if got := feed(&p, stream[:cut], stream[cut:]); !equal(got, packets) {
			t.Fatalf("cut at %d: %d packets, want %d", cut, len(got), len(packets))
		}
		if want := (transport.Stats{Packets: uint64(len(packets))}); p.Stats != want {
			t.Fatalf("cut at %d: %+v, want %+v", cut, p.Stats, want)
		}
	}
	var p Parser
	if got := feed(&p, slices.Collect(slices.Chunk(stream, 1))...); !equal(got, packets) {
		t.Fatalf("byte by byte: %d packets, want %d", len(got), len(packets))
	}
}

func TestParserRecovers(t *testing.T) {
	good := "FA FB 03 1D 00 1D "
	long := "FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93 "
	tests := []struct {
		name, in string
		packets  int // copies of good to come out
		stats    transport.Stats
	}{
		{"noise before, between, after", "00 FF 12" + good + "FB 03" + good + "77", 2, transport.Stats{Packets: 2, Garbage: 6, Broken: 0}},
		{"header bytes before", "FA FA FA FB FA " + good, 1, transport.Stats{Packets: 1, Garbage: 5, Broken: 0}},
		{"empty body", "FA FB 02 00 00 " + good, 1, transport.Stats{Packets: 1, Garbage: 5, Broken: 0}},
		{"count over the limit", "FA FB FA " + good, 1, transport.Stats{Packets: 1, Garbage: 3, Broken: 0}},
		{"wrong checksum", "FA FB 03 1D 00 1E " + good, 1, transport.Stats{Packets: 1, Garbage: 6, Broken: 1}},
		{"count too small", "FA FB 04 07 3B 07 " + "3C" + good, 1, transport.Stats{Packets: 1, Garbage: 7, Broken: 1}},
		{"count lies over good packets", "FA FB 0F 32 " + good + good + good, 3, transport.Stats{Packets: 3, Garbage: 4, Broken: 1}},
		{"truncated packet", long[:3*20] + good + good, 2, transport.Stats{Packets: 2, Garbage: 20, Broken: 1}},
		{"good packet as body of a bad one", "FA FB 08 " + good + "00 00", 1, transport.Stats{Packets: 1, Garbage: 5, Broken: 1}},
	}
	for _, tt := range tests {
		var want [][]byte
		for range tt.packets {
			want = append(want, unhex(t, good))
		}
		in := unhex(t, tt.in)
		for cut := range len(in) + 1 {
			var p Parser
			got := feed(&p, in[:cut], in[cut:])
			if !equal(got, want) || p.Stats != tt.stats {
				t.Errorf("%s, cut at %d: % X, %+v, want %d packets, %+v",
					tt.name, cut, got, p.Stats, tt.packets, tt.stats)
				break
			}
		}
	}
}

func TestParserRejectsRecordedDamage(t *testing.T) {
	lines, bad := recording(t, "bits.hex")
	var p Parser
	got := feed(&p, bytes.Join(lines, nil))
	if len(got) != len(lines)-bad || p.Stats.Broken != uint64(bad) || bad != 4 {
		t.Errorf("%d packets of %d lines, %+v, want %d damaged", len(got), len(lines), p.Stats, bad)
	}
}

// TestParserFindsPacketsInNoise hides packets in random bytes full of header
// bytes. Only a chance checksum could hide one; with this seed there is none.
func TestParserFindsPacketsInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	packet := unhex(t, packetTests[len(packetTests)-1].packet)
	var p Parser
	found := 0
	const rounds = 500
	for range rounds {
		noise := make([]byte, random.IntN(300))
		for i := range noise {
			noise[i] = []byte{header0, header1, 3, byte(random.Uint32())}[random.IntN(4)]
		}
		for _, got := range feed(&p, noise, packet) {
			if bytes.Equal(got, packet) {
				found++
			}
		}
	}
	// A lying count at the very end may still be waiting for its bytes.
	for _, got := range feed(&p, make([]byte, MaxPacket)) {
		if bytes.Equal(got, packet) {
			found++
		}
	}
	if found != rounds {
		t.Errorf("found %d of %d packets, %+v", found, rounds, p.Stats)
	}
}

func TestParserReset(t *testing.T) {
	good := unhex(t, "FA FB 03 1D 00 1D")
	var p Parser
	feed(&p, unhex(t, "FA FB 20 32 00"))
	p.Reset()
	if got := feed(&p, good); !equal(got, [][]byte{good}) {
		t.Errorf("after Reset: % X", got)
	}
	if want := (transport.Stats{Packets: 1, Garbage: 5}); p.Stats != want {
		t.Errorf("%+v, want %+v", p.Stats, want)
	}
}

func TestReceiveAllocatesNothing(t *testing.T) {
	packets, _ := recording(t, "bits.hex")
	stream := append(bytes.Join(packets, nil), "noise"...)
	var p Parser
	var s SIP
	o := newStepped()
	decoded := 0
	allocs := testing.AllocsPerRun(100, func() {
		for packet, in := p.Next(stream); packet != nil; packet, in = p.Next(in) {
			if s.Decode(packet) == nil {
				decoded++
				o.Update(&s)
			}
		}
	})
	if allocs != 0 || decoded == 0 {
		t.Errorf("%v allocations in a stream of %d SIPs", allocs, decoded)
	}
}

func FuzzParser(f *testing.F) {
	for _, tt := range packetTests {
		f.Add(unhex(f, tt.packet))
	}
	f.Add(unhex(f, "FA FB 08 FA FB 03 1D 00 1D 00 00 FA FA FB FF"))
	packets, _ := recording(f, "bits.hex")
	f.Add(bytes.Join(packets[:7], nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Parser
		got := feed(&p, in)
		total := p.Stats.Garbage + uint64(len(p.Waiting(p.buf[:])))
		for _, packet := range got {
			total += uint64(len(packet))
			if again := appendPacket(nil, Packet(packet).Body()...); !bytes.Equal(again, packet) {
				t.Fatalf("% X re-encodes to % X", packet, again)
			}
			DecodeIdentity(packet)
			var s SIP
			if s.Decode(packet) == nil {
				for i := range testModel.Sonars {
					testModel.RangeMM(&s, i)
				}
				if h := testModel.degrees(float64(s.Heading)); h < 0 || h > 359 {
					t.Fatalf("% X: heading %d", packet, h)
				}
				if c := s.CompassDegrees(7); c < 0 || c > 359 {
					t.Fatalf("% X: compass %d", packet, c)
				}
			}
		}
		if total != uint64(len(in)) || p.Stats.Packets != uint64(len(got)) {
			t.Fatalf("%d bytes of %d accounted for, %+v", total, len(in), p.Stats)
		}
		var q Parser
		if split := feed(&q, slices.Collect(slices.Chunk(in, 1))...); !equal(split, got) || p.Stats != q.Stats {
			t.Fatalf("byte by byte % X %+v, at once % X %+v", split, q.Stats, got, p.Stats)
		}
	})
}
