package evid30

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

// unhex reads bytes written as "90 41 FF".
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

// recorded is what an emulated camera sent to a driver: type, power, a position
// at rest, a move and a zoom that run in both sockets, one completed, both
// cancelled.
var recorded = []string{
	"90 50 00 20 04 02 00 01 02 FF",
	"90 50 02 FF",
	"90 50 00 00 00 00 00 00 00 00 FF",
	"90 50 00 00 00 00 FF",
	"90 41 FF",
	"90 42 FF",
	"90 50 0F 0F 0F 0A 00 00 00 06 FF",
	"90 50 00 00 04 06 FF",
	"90 50 0F 0F 07 03 00 00 08 04 FF",
	"90 51 FF",
	"90 50 0F 0F 00 0A 00 00 08 04 FF",
	"90 50 00 01 01 09 FF",
	"90 61 04 FF",
	"90 62 04 FF",
}

func recording(t testing.TB) (packets [][]byte) {
	for _, s := range recorded {
		packets = append(packets, unhex(t, s))
	}
	return packets
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

func TestParserCutAnywhere(t *testing.T) {
	packets := recording(t)
	packets = append(packets, unhex(t, "90 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E FF")) // as long as can be
	stream := bytes.Join(packets, nil)
	for cut := range len(stream) + 1 {
		var p Parser
		if got := feed(&p, stream[:cut], stream[cut:]); !equal(got, packets) {
			t.Fatalf("cut at %d: % X", cut, got)
		}
		if want := (transport.Stats{Packets: uint64(len(packets))}); p.Stats != want {
			t.Fatalf("cut at %d: %+v, want %+v", cut, p.Stats, want)
		}
	}
	var p Parser
	if got := feed(&p, slices.Collect(slices.Chunk(stream, 1))...); !equal(got, packets) {
		t.Fatalf("byte by byte: % X", got)
	}
	if body := Packet(packets[0]).Body(); !bytes.Equal(body, unhex(t, "50 00 20 04 02 00 01 02")) {
		t.Errorf("body % X", body)
	}
}

func TestParserRecovers(t *testing.T) {
	const good = "90 51 FF "
	tests := []struct {
		name, in string
		packets  int // copies of good to come out
		stats    transport.Stats
	}{
		{"noise before, between, after", "00 FF 12" + good + "FF 81" + good + "77", 2, transport.Stats{Packets: 2, Garbage: 6, Broken: 0}},
		{"header twice", "90 " + good, 1, transport.Stats{Packets: 1, Garbage: 1, Broken: 1}},
		{"empty packet", "90 FF " + good, 1, transport.Stats{Packets: 1, Garbage: 2, Broken: 1}},
		{"truncated packet", "90 50 0F 0F " + good, 1, transport.Stats{Packets: 1, Garbage: 4, Broken: 1}},
		{"too long without end", "90 " + strings.Repeat("01 ", 20) + good, 1, transport.Stats{Packets: 1, Garbage: 21, Broken: 1}},
		{"one byte too long", "90 " + strings.Repeat("01 ", 15) + "FF " + good, 1, transport.Stats{Packets: 1, Garbage: 17, Broken: 1}},
		{"our own inquiry echoed", "81 09 06 12 FF " + good, 1, transport.Stats{Packets: 1, Garbage: 5, Broken: 0}},
		{"answer to SetAddress", "88 30 02 FF " + good, 1, transport.Stats{Packets: 1, Garbage: 4, Broken: 0}},
		{"lost end", "90 51 " + good + good, 2, transport.Stats{Packets: 2, Garbage: 2, Broken: 1}},
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

// TestParserFindsPacketsInNoise: whatever comes before it, a packet is found,
// since nothing can hide a header.
func TestParserFindsPacketsInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	want := unhex(t, recorded[6])
	var p Parser
	for range 1000 {
		noise := make([]byte, random.IntN(40))
		for i := range noise {
			noise[i] = []byte{headerFromCamera, terminator, byte(random.Uint32())}[random.IntN(3)]
		}
		got := feed(&p, noise, want)
		if len(got) == 0 || !bytes.Equal(got[len(got)-1], want) {
			t.Fatalf("after % X: % X", noise, got)
		}
	}
}

func TestParserReset(t *testing.T) {
	var p Parser
	feed(&p, unhex(t, "90 50 02"))
	p.Reset()
	good := unhex(t, "90 41 FF")
	if got := feed(&p, good); !equal(got, [][]byte{good}) {
		t.Errorf("after Reset: % X", got)
	}
	if want := (transport.Stats{Packets: 1, Garbage: 3}); p.Stats != want {
		t.Errorf("%+v, want %+v", p.Stats, want)
	}
}

func TestReceiveAndSendAllocateNothing(t *testing.T) {
	stream := append(bytes.Join(recording(t), nil), 0x90, 0x90, 0x41, 0x90)
	out := make([]byte, 0, 64)
	var p Parser
	positions := 0
	allocs := testing.AllocsPerRun(100, func() {
		for packet, in := p.Next(stream); packet != nil; packet, in = p.Next(in) {
			r, _ := DecodeReply(packet)
			if pan, tilt, ok := r.PanTilt(); ok {
				out = AppendPanTilt(out[:0], 0x18, 0x14, d30.PanUnits(d30.PanDegrees(pan)), tilt)
				out = append(out, InquirePanTilt...)
				positions++
			}
		}
	})
	if allocs != 0 || positions == 0 {
		t.Errorf("%v allocations in a stream of %d positions", allocs, positions)
	}
}

// encode makes the packet of a reply, for the fuzz target.
func encode(r Reply) []byte {
	p := []byte{headerFromCamera}
	switch r.Kind {
	case Ack:
		p = append(p, 0x40|r.Socket)
	case Completion:
		p = append(p, 0x50|r.Socket)
	case Answer:
		p = append(append(p, 0x50), r.data...)
	case Error:
		p = append(p, 0x60|r.Socket, byte(r.Fault))
	case NetworkChange:
		p = append(p, 0x38)
	}
	return append(p, terminator)
}

func FuzzParser(f *testing.F) {
	for _, packet := range recording(f) {
		f.Add(packet)
	}
	f.Add(bytes.Join(recording(f), nil))
	f.Add(unhex(f, "90 90 41 FF 90 38 FF 90 50 0F 0F 90 FF 90 60 02 FF 88 30 02 FF 90 50 10 00 00 00 FF"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var p Parser
		got := feed(&p, in)
		total := p.Stats.Garbage + uint64(len(p.Waiting(p.buf[:])))
		for _, packet := range got {
			total += uint64(len(packet))
			if len(packet) < minPacket || len(packet) > MaxPacket {
				t.Fatalf("% X has %d bytes", packet, len(packet))
			}
			r, ok := DecodeReply(packet)
			if !ok {
				continue
			}
			if again := encode(r); !bytes.Equal(again, packet) {
				t.Fatalf("% X re-encodes to % X", packet, again)
			}
			if pan, tilt, ok := r.PanTilt(); ok {
				if again := appendNibbles(appendNibbles(nil, uint16(pan)), uint16(tilt)); !bytes.Equal(again, r.data) {
					t.Fatalf("position % X re-encodes to % X", r.data, again)
				}
			}
			if zoom, ok := r.Zoom(); ok && !bytes.Equal(appendNibbles(nil, zoom), r.data) {
				t.Fatalf("zoom % X is read as %d", r.data, zoom)
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
