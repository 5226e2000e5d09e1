package evid30

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"player/devices/devicetest"
)

// recorded has the packets of an emulated camera to a driver: type, power, a position at
// rest, a move and a zoom that run in both sockets, one completed, both cancelled.
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
		packets = append(packets, devicetest.Hex(t, s))
	}
	return packets
}

var parser = devicetest.Framed(inspect, MaxPacket)

func TestParser(t *testing.T) {
	const good = "90 51 FF "
	packets := append(recording(t), devicetest.Hex(t, "90 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E FF")) // as long as can be
	if body := Packet(packets[0]).Body(); !bytes.Equal(body, devicetest.Hex(t, "50 00 20 04 02 00 01 02")) {
		t.Errorf("body % X", body)
	}
	copies := devicetest.Copies(t, good)
	parser.Cut(t,
		devicetest.Stream{Name: "recorded", In: bytes.Join(packets, nil), Packets: packets},
		copies("noise before, between, after", "00 FF 12"+good+"FF 81"+good+"77", 2, 6, 0),
		copies("header twice", "90 "+good, 1, 1, 1),
		copies("empty packet", "90 FF "+good, 1, 2, 1),
		copies("truncated packet", "90 50 0F 0F "+good, 1, 4, 1),
		copies("too long without end", "90 "+strings.Repeat("01 ", 20)+good, 1, 21, 1),
		copies("one byte too long", "90 "+strings.Repeat("01 ", 15)+"FF "+good, 1, 17, 1),
		copies("our own inquiry echoed", "81 09 06 12 FF "+good, 1, 5, 0),
		copies("answer to SetAddress", "88 30 02 FF "+good, 1, 4, 0),
		copies("lost end", "90 51 "+good+good, 2, 2, 1),
	)
}

// TestParserFindsPacketsInNoise: whatever comes before it, a packet is found,
// since nothing can hide a header.
func TestParserFindsPacketsInNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	want := devicetest.Hex(t, recorded[6])
	for range 1000 {
		noise := make([]byte, random.IntN(40))
		for i := range noise {
			noise[i] = []byte{headerFromCamera, terminator, byte(random.Uint32())}[random.IntN(3)]
		}
		got, _, _ := parser.Find(noise, want)
		if len(got) == 0 || !bytes.Equal(got[len(got)-1], want) {
			t.Fatalf("after % X: % X", noise, got)
		}
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
	f.Add(devicetest.Hex(f, "90 90 41 FF 90 38 FF 90 50 0F 0F 90 FF 90 60 02 FF 88 30 02 FF 90 50 10 00 00 00 FF"))
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(packet []byte) {
			if len(packet) < minPacket || len(packet) > MaxPacket {
				t.Fatalf("% X has %d bytes", packet, len(packet))
			}
			r, ok := DecodeReply(packet)
			if !ok {
				return
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
		})
	})
}
