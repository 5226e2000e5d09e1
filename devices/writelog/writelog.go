// Package writelog records data, commands and configurations of devices in log files
// (docs/LOGS.md).
package writelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/formats/logfile"
	"player/formats/telemetry"
	"player/timers/limited"
)

const (
	// flushPeriod is the longest time until a message goes to the disk: a crash of the
	// server loses as much.
	flushPeriod = 250 * time.Millisecond
	// endPeriod is how often Shutdown checks whether the disk is done.
	endPeriod = 5 * time.Millisecond

	megabyte = 1 << 20
)

// Kind declares the driver of a server of the given version.
func Kind(version string) devices.Kind {
	return devices.Kind{
		Name:     "writelog",
		Doc:      "records the devices that it requires: data, commands and configurations, with times",
		Provides: []devices.Spec{},
		Accepts:  devices.Interfaces(),
		AlwaysOn: true,
		Options: []devices.Option{
			{Name: "file", Default: devices.Path(""), Required: true, Doc: "the log, as run.mcap; an older one becomes run.1.mcap, and so on"},
			{Name: "max_size", Default: 64, Min: 1, Max: 100000, Unit: "MiB", Doc: "of a file; then the next is begun"},
			{Name: "files", Default: 8, Min: 1, Max: 1000, Doc: "how many are kept; the oldest is deleted"},
			{Name: "compress", Default: false, Doc: "zstd: about half of the bytes, for 0.2 ms of work a second and 0.5 MB of memory"},
			{Name: "open", Default: false, Doc: "keeps the devices open all the time; otherwise they are recorded while clients have them open"},
			{Name: "manual", Default: false, Doc: "records only while the dashboard has it record"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			d, err := New(a.Requires, a.Bool("open"))
			if err != nil {
				return nil, err
			}
			d.manual = a.Bool("manual")
			d.disk.path, d.disk.maxSize, d.disk.files = a.String("file"), int64(a.Int("max_size"))*megabyte, a.Int("files")
			d.disk.info.Server, d.disk.info.Compress = version, a.Bool("compress")
			return d, d.disk.check()
		},
	}
}

// Driver records devices.
type Driver struct {
	tracks []*track
	opened devices.Optional // those that it keeps open itself
	clock  func() time.Time
	disk   *disk
	manual bool // Record starts and stops it

	link    *devices.Link
	state   state
	counted devices.Recording
	batch   *logfile.Batch // being filled; nil: none
	armed   bool           // flushAt is set
	flushAt time.Duration
	dropped int // messages since the last complaint
	slow    limited.Line
}

type state uint8

const (
	recording state = iota
	waiting         // for Record
	ending          // after Record, until the disk is done
	stopping        // after Shutdown, until the disk is done
	failed          // by the disk, until Setup or Record
)

// track is one recorded device.
type track struct {
	driver  *Driver
	device  *devices.Device
	channel int // of its data; the next two are commands and configurations

	describes bool // its interface has descriptions
	described bool // the log has the description of the device
}

// New returns a driver that records the devices, and keeps them open if open is
// true.
func New(list []*devices.Device, open bool) (*Driver, error) {
	d := &Driver{disk: &disk{maxIndex: logfile.MaxIndex}, clock: time.Now, slow: limited.Line{Period: 5 * time.Second}}
	for i, device := range list {
		spec := device.Spec()
		for _, other := range list[:i] {
			if o := other.Spec(); o.Letter == spec.Letter && o.Index == spec.Index {
				return nil, fmt.Errorf("it records one %s:%d: write a block for each robot", spec.Name, spec.Index)
			}
		}
		t := &track{driver: d, device: device, channel: len(d.disk.info.Channels)}
		t.describes = logfile.Describes(spec.Name)
		d.tracks = append(d.tracks, t)
		for _, content := range []logfile.Content{logfile.Data, logfile.Command, logfile.Configuration} {
			d.disk.info.Channels = append(d.disk.info.Channels, logfile.Channel{Interface: spec.Name, Index: spec.Index, Content: content})
		}
	}
	if open {
		d.opened.Devices = list
	}
	if len(list) == 0 {
		return nil, errors.New(`it records the devices that it requires, as in requires ["position:0" "laser:0"]`)
	}
	return d, nil
}

// check returns an error if no log can be written at the path.
func (d *disk) check() error {
	directory := filepath.Dir(d.path)
	if info, err := os.Stat(d.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("file: %s is not a regular file", d.path)
	}
	if err := unix.Access(directory, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("file: no log can be written in the directory %s: %w", directory, err)
	}
	return nil
}

// Setup ends at once. The first file is created with the first message, so merely starting
// and stopping the server does not delete older logs.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.state, d.counted = link, waiting, devices.Recording{}
	link.Ready(now)
	if !d.manual {
		d.begin(now)
	}
}

