package subsumption

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestMotorClipsWheels(t *testing.T) {
	// A turn of 40 deg/s moves each wheel by 112 mm/s.
	m := Motor{Wheel: 500, Axle: 320}
	for _, c := range []struct {
		speed, turn int
		want        Command
	}{
		{300, 40, Command{300, 40}},
		{300, -40, Command{300, -40}},
		{-300, 40, Command{-300, 40}},
		{0, 0, Command{}},
		{500, 0, Command{500, 0}},
		{900, 0, Command{500, 0}},
		{-900, 0, Command{-500, 0}},
		{500, 40, Command{444, 20}}, // the outer wheel cannot; the inner one follows the command
		{500, -40, Command{444, -20}},
		{0, 360, Command{0, 179}},
	} {
		if got := m.Command(0, want(c.speed, c.turn)); got != c.want {
			t.Errorf("%d mm/s, %d deg/s: got %+v, want %+v", c.speed, c.turn, got, c.want)
		}
	}
}

// TestMotorBlends: a new winner continues from the speed of the last one.
func TestMotorBlends(t *testing.T) {
	m := Motor{Accel: 500}
	for _, c := range []struct {
		at          time.Duration
		speed, want int
	}{
		{0, 300, 0},
		{50 * ms, 300, 25},
		{100 * ms, 300, 50},
		{600 * ms, 300, 300},
		{650 * ms, 300, 300},
		{700 * ms, 150, 150},  // slows down at once
		{750 * ms, -150, -25}, // backs up from standstill
		{800 * ms, -150, -50},
		{850 * ms, 0, 0},   // stops at once
		{850 * ms, 300, 0}, // no time has passed
		{851 * ms, 300, 1}, // half a mm/s, rounded
		{852 * ms, 300, 1}, // kept: 1.0
		{10 * time.Minute, 300, 300},
	} {
		if got := m.Command(c.at, want(c.speed, 7)); got != (Command{c.want, 7}) {
			t.Errorf("at %v: %d mm/s becomes %+v, want %d", c.at, c.speed, got, c.want)
		}
	}
}

func TestZeroMotorChangesNothing(t *testing.T) {
	for _, m := range []Motor{{}, {Wheel: 500}, {Axle: 320}} { // a wheel speed without an axle is no limit
		if got := m.Command(0, want(32767, -32768)); got != (Command{32767, -32768}) {
			t.Errorf("%+v: got %+v", m, got)
		}
	}
}

// TestMotorKeepsWheelsWithinLimits checks random outputs.
func TestMotorKeepsWheelsWithinLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	m, now := Pioneer(), time.Duration(0)
	for range 20000 {
		now += time.Duration(random.IntN(100)) * ms
		c := m.Command(now, want(random.IntN(2001)-1000, random.IntN(401)-200))
		rim := float64(c.Turn) * math.Pi / 180 * float64(m.Axle) / 2
		const rounding = 2.1 // mm/s: half a deg/s is 1.6, and half a mm/s
		if left, right := float64(c.Speed)-rim, float64(c.Speed)+rim; math.Abs(left) > 500+rounding || math.Abs(right) > 500+rounding {
			t.Fatalf("%+v: the wheels make %.0f and %.0f mm/s", c, left, right)
		}
	}
}
