package lines

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/devices/wheels"
	"player/timers"
)

const (
	// margin is what setup may take beyond the boot time: the robot's first line.
	margin = 3 * time.Second
	// commandGap is the shortest time between two commands of clients that send more:
	// 20 bytes take as long at 9600 baud.
	commandGap = 20 * time.Millisecond
)

// Errors of Driver.Configure.
var (
	errAway    = errors.New("the robot is not connected at the moment")
	errUnknown = errors.New("the configuration has no line for it")
)

// Options of a driver.
type Options struct {
	Port   string
	Baud   int
	Boot   time.Duration // from opening the port, which restarts many boards
	Hello  []string      // lines to send when it has booted
	Read   []string      // patterns
	Drive  string        // template; empty: it has no motors
	Stop   string        // line that stops the motors; empty: Drive with zeros
	Motors []string      // lines that switch the motors on and off; empty: it cannot
	Reset  string        // line that resets the odometry; empty: it cannot
	Repeat time.Duration // of the newest command; zero: it is sent once
	Base   float64       // mm between the wheels
	Most   float64       // mm/s of a wheel
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "lines", Doc: "a robot or sensor that speaks lines of text, described by the configuration",
		Provides: []devices.Spec{devices.Position(), devices.Sonar(), devices.Misc()},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyACM0"), Doc: "serial port"},
			{Name: "baud", Default: 115200, Min: 300, Max: 4e6, Unit: "bit/s", Doc: "its speed"},
			{Name: "boot", Default: 2000, Max: 60000, Unit: "ms", Doc: "how long the board boots when its port is opened"},
			{Name: "hello", Default: []string{}, Doc: "lines to send when it has booted"},
			{Name: "read", Default: []string{}, Required: true, Doc: "patterns of the lines that it sends"},
			{Name: "drive", Default: "", Doc: "line that moves it"},
			{Name: "stop", Default: "", Doc: "line that stops it; without: drive with zeros"},
			{Name: "motors", Default: []string{}, Doc: "lines that switch its motors on and off"},
			{Name: "reset", Default: "", Doc: "line that sets its odometry to zero"},
			{Name: "repeat", Default: 0, Max: 10000, Unit: "ms", Doc: "how often the last command is sent again; 0: never"},
			{Name: "wheelbase", Default: 200.0, Min: 1, Max: 10000, Unit: "mm", Doc: "distance between its wheels"},
			{Name: "maxspeed", Default: 500.0, Min: 1, Max: 10000, Unit: "mm/s", Doc: "the fastest that a wheel is told to turn"},
		},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			ms := func(option string) time.Duration { return time.Duration(a.Int(option)) * time.Millisecond }
			d, err := New(Options{
				Port: a.String("port"), Baud: a.Int("baud"), Boot: ms("boot"), Hello: a.Strings("hello"), Read: a.Strings("read"),
				Drive: a.String("drive"), Stop: a.String("stop"), Motors: a.Strings("motors"), Reset: a.String("reset"),
				Repeat: ms("repeat"), Base: a.Float("wheelbase"), Most: a.Float("maxspeed"),
			})
			if err != nil {
				return nil, err
			}
			return []devices.Instance{{Driver: d, Provides: d.provides(), SetupLimit: d.opts.Boot + margin + time.Second}}, nil
		},
	}
}

// Driver drives the robot.
type Driver struct {
	opts     Options
	patterns []pattern
	drive    template
	stop     template
	measured [fields]bool // by some pattern

	link                  *devices.Link
	transport             transport.Transport
	position, sonar, misc *devices.Device // nil: it has none

	booted  bool
	giveUp  time.Duration // when the handshake fails
	lines   transport.Lines
	unknown bool // a line of this handshake matches no pattern

	moving   bool          // a command is to be sent
	free     time.Duration // when the next one may go out
	due      time.Duration // when it is to be repeated; zero: not
	values   values
	odometry wheels.Odometry
	turned   turning
	unit     [2]float64 // mm for one count of left and right
	restarts timers.Limiter

	out          []byte
	positionData codec.PositionData
	sonarData    codec.SonarData
	miscData     codec.MiscData
}

// New returns a driver. The error names the line that cannot be used.
func New(o Options) (*Driver, error) {
	d := &Driver{opts: o}
	for _, text := range o.Read {
		pieces, err := compile(text, readable())
		if err != nil {
			return nil, fmt.Errorf("read %w", err)
		}
		for _, p := range pieces {
			d.measured[p.field] = d.measured[p.field] || p.text == nil
			if p.field == fieldLeft || p.field == fieldRight {
				d.unit[p.field-fieldLeft] = p.factor
			}
		}
		d.patterns = append(d.patterns, pieces)
	}
	var err error
	if o.Drive != "" {
		if d.drive, err = compile(o.Drive, writable()); err != nil {
			return nil, fmt.Errorf("drive %w", err)
		}
	}
	if d.stop = d.drive; o.Stop != "" {
		if d.stop, err = compile(o.Stop, writable()); err != nil {
			return nil, fmt.Errorf("stop %w", err)
		}
	}
	switch m := &d.measured; {
	case m[fieldLeft] != m[fieldRight]:
		return nil, errors.New("read: {left} and {right} go together")
	case m[fieldLeft] && (m[fieldX] || m[fieldY] || m[fieldHeading]):
		return nil, errors.New("read: the position is either {left} and {right}, or {x}, {y} and {heading}")
	case len(o.Motors) != 0 && len(o.Motors) != 2:
		return nil, errors.New("motors: want two lines, on and off")
	case len(d.provides()) == 0:
		return nil, errors.New("read: no pattern has a field")
	}
	return d, nil
}

