// Package readlog plays logs (docs/LOGS.md): it provides the devices that were
// recorded, and publishes their data with the recorded timing.
package readlog

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/formats/logfile"
	"player/formats/telemetry"
)

// LogEnd is a message of the log, by which tests find lines.
const LogEnd = "the log is at its end"

const (
	// burst bounds the records read and messages published in one go: less than a
	// millisecond of work. After each burst clients are served, also when a log is played
	// fast or has many messages that are not played.
	burst = 1024
	// ration bounds the bytes read in one go: about a millisecond of work. Other
	// programs log camera images among our messages.
	ration = 1 << 20
	// pause is the time between two bursts, for the rest of the server.
	pause = time.Millisecond
	// lap is the pause between the end of a log and its next round: about the period of a
	// robot's data. Without it a log of one message would keep the server busy.
	lap = 100 * time.Millisecond
	// stepCode is the configuration that requests a step.
	stepCode = "s"
)

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:      "readlog",
		Doc:       "plays a log of writelog: provides the recorded devices",
		Provides:  devices.Interfaces(),
		Simulated: true,
		Options: []devices.Option{
			{Name: "file", Default: devices.Path(""), Required: true, Doc: "the log"},
			{Name: "rate", Default: 1.0, Min: minSpeed, Max: maxSpeed, Doc: "speed relative to the recording"},
			{Name: "loop", Default: false, Doc: "starts again at the end"},
			{Name: "step", Default: false, Doc: "waits for the configuration s of a device before its next data"},
		},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			d, err := New(Options{a.String("file"), a.Float("rate"), a.Bool("loop"), a.Bool("step")}, a.Provides)
			if err != nil {
				return nil, err
			}
			return []devices.Instance{{Driver: d, Provides: d.Provides()}}, nil
		},
	}
}

// Options are how a log is played.
type Options struct {
	File string
	Rate float64
	Loop bool
	Step bool
}

// Driver plays a log from its beginning whenever it is started.
type Driver struct {
	options     Options
	recorded    []source
	about       map[string]telemetry.Description // by the topic of data
	cameras     []string
	first, last int64 // time of the first and the last message, ns since 1970

	link    *devices.Link
	log     *logfile.Reader // nil: it is off, or at the end
	playing map[*logfile.Channel]*devices.Device
	next    logfile.Message // to be published; Channel is nil: not read yet
	atEnd   bool            // there is no next message
	target  *devices.Device // the device with the data that ends the current step; nil: no step
	count   int             // messages of this round

	// At base, the playback is at the time origin of the log, ns since 1970, and goes
	// on at speed unless it is paused.
	base   time.Duration
	origin int64
	begins bool // the next message sets origin
	speed  float64
	paused bool
	// seeking: messages before origin are skipped. The newest of each device is kept in
	// skipped; at origin they are published.
	seeking bool
	skipped map[*devices.Device][]byte
}

// source is a device and the channel that it is played from.
type source struct {
	spec    devices.Spec
	channel logfile.Channel
}

// New reads which devices a log has. It provides those that are wanted: the recorded device of that index, otherwise the
// first one of its interface. If none is wanted it provides all; if an interface has no device of index 0, its first one
// gets that index. It fails if the file is no log, or has no data of a device.
func New(o Options, wanted []devices.Spec) (*Driver, error) {
	s, err := logfile.Scan(o.File)
	if err != nil {
		return nil, err
	}
	d := &Driver{options: o, about: s.Descriptions, cameras: s.Cameras, first: s.First, last: s.Last, skipped: map[*devices.Device][]byte{}}
	for _, spec := range wanted {
		c, ok := choose(s.Channels, spec.Name, spec.Index)
		if played := func(s source) bool { return s.channel == c }; ok && !slices.ContainsFunc(d.recorded, played) {
			d.recorded = append(d.recorded, source{spec, c})
		}
	}
	for _, spec := range devices.Interfaces() {
		if wanted != nil {
			// The playback begins with the first message of any device, also of one that is not wanted.
			c, ok := choose(s.Channels, spec.Name, 0)
			if ok && !slices.ContainsFunc(d.recorded, func(s source) bool { return s.spec.Letter == spec.Letter }) {
				d.recorded = append(d.recorded, source{spec.At(devices.Hidden), c})
			}
			continue
		}
		for i, c := range recorded(s.Channels, spec.Name) {
			index := c.Index
			if first, _ := choose(s.Channels, spec.Name, 0); i == 0 && first == c {
				index = 0
			}
			if index == 0 || !spec.Front { // other devices of position are behind virtual ones
				d.recorded = append(d.recorded, source{spec.At(index), c})
			}
		}
	}
	if len(d.recorded) == 0 {
		return nil, fmt.Errorf("%s: there is no data of a device in this log", o.File)
	}
	return d, nil
}

