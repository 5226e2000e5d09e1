// Package speedlimit is a virtual device between clients and the wheels of another
// driver, position:1. It limits their speed.
package speedlimit

import (
	"time"

	"player/codec"
	"player/devices"
)

func Kind() devices.Kind {
	return devices.Kind{
		Name: "speedlimit", Doc: "drives no faster than it may",
		Provides:   []devices.Spec{devices.Position()},
		Requires:   []devices.Spec{devices.Position().At(1)},
		SetupLimit: devices.VirtualSetupLimit,
		Options:    []devices.Option{{Name: "limit", Default: 200, Min: 1, Max: 5000, Unit: "mm/s", Doc: "highest speed"}},
		New: func(a devices.Args) (devices.Driver, error) {
			d := &Driver{inner: a.Requires[0], limit: int16(a.Int("limit"))}
			d.required = devices.Required{Devices: a.Requires, Observer: d}
			return d, nil
		},
	}
}

type Driver struct {
	inner, outer *devices.Device
	limit        int16
	required     devices.Required // opens inner while a client has outer open
	link         *devices.Link
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.outer = link, link.Device(codec.Position)
	d.required.Open(now, link)
}

func (d *Driver) Shutdown(now time.Duration) { d.required.Close(now); d.link.Stopped(now) }

// Published passes on the inner device's data.
func (d *Driver) Published(inner *devices.Device) { d.outer.Publish(inner.Stamp(), inner.Data()) }

func (d *Driver) Command(now time.Duration, outer *devices.Device) {
	var c codec.PositionCommand
	_ = c.Decode(outer.Command()) // it has the right size
	c.Speed = min(max(c.Speed, -d.limit), d.limit)
	d.inner.SetCommand(now, c.Append(nil))
}

func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	return d.inner.Configure(now, payload)
}
