package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"player/devices/retry"
	"player/devices/transport"
	"player/e2e/ports"
	"player/simulation/emulator/sickcola"
)

func startCola(t *testing.T, o sickcola.Options, options string) (*sickcola.Sensor, *server) {
	t.Helper()
	if o.Room == nil {
		o.Room = func(degrees float64) float64 { return corner(-degrees) }
	}
	l := emulate(t, sickcola.Start, o)
	return l, laserAt(t, "sickcola", l.Address(), options)
}

// A sensor says nothing, or there is none.
func TestColaSilent(t *testing.T) {
	t.Parallel()
	address := ports.Serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }) // it accepts, and says nothing
	s := laserAt(t, "sickcola", address, "")
	s.dial(t).mustOpen("lr", "le")
	s.Await(t, "no SICK sensor answers: check its power")
}

func TestColaStatus(t *testing.T) {
	t.Parallel()
	_, s := startCola(t, sickcola.Options{Status: 2}, "")
	s.dial(t).mustOpen("lr", "lr")
	s.Await(t, "the sensor's window gets dirty: clean it")
}

// A sensor that falls silent on a connection that lasts is lost, and comes back.
func TestColaFallsSilent(t *testing.T) {
	t.Parallel()
	l, s := startCola(t, sickcola.Options{}, "")
	c := s.dial(t)
	c.mustOpen("lr", "lr")
	c.scan()
	l.Silence()
	s.Await(t, transport.ErrSilent.Error())
	l.Speak()
	s.Await(t, retry.LogBack)
	c.seesCorner(20000)
}

func TestColaFound(t *testing.T) {
	t.Parallel()
	var ports, names, drivers []string
	for _, o := range []sickcola.Options{{}, {Model: sickcola.LMS111, Binary: true}} {
		l := emulate(t, sickcola.Start, o)
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