// recorded returns the data channels of an interface, device 0 first.
func recorded(channels []logfile.ChannelSummary, name string) (list []logfile.Channel) {
	first, ok := choose(channels, name, 0)
	if !ok {
		return nil
	}
	list = append(list, first)
	for _, c := range channels {
		if c.Interface == name && c.Content == logfile.Data && c.Channel != first {
			list = append(list, c.Channel)
		}
	}
	return list
}

// choose returns the data channel of an interface: with the index, else the first.
func choose(channels []logfile.ChannelSummary, name string, index int) (chosen logfile.Channel, ok bool) {
	for _, c := range channels {
		if c.Interface == name && c.Content == logfile.Data && (!ok || c.Index == index) {
			chosen, ok = c.Channel, true
		}
	}
	return chosen, ok
}

// AppendRays appends where the readings of a ranger look, as the log has it.
func (d *Driver) AppendRays(dst []codec.Rays, device *devices.Device) []codec.Rays {
	return append(dst, d.description(device).Rays...)
}

// AppendChannels appends the channels of a device, as the log has them.
func (d *Driver) AppendChannels(dst []codec.Channel, device *devices.Device) []codec.Channel {
	return append(dst, d.description(device).Channels...)
}

func (d *Driver) description(device *devices.Device) telemetry.Description {
	i := slices.IndexFunc(d.recorded, func(s source) bool { return s.spec == device.Spec() })
	if i < 0 {
		return telemetry.Description{}
	}
	return d.about[d.recorded[i].channel.Topic()]
}

// Provides returns the devices that the log has data of.
func (d *Driver) Provides() []devices.Spec {
	specs := make([]devices.Spec, len(d.recorded))
	for i, s := range d.recorded {
		specs[i] = s.spec
	}
	return specs
}

// Cameras returns the cameras that the log has pictures of, and File its path. The loop does
// not play pictures: the server's cameras read them from the log.
func (d *Driver) Cameras() []string { return d.cameras }
func (d *Driver) File() string      { return d.options.File }

// Setup starts playing.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.target = link, nil
	d.speed, d.paused = d.options.Rate, false
	if err := d.open(now); err != nil {
		link.Fail(now, err)
		return
	}
	link.Ready(now)
	link.WakeAt(d.play(now))
}

// open begins a round at now.
func (d *Driver) open(now time.Duration) (err error) {
	d.base, d.begins, d.seeking = now, true, false
	return d.rewind()
}

// rewind opens the log at its beginning.
func (d *Driver) rewind() (err error) {
	d.close()
	if d.log, err = logfile.Open(d.options.File); err != nil {
		return err
	}
	// No device plays messages of other programs' channels.
	d.playing, d.count = map[*logfile.Channel]*devices.Device{nil: nil}, 0
	d.next, d.atEnd = logfile.Message{}, false
	return nil
}

