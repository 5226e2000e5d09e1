package p2os

import (
	"bytes"
	"strings"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

// recording returns the packets of a file; those marked ! have a wrong checksum.
func recording(t testing.TB, name string) (packets [][]byte, bad int) {
	t.Helper()
	for _, line := range devicetest.Lines(t, "testdata/"+name) {
		line, marked := strings.CutPrefix(line, "! ")
		if marked {
			bad++
		}
		packets = append(packets, devicetest.Hex(t, line))
	}
	return packets, bad
}

var parser = devicetest.Framed(inspect, MaxPacket)

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
		body, want := devicetest.Hex(t, tt.body), devicetest.Hex(t, tt.packet)
		if got := appendPacket([]byte("before"), body...); string(got) != "before"+string(want) {
			t.Errorf("body %s: packet % X, want %s", tt.body, got, tt.packet)
		}
		packet := Packet(want)
		if size, v := inspect(want); size != len(want) || v != transport.Whole || !bytes.Equal(packet.Body(), body) || packet.Type() != body[0] {
			t.Errorf("%s: body % X, type %X", tt.packet, packet.Body(), packet.Type())
		}
	}
}

func TestParser(t *testing.T) {
	good := "FA FB 03 1D 00 1D "
	long := "FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93 "
	packets, _ := recording(t, "wrap.hex")
	packets = append(packets, appendPacket(nil, make([]byte, MaxPacket-5)...)) // as long as can be
	copies := devicetest.Copies(t, good)
	parser.Cut(t,
		devicetest.Stream{Name: "recorded", In: bytes.Join(packets, nil), Packets: packets},
		copies("noise before, between, after", "00 FF 12"+good+"FB 03"+good+"77", 2, 6, 0),
		copies("header bytes before", "FA FA FA FB FA "+good, 1, 5, 0),
		copies("empty body", "FA FB 02 00 00 "+good, 1, 5, 0),
		copies("count over the limit", "FA FB FA "+good, 1, 3, 0),
		copies("wrong checksum", "FA FB 03 1D 00 1E "+good, 1, 6, 1),
		copies("count too small", "FA FB 04 07 3B 07 "+"3C"+good, 1, 7, 1),
		copies("count lies over good packets", "FA FB 0F 32 "+good+good+good, 3, 4, 1),
		copies("truncated packet", long[:3*20]+good+good, 2, 20, 1),
		copies("good packet as body of a bad one", "FA FB 08 "+good+"00 00", 1, 5, 1),
	)
	parser.Noise(t, devicetest.Hex(t, packetTests[len(packetTests)-1].packet), header0, header1, 3)
}

func TestParserRejectsRecordedDamage(t *testing.T) {
	lines, bad := recording(t, "bits.hex")
	got, stats, _ := parser.Find(bytes.Join(lines, nil))
	if len(got) != len(lines)-bad || stats.Broken != uint64(bad) || bad != 4 {
		t.Errorf("%d packets of %d lines, %+v, want %d damaged", len(got), len(lines), stats, bad)
	}
}

func FuzzParser(f *testing.F) {
	for _, tt := range packetTests {
		f.Add(devicetest.Hex(f, tt.packet))
	}
	f.Add(devicetest.Hex(f, "FA FB 08 FA FB 03 1D 00 1D 00 00 FA FA FB FF"))
	packets, _ := recording(f, "bits.hex")
	f.Add(bytes.Join(packets[:7], nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(packet []byte) {
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
		})
	})
}
