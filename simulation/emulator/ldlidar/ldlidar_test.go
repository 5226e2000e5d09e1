package ldlidar

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"player/simulation/emulator/internal/rawhost"
	"player/simulation/emulator/room"
)

// The checksum of the example in LDROBOT's manual is its last byte.
func TestChecksum(t *testing.T) {
	const example = "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4" +
		" CA 00 E2 C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50"
	b := rawhost.Bytes(t, example)
	if got := crc(b[:len(b)-1]); got != b[len(b)-1] {
		t.Errorf("%02X, want %02X", got, b[len(b)-1])
	}
}

// Packets have the speed in deg/s, the first and the last angle in 0.01 deg, twelve distances in mm with intensities,
// the time in ms and the checksum, least significant byte first.
func TestPackets(t *testing.T) {
	samples := strings.Repeat(" E8 03 C8", 12)
	d := &Lidar{opts: Options{Rate: 10, Room: func(float64) float64 { return 1000 }}}
	for i, want := range []string{
		"54 2C 10 0E 00 00" + samples + " 70 03 00 00 3A",
		"54 2C 10 0E C0 03" + samples + " 30 07 02 00 D6",
	} {
		if got := d.packet(); !bytes.Equal(got, rawhost.Bytes(t, want)) {
			t.Errorf("packet %d: % X, want %s", i, got, want)
		}
	}
}

// A revolution has 450 samples at 10 Hz, and sees the room clockwise.
func TestRevolution(t *testing.T) {
	d := &Lidar{opts: Options{Rate: 10, Room: func(degrees float64) float64 { return 100 + degrees }}}
	before, wraps := -1.0, 0
	for range 75 { // two revolutions
		p := d.packet()
		if len(p) != 47 || p[46] != crc(p[:46]) {
			t.Fatalf("% X", p)
		}
		first, last := binary.LittleEndian.Uint16(p[4:]), binary.LittleEndian.Uint16(p[42:])
		if span := (int(last) + 36000 - int(first)) % 36000; span != 880 {
			t.Errorf("a packet spans %d hundredths of a degree: 11 steps of 0.8 degrees are 880", span)
		}
		for k := range 12 {
			angle := float64(int(p[6+3*k])|int(p[7+3*k])<<8) - 100
			if angle < before {
				wraps++
			}
			before = angle
		}
	}
	if wraps != 1 {
		t.Errorf("%d samples are behind their predecessors", wraps)
	}
	for name, at := range map[string]struct{ degrees, square, door float64 }{
		"corner": {45, 2828.4, 2828.4}, "door": {-5, 2007.6, 4015.3}, "next to the door": {11, 2037.4, 2037.4}, "behind": {180, 2000, 2000},
	} {
		if square, door := room.Or(nil)(at.degrees), room.Door(at.degrees); math.Abs(square-at.square) > 0.1 || math.Abs(door-at.door) > 0.1 {
			t.Errorf("%s: %v mm, %v mm with a door", name, square, door)
		}
	}
}
