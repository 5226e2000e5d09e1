package detect_test

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/create"
	"player/devices/evid30"
	"player/devices/p2os"
	"player/devices/rplidar"
	"player/devices/sicklms200"
	"player/devices/urg"
	"player/e2e/must"
)

// stranger returns Link.Stranger of a driver that no kind with a Probe has made.
func stranger(t *testing.T) func(heard []byte) string {
	table := devices.NewTable(zap.NewNop())
	table.Kinds = []devices.Kind{create.Kind(), evid30.Kind(), p2os.Kind(), rplidar.Kind(), sicklms200.Kind(), urg.Kind()}
	link := must.Get(table.Attach(devices.Instance{Name: "other"}))(t)
	return link.Stranger
}

func TestStranger(t *testing.T) {
	recognise := stranger(t)
	const robot, laser, camera = "a P2OS robot", "a SICK laser", "a VISCA camera"
	for _, tt := range []struct{ name, bytes, want string }{
		{"the robot's names", "FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55", robot},
		{"a report of an odd length",
			"FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93", robot},
		{"a laser's acknowledgement", "02 80 03 00 A0 00 10 16 0A", laser},
		{"a laser's refusal", "02 80 02 00 92 10 7F 33", laser},
		{"the laser's name", "02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 31 30 20 10 99 AB", laser},
		{"a camera's position", "90 50 0F 0E 0F 08 00 00 07 08 FF", camera},
		{"a camera's acknowledgement", "90 41 FF", camera},
		{"a camera on standby", "90 60 41 FF", camera},
		{"a camera that was switched on", "90 38 FF", camera},

		{"nothing", "", ""},
		{"a request to a robot, returned", "FA FB 03 00 00 00", ""},
		{"a request to a laser, returned", "02 00 02 00 20 25 35 08", ""},
		{"requests to a camera, returned", "88 30 01 FF 81 01 00 01 FF 81 09 06 12 FF", ""},
		{"a robot's checksum is wrong", "FA FB 06 04 3B 01 00 05 3C", ""},
		{"the beginning of a scan", "02 80 D6 02 B0", laser},
		{"a laser's CRC is wrong", "02 80 03 00 A0 00 10 16 0B", ""},
		{"text", "6C 6F 67 69 6E 3A 20", ""},
	} {
		b := must.Get(hex.DecodeString(strings.ReplaceAll(tt.bytes, " ", "")))(t)
		if got := recognise(b); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		within := slices.Concat([]byte{0x90, 0x02, 0x80, 0xFA}, b, []byte{0xFA, 0xFB, 0x02, 0x80, 0x90})
		if got := recognise(within); got != tt.want {
			t.Errorf("%s, within noise: %q, want %q", tt.name, got, tt.want)
		}
		for cut := range b { // a part is not taken for another packet
			if got := recognise(b[:cut]); got != "" {
				t.Errorf("%s, cut to %d bytes: %q", tt.name, cut, got)
			}
		}
	}
}

// Noise is not recognised as a robot or a laser: their packets have checksums.
func TestStrangerNoise(t *testing.T) {
	recognise := stranger(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 2048)
	for range 200 {
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		if got := recognise(b); got != "" && got != "a VISCA camera" {
			t.Fatalf("noise is %q", got)
		}
	}
}
