package p2os

import (
	"math"
	"testing"
)

func TestWheelVelocities(t *testing.T) {
	tests := []struct {
		speed, turnRate int16
		left, right     int8
	}{
		{0, 0, 0, 0},
		// Recorded from the original server.
		{200, 0, 10, 10},
		{-300, 0, -15, -15},
		{300, 0, 15, 15},
		{100, 0, 5, 5},
		{100, 10, 3, 6},
		{120, 15, 3, 8},
		{0, 20, -2, 2},
		{0, 30, -4, 4},
		{-200, -30, -5, -14},
		{1000, 0, 25, 25},
		{-1000, 0, -25, -25},
		{0, 300, -25, 25},
		// The original clips the faster wheel alone (25 and 17 for the first);
		// here the curve stays.
		{900, 200, 5, 25},
		{900, -200, 25, 5},
		{-900, 200, -25, -5},
		{500, 10, 22, 25},
		{32767, 32767, -11, 25},
		{-32768, -32768, 11, -25},
		{19, 0, 0, 0},
		{-19, 0, 0, 0},
		{500, 0, 25, 25},
		{501, 0, 25, 25},
	}
	for _, tt := range tests {
		if left, right := WheelVelocities(tt.speed, tt.turnRate); left != tt.left || right != tt.right {
			t.Errorf("%d mm/s, %d deg/s: left %d, right %d, want %d, %d",
				tt.speed, tt.turnRate, left, right, tt.left, tt.right)
		}
	}
}

// TestWheelVelocitiesLimit tries the whole plane: no wheel over the limit, the
// faster one at the limit exactly when it would be over it, curves kept to the
// unit's resolution.
func TestWheelVelocitiesLimit(t *testing.T) {
	for speed := -32768; speed <= 32767; speed += 97 {
		for turnRate := -32768; turnRate <= 32767; turnRate += 89 {
			left, right := WheelVelocities(int16(speed), int16(turnRate))
			turn := float64(turnRate) * math.Pi / 180 * 160
			l, r := float64(speed)-turn, float64(speed)+turn
			fastest := max(math.Abs(l), math.Abs(r))
			scale := min(1, 500/fastest)
			if over := max(math.Abs(float64(left)), math.Abs(float64(right))); over > 25 || fastest > 500 && over != 25 {
				t.Fatalf("%d, %d: wheels %d, %d", speed, turnRate, left, right)
			}
			if math.Abs(float64(left)-l*scale/20) > 1 || math.Abs(float64(right)-r*scale/20) > 1 {
				t.Fatalf("%d, %d: wheels %d, %d, want about %.1f, %.1f", speed, turnRate, left, right, l*scale/20, r*scale/20)
			}
		}
	}
}

func TestSeparateVelocities(t *testing.T) {
	tests := []struct{ speed, turnRate, vel, rvel int16 }{
		{0, 0, 0, 0},
		{120, 15, 120, 15},
		{-130, -20, -130, -20},
		{900, 200, 500, 100},
		{-32768, -32768, -500, -100},
	}
	for _, tt := range tests {
		if vel, rvel := SeparateVelocities(tt.speed, tt.turnRate); vel != tt.vel || rvel != tt.rvel {
			t.Errorf("%d mm/s, %d deg/s: %d, %d, want %d, %d", tt.speed, tt.turnRate, vel, rvel, tt.vel, tt.rvel)
		}
	}
}
