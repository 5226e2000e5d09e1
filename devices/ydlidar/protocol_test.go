package ydlidar

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
	"player/devices/transport/transporttest"
)

var parser = devicetest.Framed(triangle.inspect, packetSize)

// golden is the example of the SDK's protocol document: a new revolution, one sample without
// a return.
func golden(t testing.TB) []byte { return devicetest.Hex(t, "AA 55 01 01 53 AE 53 AE AB 54 00 00") }

// sealed is a packet with angles in degrees and distances in 1/4 mm.
func sealed(from, to float64, quarters ...uint16) []byte {
	p := []byte{0xAA, 0x55, 0, byte(len(quarters))}
	sum := binary.LittleEndian.Uint16(p) ^ binary.LittleEndian.Uint16(p[2:])
	for _, degrees := range []float64{from, to} {
		word := uint16(degrees*64)<<1 | 1
		sum ^= word
		p = binary.LittleEndian.AppendUint16(p, word)
	}
	for _, q := range quarters {
		sum ^= q
	}
	p = binary.LittleEndian.AppendUint16(p, sum)
	for _, q := range quarters {
		p = binary.LittleEndian.AppendUint16(p, q)
	}
	return p
}

// dataAhead is the descriptor of an answer to Scan.
var dataAhead = [...]byte{0xA5, 0x5A, 5, 0, 0, 0x40, 0x81}

func answer(model byte) []byte {
	return append([]byte{0xA5, 0x5A, 20, 0, 0, 0, 4, model}, make([]byte, 19)...)
}

func TestGoldenPacket(t *testing.T) {
	b := golden(t)
	if size, v := triangle.inspect(b); size != len(b) || v != transport.Whole {
		t.Fatalf("%d, %v", size, v)
	}
	if degrees, mm := triangle.sample(b, 0); math.Abs(degrees-0xAE53>>1/64.) > 0.02 || mm != 0 {
		t.Errorf("%v degrees, %d mm", degrees, mm)
	}
}

// The example of the document: 40 samples from 223.78 to 243.47 degrees, the first at 1000
// mm, the last at 8000.
func TestGoldenAngles(t *testing.T) {
	quarters := make([]uint16, 40)
	quarters[0], quarters[39] = 4000, 32000
	b := sealed(0, 0, quarters...)
	copy(b[4:], devicetest.Hex(t, "E5 6F BD 79"))
	for k, want := range map[int]struct {
		degrees float64
		mm      int
	}{0: {217.0178, 1000}, 1: {223.78 + 19.69/39, 0}, 39: {235.6326, 8000}} {
		if degrees, mm := triangle.sample(b, k); math.Abs(degrees-want.degrees) > 0.01 || mm != want.mm {
			t.Errorf("sample %d: %v degrees, %d mm, want %+v", k, degrees, mm, want)
		}
	}
}

// shaded is a packet of a T-mini: each distance, in 1/4 mm with two bits of something else, has an intensity in front.
func shaded(from, to float64, words ...uint16) []byte {
	p := sealed(from, to, words...)
	out, sum := slices.Clone(p[:headSize]), binary.LittleEndian.Uint16(p[8:])
	for i, w := range words {
		sum ^= uint16(200 + i)
		out = binary.LittleEndian.AppendUint16(append(out, byte(200+i)), w)
	}
	binary.LittleEndian.PutUint16(out[8:], sum)
	return out
}

// A T-mini has intensities, a TG mm, and neither has angles that are corrected. The T-mini's sample is the example of the
// SDK's document: 1F E5 6F is intensity 1F (or 11F, of models with ten bits) and 7161 mm.
func TestFormats(t *testing.T) {
	b := shaded(10, 20, 4000, 0x6FE5)
	if size, v := mini.inspect(b); size != headSize+6 || v != transport.Whole {
		t.Fatalf("%d, %v", size, v)
	}
	if degrees, mm := mini.sample(b, 1); degrees != 20 || mm != 7161 {
		t.Errorf("T-mini: %v degrees, %d mm", degrees, mm)
	}
	if degrees, mm := flight.sample(sealed(10, 20, 4000, 0x6FE5), 1); degrees != 20 || mm != 28645 {
		t.Errorf("TG: %v degrees, %d mm", degrees, mm)
	}
	b[headSize] ^= 1
	if _, v := mini.inspect(b); v != transport.Damaged {
		t.Errorf("an intensity that has changed: %v", v)
	}
}