// read reads one record, and keeps it as the next message if it is played. It returns the
// bytes processed: the bytes of the file, read chunk by chunk, and the bytes of the message.
func (d *Driver) read() int {
	offset := d.log.Offset()
	m, err := d.log.NextRecord()
	if err == io.EOF {
		d.atEnd = true
		return 0
	}
	device, known := d.playing[m.Channel]
	if !known {
		device = d.deviceOf(m.Channel)
		d.playing[m.Channel] = device
	}
	if device != nil {
		d.next = m
		if d.begins {
			d.origin, d.begins = m.Time, false
		}
	}
	return int(d.log.Offset()-offset) + len(m.Payload)
}

// deviceOf returns the device that plays a channel, nil if none does.
func (d *Driver) deviceOf(c *logfile.Channel) *devices.Device {
	i := slices.IndexFunc(d.recorded, func(s source) bool { return s.channel == *c })
	if i < 0 {
		return nil
	}
	return d.link.Devices()[i]
}

// due returns when the next message is to be published.
func (d *Driver) due() time.Duration {
	return d.base + time.Duration(float64(d.next.Time-d.origin)/d.speed)
}

// play publishes the messages that are due at now and returns when to go on, zero for never,
// or not before the next step.
func (d *Driver) play(now time.Duration) time.Duration {
	for i, left := 0, ration; i < burst && left > 0; i++ {
		switch {
		case d.log == nil:
			return 0
		case d.seeking && (d.atEnd || d.next.Channel != nil && d.next.Time >= d.origin):
			d.arrive(now)
		case d.seeking && d.next.Channel != nil:
			device := d.playing[d.next.Channel]
			d.skipped[device] = append(d.skipped[device][:0], d.next.Payload...)
			d.next = logfile.Message{}
			d.count++
		case d.atEnd && d.paused:
			return 0
		case d.atEnd:
			return d.end(now)
		case d.next.Channel == nil:
			left -= d.read()
		case d.paused:
			return 0
		case d.options.Step && d.target == nil:
			return 0
		case !d.options.Step && d.due() > now:
			return d.due()
		default:
			d.publish(now)
		}
	}
	return now + pause
}

// publish publishes the next message.
func (d *Driver) publish(now time.Duration) {
	device := d.playing[d.next.Channel]
	device.Publish(now, d.next.Payload)
	d.count++
	if device == d.target {
		d.target = nil
	}
	d.next = logfile.Message{}
}

// end ends a round. The devices keep their last data.
func (d *Driver) end(now time.Duration) time.Duration {
	log := d.link.Log().With(zap.String("file", d.options.File), zap.Int("messages", d.count))
	if damage := d.log.Damage(); damage != nil {
		log = log.With(zap.NamedError("damage", damage))
	}
	d.close()
	if !d.options.Loop || d.count == 0 {
		log.Info(LogEnd)
		return 0
	}
	log.Debug("the log starts again")
	if err := d.open(now + lap); err != nil {
		log.Error("the log cannot be played again", zap.Error(err))
		return 0
	}
	return now + lap
}

func (d *Driver) close() {
	if d.log != nil {
		_ = d.log.Close() // it was only read
		d.log, d.target = nil, nil
	}
}

// Shutdown stops playing.
func (d *Driver) Shutdown(now time.Duration) {
	d.close()
	d.link.Stopped(now)
}

// Tick goes on playing.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.play(now) }

var (
	errNoStep = errors.New("the log is played without steps: its driver needs step 1")
	errEnd    = errors.New(LogEnd)
	errBusy   = errors.New("the last step is still under way")
)

// Configure handles s, which requests a step (PROTOCOL 6.7): up to the next data of
// the device, or the end of the log. Other requests are accepted and have no
// effect, because a recording cannot be changed.
func (d *Driver) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	if string(payload) != stepCode {
		_, err := codec.DecodeRobotConfig(payload)
		return err
	}
	switch {
	case !d.options.Step:
		return errNoStep
	case d.log == nil:
		return errEnd
	case d.target != nil:
		return errBusy
	}
	d.target = device
	d.link.WakeAt(d.play(now))
	return nil
}
