// Package reflex stands between clients and the wheels, and keeps the robot from
// what they run it into: a virtual device with a stack of layers (package
// subsumption) in which a client's command is the radio layer, and escape, bump
// and avoid are above it. docs/SUBSUMPTION.md is the guide.
//
// A robot that is told to stand stands: reflexes act only while a client wants
// it to move, and end when it does not. While no reflex acts, commands go on
// unchanged and at once.
package reflex

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/codec"
	"player/devices"
	"player/subsumption"
	"player/subsumption/sense"
)

const (
	// period is that of the article's robots. A Pioneer at full speed moves
	// 25 mm in it.
	period = 50 * time.Millisecond
	// maxAge is how old a reading may be. A laser scanner that has fallen back to
	// 9600 baud needs most of a second for a scan; a sensor that is silent for
	// longer is taken for one that sees nothing.
	maxAge = 1500 * time.Millisecond
	// defaultRange in mm is less than the article's 18 inches: clients drive
	// through doors.
	defaultRange = 400
)

var errBlind = errors.New("it needs something to see with: requires sonar, laser or misc")

// Kind declares the driver.
func Kind() devices.Kind {
	inner := devices.Position()
	inner.Index = 1
	return devices.Kind{
		Name:     "reflex",
		Doc:      "keeps the robot from what its clients run it into: bump, escape, avoid",
		Provides: []devices.Spec{devices.Position()},
		Requires: []devices.Spec{inner},
		Accepts:  []devices.Spec{devices.Sonar(), devices.Laser(), devices.Misc()},
		Options: []devices.Option{
			{Name: "range", Default: defaultRange, Min: 50, Max: 2000, Unit: "mm", Doc: "how near something in front of the robot makes it turn away; behind, half of it"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.Requires[0], a.Requires[1:], a.Int("range"))
		},
	}
}

// Driver is the position device of another driver, with reflexes. It implements
// devices.Subscriber and devices.Follower.
type Driver struct {
	inner *devices.Device
	eyes  []*devices.Device
	reach int // mm

	link   *devices.Link
	device *devices.Device
	open   []*devices.Device // of inner and eyes, those that are open or on their way

	stack    *subsumption.Stack
	reflexes []*subsumption.Layer // those above radio
	winner   *subsumption.Layer   // of the latest cycle

	// The data of a cycle are kept here, for it must not allocate.
	sensors  subsumption.Sensors
	radio    subsumption.Stick
	position codec.PositionData
	sonar    codec.SonarData
	laser    codec.LaserData
	misc     codec.MiscData
	buf      []byte
}

// New returns a driver that stands before inner and sees with the devices of
// eyes: sonar, laser, misc. reach is how near something makes it turn away, mm.
// The error says that there are no eyes.
func New(inner *devices.Device, eyes []*devices.Device, reach int) (*Driver, error) {
	if len(eyes) == 0 {
		return nil, errBlind
	}
	return &Driver{inner: inner, eyes: eyes, reach: reach}, nil
}

func (d *Driver) Describe() devices.Description {
	return devices.Description{Name: "reflex", Provides: []devices.Spec{devices.Position()}, SetupLimit: devices.VirtualSetupLimit}
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device = link, link.Device(codec.Position)
	d.stack, d.reflexes = newStack(d.reach)
	d.winner, d.radio = nil, subsumption.Stick{}
	d.open = append(d.open[:0], d.inner)
	if pending, err := d.inner.Subscribe(now, d); !pending {
		d.SetupDone(now, d.inner, err)
	}
}

// SetupDone implements devices.Subscriber. The link is ready when the wheels
// are. The eyes open meanwhile, or later, or not at all: a laser that is
// switched off must not keep clients from driving.
func (d *Driver) SetupDone(now time.Duration, device *devices.Device, err error) {
	if err != nil {
		d.open = slices.DeleteFunc(d.open, func(o *devices.Device) bool { return o == device })
	}
	switch {
	case device != d.inner && err != nil:
		d.link.Log().Warn("the reflexes go without a sensor", zap.String("sensor", device.Spec().Name), zap.Error(err))
	case device != d.inner:
	case err != nil:
		d.link.Fail(now, fmt.Errorf("it works on %s of %s: %w", device.Spec().Name, device.Link().Name(), err))
	default:
		for _, eye := range d.eyes {
			d.open = append(d.open, eye)
			if pending, err := eye.Subscribe(now, d); !pending {
				d.SetupDone(now, eye, err)
			}
		}
		d.inner.Follow(d)
		if d.inner.HasData() {
			d.Published(d.inner)
		}
		d.link.Ready(now)
	}
}

func (d *Driver) Shutdown(now time.Duration) {
	if d.winner != nil { // who has only read leaves the wheels to others
		d.send(now, subsumption.Command{})
	}
	d.inner.Unfollow(d)
	open := d.open
	d.open = nil
	for _, device := range open {
		device.Unsubscribe(now, d)
	}
	d.link.Stopped(now)
}

// Published implements devices.Follower: odometry goes on as it is.
func (d *Driver) Published(inner *devices.Device) { d.device.Publish(inner.Stamp(), inner.Data()) }

// Command takes what a client wants for the radio layer. It is in force at once.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(device.Command()); err != nil {
		d.link.Log().Warn("command dropped", zap.Error(err))
		return
	}
	d.radio = subsumption.Stick{On: c != codec.PositionCommand{}, Speed: int(c.Speed), Turn: int(c.TurnRate)}
	for _, l := range d.reflexes {
		l.Suppressed = !d.radio.On
	}
	next := d.Tick(now)
	if !d.radio.On {
		next = 0
	}
	d.link.WakeAt(next)
}

// Tick is a cycle of the stack.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.sense(now)
	d.send(now, d.stack.Cycle(now, &d.sensors))
	if w := d.stack.Winner(); w != d.winner {
		d.winner = w
		if line := d.link.Log().Check(zapcore.DebugLevel, "the wheels go to"); line != nil {
			line.Write(zap.String("layer", w.Name))
		}
	}
	return now/period*period + period
}

// sense reads of each device the newest data, unless it is too old.
func (d *Driver) sense(now time.Duration) {
	s := &d.sensors
	*s = subsumption.NewSensors()
	s.Radio = d.radio
	for _, device := range d.open {
		if !device.HasData() || device.Age(now) > maxAge {
			continue
		}
		switch device.Letter() {
		case codec.Position:
			if d.position.Decode(device.Data()) == nil {
				sense.Position(s, &d.position)
			}
		case codec.Sonar:
			if d.sonar.Decode(device.Data()) == nil {
				sense.Sonar(s, &d.sonar)
			}
		case codec.Laser:
			if d.laser.Decode(device.Data()) == nil {
				sense.Laser(s, &d.laser)
			}
		case codec.Misc:
			if d.misc.Decode(device.Data()) == nil {
				sense.Misc(s, &d.misc)
			}
		}
	}
}

func (d *Driver) send(now time.Duration, c subsumption.Command) {
	command := codec.PositionCommand{Speed: int16(c.Speed), TurnRate: int16(c.Turn)}
	d.buf = command.Append(d.buf[:0])
	d.inner.SetCommand(now, d.buf)
}

func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	return d.inner.Configure(now, payload)
}
