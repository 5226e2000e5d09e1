package rplidar

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"

	"player/devices/transport"
)

func unhex(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Requests as the protocol prints them.
func TestGoldenRequests(t *testing.T) {
	for want, got := range map[string][]byte{
		"A5 25":                      AppendRequest(nil, Stop),
		"A5 40":                      AppendRequest(nil, Reset),
		"A5 20":                      AppendRequest(nil, Scan),
		"A5 50":                      AppendRequest(nil, GetInfo),
		"A5 52":                      AppendRequest(nil, GetHealth),
		"A5 82 05 00 00 00 00 00 22": AppendExpressScan(nil),
		"A5 F0 02 94 02 C1":          AppendMotor(nil, motorSpeed),
	} {
		if !bytes.Equal(got, unhex(t, want)) {
			t.Errorf("% X, want %s", got, want)
		}
	}
}

func TestDecodeSample(t *testing.T) {
	// Quality 15, a new turn: 90 degrees are 5760/64, 1000 mm are 4000/4.
	if got := decodeSample(unhex(t, "3D 01 2D A0 0F")); got != (Sample{90, 1000}) {
		t.Errorf("%+v", got)
	}
	if got := decodeSample(unhex(t, "02 01 00 00 00")); got != (Sample{}) {
		t.Errorf("%+v", got)
	}
}

// packet is a packet of an express scan, sealed, with the given cabins.
func packet(start uint16, cabin ...byte) []byte {
	p := append([]byte{0, 0, byte(start), byte(start >> 8)}, bytes.Repeat(cabin, cabins)...)
	sum := byte(0)
	for _, b := range p[2:] {
		sum ^= b
	}
	p[0], p[1] = 0xA0|sum&0xF, 0x50|sum>>4
	return p
}

func TestDecodePacket(t *testing.T) {
	// 1000 mm with a correction of +1/8 degree (000001), then 2000 mm with one of
	// 60/8 degrees (111100), which has no sign: the highest two bits lie with the distance.
	p := Packet(packet(350*64, 0xA0, 0x0F, 0x40|3, 0x1F, 0xC1))
	next := Packet(packet(6*64, 0, 0, 0, 0, 0))
	span := p.span(&next)
	if span != 16 {
		t.Fatalf("span %v, want 16 degrees", span)
	}
	for k, want := range map[int]Sample{
		0:  {350 - 0.125, 1000},
		1:  {350.5 - 7.5, 2000},
		31: {350 + 15.5 - 7.5, 2000},
	} {
		if got := p.sample(k, span); math.Abs(got.Angle-want.Angle) > 1e-9 || got.MM != want.MM {
			t.Errorf("sample %d is %+v, want %+v", k, got, want)
		}
	}
}

// found returns what inspect recognises in the parts of a stream.
func found(inspect transport.Inspect, parts ...[]byte) (all [][]byte) {
	var f transport.Framing
	var buf [packetSize]byte
	for _, part := range parts {
		for b, rest := f.Next(buf[:], part, inspect); b != nil; b, rest = f.Next(buf[:], rest, inspect) {
			all = append(all, slices.Clone(b))
		}
	}
	return all
}

func TestCutAtEveryByte(t *testing.T) {
	info := append(unhex(t, "A5 5A 14 00 00 00 04"), bytes.Repeat([]byte{7}, infoSize)...)
	health := unhex(t, "A5 5A 03 00 00 00 06 02 01 00")
	scan := unhex(t, "A5 5A 05 00 00 40 81")
	sample := unhex(t, "3E 01 2D A0 0F")
	for name, tt := range map[string]struct {
		inspect transport.Inspect
		stream  []byte
		want    [][]byte
	}{
		"answers": {inspectAnswer, slices.Concat([]byte("RP LIDAR\r\n\xA5"), info, health, scan), [][]byte{info, health, scan}},
		"samples": {inspectSample, slices.Concat([]byte{0xFF, 0}, bytes.Repeat(sample, runUp+1)), [][]byte{sample, sample}},
		"packets": {inspectPacket, slices.Concat([]byte{0xA5, 0x5A}, packet(64, 1, 2, 3, 4, 5), packet(128, 0, 0, 0, 0, 0)),
			[][]byte{packet(64, 1, 2, 3, 4, 5), packet(128, 0, 0, 0, 0, 0)}},
	} {
		for cut := range len(tt.stream) + 1 {
			if got := found(tt.inspect, tt.stream[:cut], tt.stream[cut:]); !slices.EqualFunc(got, tt.want, bytes.Equal) {
				t.Fatalf("%s cut at %d: % X", name, cut, got)
			}
		}
	}
}

func TestDamagedPacketIsDropped(t *testing.T) {
	good := packet(64, 1, 2, 3, 4, 5)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		if got := found(inspectPacket, bad, good); len(got) != 1 || !bytes.Equal(got[0], good) {
			t.Errorf("byte %d damaged: %d packets", i, len(got))
		}
	}
}

// FuzzInspect: what is recognised is in the input and keeps the rules of the
// protocol; every byte is accounted for.
func FuzzInspect(f *testing.F) {
	f.Add(packet(64, 1, 2, 3, 4, 5), 10)
	f.Add(unhex(f, "A5 5A 03 00 00 00 06 02 01 00"), 3)
	f.Add(bytes.Repeat(unhex(f, "3E 01 2D A0 0F"), 6), 7)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		cut = max(0, min(cut, len(in)))
		for _, inspect := range []transport.Inspect{inspectAnswer, inspectSample, inspectPacket} {
			var framing transport.Framing
			var buf [packetSize]byte
			size := 0
			for _, part := range [][]byte{in[:cut], in[cut:]} {
				for b, rest := framing.Next(buf[:], part, inspect); b != nil; b, rest = framing.Next(buf[:], rest, inspect) {
					size += len(b)
					if !bytes.Contains(in, b) {
						t.Fatalf("% X is not in % X", b, in)
					}
					if len(b) == packetSize {
						p, next := Packet(b), Packet{}
						for k := range 2 * cabins {
							if s := p.sample(k, p.span(&next)); s.MM < 0 || s.MM > 1<<14 || math.IsNaN(s.Angle) {
								t.Fatalf("sample %+v", s)
							}
						}
					}
				}
			}
			if total := uint64(size) + framing.Stats.Garbage + uint64(len(framing.Waiting(buf[:]))); total != uint64(len(in)) {
				t.Fatalf("%d bytes of %d are accounted for", total, len(in))
			}
		}
	})
}
