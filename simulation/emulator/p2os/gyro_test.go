package p2os

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"
)

// A robot whose wheels slip turns less than its odometry says, and its gyro measures the truth,
// with a centre that drifts.
func TestGyro(t *testing.T) {
	b := opened(t, Options{Subclass: "p3dx", Slip: 0.25, Gyro: Gyro{Fitted: true, Drift: 0.1}})
	b.say("3A 3B 01 00") // GYRO 1
	b.say("15 3B 28 00") // RVEL 40
	var turned float64
	for range 20 {
		b.say("00")
		b.sent = nil
		b.run(100 * time.Millisecond)
		body, ok := parsePacket(b.sent[0])
		if !ok || len(b.sent) != 2 || body[0] != 0x98 || body[1] != 4 || len(body) != 2+4*3 {
			t.Fatalf("% X", b.sent)
		}
		for list := body[2:]; len(list) > 0; list = list[3:] {
			at := b.now.Seconds()
			turned -= (float64(binary.LittleEndian.Uint16(list)) - 512.4 - 0.1*at) * 5 / 1023 * 300 / 2.5 * 1.626 * 0.025
		}
	}
	s := b.State()
	if !near(s.Odometry.Heading, 80, 1) || !near(s.World.Heading, 60, 1) || !near(turned, 60, 1) {
		t.Errorf("odometry %v, world %v, gyro %v degrees, want 80, 60, 60", s.Odometry.Heading, s.World.Heading, turned)
	}
	b.say("02")
	for _, body := range []string{"00", "01", "02", "01"} {
		b.say(body)
	}
	b.sent = nil
	b.run(100 * time.Millisecond)
	if len(b.sent) != 1 {
		t.Error("the gyro sends after CLOSE")
	}
}

// Moves and rotations by a given amount, and the commands that end them early.
func TestGoals(t *testing.T) {
	for _, tt := range []struct {
		name       string
		say        []string
		x, heading float64
	}{
		{"MOVE", []string{"08 3B F4 01"}, 500, 0},
		{"MOVE back", []string{"08 1B F4 01"}, -500, 0},
		{"DHEAD", []string{"0D 3B 5A 00"}, 0, 90},
		{"DHEAD right, twice", []string{"0D 1B 2D 00", "0D 1B 2D 00"}, 0, -45}, // anew, from where it is
		{"HEAD the shorter way", []string{"0C 3B 0E 01"}, 0, -90},
		{"MOVE and STOP", []string{"08 3B F4 01", "1D"}, 0, 0},
		{"MOVE and VEL2", []string{"08 3B F4 01", "20 3B 00 00"}, 0, 0},
		{"motors off", []string{"04 3B 00 00", "08 3B F4 01", "04 3B 01 00"}, 0, 0},
	} {
		b := opened(t, Options{Accel: 500})
		b.drive.accel, b.drive.decel = 500, 500
		for _, body := range tt.say {
			b.say(body)
		}
		for range 60 {
			b.say("00")
			b.run(100 * time.Millisecond)
		}
		s := b.State()
		if !near(s.World.X, tt.x, 5) || !near(s.World.Heading, tt.heading, 1) || s.Left != 0 || math.Abs(s.World.Y) > 5 {
			t.Errorf("%s: %+v, want x %v, heading %v", tt.name, s.World, tt.x, tt.heading)
		}
	}
}

// Robots since the Pioneer 3 report the stage of their charger.
func TestCharge(t *testing.T) {
	for model, want := range map[string]int{"p2dx": 0, "p3dx": 7, "p3at-sh": 7} {
		b := opened(t, Options{Subclass: model})
		b.sonarOn = false
		b.SetCharge(2)
		body := b.appendSIP(nil)
		if len(body) != 25+want || want > 0 && body[27] != 2 {
			t.Errorf("%s: % X", model, body)
		}
	}
}

func TestObjections(t *testing.T) {
	b := newBench(t, Options{})
	for _, body := range []string{"20 3B 00 00", "00", "01", "02", "01", "0B", "C8 3B 01 00", "0B 3B 64 00"} {
		b.say(body)
	}
	want := []string{"32 before SYNC0", "VEL without its argument", "there is no command 200"}
	if got := b.State().Objections; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
