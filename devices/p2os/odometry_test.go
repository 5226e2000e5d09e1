package p2os

import "testing"

func TestOdometry(t *testing.T) {
	tests := []struct {
		name     string
		raw      [][2]uint16
		x, y     int
		rejected int
	}{
		{"the first SIP is the reference", [][2]uint16{{4000, 17}}, 0, 0, 0},
		{"forward", [][2]uint16{{100, 0}, {200, 10}}, 83, 8, 0}, // 82.6, 8.26
		{"back over the wrap", [][2]uint16{{0, 0}, {0x0FF8, 0}}, -7, 0, 0},
		{"forward over the wrap", [][2]uint16{{4090, 4095}, {6, 0}}, 10, 1, 0},
		{"upper four bits do not count", [][2]uint16{{0xF010, 0x1000}, {0x1020, 0xF000}}, 13, 0, 0},
		{"121 units are 100 mm", [][2]uint16{{0, 0}, {121, 121}}, 100, 100, 0},
		{"122 units are too much", [][2]uint16{{0, 0}, {122, 0}}, 0, 0, 1},
		{"back too", [][2]uint16{{200, 0}, {78, 0}}, 0, 0, 1},
		{"half a wrap", [][2]uint16{{0, 0}, {2048, 0}}, 0, 0, 1},
		{"a jump discards both axes, the next counts from it", [][2]uint16{{0, 0}, {1000, 50}, {1050, 60}}, 41, 8, 1},
		{"small steps do not add up rounding", [][2]uint16{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}}, 4, 4, 0},
	}
	for _, tt := range tests {
		var o Odometry
		rejected := 0
		for _, raw := range tt.raw {
			if !o.Update(raw[0], raw[1]) {
				rejected++
			}
		}
		if o.X() != tt.x || o.Y() != tt.y || rejected != tt.rejected {
			t.Errorf("%s: (%d, %d) mm, %d rejected, want (%d, %d), %d",
				tt.name, o.X(), o.Y(), rejected, tt.x, tt.y, tt.rejected)
		}
	}
}

func TestOdometryReset(t *testing.T) {
	var o Odometry
	o.Update(100, 100)
	o.Update(150, 100)
	o.Reset()
	if o.X() != 0 || o.Y() != 0 {
		t.Errorf("after Reset (%d, %d)", o.X(), o.Y())
	}
	// One SIP from before SETO took effect, then from 0.
	o.Update(110, 100)
	o.Update(0, 0)
	o.Update(10, 4090)
	if o.X() != 8 || o.Y() != -5 {
		t.Errorf("after Reset and a late SIP (%d, %d), want (8, -5)", o.X(), o.Y())
	}
	// The same with a late SIP that is too far to be believed.
	o.Reset()
	if o.Update(2000, 0) || o.Update(0, 0) || !o.Update(10, 0) {
		t.Error("jumps of a late SIP are not rejected, or the step after them is")
	}
	if o.X() != 8 || o.Y() != 0 {
		t.Errorf("after Reset and a far late SIP (%d, %d), want (8, 0)", o.X(), o.Y())
	}
}

// TestOdometryRoundTrip drives away and back in steps that do not divide
// evenly, several times around the wrap.
func TestOdometryRoundTrip(t *testing.T) {
	const step, steps = 37, 1000
	var o Odometry
	o.Update(0, 0)
	raw := 0
	drive := func(by int) {
		for range steps {
			raw += by
			if !o.Update(uint16(raw&4095), uint16(-raw&4095)) {
				t.Fatal("step rejected")
			}
		}
	}
	drive(step)
	if o.X() != 30562 || o.Y() != -30562 {
		t.Errorf("away: (%d, %d) mm, want ±30562", o.X(), o.Y())
	}
	drive(-step)
	if o.X() != 0 || o.Y() != 0 {
		t.Errorf("back: (%d, %d) mm, want 0", o.X(), o.Y())
	}
}

// TestOdometryRecorded follows a robot that drove 236 mm back from where SETO
// was sent, and returned the same way past it to 236 mm in front.
func TestOdometryRecorded(t *testing.T) {
	packets, _ := recording(t, "wrap.hex")
	var o Odometry
	var s SIP
	least, most, last := 0, 0, 0
	for i, packet := range packets {
		if i == 7 {
			o.Reset()
		}
		if s.Decode(packet) != nil {
			continue
		}
		if !o.Update(s.X, s.Y) {
			t.Errorf("packet %d: rejected", i)
		}
		last = o.X()
		least, most = min(least, last), max(most, last)
		if s.X == 0 && last != 0 {
			t.Errorf("packet %d: %d mm where the robot says 0", i, last)
		}
	}
	if least != -236 || most != 236 || last != 236 || o.Y() != 0 {
		t.Errorf("x from %d to %d, at last %d, y %d; want -236 to 236, 236, 0", least, most, last, o.Y())
	}
}