// provides returns the devices that the lines are about.
func (d *Driver) provides() (specs []devices.Spec) {
	if d.drive != nil || d.has(fieldX, fieldRight) {
		specs = append(specs, devices.Position())
	}
	if d.has(fieldSonar, fields-1) {
		specs = append(specs, devices.Sonar())
	}
	if d.has(fieldFront, fieldBattery) {
		specs = append(specs, devices.Misc())
	}
	return specs
}

// has reports whether a pattern has one of the fields from one to another.
func (d *Driver) has(from, to int) bool { return slices.Contains(d.measured[from:to+1], true) }

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link = link
	for _, device := range link.Devices() {
		switch device.Letter() {
		case codec.Position:
			d.position = device
		case codec.Sonar:
			d.sonar = device
		case codec.Misc:
			d.misc = device
		}
	}
	d.odometry = wheels.Odometry{Base: d.opts.Base}
	d.restarts = timers.Limiter{Period: time.Second}
	d.positionData, d.sonarData, d.miscData = codec.PositionData{}, codec.SonarData{}, codec.MiscData{}
	d.transport.Setup(now, link, d.opts.Port, d)
}

// Shutdown implements devices.Driver: the motors stop.
func (d *Driver) Shutdown(now time.Duration) {
	if !d.transport.Shutdown(now) {
		return
	}
	d.out = d.out[:0]
	if d.stop != nil && d.booted {
		d.out = d.stop.append(d.out, &[args]float64{})
	}
	d.transport.Finish(now, d.out)
}

// Tick implements devices.Ticker.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.transport.Tick(now) }

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	return d.link.Host().OpenSerial(d.opts.Port, d.opts.Baud, h)
}

// Greet implements transport.Hardware: it waits until the board has booted.
func (d *Driver) Greet(now time.Duration) {
	d.booted, d.unknown, d.moving, d.free, d.due = false, false, false, 0, 0
	d.turned = turning{}
	d.lines.Reset()
	d.giveUp = now + d.opts.Boot + margin
	if d.stop != nil {
		// Behind the end of a line that was cut off.
		d.transport.LastWords(d.stop.append([]byte{'\n'}, &[args]float64{}))
	}
	d.transport.WakeAt(now + max(d.opts.Boot, time.Millisecond))
}

// Timeout implements transport.Timer.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case d.transport.IsUp():
		d.moving = d.moving || d.due != 0 && now >= d.due
		d.flush(now)
	case !d.booted:
		d.booted = true
		d.out = d.out[:0]
		if d.stop != nil { // it may have been left driving
			d.out = d.stop.append(d.out, &[args]float64{})
		}
		for _, text := range d.opts.Hello {
			d.out = append(append(d.out, text...), '\n')
		}
		d.transport.Port().Write(d.out)
		d.transport.WakeAt(d.giveUp)
	case d.unknown:
		d.transport.Down(now, fmt.Errorf("lines come at %d bit/s, but none is like those of read, such as %q", d.opts.Baud, d.opts.Read[0]))
	default:
		d.transport.Unanswered(now, fmt.Errorf("no line of text comes at %d bit/s: check cable, speed and program of the board", d.opts.Baud))
	}
}

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.transport.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		d.line(now, line)
	}
	d.transport.Noise(now, d.lines.Stats)
}

// line publishes what a line says. The first one after the boot ends the handshake.
func (d *Driver) line(now time.Duration, line []byte) {
	i := slices.IndexFunc(d.patterns, func(p pattern) bool { return p.match(line, &d.values) })
	if i < 0 {
		if len(line) > 0 {
			d.unknown = true
			d.lines.Stats.Broken++
		}
		return
	}
	if !d.booted {
		return
	}
	d.transport.Heard(now)
	d.publish(now)
	if !d.transport.IsUp() {
		d.transport.WakeAt(0)
		d.transport.Up(now)
	}
}

