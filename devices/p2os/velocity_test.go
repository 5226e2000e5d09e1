package p2os

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"player/e2e/must"
)

// sent returns the packets for one command in direct mode, as names.
func (d *direct) sent(m *Model, speed, turnRate int16) string {
	return strings.Join(names(d.append(nil, m, speed, turnRate)), ", ")
}

func TestDirect(t *testing.T) {
	for _, tt := range []struct {
		speed, turnRate int16
		want            string
	}{
		// VEL2 where it is exact, byte by byte as the original server sent it.
		{0, 0, "VEL2 3B 00 00"},
		{200, 0, "VEL2 3B 0A 0A"},
		{-300, 0, "VEL2 3B F1 F1"},
		{500, 0, "VEL2 3B 19 19"},
		{1000, 0, "VEL2 3B 19 19"},
		{-1000, 0, "VEL2 3B E7 E7"},
		// The original truncated these: to a standstill, and to 20 mm/s.
		{0, 7, "VEL 3B 00 00, RVEL 3B 07 00"},
		{19, 0, "VEL 3B 13 00, RVEL 3B 00 00"},
		{-19, 0, "VEL 1B 13 00, RVEL 3B 00 00"},
		{39, 0, "VEL 3B 27 00, RVEL 3B 00 00"},
		{0, -30, "VEL 3B 00 00, RVEL 1B 1E 00"},
		{0, 100, "VEL 3B 00 00, RVEL 3B 64 00"},
		// Too fast for RVEL: the nearest steps, the curve kept.
		{0, 101, "VEL2 3B 0E F2"}, // 282 mm/s
		{0, 300, "VEL2 3B 19 E7"},
		{32767, 32767, "VEL2 3B 19 F4"}, // 500, -236
		// Too fast for a wheel: slowed, the curve kept.
		{900, 200, "VEL 3B 34 01, RVEL 3B 44 00"}, // 308 of 900, 68 of 200
		{500, 10, "VEL 3B D9 01, RVEL 3B 09 00"},
	} {
		var d direct
		m := testModel
		if got := d.sent(&m, tt.speed, tt.turnRate); got != tt.want {
			t.Errorf("%d mm/s, %d deg/s: %s, want %s", tt.speed, tt.turnRate, got, tt.want)
		}
	}
}

// A robot with nothing but VEL2 drives right on average.
func TestStepsAreRightOnAverage(t *testing.T) {
	for _, vel2 := range []float64{20, 4} {
		m := testModel
		m.Turns, m.Vel2 = false, vel2
		for _, c := range [][2]int16{{19, 0}, {39, 0}, {0, 7}, {-1, 0}, {3, 1}, {210, -35}, {490, 0}, {900, 200}} {
			var d direct
			var left, right float64
			const packets = 1000
			for range packets {
				var l, r byte
				must.Get(fmt.Sscanf(d.sent(&m, c[0], c[1]), "VEL2 3B %X %X", &r, &l))(t)
				left, right = left+vel2*float64(int8(l)), right+vel2*float64(int8(r))
			}
			wantLeft, wantRight, _, _ := m.wheels(c[0], c[1])
			if math.Abs(left/packets-wantLeft) > vel2/packets || math.Abs(right/packets-wantRight) > vel2/packets {
				t.Errorf("%v in steps of %v: wheels %.2f, %.2f mm/s, want %.2f, %.2f", c, vel2, left/packets, right/packets, wantLeft, wantRight)
			}
			if got := d.sent(&m, 0, 0); got != "VEL2 3B 00 00" {
				t.Errorf("stop: %s", got)
			}
		}
	}
}

// TestWheels tries the whole plane: no wheel over the limit, the faster one at the
// limit exactly when it would be over it, curves kept.
func TestWheels(t *testing.T) {
	m := testModel
	for speed := -32768; speed <= 32767; speed += 97 {
		for turnRate := -32768; turnRate <= 32767; turnRate += 89 {
			left, right, v, w := m.wheels(int16(speed), int16(turnRate))
			turn := float64(turnRate) * math.Pi / 180 * 160
			l, r := float64(speed)-turn, float64(speed)+turn
			fastest := max(math.Abs(l), math.Abs(r))
			slow := min(1, 500/fastest)
			if over := max(math.Abs(left), math.Abs(right)); over > 500.001 || fastest > 500 && over < 499.999 {
				t.Fatalf("%d, %d: wheels %v, %v", speed, turnRate, left, right)
			}
			for _, d := range []float64{left - l*slow, right - r*slow, v - float64(speed)*slow, w - float64(turnRate)*slow} {
				if math.Abs(d) > 1e-6 {
					t.Fatalf("%d, %d: wheels %v, %v, speed %v, turn rate %v", speed, turnRate, left, right, v, w)
				}
			}
		}
	}
}

func TestSeparateVelocities(t *testing.T) {
	for _, tt := range []struct{ speed, turnRate, vel, rvel int16 }{
		{0, 0, 0, 0},
		{120, 15, 120, 15},
		{-130, -20, -130, -20},
		{900, 200, 500, 100},
		{-32768, -32768, -500, -100},
	} {
		if vel, rvel := SeparateVelocities(tt.speed, tt.turnRate); vel != tt.vel || rvel != tt.rvel {
			t.Errorf("%d mm/s, %d deg/s: %d, %d, want %d, %d", tt.speed, tt.turnRate, vel, rvel, tt.vel, tt.rvel)
		}
	}
}
