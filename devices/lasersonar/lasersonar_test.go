package lasersonar

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/codec/pioneer"
	"player/devices"
	"player/devices/transport/transporttest"
)

const ms = time.Millisecond

// scanner is a laser with the test's scans.
type scanner struct {
	link    *devices.Link
	configs int
}

func (s *scanner) Setup(now time.Duration, l *devices.Link)               { s.link = l; l.Ready(now) }
func (s *scanner) Shutdown(now time.Duration)                             { s.link.Stopped(now) }
func (s *scanner) Configure(time.Duration, *devices.Device, []byte) error { s.configs++; return nil }

func (s *scanner) see(stamp time.Duration, reading func(degrees float64) float64) {
	var scan codec.LaserData
	for i := range scan {
		scan[i] = uint16(min(max(reading(float64(i)/2-90), 0), 8191))
	}
	s.link.Devices()[0].Publish(stamp, scan.Append(nil))
}

// start opens sonars of a laser with the given pose.
func start(t testing.TB, pose devices.Geometry) (*scanner, *devices.Device) {
	t.Helper()
	return startFar(t, pose, none)
}

func startFar(t testing.TB, pose devices.Geometry, longest int) (*scanner, *devices.Device) {
	t.Helper()
	laser := &scanner{}
	b := transporttest.NewBench(t, devices.Instance{Driver: laser, Name: "scanner", Provides: []devices.Spec{devices.Laser()}})
	b.Link.SetGeometry(pose)
	b.Client = b.Attach(Kind().Instance(New(b.Client, 2*halfCone, longest))).Devices()[0]
	b.Subscribe()
	return laser, b.Client
}

func ranges(t *testing.T, sonar *devices.Device) codec.SonarData {
	return transporttest.Data[codec.SonarData](t, sonar)
}

const (
	halfCone = 10 // deg
	none     = 5000
)

// A wall across the way, 2 m before the centre of the robot.
func TestWall(t *testing.T) {
	for _, x := range []float64{0, 150, -80} {
		laser, sonar := start(t, devices.Geometry{X: x})
		laser.see(7*ms, func(degrees float64) float64 { return (2000 - x) / math.Cos(degrees*math.Pi/180) })
		got := ranges(t, sonar)
		for s, r := range got {
			// The echo comes from the side of the cone that meets the wall first.
			off := max(math.Abs(pioneer.Sonars()[s].Heading)-halfCone, 0)
			want := (2000 - pioneer.Sonars()[s].X) / math.Cos(off*math.Pi/180)
			if off >= 90 || want > none {
				want = none
			}
			if math.Abs(float64(r)-want) > 0.02*want {
				t.Errorf("laser at %v: sonar %d reads %d, want about %.0f", x, s, r, want)
			}
		}
		if sonar.Stamp() != 7*ms {
			t.Errorf("taken at %v", sonar.Stamp())
		}
	}
}

// Walls on both sides, as in a corridor. The rear sonars never report a range, so that a
// wall that comes near does not vanish.
func TestCorridor(t *testing.T) {
	for half := 250.0; half < 5000; half += 50 {
		laser, sonar := start(t, devices.Geometry{X: 80})
		laser.see(ms, func(degrees float64) float64 { return half / math.Abs(math.Sin(degrees*math.Pi/180)) })
		got := ranges(t, sonar)
		for _, s := range []int{0, 7} {
			if want := half - 136; math.Abs(float64(got[s])-want) > 0.02*want+10 {
				t.Errorf("walls at %v: sonar %d reads %d, want about %v", half, s, got[s], want)
			}
		}
		for s, r := range got[8:] {
			if r != none {
				t.Errorf("walls at %v: sonar %d reads %d", half, 8+s, r)
			}
		}
	}
}

