// Package deadman is a virtual device between clients and the wheels. A command is
// valid for a short time only, so a robot stops when its program hangs or a person
// lets go of the joystick.
package deadman

import (
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/timers"
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:       "deadman",
		Doc:        "stops the wheels when no command has come for a while",
		Provides:   []devices.Spec{devices.Position()},
		Requires:   []devices.Spec{devices.Position().At(1)},
		SetupLimit: devices.VirtualSetupLimit,
		Options: []devices.Option{
			{Name: "timeout", Default: 500, Min: 10, Max: 60000, Unit: "ms", Doc: "how long a command is good for"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.Requires[0], time.Duration(a.Int("timeout"))*time.Millisecond), nil
		},
	}
}

// Driver is the position device of another driver. Each command but the one to stop
// is valid for the lease only.
type Driver struct {
	inner *devices.Device
	lease time.Duration

	required devices.Required
	link     *devices.Link
	device   *devices.Device
	moving   bool // by a command of ours
	noise    timers.Limiter
}

// New returns a driver that works on inner.
func New(inner *devices.Device, lease time.Duration) *Driver {
	d := &Driver{inner: inner, lease: lease, noise: timers.Limiter{Period: time.Second}}
	d.required = devices.Required{Devices: []*devices.Device{inner}, Observer: d}
	return d
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device, d.moving = link, link.Devices()[0], false
	d.required.Open(now, link)
}

func (d *Driver) Shutdown(now time.Duration) {
	if d.moving {
		d.stop(now)
	}
	d.required.Close(now)
	d.link.Stopped(now)
}

// Published implements devices.Observer.
func (d *Driver) Published(inner *devices.Device) { d.device.Publish(inner.Stamp(), inner.Data()) }

// Command passes on the command and starts its lease.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	d.moving = string(device.Command()) != device.Spec().Stop
	if d.moving {
		d.link.WakeAt(now + d.lease)
	} else {
		d.link.WakeAt(0)
	}
	d.inner.SetCommand(now, device.Command())
}

// Tick ends the lease.
func (d *Driver) Tick(now time.Duration) time.Duration {
	if repeats, ok := d.noise.Allow(now); ok {
		d.link.Log().Warn("no new command in time, stopping the wheels", zap.Duration("time", d.lease), zap.Int("times before", repeats))
	}
	d.stop(now)
	return 0
}

func (d *Driver) stop(now time.Duration) {
	d.moving = false
	d.device.ForgetCommand()
	d.inner.SetCommand(now, []byte(d.inner.Spec().Stop))
}

func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	return d.inner.Configure(now, payload)
}
