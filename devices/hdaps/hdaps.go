// Package hdaps makes a joystick of a ThinkPad. Its accelerometer, made for parking
// the disk's heads when the laptop falls, measures the tilt.
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
	"player/devices/retry"
	"player/timers"
)

// full is the difference from rest, in the sensor's units, that counts as full
// deflection. A laptop on its side reads somewhat more; a smaller number makes the
// joystick more sensitive.
const full = 150

const (
	// patience is how long reads may fail before the sensor counts as lost. Single
	// reads fail when it is busy. A stale tilt steers for at most this long.
	patience = time.Second
)

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
			{Name: "rate", Default: 20, Min: 1, Max: 50, Unit: "Hz", Doc: "how often it is read; data is published when it has changed"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.String("directory"), a.Int("rate")), nil
		},
	}
}

// Driver is Player's joystick device. A lost sensor reads as a joystick at rest, and
// is opened again until it is back.
type Driver struct {
	directory string
	period    time.Duration

	link     *devices.Link
	position *os.File
	rest     [2]int
	due      time.Duration
	failing  time.Duration // since when all reads have failed, zero: the last did not
	retry    retry.Retry
	sent     [2]int // as last published
	data     codec.JoystickData
	buf      []byte
}

// none is no reading, and unlike all readings.
var none = [2]int{-1, -1}

// New returns a driver for the sensor with files in directory. It reads them rate times a
// second.
func New(directory string, rate int) *Driver {
	return &Driver{
		directory: directory,
		period:    time.Second / time.Duration(rate),
		buf:       make([]byte, 64),
	}
}

// Setup ends at once.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link = link
	if err := d.open(); err != nil {
		link.Fail(now, err)
		return
	}
	d.due, d.failing, d.retry, d.sent = now, 0, retry.Retry{}, none
	link.Ready(now)
	link.WakeAt(now)
}

// open opens the sensor; the position that it was calibrated to is rest.
func (d *Driver) open() error {
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
	return err
}

func (d *Driver) Shutdown(now time.Duration) {
	_ = d.position.Close() // was only read, or is closed already
	d.link.Stopped(now)
}

// Tick publishes if the laptop was tilted.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.due = timers.Skip(d.due, d.period, max(now, d.due))
	position, err := d.sample()
	if err != nil {
		d.miss(now, err)
		return d.due
	}
	d.failing = 0
	d.retry.Worked(now, d.link.Log())
	d.publish(now, position)
	return d.due
}

// sample reads the tilt. It opens a lost sensor anew: the old file stays dead when the
// kernel module was reloaded, and the module may have calibrated anew.
func (d *Driver) sample() ([2]int, error) {
	if d.retry.Failing() {
		_ = d.position.Close() // was only read, or is closed already
		if err := d.open(); err != nil {
			return none, err
		}
	}
	n, err := d.position.ReadAt(d.buf, 0)
	if err != nil && err != io.EOF {
		return none, err
	}
	return parse(d.buf[:n])
}

// miss handles a read that has failed.
func (d *Driver) miss(now time.Duration, err error) {
	if d.failing == 0 {
		d.failing = now
	}
	if now-d.failing < patience {
		return
	}
	if !d.retry.Failing() { // no client may go on driving by a stale tilt
		d.sent, d.data = none, codec.JoystickData{}
		d.send(now)
	}
	d.due = d.retry.Failed(now, d.link.Log(), err)
}

func (d *Driver) publish(now time.Duration, position [2]int) {
	if position == d.sent {
		return
	}
	d.sent = position
	for i := range position {
		d.data.Axes[i] = int16(min(max((position[i]-d.rest[i])*32767/full, -32767), 32767))
	}
	d.send(now)
}

func (d *Driver) send(now time.Duration) {
	d.buf = d.data.Append(d.buf[:0])
	d.link.Device(codec.Joystick).Publish(now, d.buf)
	d.buf = d.buf[:cap(d.buf)]
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
