package ldlidar

import (
	"math"
	"slices"
	"testing"

	"player/devices/devicetest"
	"player/devices/transport"
)

// golden is the example of the manual.
func golden(t testing.TB) []byte {
	return devicetest.Hex(t, "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4"+
		" CA 00 E2 C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50")
}

func sealed(start, end int) []byte {
	p := make([]byte, packetSize)
	copy(p, head[:])
	p[4], p[5], p[42], p[43] = byte(start), byte(start>>8), byte(end), byte(end>>8)
	p[46] = sum(p[:46])
	return p
}

func TestGoldenPacket(t *testing.T) {
	b := golden(t)
	if size, v := inspect(b); size != packetSize || v != transport.Whole {
		t.Fatalf("%d, %v", size, v)
	}
	p := Packet(b)
	for k, want := range map[int]struct {
		degrees float64
		mm      int
	}{0: {324.27, 224}, 1: {325.218, 220}, 11: {334.70, 192}} {
		if degrees, mm := p.sample(k); math.Abs(degrees-want.degrees) > 0.001 || mm != want.mm {
			t.Errorf("sample %d: %v degrees, %d mm, want %+v", k, degrees, mm, want)
		}
	}
}

// A packet may cross the front.
func TestAngles(t *testing.T) {
	p := Packet(sealed(35700, 300))
	if degrees, _ := p.sample(11); p.span() != 600 || degrees != 363 {
		t.Errorf("span %d, last sample at %v degrees", p.span(), degrees)
	}
	for name, tt := range map[string]struct {
		start, end int
		want       transport.Verdict
	}{
		"the widest":       {100, 2100, transport.Whole},
		"too wide":         {100, 2101, transport.Damaged},
		"counting down":    {1000, 100, transport.Damaged},
		"no such angle":    {36000, 36100, transport.Damaged},
		"the last angle":   {35999, 35999, transport.Whole},
		"across the front": {35999, 1, transport.Whole},
	} {
		if _, got := inspect(sealed(tt.start, tt.end)); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Packets are found however they are cut, and behind whatever is in front of them.
func TestCuts(t *testing.T) {
	good := golden(t)
	bad := slices.Clone(good)
	bad[20] ^= 1
	in := slices.Concat([]byte{0x54, 0x54, 0x2C}, good, good[:30], good, bad, good)
	devicetest.Framed(inspect, packetSize).Cut(t, devicetest.Stream{Name: "packets", In: in, Packets: [][]byte{good, good, good}, Garbage: 80, Broken: 3})
}

func TestProbe(t *testing.T) {
	good := golden(t)
	answers := devicetest.Probe(t, Kind().Probe)
	answers("one packet", string(good), false, "", "")
	answers("two", string(slices.Concat(good[5:], good, good, good[:9])), true, "", "")
}