// publish publishes the devices that have a field in the line.
func (d *Driver) publish(now time.Duration) {
	v := &d.values
	seen := func(from, to int) bool { return slices.Contains(v.has[from:to+1], true) }
	if d.position != nil && seen(fieldX, fieldRight) {
		d.locate(now)
		d.positionData.Time = uint32(now.Milliseconds())
		d.out = d.positionData.Append(d.out[:0])
		d.position.Publish(now, d.out)
	}
	if d.sonar != nil && seen(fieldSonar, fields-1) {
		for i := range d.sonarData {
			take(v, fieldSonar+i, &d.sonarData[i], 0, math.MaxUint16)
		}
		d.out = d.sonarData.Append(d.out[:0])
		d.sonar.Publish(now, d.out)
	}
	if d.misc != nil && seen(fieldFront, fieldBattery) {
		take(v, fieldFront, &d.miscData.FrontBumpers, 0, 31)
		take(v, fieldRear, &d.miscData.RearBumpers, 0, 31)
		v.number[fieldBattery] *= 10 // decivolt
		take(v, fieldBattery, &d.miscData.Battery, 0, math.MaxUint8)
		d.out = d.miscData.Append(d.out[:0])
		d.misc.Publish(now, d.out)
	}
}

// locate sets the position from the fields of a line.
func (d *Driver) locate(now time.Duration) {
	v, p := &d.values, &d.positionData
	if v.has[fieldLeft] && v.has[fieldRight] {
		d.turn(now, [2]float64{v.number[fieldLeft], v.number[fieldRight]})
		d.odometry.Fill(p)
	}
	take(v, fieldX, &p.X, math.MinInt32, math.MaxInt32)
	take(v, fieldY, &p.Y, math.MinInt32, math.MaxInt32)
	take(v, fieldSpeed, &p.Speed, math.MinInt16, math.MaxInt16)
	take(v, fieldTurn, &p.TurnRate, math.MinInt16, math.MaxInt16)
	take(v, fieldStall, &p.Stall, 0, math.MaxUint8)
	if v.has[fieldHeading] {
		p.Heading = wheels.Degrees(v.number[fieldHeading])
	}
	if v.has[fieldCompass] {
		p.Compass = wheels.Degrees(v.number[fieldCompass])
	}
}

// turn takes how far the wheels have turned in all, in mm.
func (d *Driver) turn(now time.Duration, way [2]float64) {
	if !d.turned.begun {
		d.turned.begin(now, way)
		d.odometry.Forget() // the board may have begun anew
		return
	}
	p := &d.positionData
	steps, restarted := d.turned.update(now, way, d.unit, measured(p.Speed, p.TurnRate, d.opts.Base))
	if restarted {
		d.odometry.Forget()
		if repeats, ok := d.restarts.Allow(now); ok {
			d.transport.Log().Warn("the board has restarted: its wheels count from 0 again", zap.Int("times before", repeats))
		}
	}
	d.odometry.Move(now, steps[0], steps[1])
}

// take sets to to a field of the line, rounded and bounded, if the line has it.
func take[T uint8 | uint16 | int16 | int32](v *values, field int, to *T, least, most float64) {
	if v.has[field] {
		*to = T(math.Round(max(least, min(v.number[field], most))))
	}
}

// Command implements devices.Commanded.
func (d *Driver) Command(now time.Duration, device *devices.Device) {
	if d.transport.IsUp() && device == d.position && d.drive != nil {
		d.moving = true
		d.flush(now)
	}
}

// flush sends the newest command when the line is free.
func (d *Driver) flush(now time.Duration) {
	if d.transport.Port().Buffered() > 0 {
		d.free = now + commandGap // the line takes nothing: look again
	}
	b := d.position.Command()
	if d.moving && now >= d.free && b != nil {
		var c codec.PositionCommand
		_ = c.Decode(b) // its size was checked
		left, right := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), d.opts.Base, d.opts.Most)
		d.turned.told = [2]float64{left, right}
		line := d.drive
		if c == (codec.PositionCommand{}) {
			line = d.stop
		}
		d.out = line.append(d.out[:0], &[args]float64{
			argSpeed: (left + right) / 2, argTurn: (right - left) / d.opts.Base * 180 / math.Pi, argLeft: left, argRight: right})
		d.transport.Port().Write(d.out)
		d.moving, d.free = false, now+commandGap
		if d.due = 0; d.opts.Repeat > 0 {
			d.due = now + d.opts.Repeat
		}
	}
	switch {
	case d.moving && b != nil:
		d.transport.WakeAt(d.free)
	case b == nil: // it was forgotten
		d.moving, d.due = false, 0
		d.transport.WakeAt(0)
	default:
		d.transport.WakeAt(d.due)
	}
}

// Configure implements devices.Configurer.
func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	c, err := codec.DecodeRobotConfig(payload)
	switch {
	case err != nil:
		return err
	case !d.transport.IsUp():
		return errAway
	}
	text := ""
	switch {
	case c.Code == codec.ConfigMotors && len(d.opts.Motors) == 2:
		text = d.opts.Motors[1-min(int(c.Arg), 1)]
	case c.Code == codec.ConfigOdometry && d.measured[fieldLeft]:
		d.odometry.Reset()
		return nil
	case c.Code == codec.ConfigOdometry && d.opts.Reset != "":
		text = d.opts.Reset
	default:
		return fmt.Errorf("configuration %q: %w", c.Code, errUnknown)
	}
	d.out = append(append(d.out[:0], text...), '\n')
	d.transport.Port().Write(d.out)
	return nil
}
