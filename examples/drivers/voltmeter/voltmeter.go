// Package voltmeter is a driver for a meter that sends lines such as "12.6\n",
// several a second, at 9600 baud. The voltage becomes the battery of device misc.
package voltmeter

import (
	"strconv"
	"strings"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

func Kind() devices.Kind {
	return devices.Kind{
		Name: "voltmeter", Doc: "a voltmeter on a serial line, as the battery of misc",
		Provides:   []devices.Spec{devices.Misc()},
		SetupLimit: 3 * time.Second,
		Options:    []devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port"}},
		New:        func(a devices.Args) (devices.Driver, error) { return &Driver{path: a.String("port")}, nil },
	}
}

type Driver struct {
	path      string
	link      *devices.Link
	transport transport.Transport // opens the port, and reopens it when it was lost
	text      []byte              // of an incomplete reading
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link = link
	d.transport.Setup(now, link, d.path, d)
}

func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	return d.link.Host().OpenSerial(d.path, 9600, h)
}

// Greet has no question to send. It makes the first line unreadable, because its
// beginning may be missing.
func (d *Driver) Greet(time.Duration) { d.text = append(d.text[:0], '?') }

func (d *Driver) Receive(now time.Duration, p []byte) {
	for _, b := range p {
		if b != '\n' && len(d.text) < 16 {
			d.text = append(d.text, b)
			continue
		}
		volts, err := strconv.ParseFloat(strings.TrimSpace(string(d.text)), 64)
		if d.text = d.text[:0]; err == nil {
			misc := codec.MiscData{Battery: uint8(volts*10 + 0.5)}
			d.link.Device(codec.Misc).Publish(now, misc.Append(nil))
			d.transport.Heard(now)
			d.transport.Up(now) // the first reading ends Setup
		}
	}
}

func (d *Driver) Shutdown(now time.Duration) {
	if d.transport.Shutdown(now) {
		d.transport.Finish(now, nil)
	}
}

func (d *Driver) Tick(now time.Duration) time.Duration { return d.transport.Tick(now) }
