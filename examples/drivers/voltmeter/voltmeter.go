// Package voltmeter is a driver for a meter at 9600 baud that sends lines such as
// "V 12.6\n", several a second, after it was asked by "?". The voltage becomes the battery
// of device misc.
package voltmeter

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

const setupTime = 2 * time.Second

func Kind() devices.Kind {
	return devices.Kind{
		Name: "voltmeter", Doc: "a voltmeter on a serial line; its value is the battery of misc",
		Provides:   []devices.Spec{devices.Misc()},
		SetupLimit: setupTime + transport.Grace,
		Options:    []devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port"}},
		New:        func(a devices.Args) (devices.Driver, error) { return newDriver(a.String("port")), nil },
	}
}

type Driver struct {
	transport.Transport // opens the port, greets the meter, and does it again when it was lost

	lines transport.Lines // the parser
}

const asking transport.Phase = 0 // the only one of this handshake

func newDriver(port string) *Driver {
	d := &Driver{}
	d.Protocol = transport.Protocol{
		Address: port, Name: "a voltmeter", Speeds: []int{9600}, Limit: setupTime,
		Steps: []transport.Step{
			asking: {Send: func(dst []byte) []byte { return append(dst, '?') }, Wait: 500 * time.Millisecond, Tries: 4},
		},
		Framing: &d.lines.Framing, Receive: d.receive,
		Silent: errors.New("no voltmeter answers at 9600 baud: check cable and power"),
	}
	return d
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		text, whole := strings.CutPrefix(string(line), "V ")
		if volts, err := strconv.ParseFloat(text, 64); whole && err == nil {
			misc := codec.MiscData{Battery: uint8(volts*10 + 0.5)}
			d.Link().Device(codec.Misc).Publish(now, misc.Append(nil))
			d.Heard(now)
			d.Up(now) // the first reading ends Setup
		}
	}
}
