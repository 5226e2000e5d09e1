// Package trouble is the driver p2os with faults, for tests. They are chosen by
// commands to the gripper that no gripper knows, and by a configuration.
package trouble

import (
	"time"

	"player/codec"
	"player/devices"
	"player/devices/p2os"
)

// Commands to the gripper.
const (
	panicNow    = 200 // in Command
	panicInTick = 201 // in Tick
	hang        = 202 // Command does not return
)

// Driver is the driver p2os.
type Driver struct {
	*p2os.Driver
	fault byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	k := p2os.Kind()
	k.Name = "trouble"
	k.New = func(a devices.Args) (devices.Driver, error) {
		return &Driver{Driver: p2os.New(a.String("port"), p2os.Overrides{})}, nil
	}
	return k
}

// Setup resets the faults.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.fault = 0
	d.Driver.Setup(now, link)
}

// Command may panic or hang.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	if device.Letter() == codec.Gripper {
		d.fault = device.Command()[0]
	}
	switch d.fault {
	case panicNow:
		panic("trouble in Command")
	case hang:
		for {
			time.Sleep(0)
		}
	}
	d.Driver.Command(now, device)
}

// Configure panics on code !.
func (d *Driver) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	if string(payload) == "!" {
		panic("trouble in Configure")
	}
	return d.Driver.Configure(now, device, payload)
}

// Tick may panic.
func (d *Driver) Tick(now time.Duration) time.Duration {
	if d.fault == panicInTick {
		panic("trouble in Tick")
	}
	return d.Driver.Tick(now)
}
