package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"player/simulation/emulator/line"
	"player/simulation/emulator/ydlidar"
)

func startYD(t *testing.T, o ydlidar.Options, options string) (*ydlidar.Lidar, *server) {
	t.Helper()
	o.Line.Link = filepath.Join(t.TempDir(), "lidar")
	l, err := ydlidar.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	file := write(t, t.TempDir(), "lidar.cfg", fmt.Sprintf("driver ( name \"ydlidar\" provides [\"laser:0\"] port %q %s )", o.Line.Link, options))
	return l, start(t, file)
}

func TestYDMeasures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor  ydlidar.Options
		options string
		far     float64
	}{
		"X2":             {ydlidar.Options{}, "", 12000},
		"X4":             {ydlidar.Options{Model: ydlidar.X4}, "", 12000},
		"G4":             {ydlidar.Options{Model: ydlidar.G4, Rate: 12}, "", 12000},
		"X4, left":       {ydlidar.Options{Model: ydlidar.X4, Scanning: true}, "", 12000},
		"X4, other baud": {ydlidar.Options{Model: ydlidar.X4, Line: line.Options{Baud: 115200, Garble: true}}, "", 12000},
		"paced":          {ydlidar.Options{Model: ydlidar.G4, Line: line.Options{Paced: true, Garble: true}}, "", 12000},
		"noise":          {ydlidar.Options{Model: ydlidar.X4, Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.01, Swallow: 0.01}}}, "", 12000},
		"mounted askew":  {ydlidar.Options{Room: func(a float64) float64 { return corner(a - 40) }}, "heading 40", 12000},
		"upside down":    {ydlidar.Options{Room: func(a float64) float64 { return corner(-a) }}, "flip true", 12000},
		"range":          {ydlidar.Options{}, "range 8000", 8000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.sensor.Room == nil {
				tt.sensor.Room = corner
			}
			l, s := startYD(t, tt.sensor, tt.options)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
			c.mustOpen("lc", "lc")
			if tt.sensor.Model != ydlidar.X2 {
				await(t, "the sensor stops", func() bool { return !l.Scanning() })
			}
		})
	}
}

func TestYDFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor ydlidar.Options
		log    string
	}{
		"another speed": {ydlidar.Options{Line: line.Options{Baud: 57600, Garble: true}}, "nothing that a YDLIDAR sends: is it another model, another speed than 115200, 128000 or 230400 baud"},
		"another model": {ydlidar.Options{Model: ydlidar.G6, Line: line.Options{Baud: 230400}}, "a YDLIDAR of model 13, with packets that this driver cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := startYD(t, tt.sensor, "")
			s.dial(t).mustOpen("lr", "le")
			s.awaitLog(t, tt.log)
		})
	}
}

func TestYDUnplugged(t *testing.T) {
	t.Parallel()
	l, s := startYD(t, ydlidar.Options{Room: corner}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.seesCorner(12000)
	l.Unplug()
	s.awaitLog(t, "device unavailable")
	if err := l.Plug(); err != nil {
		t.Fatal(err)
	}
	s.awaitLog(t, "device is back")
	c.seesCorner(12000)
}
