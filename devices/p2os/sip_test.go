package p2os

import (
	"encoding/binary"
	"errors"
	"testing"

	"player/devices/devicetest"
	"player/e2e/must"
)

// A moving robot with four sonar readings, one of them not a sonar.
const sipBody = "33 D0 0F F3 0F D8 FF 88 FF 34 FE 7C 03 20 39 30 01 00 2E " +
	"04 00 E8 03 0F 4C 04 20 FF FF 02 B0 04 05 11 80 06 07"

func TestSIP(t *testing.T) {
	var s SIP
	s.Sonar[1] = 77 // of an earlier packet
	must.Do(t, s.Decode(appendPacket(nil, devicetest.Hex(t, sipBody)...)))
	want := SIP{
		X: 0x0FD0, Y: 0x0FF3, Heading: -40, Left: -120, Right: -460, Battery: 124,
		LeftStallRear: 0x03, RightStallFront: 0x20, Flags: 1, Compass: 0x2E,
		Sonar:        [robotSonars]uint16{0: 1000, 1: 77, 2: 1200, 15: 1100},
		GripperState: 0x11, Digital: 0x06, Analog: 0x80, Output: 0x07,
	}
	if s != want {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"heading", testModel.degrees(float64(s.Heading)), 356}, // -3.5 degrees
		{"compass", s.CompassDegrees(-1), 90},
		{"speed", testModel.Speed(&s), -290},
		{"turn rate", testModel.TurnRate(&s), -60}, // -60.9
		{"sonar 0", int(testModel.RangeMM(&s, 0)), 268},
		{"sonar 15", int(testModel.RangeMM(&s, 15)), 295}, // 294.8
		{"front bumpers", int(s.FrontBumpers()), 0x10},
		{"rear bumpers", int(s.RearBumpers()), 0x01},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
	if !s.LeftStall() || s.RightStall() {
		t.Errorf("stall left %v, right %v, want left only", s.LeftStall(), s.RightStall())
	}
}

func TestSIPTypesAndLengths(t *testing.T) {
	whole := devicetest.Hex(t, sipBody)
	for _, tt := range []struct {
		name string
		body []byte
		err  error
	}{
		{"whole", whole, nil},
		{"with more behind", append(devicetest.Hex(t, sipBody), 1, 2, 3), nil},
		{"one byte", []byte{0x32}, ErrShortSIP},
		{"sonar count lies", func() []byte { b := devicetest.Hex(t, sipBody); b[19] = 5; return b }(), ErrShortSIP},
		{"sonar count lies high", func() []byte { b := devicetest.Hex(t, sipBody); b[19] = 255; return b }(), ErrShortSIP},
		{"more readings than sonars", manyReadings(17), nil},
		{"SYNC2 answer", []byte("\x02Emu01\x00"), ErrNotSIP},
		{"configuration packet", []byte{0x20, 0}, ErrNotSIP},
	} {
		s := SIP{Battery: 99}
		if err := s.Decode(appendPacket(nil, tt.body...)); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		} else if err != nil && s != (SIP{Battery: 99}) {
			t.Errorf("%s: changed to %+v in spite of the error", tt.name, s)
		}
	}
	for cut := 1; cut < len(whole); cut++ {
		var s SIP
		if err := s.Decode(appendPacket(nil, whole[:cut]...)); !errors.Is(err, ErrShortSIP) {
			t.Errorf("cut at %d: %v, want %v", cut, err, ErrShortSIP)
		}
	}
	for kind := range 256 {
		whole[0] = byte(kind)
		var s SIP
		err := s.Decode(appendPacket(nil, whole...))
		if want := kind >= 0x30 && kind <= 0x34; want != (err == nil) {
			t.Errorf("type %X: %v", kind, err)
		}
	}
}

// manyReadings is the body of a SIP that lists each sonar, and index 0 again.
func manyReadings(n int) []byte {
	b := make([]byte, sipSonars, 200)
	b[0], b[sipSonarCount] = 0x32, byte(n)
	for i := range n {
		b = append(b, byte(i%16))
		b = binary.LittleEndian.AppendUint16(b, uint16(1000+i))
	}
	return append(b, make([]byte, sipTrailer)...)
}

func TestSIPLastReadingWins(t *testing.T) {
	var s SIP
	must.Do(t, s.Decode(appendPacket(nil, manyReadings(17)...)))
	want := [robotSonars]uint16{1016}
	for i := 1; i < 16; i++ {
		want[i] = uint16(1000 + i)
	}
	if s.Sonar != want {
		t.Errorf("sonar %v, want %v", s.Sonar, want)
	}
}

func TestConversions(t *testing.T) {
	for raw, want := range map[int]int{
		0: 0, 1: 0, 6: 1, 1024: 90, 2048: 180, -1024: 270, -1: 0, -6: 359, 4056: 356, 4090: 359, 4096: 0,
		4096 + 1024: 90,
	} {
		if got := testModel.degrees(float64(raw)); got != want {
			t.Errorf("heading %d: %d degrees, want %d", raw, got, want)
		}
	}
	for raw := -32768; raw <= 32767; raw++ {
		if got := testModel.degrees(float64(raw)); got < 0 || got > 359 {
			t.Fatalf("heading %d: %d degrees", raw, got)
		}
	}
	for code, want := range map[byte]int{0: 123, 1: 0, 2: 2, 46: 90, 180: 358, 181: 123, 182: 123, 254: 123, 255: 123} {
		if got := (&SIP{Compass: code}).CompassDegrees(123); got != want {
			t.Errorf("compass %d: %d degrees, want %d", code, got, want)
		}
	}
	for _, tt := range []struct {
		left, right    int16
		speed, turning int
	}{ // recorded from the original server, except the last two
		{60, 120, 90, 10}, // 10.7
		{-40, 40, 0, 14},
		{-100, -280, -190, -32},
		{500, 500, 500, 0},
		{-500, 500, 0, 179},
		{-1, 0, 0, 0},
		{-32768, 32767, 0, 11733},
	} {
		s := SIP{Left: tt.left, Right: tt.right}
		if testModel.Speed(&s) != tt.speed || testModel.TurnRate(&s) != tt.turning {
			t.Errorf("wheels %d, %d: %d mm/s, %d deg/s, want %d, %d",
				tt.left, tt.right, testModel.Speed(&s), testModel.TurnRate(&s), tt.speed, tt.turning)
		}
	}
	for raw, want := range map[uint16]int{0: 0, 1: 0, 2: 1, 1000: 268, 2500: 670, 65535: 17563} {
		if got := int(testModel.RangeMM(&SIP{Sonar: [robotSonars]uint16{3: raw}}, 3)); got != want {
			t.Errorf("sonar %d: %d mm, want %d", raw, got, want)
		}
	}
	s := SIP{LeftStallRear: 0xFE, RightStallFront: 0xFF}
	if s.LeftStall() || !s.RightStall() || s.RearBumpers() != 0x1F || s.FrontBumpers() != 0x1F {
		t.Errorf("stall %v %v, bumpers %X %X", s.LeftStall(), s.RightStall(), s.RearBumpers(), s.FrontBumpers())
	}
}
