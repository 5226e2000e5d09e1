package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"player/simulation/emulator/ldlidar"
	"player/simulation/emulator/line"
)

func startLD(t *testing.T, o ldlidar.Options, options string) (*ldlidar.Lidar, *server) {
	t.Helper()
	o.Line.Link = filepath.Join(t.TempDir(), "lidar")
	l, err := ldlidar.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	file := write(t, t.TempDir(), "lidar.cfg", fmt.Sprintf("driver ( name \"ldlidar\" provides [\"laser:0\"] port %q %s )", o.Line.Link, options))
	return l, start(t, file)
}

func TestLDMeasures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor  ldlidar.Options
		options string
		far     float64
	}{
		"as it comes":   {ldlidar.Options{}, "", 12000},
		"fastest":       {ldlidar.Options{Rate: 13}, "", 12000},
		"paced":         {ldlidar.Options{Line: line.Options{Paced: true, Garble: true}}, "", 12000},
		"noise":         {ldlidar.Options{Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.01, Swallow: 0.01}}}, "", 12000},
		"mounted askew": {ldlidar.Options{Room: func(a float64) float64 { return corner(a - 40) }}, "heading 40", 12000},
		"upside down":   {ldlidar.Options{Room: func(a float64) float64 { return corner(-a) }}, "flip true", 12000},
		"range":         {ldlidar.Options{}, "range 8000", 8000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.sensor.Room == nil {
				tt.sensor.Room = corner
			}
			_, s := startLD(t, tt.sensor, tt.options)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
		})
	}
}

func TestLDFails(t *testing.T) {
	t.Parallel()
	_, s := startLD(t, ldlidar.Options{Line: line.Options{Baud: 115200, Garble: true}}, "")
	s.dial(t).mustOpen("lr", "le")
	s.awaitLog(t, "nothing that an LDROBOT sensor sends: is it another model, another speed than 230400 baud")
}

func TestLDUnplugged(t *testing.T) {
	t.Parallel()
	l, s := startLD(t, ldlidar.Options{Room: corner}, "")
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
