package p2os

import (
	"bytes"
	"testing"

	"player/simulation/emulator/internal/rawhost"
)

// The packets are from recordings, except the upper bits of coordinates below 0.
func TestSIP(t *testing.T) {
	tests := []struct {
		name string
		set  func(r *Robot)
		want string
	}{
		{"sonar off", func(r *Robot) { r.sips = 4 },
			"FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93"},
		{"sonars, odometry kept", func(r *Robot) { r.sonarOn = true; r.drive.odometry.X = 4000 * r.model.unit },
			"FA FB 27 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 04 00 E8 03 01 4C 04 02 B0 04 03 14 05 00 11 80 06 00 5A DC"},
		{"last sonars", func(r *Robot) {
			r.sonarOn, r.nextSonar, r.sips = true, 12, 3
			r.drive.odometry.X = 4000 * r.model.unit
		},
			"FA FB 27 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 04 0C 98 08 0D FC 08 0E 60 09 0F C4 09 03 11 80 06 00 DF 5C"},
		{"stall, bumpers, no compass", func(r *Robot) {
			r.stallLeft, r.front, r.rear, r.compass = true, 0x10, 0x01, 255
			r.sips = 5
		}, "FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 03 20 00 00 00 00 FF 00 05 11 80 06 00 B9 B3"},
		{"moving, motors, wrapped", func(r *Robot) {
			r.enable(true)
			r.drive.left, r.drive.right = -120, -460
			r.drive.odometry = Pose{0xE4 * r.model.unit, -8 * r.model.unit, 0x54 * 360. / 4096}
			r.sips = 0x1A
		}, "FA FB 1B 33 E4 00 F8 7F 54 00 88 FF 34 FE 7C 00 00 00 00 01 00 2E 00 1A 11 80 06 00 7B 7F"},
		{"negative heading", func(r *Robot) {
			r.enable(true)
			r.drive.odometry = Pose{0xA0 * r.model.unit, -13 * r.model.unit, -40 * 360. / 4096}
			r.sips = 0x1D
		}, "FA FB 1B 32 A0 00 F3 7F D8 0F 00 00 00 00 7C 00 00 00 00 01 00 2E 00 1D 11 80 06 00 8E FE"},
	}
	for _, tt := range tests {
		r := newRobot(Options{})
		r.digitalIn = 6
		tt.set(r)
		if got := packetOf(r.appendSIP(nil)); !bytes.Equal(got, rawhost.Bytes(t, tt.want)) {
			t.Errorf("%s:\n got % X\nwant %s", tt.name, got, tt.want)
		}
	}
}
