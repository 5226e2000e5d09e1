// Package joystick is the driver for joysticks and gamepads on Linux.
package joystick

import (
	"time"

	"player/codec"
	"player/devices"
	"player/devices/retry"
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:     "joystick",
		Doc:      "a joystick or gamepad on Linux",
		Provides: []devices.Spec{devices.Joystick()},
		Options:  []devices.Option{{Name: "port", Default: "/dev/input/js0", Doc: "the device"}},
		New:      func(a devices.Args) (devices.Driver, error) { return New(a.String("port")), nil },
	}
}

// Driver is Player's joystick device. It publishes changes. A joystick that was
// unplugged reads as at rest, and is opened again until it is back.
type Driver struct {
	path string

	link   *devices.Link
	device *devices.Device
	port   devices.Port // nil: it is unplugged
	retry  retry.Retry
	events codec.Splitter
	state  codec.JoystickData
	buf    []byte
}

// New returns a driver for the joystick at path.
func New(path string) *Driver { return &Driver{path: path} }

// Setup ends when the device is open. Linux then sends the state of all axes and
// buttons.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device, d.retry = link, link.Device(codec.Joystick), retry.Retry{}
	d.open(link.Ready, link.Fail)
}

// open opens the device. It ends with worked or failed.
func (d *Driver) open(worked func(now time.Duration), failed func(now time.Duration, err error)) {
	d.link.Host().OpenInput(d.path, d, func(now time.Duration, p devices.Port, err error) {
		if err != nil {
			failed(now, err)
			return
		}
		d.port, d.events, d.state = p, codec.Splitter{}, codec.JoystickData{}
		worked(now)
	})
}

func (d *Driver) Shutdown(now time.Duration) {
	if d.port != nil {
		d.port.Close()
		d.port = nil
	}
	d.link.Stopped(now)
}

func (d *Driver) Receive(now time.Duration, in []byte) {
	before := d.state
	for b, rest := d.events.Next(in, eventSize, noPayload); b != nil; b, rest = d.events.Next(rest, eventSize, noPayload) {
		decode(b).apply(&d.state)
	}
	if d.state != before || !d.device.HasData() {
		d.publish(now)
	}
}

func (d *Driver) publish(now time.Duration) {
	d.buf = d.state.Append(d.buf[:0])
	d.device.Publish(now, d.buf)
}

// Hangup implements devices.PortHandler: the joystick was unplugged. It reads as at
// rest, so that no client drives on.
func (d *Driver) Hangup(now time.Duration, err error) {
	d.state = codec.JoystickData{}
	d.publish(now)
	d.port = nil
	d.again(now, err)
}

// again has the joystick opened later.
func (d *Driver) again(now time.Duration, err error) {
	d.link.WakeAt(d.retry.Failed(now, d.link.Log(), err))
}

// Tick opens the joystick again.
func (d *Driver) Tick(time.Duration) time.Duration {
	d.open(func(now time.Duration) { d.retry.Worked(now, d.link.Log()) }, d.again)
	return 0
}