// begin begins a recording.
func (d *Driver) begin(now time.Duration) {
	d.disk = d.disk.next()
	d.state, d.batch, d.armed, d.dropped = recording, nil, false, 0
	d.disk.info.Start, d.disk.log = d.clock().Add(-now), d.link.Log()
	d.counted = devices.Recording{Since: d.clock()}
	for i, t := range d.tracks {
		t.described = false
		d.disk.info.Channels[3*i].Geometry = telemetry.Geometry(t.device.Link().Geometry())
	}
	d.disk.start()
	for _, t := range d.tracks {
		t.device.AddObserver(d.link, t)
	}
	d.opened.Open(now, d.link)
}

func (t *track) Published(device *devices.Device) {
	t.driver.record(t.channel, device.Stamp(), device.Data())
	if t.describes && !t.described && t.driver.batch != nil {
		t.described = true // the driver has learnt it: it has data
		spec, about := device.Spec(), telemetry.Description{Rays: device.AppendRays(nil), Channels: device.AppendChannels(nil)}
		if lines := logfile.Describe(spec.Name, spec.Index, about); lines != "" {
			t.driver.batch.Describe(t.channel, lines)
		}
	}
}

func (t *track) Commanded(now time.Duration, device *devices.Device) {
	t.driver.record(t.channel+1, now, device.Command())
}

func (t *track) Configured(now time.Duration, _ *devices.Device, payload []byte) {
	t.driver.record(t.channel+2, now, payload)
}

// record copies a message into the batch. Once the batches have grown it allocates
// nothing.
func (d *Driver) record(channel int, stamp time.Duration, payload []byte) {
	if !d.armed {
		d.armed, d.flushAt = true, stamp+flushPeriod
		d.link.WakeAt(d.next())
	}
	if d.batch == nil {
		select {
		case d.batch = <-d.disk.free:
		default: // all batches wait for the disk
			d.dropped++
			d.counted.Lost++
			return
		}
	}
	d.batch.Add(channel, stamp, payload)
	d.counted.Messages++
	d.counted.Bytes += int64(len(payload))
	if d.batch.Size() >= batchSize {
		d.flush()
	}
}

// flush passes the batch to the disk.
func (d *Driver) flush() {
	if d.batch != nil {
		d.disk.full <- d.batch // never blocks: it has room for all batches
		d.batch = nil
	}
}

// next returns the earliest deadline.
func (d *Driver) next() time.Duration {
	retryAt := d.opened.RetryAt()
	if d.armed && (retryAt == 0 || d.flushAt < retryAt) {
		return d.flushAt
	}
	return retryAt
}

// Tick passes on the batch, reopens devices, and checks the disk.
func (d *Driver) Tick(now time.Duration) time.Duration {
	if d.state == waiting {
		return 0
	}
	if d.hasEnded() {
		d.release(now)
		switch d.state {
		case ending:
			if d.disk.err == nil {
				d.state = waiting
				return 0
			}
		case stopping:
			d.link.Stopped(now)
		}
		d.state = failed
		return 0
	}
	if d.state == stopping || d.state == ending {
		d.flushAt = now + endPeriod
		return d.flushAt
	}
	if d.dropped > 0 && d.slow.Allow(now) {
		d.complain()
	}
	if d.armed && d.flushAt <= now {
		// On multiples of the period, to wake together with other timers. Without messages there are no wakes.
		d.armed = d.batch != nil
		d.flushAt = (now/flushPeriod + 1) * flushPeriod
		if len(d.disk.full) == 0 { // a slow disk gets few large chunks
			d.flush()
		}
	}
	d.opened.Tick(now)
	return d.next()
}

// complain logs how many messages were not recorded.
func (d *Driver) complain() {
	d.link.Log().Warn("the disk is too slow: not everything is recorded", zap.Int("messages lost", d.dropped))
	d.dropped = 0
}

// hasEnded reports whether the disk is done or has failed.
func (d *Driver) hasEnded() bool {
	select {
	case <-d.disk.ended:
		return true
	default:
		return false
	}
}

// release ends observing and closes the devices.
func (d *Driver) release(now time.Duration) {
	for _, t := range d.tracks {
		t.device.RemoveObserver(t)
	}
	d.opened.Close(now)
	d.armed = false
}

// Shutdown stops recording; Tick waits for the disk to write the end of the file.
func (d *Driver) Shutdown(now time.Duration) {
	switch d.state {
	case waiting:
		d.link.Stopped(now)
	case ending:
		d.state = stopping // Tick waits already
	default:
		d.finish(now, stopping)
	}
}

// finish ends the recording. Tick waits in the given state for the disk.
func (d *Driver) finish(now time.Duration, s state) {
	d.release(now)
	if d.dropped > 0 {
		d.complain()
	}
	d.flush()
	d.disk.end()
	d.state = s
	d.link.WakeAt(d.Tick(now))
}
