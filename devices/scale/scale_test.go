package scale

import (
	"math"
	"testing"
	"time"
)

const ms = time.Millisecond

// drive returns the factors found while a robot reports its way for a command, times scale.
func drive(w *Way, begin time.Duration, seconds float64, speed, scale float64) (factors []float64) {
	const step = 50 * ms
	for at := step; at.Seconds() <= seconds; at += step {
		if f := w.Update(begin+at, speed*scale*step.Seconds(), speed); f != 0 {
			factors = append(factors, f)
		}
	}
	return factors
}

func TestWay(t *testing.T) {
	for _, tt := range []struct {
		name         string
		speed, scale float64
		seconds      float64
		radians      bool
		want         float64 // 0: nothing is found
	}{
		{"right", 300, 1, 60, false, 0},
		{"backward", -300, 1, 60, false, 0},
		{"a worn tyre", 300, 0.8, 60, false, 0},
		{"a robot that slips", 300, 0.3, 60, false, 0},
		{"blocked", 300, 0, 60, false, 0},
		{"metres for mm", 300, 0.001, 10, false, 0.001},
		{"cm for mm", 300, 0.1, 10, false, 0.1},
		{"as metres, but cm", 300, 10, 10, false, 10},
		{"as metres, but mm", -250, 1000, 10, false, 1000},
		{"100 times, slowly", 60, 100, 10, false, 100},
		{"another unit", 300, 30, 10, false, 30},
		{"too short to know", 300, 100, 3.5, false, 0},
		{"too slow to know", 40, 0.01, 60, false, 0},
		{"radians for degrees", 45, math.Pi / 180, 10, true, math.Pi / 180},
		{"degrees", 45, 1, 60, true, 0},
	} {
		w := Way{Slow: 50, Fast: 500, Radians: tt.radians}
		if tt.radians {
			w.Slow, w.Fast = 10, 360
		}
		got := drive(&w, 5*time.Second, tt.seconds, tt.speed, tt.scale)
		if tt.want == 0 && len(got) > 0 || tt.want != 0 && (len(got) != 1 || math.Abs(got[0]/tt.want-1) > 1e-9) {
			t.Errorf("%s: factors %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A robot that is moved by hand is judged by how fast it can be; and one that brakes, turns round or comes back after a
// pause is not judged by ways of another command.
func TestWayOfOthers(t *testing.T) {
	w := Way{Slow: 50, Fast: 500}
	for at := 50 * ms; at < 10*time.Second; at += 50 * ms {
		if f := w.Update(at, 1000*0.05, 0); f != 0 {
			t.Fatalf("a robot that rolls down a slope: %v", f)
		}
	}
	var factors []float64
	for at := 10 * time.Second; at < 20*time.Second; at += 50 * ms {
		if f := w.Update(at, 25000*0.05, 0); f != 0 {
			factors = append(factors, f)
		}
	}
	if len(factors) != 1 || factors[0] != 100 {
		t.Errorf("factors %v", factors)
	}
	w = Way{Slow: 50, Fast: 500}
	for i := range 20 {
		speed := 300.0
		if i%2 == 1 {
			speed = -300
		}
		if got := drive(&w, time.Duration(i)*3*time.Second, 3, speed, 0.01); got != nil {
			t.Errorf("a command that changes: %v", got)
		}
	}
	w = Way{Slow: 50, Fast: 500}
	for i := range 20 {
		if got := drive(&w, time.Duration(i)*3*time.Second, 3, 300, 1); got != nil {
			t.Fatal(got)
		}
		if f := w.Update(time.Duration(i+1)*3*time.Second, -1e5, 300); f != 0 {
			t.Fatalf("a counter that begins anew: %v", f)
		}
	}
	w = Way{Slow: 50, Fast: 500}
	drive(&w, 0, 3, 300, 1)
	if f := w.Update(time.Hour, 1e6, 300); f != 0 {
		t.Errorf("after a pause: %v", f)
	}
}

func TestBattery(t *testing.T) {
	for _, tt := range []struct{ volts, want float64 }{
		{12, 0}, {3.6, 0}, {80, 0}, {0, 0}, {0.004, 0}, {1185, 100}, {11850, 1000}, {126, 10}, {0.1185, 0.01}, {0.0118, 0.001},
		{1.2, 0.1}, {1e9, 0},
	} {
		var b Battery
		var factors []float64
		for at := time.Duration(0); at < 20*time.Second; at += 500 * ms {
			if f := b.Update(at, tt.volts); f != 0 {
				factors = append(factors, f)
			}
		}
		if tt.want == 0 && factors != nil || tt.want != 0 && (len(factors) != 1 || factors[0] != tt.want) {
			t.Errorf("%v V: %v, want %v", tt.volts, factors, tt.want)
		}
	}
	var b Battery
	for at := time.Duration(0); at < time.Minute; at += 500 * ms {
		if f := b.Update(at, []float64{1185, 11.85}[at/(4*time.Second)%2]); f != 0 {
			t.Fatal("a voltage that is right at times")
		}
	}
}

func TestRanges(t *testing.T) {
	for _, tt := range []struct {
		name           string
		from, to, want float64 // mm
	}{
		{"a room", 300, 4000, 0},
		{"a wall far away", 3900, 6000, 0},
		{"mm times 10", 4100, 20000, 10},
		{"mm times 1000", 4e5, 3.9e6, 1000},
		{"the code for nothing", 8190, 8190, 0},
		{"metres", 0.3, 3.5, 0.001},
		{"touching", 0, 0, 0},
		{"none", math.Inf(1), math.Inf(1), 0},
	} {
		var r Ranges
		var factors []float64
		for i := range 200 {
			mm := tt.from + (tt.to-tt.from)*float64(i%20)/19
			if f := r.Update(time.Duration(i)*100*ms, mm, 4000); f != 0 {
				factors = append(factors, f)
			}
		}
		if tt.want == 0 && factors != nil || tt.want != 0 && (len(factors) != 1 || factors[0] != tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, factors, tt.want)
		}
	}
}