func TestVerdicts(t *testing.T) {
	unchecked := sealed(10, 20, 4000, 4000)
	unchecked[6] ^= 1
	flipped := sealed(10, 20, 4000, 4000)
	flipped[12] ^= 4
	for name, tt := range map[string]struct {
		in   []byte
		want transport.Verdict
	}{
		"across the front": {sealed(355, 5, 4000, 4000), transport.Whole},
		"the widest":       {sealed(10, 190, 4000, 4000), transport.Whole},
		"too wide":         {sealed(10, 191, 4000, 4000), transport.Damaged},
		"counting down":    {sealed(10, 9, 4000, 4000), transport.Damaged},
		"no samples":       {sealed(10, 10), transport.Junk},
		"the most":         {sealed(10, 20, make([]uint16, 255)...), transport.Whole},
		"no check bit":     {unchecked, transport.Junk},
		"flipped":          {flipped, transport.Damaged},
		"info":             {answer(6), transport.Whole},
		"half of it":       {answer(6)[:20], transport.Partial},
		"another answer":   {dataAhead[:], transport.Junk},
	} {
		if _, got := triangle.inspect(tt.in); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Packets are found however they are cut, and behind whatever is in front of them.
func TestCuts(t *testing.T) {
	good := sealed(350, 3, 4000, 0, 8000)
	bad := slices.Clone(good)
	bad[11] ^= 1
	in := slices.Concat([]byte{0xA5, 0xAA, 0xAA}, golden(t), dataAhead[:], answer(5), good[:9], good, bad, good)
	parser.Cut(t, devicetest.Stream{Name: "packets", In: in, Packets: [][]byte{golden(t), answer(5), good, good}, Garbage: 35, Broken: 2})
}

func TestProbe(t *testing.T) {
	p, good := Kind().Probe, sealed(10, 20, 4000, 4000)
	answers := devicetest.Probe(t, p)
	answers("an X4", string(answer(6)), true, "", "YDLIDAR X4")
	answers("a TG30", string(answer(101)), true, "", "YDLIDAR TG30")
	answers("a T-mini", string(answer(150)), true, "", "YDLIDAR T-mini Pro")
	answers("packets of a T-mini", string(slices.Concat(shaded(10, 20, 4001, 4003), shaded(20, 30, 4001, 4003))), true, "", "")
	answers("one packet", string(good), false, "", "")
	answers("two", string(slices.Concat(good[3:], good, good, good[:9])), true, "", "")
	for _, model := range []byte{0x18, 0x71, 13, 103, 152, 255} { // an RPLIDAR's, and those with other packets
		if p.Recognise(answer(model)).Found {
			t.Errorf("model %d", model)
		}
	}
}

// FuzzInspect: recognised bytes can be read.
func FuzzInspect(f *testing.F) {
	f.Add(golden(f))
	f.Add(sealed(350, 3, 4000, 0, 8000))
	f.Add(answer(6))
	f.Fuzz(func(t *testing.T, in []byte) {
		parser.Account(t, in, func(b []byte) {
			if b[0] == info[0] {
				return
			}
			for k := range Packet(b).count() {
				if degrees, mm := triangle.sample(b, k); mm < 0 || !(math.Abs(degrees) < 700) {
					t.Fatalf("sample %d: %v degrees, %d mm", k, degrees, mm)
				}
			}
		})
	})
}

// All packets of one read are taken at once, also those that the buffer holds behind the
// first, and not with the next read.
func TestPacketsOfOneRead(t *testing.T) {
	b, driver := transporttest.NewKind(t, Kind())
	b.Subscribe()
	p := sealed(10, 11, 4000, 4000)
	b.Port().Say(slices.Concat(p, p, p, p[:5]))
	if got := driver.(*Driver).parser.Stats.Packets; got != 3 {
		t.Errorf("%d packets, want 3", got)
	}
}
