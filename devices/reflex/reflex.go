// Package reflex is a virtual device between clients and the wheels that avoids
// collisions. It is a stack of layers (package subsumption): a client's command is
// the radio layer, and escape, bump and avoid are above it. docs/SUBSUMPTION.md is
// the guide.
//
// Reflexes act only while a client commands the robot to move. While none acts, commands are
// passed on unchanged and at once. After an outage the wheels stay stopped until a client
// commands them again.
package reflex

import (
	"errors"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/client/subsumption"
	"player/client/subsumption/sense"
	"player/codec"
	"player/devices"
)

const (
	// period is the period of the cycles of the article's robots. A Pioneer at full speed
	// moves 25 mm in it.
	period = 50 * time.Millisecond
	// maxAge is how old a reading may be; older ones are ignored, as if nothing were near. A
	// laser scanner that has fallen back to 9600 baud needs most of a second for a scan.
	maxAge = 1500 * time.Millisecond
	// defaultRange in mm is less than the article's 18 inches: clients drive
	// through doors.
	defaultRange = 400
)

var errBlind = errors.New("it needs something to see with: requires sonar, laser or misc")

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name:       "reflex",
		Doc:        "avoids collisions when clients drive: bump, escape, avoid",
		Provides:   []devices.Spec{devices.Position()},
		Requires:   []devices.Spec{devices.Position().At(1)},
		Accepts:    []devices.Spec{devices.Sonar(), devices.Laser(), devices.Misc()},
		SetupLimit: devices.VirtualSetupLimit,
		Options: []devices.Option{
			{Name: "range", Default: defaultRange, Min: 50, Max: 2000, Unit: "mm", Doc: "distance in front at which the robot turns away; behind, half of it"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return New(a.Requires[0], a.Requires[1:], a.Int("range"))
		},
	}
}

// Driver is the position device of another driver, with reflexes. It implements
// devices.Observer. The link is ready when the wheels are. The eyes may open later or
// not at all: a laser that is switched off must not keep clients from driving.
type Driver struct {
	inner  *devices.Device
	eyes   devices.Optional // sonar, laser, misc
	wheels devices.Required // inner
	reach  int              // mm

	link    *devices.Link
	device  *devices.Device
	cycleAt time.Duration // zero: no client commands the robot to move

	stack    *subsumption.Stack
	reflexes []*subsumption.Layer // those above radio
	winner   *subsumption.Layer   // of the latest cycle

	// Kept here so that a cycle does not allocate.
	sensors  subsumption.Sensors
	radio    subsumption.Stick
	payloads sense.Payloads
	buf      []byte
}

// New returns a driver that works on inner, with the sensors in eyes: sonar, laser, misc.
// reach is the distance at which it turns away, mm. Without a sensor it returns an error.
func New(inner *devices.Device, eyes []*devices.Device, reach int) (*Driver, error) {
	if len(eyes) == 0 {
		return nil, errBlind
	}
	d := &Driver{inner: inner, eyes: devices.Optional{Devices: eyes}, reach: reach}
	d.wheels = devices.Required{Devices: []*devices.Device{inner}, Observer: d, Optional: &d.eyes}
	return d, nil
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.device = link, link.Device(codec.Position)
	d.stack, d.reflexes = newStack(d.reach)
	d.winner, d.radio, d.cycleAt = nil, subsumption.Stick{}, 0
	d.wheels.Open(now, link)
}

func (d *Driver) Shutdown(now time.Duration) {
	if d.winner != nil { // a client that never drove must not stop the wheels
		d.send(now, subsumption.Command{})
	}
	d.wheels.Close(now)
	d.link.Stopped(now)
}

// Published implements devices.Observer: odometry is passed on unchanged.
func (d *Driver) Published(inner *devices.Device) { d.device.Publish(inner.Stamp(), inner.Data()) }

// AppendParts implements devices.Surveyed: the robot is the one behind.
func (d *Driver) AppendParts(dst []codec.Part, _ *devices.Device) []codec.Part {
	return d.inner.AppendParts(dst)
}

// Command makes a client's command the radio layer. It takes effect at once.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(device.Command()); err != nil {
		d.link.Log().Warn("command dropped", zap.Error(err))
		return
	}
	d.obey(now, subsumption.Stick{On: c != codec.PositionCommand{}, Speed: int(c.Speed), Turn: int(c.TurnRate)})
	d.link.WakeAt(d.next())
}

// obey runs a cycle with the given radio layer, with the reflexes if it moves the
// robot.
func (d *Driver) obey(now time.Duration, radio subsumption.Stick) {
	d.radio = radio
	for _, l := range d.reflexes {
		l.Suppressed = !radio.On
	}
	d.cycle(now)
	if d.cycleAt = 0; radio.On {
		d.cycleAt = now/period*period + period
	}
}

// Tick runs a cycle and reopens eyes.
func (d *Driver) Tick(now time.Duration) time.Duration {
	d.eyes.Tick(now)
	if d.cycleAt != 0 && d.cycleAt <= now {
		radio := d.radio
		if d.inner.Command() == nil {
			// The wheels were lost. Repeating the command would start them by themselves
			// when they are back.
			d.device.ForgetCommand()
			radio = subsumption.Stick{}
		}
		d.obey(now, radio)
	}
	return d.next()
}

// next returns the deadline, zero for none. During cycles, Tick is called often
// enough to reopen eyes.
func (d *Driver) next() time.Duration {
	if d.cycleAt != 0 {
		return d.cycleAt
	}
	return d.eyes.RetryAt()
}

// cycle runs one cycle of the stack.
func (d *Driver) cycle(now time.Duration) {
	d.sense(now)
	d.send(now, d.stack.Cycle(now, &d.sensors))
	if w := d.stack.Winner(); w != d.winner {
		d.winner = w
		if line := d.link.Log().Check(zapcore.DebugLevel, "the wheels go to"); line != nil {
			line.Write(zap.String("layer", w.Name))
		}
	}
}

// sense reads the newest data of each device, from whichever client opened it.
func (d *Driver) sense(now time.Duration) {
	d.sensors = subsumption.NewSensors()
	d.sensors.Radio = d.radio
	d.add(now, d.inner)
	for _, device := range d.eyes.Devices {
		d.add(now, device)
	}
}

// add adds the data of one device, unless it is too old.
func (d *Driver) add(now time.Duration, device *devices.Device) {
	if device.HasData() && device.Age(now) <= maxAge {
		d.payloads.Add(&d.sensors, device.Letter(), device.Data())
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