// Which sonars see, by where the laser is.
func TestSees(t *testing.T) {
	for _, tt := range []struct {
		mount devices.Geometry
		want  []int
	}{
		{devices.Geometry{}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{devices.Geometry{X: 110}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{devices.Geometry{X: 150}, []int{1, 2, 3, 4, 5, 6}},               // too far before 0 and 7
		{devices.Geometry{X: -600}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 15}}, // the others face away
		{devices.Geometry{Heading: 180}, []int{8, 9, 10, 11, 12, 13, 14, 15}},
		{devices.Geometry{Heading: 90}, []int{0, 1, 2, 3, 12, 13, 14, 15}},
	} {
		laser, sonar := start(t, tt.mount)
		laser.see(ms, func(float64) float64 { return 3000 })
		var got []int
		for s, r := range ranges(t, sonar) {
			if r != none {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v see, want %v", tt.mount, got, tt.want)
		}
	}
}

// A sonar that faces away from the laser's direction reports no echo, also not of near
// things.
func TestLooksAway(t *testing.T) {
	laser, sonar := start(t, devices.Geometry{X: -600})
	laser.see(ms, func(degrees float64) float64 {
		if degrees == -45.5 {
			return 382 // 200 mm before sonar 9
		}
		return 8191
	})
	if r := ranges(t, sonar)[9]; r != none {
		t.Errorf("it reads %d", r)
	}
}

// A post that one sonar sees, by a laser that faces forward or backward.
func TestPost(t *testing.T) {
	for _, tt := range []struct {
		heading, degrees float64 // of the laser; of the post to the laser
		sonar            int
	}{
		{0, 30, 2}, {0, -30, 5}, {0, 50, 1}, {180, -30, 13}, {180, 30, 10}, {-90, 40, 6},
	} {
		laser, sonar := start(t, devices.Geometry{Heading: tt.heading})
		laser.see(ms, func(degrees float64) float64 {
			if degrees == tt.degrees {
				return 3000
			}
			return 8191
		})
		got := ranges(t, sonar)
		p := unit(tt.heading + tt.degrees)
		want := math.Hypot(3000*p.x-pioneer.Sonars()[tt.sonar].X, 3000*p.y-pioneer.Sonars()[tt.sonar].Y)
		for s, r := range got {
			if s == tt.sonar && math.Abs(float64(r)-want) > 1 || s != tt.sonar && r != none {
				t.Errorf("%+v: sonar %d reads %d", tt, s, r)
			}
		}
	}
}

func TestNothingThere(t *testing.T) {
	laser, sonar := start(t, devices.Geometry{X: 363, Y: 62}) // on the axis of sonar 3
	laser.see(ms, func(degrees float64) float64 {
		if degrees < 0 {
			return 0 // broken readings
		}
		return 8191
	})
	for s, r := range ranges(t, sonar) {
		if r != none {
			t.Errorf("sonar %d reads %d", s, r)
		}
	}
	far, farSonar := startFar(t, devices.Geometry{X: -80}, noEcho)
	far.see(ms, func(float64) float64 { return 8191 })
	for s, r := range ranges(t, farSonar) {
		if r != noEcho {
			t.Errorf("sonar %d reads %d", s, r)
		}
	}
	laser.link.Devices()[0].Publish(2*ms, nil)
	if sonar.Seq() != 1 {
		t.Error("a scan without readings was published")
	}
	if sonar.Configure(ms, []byte("R")) != nil || laser.configs != 1 {
		t.Error("configuration does not reach the laser")
	}
}

func TestPublishedAllocatesNothing(t *testing.T) {
	laser, sonar := start(t, devices.Geometry{})
	laser.see(ms, func(float64) float64 { return 1234 })
	device, scan := laser.link.Devices()[0], append([]byte(nil), laser.link.Devices()[0].Data()...)
	if n := testing.AllocsPerRun(100, func() { device.Publish(ms, scan) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sonar.Seq() < 100 {
		t.Error("nothing was published")
	}
}

func BenchmarkScan(b *testing.B) {
	laser, _ := start(b, devices.Geometry{})
	laser.see(ms, func(degrees float64) float64 { return 2000 / math.Cos(degrees*math.Pi/180) })
	device := laser.link.Devices()[0]
	scan := append([]byte(nil), device.Data()...)
	for b.Loop() {
		device.Publish(ms, scan)
	}
}
