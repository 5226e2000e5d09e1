// Package testpattern is a robot without hardware: any of the devices of the protocol but a joystick,
// with data of constant size at a constant rate. It replaces a robot in measurements of the
// server itself, for example in docs/BENCHMARKS.md.
package testpattern

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/codec"
	"player/devices"
	"player/timers"
)

const (
	// maxRate is the highest rate in Hz: 50 clients at 50 Hz, each with data of
	// its own, would need no more.
	maxRate = 2500
	// early is how long before the multiples of its period the pattern is published.
	// Frames are made at multiples of theirs, so their data is fresh, and one wake of
	// the server serves both.
	early = 100 * time.Microsecond
	// stampSize is the size of a stamp in a payload, in bytes.
	stampSize = 8
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:      "testpattern",
		Doc:       "any devices, with synthetic data of constant size",
		Provides:  slices.Concat(all(), named()),
		Simulated: true,
		Options: []devices.Option{
			{Name: "rate", Default: 10, Min: 1, Max: maxRate, Unit: "Hz", Doc: "how often each device publishes"},
			{Name: "laser_size", Default: codec.LaserSize, Max: codec.LaserSize, Unit: "bytes", Doc: "the laser's payload; 0 is a block without data"},
			{Name: "ranger_readings", Default: 1081, Min: 1, Max: codec.MaxReadings, Doc: "readings of the ranger, which sees 270 degrees"},
			{Name: "vision_blobs", Default: 0, Max: codec.VisionChannels * codec.MaxBlobs, Doc: "blobs in view; 0 is a block without data"},
			{Name: "drive", Default: devices.Path(""), Doc: "a recorded drive: compact frames of laser, sonar and position, 10 a second; ranges have noise"},
			{Name: "stamp", Default: false, Doc: "the payloads of laser (without drive) and sonar begin with the time: CLOCK_MONOTONIC in ns, u64"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			p := Pattern{
				Rate:        a.Int("rate"),
				LaserSize:   a.Int("laser_size"),
				Readings:    a.Int("ranger_readings"),
				VisionBlobs: a.Int("vision_blobs"),
				Stamp:       a.Bool("stamp"),
			}
			if path := a.String("drive"); path != "" {
				var err error
				if p.Drive, err = os.ReadFile(path); err != nil {
					return nil, fmt.Errorf("drive: %w", err)
				}
			}
			return New(p)
		},
	}
}

// all returns the devices of the manual.
func all() []devices.Spec {
	return []devices.Spec{devices.Laser(), devices.Sonar(), devices.Position(), devices.Misc(), devices.Gripper(), devices.PTZ(), devices.Vision()}
}

// named returns the devices that the robot has if its block names them.
func named() []devices.Spec {
	named := []devices.Spec{devices.Ranger(), devices.IMU(), devices.GPS(), devices.IO(), devices.Servo()}
	for i := range named {
		named[i].Index = devices.Hidden
	}
	return named
}

// Pattern is the data that a Driver publishes.
type Pattern struct {
	Rate        int    // Hz
	LaserSize   int    // bytes
	Readings    int    // of the ranger
	VisionBlobs int    // 0: a payload of size 0
	Drive       []byte // compact frames; with them, the laser's payload is a complete scan
	Stamp       bool
}

// Driver publishes a Pattern. Position and ptz report their last command as carried
// out.
type Driver struct {
	pattern Pattern
	period  time.Duration
	clock   func() uint64 // ns, for stamps

	link     *devices.Link
	due      time.Duration
	payloads []payload
	position codec.PositionData
	ptz      codec.PTZData
	sensors  sensors
	drive    drive
}

type payload struct {
	device *devices.Device
	bytes  []byte
}

// New returns a driver of all seven devices. It fails if the laser's payload has no
// room for a stamp, or the drive is none.
func New(p Pattern) (*Driver, error) {
	if p.Stamp && p.LaserSize != 0 && p.LaserSize < stampSize {
		return nil, fmt.Errorf("a stamp takes %d bytes of the laser's payload, which has %d", stampSize, p.LaserSize)
	}
	d := &Driver{pattern: p, period: time.Second / time.Duration(p.Rate), clock: monotonic}
	if p.Drive != nil {
		var err error
		if d.drive, err = newDrive(p.Drive); err != nil {
			return nil, fmt.Errorf("drive: %w", err)
		}
	}
	return d, nil
}

