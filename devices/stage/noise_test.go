package stage

import (
	"fmt"
	"math"
	"testing"

	"player/codec"
	"player/devices/stage/floor"
)

// moments returns the mean and the standard deviation of n numbers.
func moments(n int, number func(i int) float64) (mean, deviation float64) {
	sum, squares := 0.0, 0.0
	for i := range n {
		v := number(i)
		sum += v
		squares += v * v
	}
	mean = sum / float64(n)
	return mean, math.Sqrt(max(0, squares/float64(n)-mean*mean))
}

func TestNoiseGenerator(t *testing.T) {
	g := newNoise(1, "r0")
	if again := newNoise(1, "r0"); again != g {
		t.Error("the same robot has two generators")
	}
	laser := g.at(0, codec.Laser, 0)
	for _, other := range []noise{newNoise(2, "r0").at(0, codec.Laser, 0), newNoise(1, "r1").at(0, codec.Laser, 0), g.at(0, codec.Sonar, 0), g.at(StepTime, codec.Laser, 0), g.at(0, codec.Laser, 1)} {
		if other == laser {
			t.Error("two readings have one generator")
		}
	}
	random := newRandom()
	random.noise = g
	// The standard error of these means is 0.001 and 0.003.
	if mean, deviation := moments(100000, func(int) float64 { return random.uniform() }); !near(mean, 0.5, 0.005) || !near(deviation, math.Sqrt(1./12), 0.005) {
		t.Errorf("uniform: mean %v, deviation %v", mean, deviation)
	}
	if mean, deviation := moments(100000, func(int) float64 { return random.normal() }); !near(mean, 0, 0.015) || !near(deviation, 1, 0.015) {
		t.Errorf("normal: mean %v, deviation %v", mean, deviation)
	}
	// The last is in the tail, which is drawn in another way.
	for _, tt := range []struct{ deviations, fraction, tolerance float64 }{{2, 0.0455, 0.001}, {3, 0.0027, 0.0003}, {3.9, 9.6e-5, 4e-5}} {
		if beyond, _ := moments(1e6, func(int) float64 {
			if math.Abs(random.normal()) > tt.deviations {
				return 1
			}
			return 0
		}); !near(beyond, tt.fraction, tt.tolerance) {
			t.Errorf("normal: %v beyond %v deviations, want %v", beyond, tt.deviations, tt.fraction)
		}
	}
}

// ranging is a world with one sensor, of the given fields, 2 m before a long wall.
func ranging(t *testing.T, seed int, sensor string) *World {
	t.Helper()
	return newWorld(t, robotWorld+fmt.Sprintf(`seed %d
		wall ( pose [2.05 0 0 90] size [100 0.1 1] ) position ( ranger ( sensor ( %s ) ) )`, seed, sensor))
}

// readings returns 100 scans of a laser, at different times.
func readings(w *World) (all []codec.LaserData) {
	for range 100 {
		w.Step(1)
		all = append(all, w.robots[0].readLaser())
	}
	return all
}

// The error of a range has the deviation that the world gives, around zero. A range without
// an echo has no noise.
func TestRangeNoise(t *testing.T) {
	for _, tt := range []struct {
		fields string
		want   func(r float64) float64 // deviation at the range r, metres
	}{
		{"", func(float64) float64 { return 0 }},
		{"noise [0.02 0 0]", func(float64) float64 { return 0.02 }},
		{"noise [0 0.01 0]", func(r float64) float64 { return 0.01 * r }},
		{"noise [0.03 0.01 0]", func(r float64) float64 { return math.Hypot(0.03, 0.01*r) }},
		// A ray at angle a to the wall's normal: the range changes by r tan(a).
		{"noise [0 0 0.5]", nil},
	} {
		all := readings(ranging(t, 1, "samples 361 range [0 6] "+tt.fields))
		for _, i := range []int{80, 120, 180, 250, 270} {
			a := floor.Radians(float64(i)/2 - 90)
			r := 2 / math.Cos(a)
			mean, deviation := moments(len(all), func(k int) float64 { return float64(all[k][i])/1000 - r })
			want := r * math.Abs(math.Tan(a)) * floor.Radians(0.5)
			if tt.want != nil {
				want = tt.want(r)
			}
			// A deviation from 100 numbers is known to 7 %.
			if !near(mean, 0, 0.0006+0.35*want) || !near(deviation, want, 0.0006+0.25*want) {
				t.Errorf("%q: reading %d of %.3f m is wrong by %v, deviation %v, want %v", tt.fields, i, r, mean, deviation, want)
			}
		}
		for _, scan := range all {
			if scan[0] != noEcho || scan[360] != noEcho {
				t.Fatalf("%q: without an echo it reads %d and %d", tt.fields, scan[0], scan[360])
			}
		}
	}
}

// Neighbouring readings are independent, and so are readings of one direction at different
// times.
func TestNoiseIsWhite(t *testing.T) {
	all := readings(ranging(t, 1, "samples 361 range [0 100] noise [0.02 0 0]"))
	residual := func(k, i int) float64 {
		return (float64(all[k][i])/1000 - 2/math.Cos(floor.Radians(float64(i)/2-90))) / 0.02
	}
	for name, step := range map[string][2]int{"in a scan": {0, 1}, "in time": {1, 0}} {
		if c, _ := moments(99*100, func(n int) float64 {
			k, i := n/100, 130+n%100
			return residual(k, i) * residual(k+step[0], i+step[1])
		}); !near(c, 0, 0.05) { // the standard error is 0.01
			t.Errorf("%s: correlation %v", name, c)
		}
	}
}

