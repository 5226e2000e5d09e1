package wheels

import (
	"math"
	"testing"
	"time"

	"player/codec"
)

const (
	ms   = time.Millisecond
	base = 235
)

func TestSpeeds(t *testing.T) {
	for _, tt := range []struct{ speed, turn, left, right float64 }{
		{0, 0, 0, 0},
		{100, 0, 100, 100},
		{1, 0, 1, 1},
		{0, 7, -14.36, 14.36},
		{0, 90, -184.57, 184.57},
		{-200, 0, -200, -200},
		{600, 0, 500, 500},
		{500, 90, 230.38, 500}, // 315 and 685, slowed by the same factor
		{0, -32768, 500, -500},
	} {
		if left, right := Speeds(tt.speed, tt.turn, base, 500); math.Abs(left-tt.left) > 0.01 || math.Abs(right-tt.right) > 0.01 {
			t.Errorf("%v mm/s %v deg/s: %v %v, want %v %v", tt.speed, tt.turn, left, right, tt.left, tt.right)
		}
	}
}

func TestOdometry(t *testing.T) {
	const eighth = base * math.Pi / 8 // mm of a wheel, on the spot
	o := Odometry{Base: base}
	var d codec.PositionData
	now := time.Second
	drive := func(left, right float64, steps int) {
		for range steps {
			now += 15 * ms
			o.Move(now, left/float64(steps), right/float64(steps))
		}
		o.Fill(&d)
	}
	drive(1000, 1000, 100)
	if d != (codec.PositionData{X: 1000, Speed: 667}) {
		t.Fatalf("after a metre: %+v", d)
	}
	drive(-eighth, eighth, 50)
	if d.Heading != 45 || d.X != 1000 || d.Y != 0 || d.Speed != 0 || d.TurnRate != 60 {
		t.Fatalf("after an eighth of a turn: %+v", d)
	}
	drive(1000, 1000, 1)
	if d.X != 1707 || d.Y != 707 {
		t.Fatalf("another metre: %+v", d)
	}
	o.Forget()
	drive(-1000, -1000, 100)
	if d.X != 1000 || d.Y != 0 || d.Heading != 45 || d.Speed != -667 {
		t.Fatalf("and back: %+v", d)
	}
	drive(0, 2*base*math.Pi*100, 1000) // turns around the left wheel
	drive(0, 0, samples)
	if d.Heading != 45 || d.Speed != 0 || d.TurnRate != 0 {
		t.Fatalf("after a hundred turns: %+v", d)
	}
	o.Reset()
	drive(0, 0, 1)
	if d != (codec.PositionData{}) {
		t.Fatalf("after a reset: %+v", d)
	}
}

// A gyroscope tells the rotation but for whole turns, which the wheels tell though they slip.
func TestGyroAfterAnOutage(t *testing.T) {
	const radius = 400
	o := Counts{Odometry: Odometry{Base: base}, MMPerCount: 0.1, Fastest: 1000}
	var d codec.PositionData
	for i, turn := range []float64{0.1, 2, 4, 6, -5} {
		o.Reset()
		o.Restart()
		now := time.Duration(i+1) * time.Minute
		o.Update(now, 0, 0, 0)
		counts := func(side float64) uint16 {
			return uint16(int(math.Round((math.Abs(turn)*radius + side*1.1*turn*base/2) / 0.1)))
		}
		if !o.Update(now+5*time.Second, counts(-1), counts(1), math.Remainder(turn, 2*math.Pi)) {
			t.Fatalf("%v rad: not believed", turn)
		}
		o.Fill(&d)
		x, y := math.Abs(radius*math.Sin(turn)), radius*(1-math.Cos(turn))
		if math.Abs(math.Abs(float64(d.X))-x) > 1 || math.Abs(math.Abs(float64(d.Y))-y) > 1 || d.Heading != Degrees(turn*180/math.Pi) {
			t.Errorf("%v rad: %+v, want %.0f and %.0f mm", turn, d, x, y)
		}
	}
}

// Counts show that a robot has restarted. Its gyroscope has begun anew as well, so the heading stays.
func TestGyroAfterARestart(t *testing.T) {
	o := Counts{Odometry: Odometry{Base: base}, MMPerCount: 0.1, Fastest: 1000}
	const period = 20 * time.Millisecond
	for i, c := range []struct {
		counts uint16
		turn   float64
		ok     bool
	}{{30000, 0, true}, {0, 3, false}, {0, 3, true}, {0, 0, true}} {
		if ok := o.Update(time.Duration(i+1)*period, c.counts, c.counts, c.turn); ok != c.ok {
			t.Errorf("report %d is believed: %v", i, ok)
		}
	}
	var d codec.PositionData
	if o.Fill(&d); d != (codec.PositionData{}) {
		t.Errorf("%+v", d)
	}
}

// Speeds are measured over a short time, whatever the rate of the updates.
func TestSpeedsForget(t *testing.T) {
	for _, period := range []time.Duration{15 * ms, 100 * ms, time.Second} {
		o := Odometry{Base: base}
		var d codec.PositionData
		now := time.Second
		for range 30 {
			now += period
			o.Move(now, 200*period.Seconds(), 200*period.Seconds())
		}
		if o.Fill(&d); d.Speed != 200 {
			t.Errorf("updates every %v: %d mm/s, want 200", period, d.Speed)
		}
		for stood := time.Duration(0); stood < max(memory, period); stood += period {
			now += period
			o.Move(now, 0, 0)
		}
		if o.Fill(&d); d.Speed != 0 {
			t.Errorf("updates every %v: %d mm/s, and it stands", period, d.Speed)
		}
	}
}

// Updates that come together do not make a robot fast.
func TestSpeedsOfABurst(t *testing.T) {
	o := Odometry{Base: base}
	var d codec.PositionData
	now := time.Second
	for n := range 100 {
		if now += 15 * ms; n%20 == 0 {
			now += 100 * ms // the line stalls, and then delivers
		}
		o.Move(now-time.Duration(n%20)*15*ms, 3, 3) // all at the time of the first
		if o.Fill(&d); d.Speed > 610 {
			t.Fatalf("update %d: %d mm/s, want at most 600, as over the shortest time", n, d.Speed)
		}
	}
}

func TestDegrees(t *testing.T) {
	for degrees, want := range map[float64]uint16{0: 0, 359.4: 359, 359.6: 0, -0.4: 0, -1: 359, 725: 5, -90: 270} {
		if got := Degrees(degrees); got != want {
			t.Errorf("%v degrees are %d, want %d", degrees, got, want)
		}
	}
}