// monotonic returns a time that other programs on this computer can compare with.
func monotonic() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail for this clock
	return uint64(ts.Nano())
}

// Setup ends at once, with the first publication.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link = link
	d.position, d.ptz = codec.PositionData{}, codec.PTZData{}
	d.sensors.start()
	d.payloads = d.payloads[:0]
	for _, device := range link.Devices() {
		d.payloads = append(d.payloads, payload{device, d.payload(device.Letter())})
	}
	link.Ready(now)
	d.publish(now)
	d.due = timers.Skip(now/d.period*d.period-early, d.period, now)
	link.WakeAt(d.due)
}

func (d *Driver) Shutdown(now time.Duration) { d.link.Stopped(now) }

// Tick publishes.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.publish(now)
	d.due = timers.Skip(d.due, d.period, max(now, d.due))
	return d.due
}

func (d *Driver) publish(now time.Duration) {
	var stamp uint64
	if d.pattern.Stamp {
		stamp = d.clock()
	}
	for i := range d.payloads {
		p := &d.payloads[i]
		switch letter := p.device.Letter(); letter {
		case codec.Position:
			d.drive.position(now, &d.position)
			d.position.Time = uint32(now.Milliseconds())
			p.bytes = d.position.Append(p.bytes[:0])
		case codec.PTZ:
			p.bytes = d.ptz.Append(p.bytes[:0])
		case codec.IO:
			p.bytes = d.sensors.io.Append(p.bytes[:0])
		case codec.Servo:
			p.bytes = d.sensors.servo.Append(p.bytes[:0])
		case codec.Laser, codec.Sonar:
			p.bytes = d.drive.ranges(now, letter, p.bytes)
			if d.pattern.Stamp && len(p.bytes) > 0 && (letter == codec.Sonar || d.pattern.Drive == nil) {
				binary.BigEndian.PutUint64(p.bytes, stamp)
			}
		}
		p.device.Publish(now, p.bytes)
	}
}

// payload returns a device's data before any command: a wall around the robot, and a charged
// battery.
func (d *Driver) payload(letter byte) []byte {
	switch letter {
	case codec.Laser:
		var scan codec.LaserData
		for i := range scan {
			scan[i] = uint16(2000 + i)
		}
		return scan.Append(nil)[:d.pattern.LaserSize]
	case codec.Sonar:
		var ring codec.SonarData
		for i := range ring {
			ring[i] = uint16(2000 + 100*i)
		}
		return ring.Append(nil)
	case codec.Misc:
		m := codec.MiscData{Battery: 126}
		return m.Append(nil)
	case codec.Gripper:
		g := codec.GripperData{State: codec.PaddlesOpen | codec.LiftDown}
		return g.Append(nil)
	case codec.Vision:
		return vision(d.pattern.VisionBlobs)
	}
	return d.fixed(letter) // position, ptz, io and servo are made when they are published
}

// vision returns a payload with n blobs; each channel is filled before the next.
func vision(n int) []byte {
	if n == 0 {
		return nil
	}
	var v codec.VisionData
	for i := range n {
		v.Count[i/codec.MaxBlobs]++
		v.Blobs = append(v.Blobs, codec.Blob{Area: 100, X: 80, Y: 60, Left: 75, Right: 85, Top: 55, Bottom: 65})
	}
	return v.Append(nil)
}

// Command reports the new command as carried out from now on.
func (d *Driver) Command(_ time.Duration, device *devices.Device) {
	switch device.Letter() {
	case codec.Position:
		var c codec.PositionCommand
		if c.Decode(device.Command()) == nil {
			d.position.Speed, d.position.TurnRate = c.Speed, c.TurnRate
		}
	case codec.PTZ:
		_ = d.ptz.Decode(device.Command()) // Spec gives this size
	default:
		d.sensors.command(device)
	}
}

// Configure accepts every well-formed request. It has no effect.
func (d *Driver) Configure(_ time.Duration, _ *devices.Device, payload []byte) error {
	_, err := codec.DecodeRobotConfig(payload)
	return err
}
