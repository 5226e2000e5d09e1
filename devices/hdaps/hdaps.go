// Package hdaps makes a joystick of a ThinkPad: its accelerometer, there to
// park the disk's heads when it falls, tells how the laptop is tilted.
package hdaps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"player/codec"
	"player/devices"
	"player/timers"
)

// full is the difference from rest that is a full deflection. A laptop that
// stands on its side differs by somewhat more; a smaller number makes the
// joystick more lively.
const full = 150

// directory is where Linux has the sensor.
const directory = "/sys/devices/platform/hdaps"

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:     "hdaps",
		Doc:      "the accelerometer of a ThinkPad as a joystick",
		Provides: []devices.Spec{devices.Joystick()},
		Options: []devices.Option{
			{Name: "directory", Default: devices.Path(directory), Doc: "the sensor in sysfs"},
			{Name: "rate", Default: 20, Min: 1, Max: 50, Unit: "Hz", Doc: "how often it is looked at; data is published when it has changed"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.String("directory"), a.Int("rate")), nil
		},
	}
}

// Driver is Player's joystick device.
type Driver struct {
	directory string
	period    time.Duration

	link     *devices.Link
	position *os.File
	rest     [2]int
	due      time.Duration
	sent     [2]int // as last published
	data     codec.JoystickData
	buf      []byte
	noise    timers.Limiter
}

// New returns a driver for the sensor whose files are in directory, looked at
// rate times a second.
func New(directory string, rate int) *Driver {
	return &Driver{
		directory: directory,
		period:    time.Second / time.Duration(rate),
		buf:       make([]byte, 64),
		noise:     timers.Limiter{Period: time.Minute},
	}
}

func (d *Driver) Describe() devices.Description {
	return devices.Description{Name: "hdaps", Provides: []devices.Spec{devices.Joystick()}}
}

// Setup takes the position the sensor was calibrated to as rest. It ends at
// once.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link = link
	text, err := os.ReadFile(filepath.Join(d.directory, "calibrate"))
	if err == nil {
		d.rest, err = parse(text)
	}
	if err == nil {
		d.position, err = os.Open(filepath.Join(d.directory, "position"))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: is the kernel module hdaps loaded?", err)
	}
	if err != nil {
		link.Fail(now, err)
		return
	}
	d.due = now
	d.sent = [2]int{-1, -1} // no reading
	link.Ready(now)
	link.WakeAt(now)
}

func (d *Driver) Shutdown(now time.Duration) {
	_ = d.position.Close() // was only read
	d.link.Stopped(now)
}

// Tick publishes if the laptop was tilted. The sensor is sometimes busy; then
// the next look will do.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.due = timers.Skip(d.due, d.period, max(now, d.due))
	n, err := d.position.ReadAt(d.buf, 0)
	if err == nil || err == io.EOF {
		var position [2]int
		if position, err = parse(d.buf[:n]); err == nil {
			d.publish(now, position)
			return d.due
		}
	}
	if _, ok := d.noise.Allow(now); ok {
		d.link.Log().Warn(fmt.Sprintf("cannot read the sensor: %v", err))
	}
	return d.due
}

func (d *Driver) publish(now time.Duration, position [2]int) {
	if position == d.sent {
		return
	}
	d.sent = position
	for i := range position {
		d.data.Axes[i] = int16(min(max((position[i]-d.rest[i])*32767/full, -32767), 32767))
	}
	d.buf = d.data.Append(d.buf[:0])
	d.link.Device(codec.Joystick).Publish(now, d.buf)
	d.buf = d.buf[:cap(d.buf)]
}

// Command is not called: a joystick takes none.
func (d *Driver) Command(time.Duration, *devices.Device) {}

// Configure refuses everything.
func (d *Driver) Configure(time.Duration, *devices.Device, []byte) error {
	return errors.New("a joystick has nothing to configure")
}

// parse reads "(409,528)".
func parse(text []byte) (xy [2]int, err error) {
	inner := bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(text), []byte("(")), []byte(")"))
	x, y, _ := bytes.Cut(inner, []byte(","))
	xy[0], err = strconv.Atoi(string(x))
	if err == nil {
		xy[1], err = strconv.Atoi(string(y))
	}
	if err != nil {
		return xy, fmt.Errorf("%.30q is not a position such as (409,528)", text)
	}
	return xy, nil
}
