package e2e

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"player/simulation/emulator/sickcola"
)

func startCola(t *testing.T, o sickcola.Options, options string) (*sickcola.Sensor, *server) {
	t.Helper()
	if o.Room == nil {
		o.Room = func(degrees float64) float64 { return corner(-degrees) }
	}
	l, err := sickcola.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	file := write(t, t.TempDir(), "cola.cfg", fmt.Sprintf("driver ( name \"sickcola\" provides [\"laser:0\"] port %q %s )", l.Address(), options))
	return l, start(t, file)
}

func TestColaMeasures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor  sickcola.Options
		options string
		far     float64 // mm
	}{
		"TiM551":         {sickcola.Options{}, "", 20000},
		"TiM571":         {sickcola.Options{Model: sickcola.TiM571, Cut: true}, "", 20000},
		"LMS111":         {sickcola.Options{Model: sickcola.LMS111}, "", 20000},
		"CoLa B":         {sickcola.Options{Model: sickcola.LMS111, Binary: true, Cut: true}, "", 20000},
		"TiM551, CoLa B": {sickcola.Options{Binary: true}, "", 20000},
		"standby":        {sickcola.Options{Model: sickcola.LMS111, Standby: true}, "", 20000},
		"standby, B":     {sickcola.Options{Binary: true, Standby: true}, "", 20000},
		"noise":          {sickcola.Options{Noise: 0.2}, "", 20000},
		"noise, B":       {sickcola.Options{Noise: 0.2, Binary: true}, "", 20000},
		"range":          {sickcola.Options{}, "range 8000", 8000},
		"mounted askew":  {sickcola.Options{Room: func(a float64) float64 { return corner(-a - 40) }}, "heading 40", 20000},
		"upside down":    {sickcola.Options{Room: corner}, "flip true", 20000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s := startCola(t, tt.sensor, tt.options)
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			c.seesCorner(tt.far)
			c.mustOpen("lc", "lc")
			await(t, "the sensor stops", func() bool { return l.Listeners() == 0 && !l.LoggedIn() })
		})
	}
}

func TestColaFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sensor sickcola.Options
		log    string
	}{
		"another model":    {sickcola.Options{Model: sickcola.LMS1000}, "the sensor is a SICK LMS1104C V1.0, which this driver does not know: it drives TiM5xx and LMS1xx"},
		"refused":          {sickcola.Options{Refuse: "LMDscandata"}, `the sensor refuses \"sEN LMDscandata 1\", error 4: it does not take the value`},
		"refused, B":       {sickcola.Options{Refuse: "LMDscandata", Binary: true}, `the sensor refuses \"sEN LMDscandata 1\", error 4: it does not take the value`},
		"another password": {sickcola.Options{Standby: true, Locked: true}, "the sensor is on standby, and has another password"},
		"blind":            {sickcola.Options{Blind: true}, "the sensor is set to measure nothing in front of the robot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := startCola(t, tt.sensor, "")
			s.dial(t).mustOpen("lr", "le")
			s.awaitLog(t, tt.log)
		})
	}
}

// A sensor says nothing, or there is none.
func TestColaSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // it accepts, and says nothing
	file := write(t, t.TempDir(), "cola.cfg", fmt.Sprintf("driver ( name \"sickcola\" provides [\"laser:0\"] port %q )", l.Addr()))
	s := start(t, file)
	s.dial(t).mustOpen("lr", "le")
	s.awaitLog(t, "no SICK sensor answers: check its power")
}

func TestColaStatus(t *testing.T) {
	t.Parallel()
	_, s := startCola(t, sickcola.Options{Status: 2}, "")
	s.dial(t).mustOpen("lr", "lr")
	s.awaitLog(t, "the sensor's window gets dirty: clean it")
}

func TestColaUnplugged(t *testing.T) {
	t.Parallel()
	l, s := startCola(t, sickcola.Options{}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.seesCorner(20000)
	l.Unplug()
	s.awaitLog(t, "device unavailable")
	if err := l.Plug(); err != nil {
		t.Fatal(err)
	}
	s.awaitLog(t, "device is back")
	c.seesCorner(20000)
}

// A sensor that falls silent on a connection that lasts is lost, and comes back.
func TestColaFallsSilent(t *testing.T) {
	t.Parallel()
	l, s := startCola(t, sickcola.Options{}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.scan()
	l.Silence()
	s.awaitLog(t, "silent for 2 s")
	l.Speak()
	s.awaitLog(t, "device is back")
	c.seesCorner(20000)
}

func TestColaFound(t *testing.T) {
	t.Parallel()
	var ports, names, drivers []string
	for _, o := range []sickcola.Options{{}, {Model: sickcola.LMS111, Binary: true}} {
		l, err := sickcola.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		name := map[bool]string{false: "TiM551 V2.50-10.04.13", true: "LMS10x_FieldEval V1.36-21.10.2010"}[o.Binary]
		ports, names = append(ports, l.Address()), append(names, fmt.Sprintf("%s: sickcola, SICK %s\n", l.Address(), name))
		drivers = append(drivers, fmt.Sprintf("port %q", l.Address()))
	}
	findsAll(t, names, drivers, ports...)
}

func TestColaNeedsNetwork(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "cola.cfg", "driver ( name \"sickcola\" provides [\"laser:0\"]\n port \"/dev/ttyS1\" )")
	code, out := exits(t, "check", file)
	if code == 0 || !strings.Contains(out, `the sensor is on the network: write "HOST:PORT"`) || !strings.Contains(out, "cola.cfg:") {
		t.Errorf("exit %d, %s", code, out)
	}
}
