package rplidar

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

// Requests as the protocol prints them.
func TestGoldenRequests(t *testing.T) {
	encodes := devicetest.Encoding(t)
	encodes("a request", AppendRequest(nil, Stop), "A5 25")
	encodes("a request", AppendRequest(nil, Reset), "A5 40")
	encodes("a request", AppendRequest(nil, Scan), "A5 20")
	encodes("a request", AppendRequest(nil, GetInfo), "A5 50")
	encodes("a request", AppendRequest(nil, GetHealth), "A5 52")
	encodes("a request", AppendExpressScan(nil, 0), "A5 82 05 00 00 00 00 00 22")
	encodes("a request", AppendMotor(nil, SetMotor, motorSpeed), "A5 F0 02 94 02 C1")
	encodes("a request", AppendMotor(nil, SetRPM, motorRPM), "A5 A8 02 58 02 55")
	encodes("a request", AppendGetTypicalMode(nil), "A5 84 04 7C 00 00 00 59")
	encodes("a request", AppendExpressScan(nil, 1), "A5 82 05 01 00 00 00 00 23")
}

func TestDecodeSample(t *testing.T) {
	// Quality 15, a new revolution: 90 degrees are 5760/64, 1000 mm are 4000/4.
	if got := decodeSample(devicetest.Hex(t, "3D 01 2D A0 0F")); got != (Sample{90, 1000}) {
		t.Errorf("%+v", got)
	}
	if got := decodeSample(devicetest.Hex(t, "02 01 00 00 00")); got != (Sample{}) {
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

func TestDecodeDensePacket(t *testing.T) {
	b := packet(350*64, 0xE8, 0x03, 0xD0, 0x07, 0) // 1000 mm, 2000 mm, then they are cut
	p, next := Packet(b), Packet(packet(6*64, 0, 0, 0, 0, 0))
	copy(p[82:], []byte{0xFF, 0xFF})
	for k, want := range map[int]Sample{0: {350, 1000}, 1: {350.4, 2000}, 39: {365.6, 65535}} {
		if got := p.dense(k, p.span(&next)); math.Abs(got.Angle-want.Angle) > 1e-9 || got.MM != want.MM {
			t.Errorf("sample %d is %+v, want %+v", k, got, want)
		}
	}
}

// The models by their names in Slamtec's SDK, and the requests that start their motors.
func TestModels(t *testing.T) {
	for model, want := range map[byte]struct {
		name  string
		motor Request
	}{
		0x18: {"A1", 0}, 0x28: {"A2", SetMotor}, 0x31: {"A3", SetMotor}, 0x41: {"C1", 0}, 0x61: {"S1", SetRPM},
		0x71: {"S2", SetRPM}, 0x81: {"S3", SetRPM}, 0x82: {"S3", SetRPM}, 0x91: {"T1", SetRPM}, 0xC1: {"M1", SetRPM}, 0x08: {"model 0x08", 0},
	} {
		info := Info{Model: model, Major: 1, Minor: 2}
		if r, _ := info.motor(); info.String() != want.name+", firmware 1.02" || r != want.motor {
			t.Errorf("%#02x: %v, motor %#x", model, info, r)
		}
	}
}

func TestCutAtEveryByte(t *testing.T) {
	info := append(devicetest.Hex(t, "A5 5A 14 00 00 00 04"), bytes.Repeat([]byte{7}, infoSize)...)
	health := devicetest.Hex(t, "A5 5A 03 00 00 00 06 02 01 00")
	scan := devicetest.Hex(t, "A5 5A 05 00 00 40 81")
	sample := devicetest.Hex(t, "3E 01 2D A0 0F")
	mode, dense := devicetest.Hex(t, "A5 5A 06 00 00 00 20 7C 00 00 00 01 00"), devicetest.Hex(t, "A5 5A 54 00 00 40 85")
	for _, tt := range []struct {
		inspect transport.Inspect
		stream  devicetest.Stream
	}{
		{inspectAnswer, devicetest.Stream{Name: "answers", In: slices.Concat([]byte("RP LIDAR\r\n\xA5"), info, health, scan), Packets: [][]byte{info, health, scan}, Garbage: 11}},
		{inspectAnswer, devicetest.Stream{Name: "a mode", In: slices.Concat(mode, dense), Packets: [][]byte{mode, dense}}},
		{inspectSample, devicetest.Stream{Name: "samples", In: slices.Concat([]byte{0xFF, 0}, bytes.Repeat(sample, runUp+1)), Packets: [][]byte{sample, sample}, Garbage: 2}},
		{inspectPacket, devicetest.Stream{Name: "packets", In: slices.Concat([]byte{0xA5, 0x5A}, packet(64, 1, 2, 3, 4, 5), packet(128, 0, 0, 0, 0, 0)),
			Packets: [][]byte{packet(64, 1, 2, 3, 4, 5), packet(128, 0, 0, 0, 0, 0)}, Garbage: 2, Broken: 1}},
	} {
		devicetest.Framed(tt.inspect, packetSize).Cut(t, tt.stream)
	}
}

func TestDamagedPacketIsDropped(t *testing.T) {
	good := packet(64, 1, 2, 3, 4, 5)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		if got, _, _ := devicetest.Framed(inspectPacket, packetSize).Find(bad, good); len(got) != 1 || !bytes.Equal(got[0], good) {
			t.Errorf("byte %d damaged: %d packets", i, len(got))
		}
	}
}

// FuzzInspect: recognised bytes obey the rules of the protocol.
func FuzzInspect(f *testing.F) {
	f.Add(packet(64, 1, 2, 3, 4, 5))
	f.Add(devicetest.Hex(f, "A5 5A 03 00 00 00 06 02 01 00"))
	f.Add(bytes.Repeat(devicetest.Hex(f, "3E 01 2D A0 0F"), 6))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, inspect := range []transport.Inspect{inspectAnswer, inspectSample, inspectPacket} {
			devicetest.Framed(inspect, packetSize).Account(t, in, func(b []byte) {
				if len(b) != packetSize {
					return
				}
				p, next := Packet(b), Packet{}
				for k := range 2 * cabins {
					if s := p.sample(k, p.span(&next)); s.MM < 0 || s.MM > 1<<14 || math.IsNaN(s.Angle) {
						t.Fatalf("sample %+v", s)
					}
				}
				for k := range distances {
					if s := p.dense(k, p.span(&next)); s.MM < 0 || math.IsNaN(s.Angle) {
						t.Fatalf("sample %+v", s)
					}
				}
			})
		}
	})
}
