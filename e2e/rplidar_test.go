package e2e

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/rplidar"
)

func startLidar(t *testing.T, o rplidar.Options, options string) (*rplidar.Lidar, *server) {
	t.Helper()
	o.Line.Link = filepath.Join(t.TempDir(), "lidar")
	l, err := rplidar.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	file := write(t, t.TempDir(), "lidar.cfg", fmt.Sprintf("driver ( name \"rplidar\" provides [\"laser:0\"] port %q %s )", o.Line.Link, options))
	return l, start(t, file)
}

// wall is the distance of a wall at the given distance in mm, straight ahead of a
// sensor that looks at an angle in degrees from it.
func wall(mm, degrees float64) float64 { return mm / math.Cos(degrees*math.Pi/180) }

// A wall at 1 m on the right of the robot, another at 2 m ahead, nothing on its left.
// Angles are clockwise, as the sensor's.
func corner(degrees float64) float64 {
	a := math.Remainder(degrees, 360)
	switch ahead, right := wall(2000, a), wall(1000, a-90); {
	case a >= -30 && a <= 60:
		return ahead
	case a > 63.5 && a <= 120:
		return right
	}
	return 0
}

// seesCorner waits for three scans of corner, one after the other: on a busy machine
// packets are lost, and samples with them. far is the reading without a return, mm.
func (p *peer) seesCorner(far float64) {
	p.t.Helper()
	wrong := ""
	for good, end := 0, time.Now().Add(patience); good < 3; {
		if time.Now().After(end) {
			p.t.Fatalf("three right scans did not come: %s", wrong)
		}
		d := p.scan()
		good++
		for _, want := range []struct {
			degrees, mm float64 // counterclockwise
		}{
			{0, 2000}, {20, wall(2000, 20)}, {-40, wall(2000, 40)}, {-70, wall(1000, 20)}, {60, far}, {75, far},
		} {
			// A reading is the nearest in half a degree, or in the next ones.
			if got := 1000 * d[int((want.degrees+90)*2)]; math.Abs(got-want.mm) > 0.03*want.mm {
				good, wrong = 0, fmt.Sprintf("at %v degrees %v mm, want %v", want.degrees, got, want.mm)
			}
		}
	}
}

func TestLidarMeasures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor  rplidar.Options
		options string
	}{
		"A1 express":      {rplidar.Options{}, ""},
		"A1 standard":     {rplidar.Options{NoExpress: true}, ""},
		"A1 as asked":     {rplidar.Options{}, "standard true"},
		"A2":              {rplidar.Options{Model: rplidar.A2, Rate: 10, Line: line.Options{Baud: 256000}}, ""},
		"C1":              {rplidar.Options{Model: rplidar.C1, Rate: 10}, ""},
		"C1 dense":        {rplidar.Options{Model: rplidar.C1, Mode: 1, Rate: 10}, ""},
		"C1, mode secret": {rplidar.Options{Model: rplidar.C1, Mode: 1, NoExpress: true, Rate: 10}, ""},
		"S1":              {rplidar.Options{Model: rplidar.S1, Mode: 1, Rate: 10}, ""},
		"S2":              {rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10}, ""},
		"S2 as asked":     {rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10}, "standard true"},
		"S3, other data":  {rplidar.Options{Model: rplidar.S3, Mode: 2, Rate: 10}, ""},
		"S3 left":         {rplidar.Options{Model: rplidar.S3, Mode: 1, Rate: 10, Scanning: true}, ""},
		"dense noise":     {rplidar.Options{Model: rplidar.S2, Mode: 1, Rate: 10, Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.01, Swallow: 0.01}}}, ""},
		"left scanning":   {rplidar.Options{Scanning: true}, ""},
		"failed once":     {rplidar.Options{FailOnce: true}, ""},
		"paced":           {rplidar.Options{Line: line.Options{Paced: true, Garble: true}}, ""},
		"noise":           {rplidar.Options{Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.01, Swallow: 0.01}}}, ""},
		"mounted askew":   {rplidar.Options{Room: func(a float64) float64 { return corner(a - 40) }}, "heading 40"},
		"upside down":     {rplidar.Options{Room: func(a float64) float64 { return corner(-a) }}, "flip true"},
		"backwards":       {rplidar.Options{Room: func(a float64) float64 { return corner(a + 180) }}, "heading 180"},
		"range as asked":  {rplidar.Options{}, "range 12000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.sensor.Room == nil {
				tt.sensor.Room = corner
			}
			l, s := startLidar(t, tt.sensor, tt.options)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(12000)
			c.mustOpen("lc", "lc")
			await(t, "the sensor stops", func() bool { return !l.Scanning() && l.Count(0x25) > 0 })
			if m := tt.sensor.Model; m != 0 && m != rplidar.C1 {
				await(t, "its motor stops", func() bool { return !l.Turning() })
			}
		})
	}
}

func TestLidarFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor rplidar.Options
		log    string
	}{
		"another speed": {rplidar.Options{Line: line.Options{Baud: 57600}}, "no RPLIDAR answers at 115200, 256000, 460800 or 1000000 baud"},
		"error":         {rplidar.Options{Failed: true}, "the sensor reports error 0x0001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := startLidar(t, tt.sensor, "")
			s.dial(t).mustOpen("lr", "le")
			s.awaitLog(t, tt.log)
		})
	}
}

func TestLidarUnplugged(t *testing.T) {
	t.Parallel()
	l, s := startLidar(t, rplidar.Options{Room: corner}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.scan()
	l.Unplug()
	s.awaitLog(t, "device unavailable")
	if err := l.Plug(); err != nil {
		t.Fatal(err)
	}
	s.awaitLog(t, "device is back")
	c.scan()
}