// A reading depends on the seed, the robot's name and the time, not on earlier readings, and
// not on the reader.
func TestNoiseIsReproducible(t *testing.T) {
	const sensor = "samples 361 noise [0.02 0.01 0.1] dropout 0.1"
	w := ranging(t, 1, sensor)
	want := readings(w)[99]
	if w.robots[0].readLaser() != want {
		t.Error("two readings at one time differ")
	}
	after := func(w *World, robot int) codec.LaserData { // 100 steps
		w.Step(100)
		return w.robots[robot].readLaser()
	}
	if after(ranging(t, 1, sensor), 0) != want {
		t.Error("a reading depends on those before")
	}
	if after(ranging(t, 2, sensor), 0) == want {
		t.Error("the seed changes nothing")
	}
	two := newWorld(t, robotWorld+fmt.Sprintf(`wall ( pose [2.05 0 0 90] size [100 0.1 1] )
		define carrier position ( ranger ( sensor ( %s ) ) ) carrier ( name "a" pose [-3 0 0 0] ) carrier ( name "r0" )`, sensor))
	if after(two, 1) != want {
		t.Error("another robot changes a reading")
	}
	// From here on the two see the same.
	two.robots[0].body.place(Pose{Y: 3})
	two.robots[1].body.place(Pose{Y: -3})
	if two.robots[0].readLaser() == two.robots[1].readLaser() {
		t.Error("two robots have the same noise")
	}
}

func TestDropout(t *testing.T) {
	all := readings(ranging(t, 1, "samples 361 dropout 0.2 range [0 8]"))
	missed, _ := moments(100*200, func(n int) float64 {
		switch got := all[n/200][80+n%200]; {
		case got == noEcho:
			return 1
		case math.Abs(float64(got)-2000/math.Cos(floor.Radians(float64(80+n%200)/2-90))) > 1:
			t.Fatalf("reading %d", got)
		}
		return 0
	})
	if !near(missed, 0.2, 0.01) { // the standard error is 0.003
		t.Errorf("%v are missed", missed)
	}
}

// The one sonar points ahead, from the origin.
func sonarReads(t *testing.T, fields, things string) uint16 {
	t.Helper()
	w := newWorld(t, robotWorld+things+` position ( ranger ( sensor ( range [0 5] `+fields+` ) ) )`)
	return w.robots[0].readSonars()[0]
}

// A plane reflects a sonar back unless it stands too obliquely; corners, edges and
// narrow things always do.
func TestSpecularSurfaces(t *testing.T) {
	const wall = `wall ( pose [1.5 0 0 %v] size [3 0.1 1] ) `
	for _, turned := range []float64{0, 10, 15, 35, 45, 60, 70} {
		for _, side := range []float64{-1, 1} {
			thing := fmt.Sprintf(wall, 90+side*turned)
			if got := sonarReads(t, "", thing); got > 1500 {
				t.Fatalf("without the option it reads %d", got)
			}
			if got := sonarReads(t, "specular 25", thing); (got < 1500) != (turned < 25) {
				t.Errorf("a wall turned by %v degrees reads %d", side*turned, got)
			}
		}
	}
	// A surface without an echo also hides the wall behind it.
	if got := sonarReads(t, "specular 25", fmt.Sprintf(wall, 45)+`wall ( pose [3 0 0 90] size [3 0.1 1] )`); got != 5000 {
		t.Errorf("through a wall it reads %d", got)
	}
	for name, thing := range map[string]string{
		"concave corner": `wall ( pose [1 0.75 0 135] size [2.2 0.1 1] ) wall ( pose [1 -0.75 0 45] size [2.2 0.1 1] )`,
		"edge":           `crate ( pose [1.5 0 0 45] )`,
		"thin pole":      `model ( pose [1.5 0 0 45] size [0.05 0.05 1] )`,
	} {
		if got := sonarReads(t, "specular 25", thing); got > 1900 {
			t.Errorf("%s: %d", name, got)
		}
	}
	// A beam gets the echo of the part of a surface that faces it.
	if got := sonarReads(t, "specular 10 samples 9 fov 40", fmt.Sprintf(wall, 105)); got > 1500 {
		t.Errorf("a wide beam reads %d", got)
	}
}

// A sonar that receives the next sonar's echo reports that range, if it is nearer, as often
// as the world gives.
func TestCrosstalk(t *testing.T) {
	w := newWorld(t, robotWorld+`wall ( pose [1.05 0 0 90] size [0.6 0.1 1] ) define ring sensor ( range [0 5] crosstalk 0.3 )
		position ( ranger ( ring ( ) ring ( pose [0 0 0 90] ) ring ( pose [0 0 0 180] ) ring ( pose [0 0 0 270] ) ) )`)
	heard := [4]int{}
	for range 2000 {
		w.Step(1)
		ranges := w.robots[0].readSonars()
		for i := range heard {
			if ranges[i] == 1000 {
				heard[i]++
			} else if ranges[i] != 5000 {
				t.Fatalf("readings %v", ranges)
			}
		}
	}
	// The last sonar hears the first one in 0.3 of the cases: 600, give or take 20.
	if heard[0] != 2000 || heard[1] != 0 || heard[2] != 0 || !near(float64(heard[3]), 600, 100) {
		t.Errorf("heard %v times", heard)
	}
}
