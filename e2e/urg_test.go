package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"player/simulation/emulator/line"
	"player/simulation/emulator/urg"
)

func startUrg(t *testing.T, o urg.Options, options string) (*urg.Sensor, *server) {
	t.Helper()
	o.Line.Link = filepath.Join(t.TempDir(), "urg")
	if o.Room == nil {
		o.Room = func(degrees float64) float64 { return corner(-degrees) }
	}
	l, err := urg.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	where := fmt.Sprintf("port %q", o.Line.Link)
	if o.TCP {
		where = fmt.Sprintf("port %q", l.Address())
	}
	file := write(t, t.TempDir(), "urg.cfg", fmt.Sprintf("driver ( name \"urg\" provides [\"laser:0\"] %s %s )", where, options))
	return l, start(t, file)
}

func TestUrgMeasures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor  urg.Options
		options string
		far     float64 // mm
	}{
		"serial":        {urg.Options{}, "", 5600},
		"paced":         {urg.Options{Line: line.Options{Paced: true, Garble: true}}, "", 5600},
		"fast already":  {urg.Options{Line: line.Options{Baud: 115200}}, "", 5600},
		"SCIP 1.1":      {urg.Options{Old: true}, "", 5600},
		"left scanning": {urg.Options{Scanning: true}, "", 5600},
		"left adjusted": {urg.Options{Adjusts: true}, "", 5600},
		"noise":         {urg.Options{Line: line.Options{Noise: line.Noise{Seed: 1, Garbage: 0.05, Swallow: 0.05, Flip: 0.05}}}, "", 5600},
		"TCP":           {urg.Options{TCP: true, Model: urg.UTM30LX}, "", 60000},
		"1/8 degrees":   {urg.Options{TCP: true, Model: urg.UST20LXH01}, "", 60000},
		"range":         {urg.Options{TCP: true, Model: urg.UTM30LX}, "range 12000", 12000},
		"mounted askew": {urg.Options{Room: func(a float64) float64 { return corner(-a - 40) }}, "heading 40", 5600},
		"upside down":   {urg.Options{Room: corner}, "flip true", 5600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := startUrg(t, tt.sensor, tt.options)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
			c.mustOpen("lc", "lc")
			await(t, "the laser is off", func() bool { return !l.Laser() })
		})
	}
}

func TestUrgFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor urg.Options
		log    string
	}{
		"another speed": {urg.Options{Line: line.Options{Baud: 57600}}, "no sensor with SCIP 2.0 answers"},
		"broken":        {urg.Options{Broken: true}, "the sensor cannot switch its laser on (status 01)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := startUrg(t, tt.sensor, "")
			s.dial(t).mustOpen("lr", "le")
			s.awaitLog(t, tt.log)
		})
	}
}

func TestUrgLost(t *testing.T) {
	t.Parallel()
	l, s := startUrg(t, urg.Options{TCP: true}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.scan()
	l.Disconnect()
	s.awaitLog(t, "device unavailable")
	s.awaitLog(t, "device is back")
	c.scan()
}
