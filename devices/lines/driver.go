package lines

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/devices/wheels"
	"player/timers/limited"
)

const (
	// margin is how long setup may take after the boot time: until the robot's first line.
	margin = 3 * time.Second
	// commandGap is the shortest time between two commands of clients that send more:
	// 20 bytes take as long at 9600 baud.
	commandGap = 20 * time.Millisecond
	// answerLimit is how long the answer to a poll may take; then the next one is sent. 350
	// bytes of JSON take 0.36 s at 9600 baud.
	answerLimit = 500 * time.Millisecond
	// settle is how long no answer comes before a poll behind one that was given up is believed: a late answer that looks
	// like the next one would be taken for it, and every answer after it for the one of the poll before.
	settle = 200 * time.Millisecond
)

// errUnknown is an error of Driver.Configure.
var errUnknown = errors.New("the configuration has no line for it")

// Options of a driver.
type Options struct {
	Port   string
	Baud   int
	Boot   time.Duration // from opening the port, which restarts many boards
	EOL    string        // end of the lines that it is sent: lf, cr or crlf; empty: lf
	Hello  []string      // lines to send when it has booted
	Read   []string      // patterns of lines that come unasked, or as answers to commands
	Poll   []string      // pairs: a line to send, the pattern of its answer
	Round  time.Duration // from the first line of Poll to its repetition, if all are answered by then
	Drive  string        // template; empty: it has no motors
	Stop   string        // line that stops the motors; empty: Drive with zeros
	Motors []string      // lines that switch the motors on and off; empty: it cannot
	Reset  string        // line that resets the odometry; empty: it cannot
	Output string        // template that sets an output; empty: it has none
	Names  []string      // of the inputs and outputs, from io0 on
	Rays   []string      // where readings of the ranger look: each the nine numbers of PROTOCOL 8.9.6
	Joints []string      // each a unit, the smallest and the largest position, and a name, from joint0 on
	Servo  string        // template that moves a joint; empty: they cannot be moved
	Hold   string        // template that stops a joint; empty: it is moved to where it is
	Repeat time.Duration // of the newest command; zero: it is sent once
	Base   float64       // mm between the wheels
	Most   float64       // mm/s of a wheel

	// Place returns where the i-th value of an option is; nil: the places are not known.
	Place func(option string, i int) string
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "lines", Doc: "a robot or sensor that speaks lines of text, described by the configuration",
		Provides: []devices.Spec{devices.Position(), devices.Sonar(), devices.Misc(), devices.Ranger(),
			devices.IMU(), devices.GPS(), devices.IO(), devices.Servo()},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyACM0"), Doc: "serial port, or HOST:PORT"},
			{Name: "baud", Default: 115200, Min: 300, Max: 4e6, Unit: "bit/s", Doc: "its speed"},
			{Name: "boot", Default: 2000, Max: 60000, Unit: "ms", Doc: "how long the board boots when its port is opened"},
			{Name: "hello", Default: []string{}, Doc: "lines to send when it has booted"},
			{Name: "eol", Default: "lf", Doc: "end of the lines that it is sent: lf, cr or crlf"},
			{Name: "read", Default: []string{}, Doc: "patterns of the lines that it sends"},
			{Name: "poll", Default: []string{}, Doc: "pairs of a line that asks it and the pattern of its answer"},
			{Name: "interval", Default: 100, Min: 10, Max: 1000, Unit: "ms", Doc: "how often it is asked all of poll"},
			{Name: "drive", Default: "", Doc: "line that moves it"},
			{Name: "stop", Default: "", Doc: "line that stops it; without: drive with zeros"},
			{Name: "motors", Default: []string{}, Doc: "lines that switch its motors on and off"},
			{Name: "reset", Default: "", Doc: "line that sets its odometry to zero"},
			{Name: "output", Default: "", Doc: "line that sets an output"},
			{Name: "names", Default: []string{}, Doc: "of the inputs and outputs, from io0 on"},
			{Name: "rays", Default: []string{}, Doc: "where readings of the ranger look"},
			{Name: "joints", Default: []string{}, Doc: "units, limits and names of the joints, from joint0 on"},
			{Name: "servo", Default: "", Doc: "line that moves a joint"},
			{Name: "hold", Default: "", Doc: "line that stops a joint; without: servo with its position"},
			{Name: "repeat", Default: 0, Max: 10000, Unit: "ms", Doc: "how often the last command is sent again; 0: never"},
			{Name: "wheelbase", Default: 200.0, Min: 1, Max: 10000, Unit: "mm", Doc: "distance between its wheels"},
			{Name: "maxspeed", Default: 500.0, Min: 1, Max: 10000, Unit: "mm/s", Doc: "the highest commanded speed of a wheel"},
		},
		NewAll: func(a devices.Args) ([]devices.Instance, error) {
			ms := func(option string) time.Duration { return time.Duration(a.Int(option)) * time.Millisecond }
			d, err := New(Options{
				Port: a.String("port"), Baud: a.Int("baud"), Boot: ms("boot"), EOL: a.String("eol"), Hello: a.Strings("hello"),
				Read: a.Strings("read"), Poll: a.Strings("poll"), Round: ms("interval"),
				Drive: a.String("drive"), Stop: a.String("stop"), Motors: a.Strings("motors"), Reset: a.String("reset"),
				Output: a.String("output"), Names: a.Strings("names"), Rays: a.Strings("rays"),
				Joints: a.Strings("joints"), Servo: a.String("servo"), Hold: a.String("hold"),
				Repeat: ms("repeat"), Base: a.Float("wheelbase"), Most: a.Float("maxspeed"), Place: a.PlaceOf,
			})
			if err != nil {
				return nil, err
			}
			return []devices.Instance{{Driver: d, Provides: d.provides(), SetupLimit: d.Protocol.Limit + transport.Grace}}, nil
		},
	}
}

// Driver drives the robot.
type Driver struct {
	transport.Transport

	opts     Options
	eol      string
	hello    []template
	patterns []pattern
	places   []string // of the patterns
	polls    []poll
	drive    template
	stop     template
	motors   []template
	reset    template
	output   template     // sets an output; nil: it has none
	measured [fields]bool // by some pattern

	position, sonar, misc *devices.Device // nil: it has none

	booted bool
	lines  transport.Lines

	moving  bool          // a command is to be sent
	free    time.Duration // when the next one may go out
	due     time.Duration // when it is to be repeated; zero: not
	flushAt time.Duration // when flush is to be called; zero: never

	asked    int           // the poll that waits for its answer, or is the next one
	awaiting bool          // it was sent
	doubt    bool          // answers to earlier polls may still come: no answer is believed
	tested   bool          // in doubt, an answer has come since the newest poll
	askAt    time.Duration // when it is to be sent, or given up
	round    time.Duration // when the first poll was sent

	values   values
	way      [2]float64 // mm, the newest left and right
	fresh    [2]bool    // way has come since both were used
	odometry wheels.Odometry
	turned   turning
	drifting drift
	restarts limited.Line

	out          []byte
	positionData codec.PositionData
	sonarData    codec.SonarData
	miscData     codec.MiscData
	sensors      sensors
	servos       servos
	guard        guard
}

// poll is a line to send, and its answer.
type poll struct {
	line   template
	answer pattern
	place  string // of the answer
}

// New returns a driver. The error names the unusable line.
func New(o Options) (*Driver, error) {
	eol, known := map[string]string{"": "\n", "lf": "\n", "cr": "\r", "crlf": "\r\n"}[o.EOL]
	if !known {
		return nil, fmt.Errorf("eol %q: want lf, cr or crlf", o.EOL)
	}
	d := &Driver{opts: o, eol: eol}
	var err error
	read := func(option, text string) (p pattern) {
		if err == nil {
			if p, err = newPattern(text); err != nil {
				err = fmt.Errorf("%s %w", option, err)
			}
		}
		for _, piece := range p {
			d.measured[piece.field] = d.measured[piece.field] || piece.text == nil
		}
		return p
	}
	write := func(option string, texts ...string) (t []template) {
		for _, text := range texts {
			names := writable()
			switch option {
			case "output":
				names = settable()
			case "servo", "hold":
				names = movable()
			}
			line, wrong := newTemplate(text, eol, names)
			if wrong != nil && err == nil {
				err = fmt.Errorf("%s %w", option, wrong)
			}
			t = append(t, line)
		}
		return t
	}
	optional := func(option, text string) template {
		if text == "" {
			return nil
		}
		return write(option, text)[0]
	}
	place := o.Place
	if place == nil {
		place = func(string, int) string { return "" }
	}
	for i, text := range o.Read {
		d.patterns = append(d.patterns, read("read", text))
		d.places = append(d.places, place("read", i))
	}
	if len(o.Poll)%2 != 0 {
		return nil, errors.New("poll: want pairs of a line and the pattern of its answer")
	}
	for pair := range slices.Chunk(o.Poll, 2) {
		d.polls = append(d.polls, poll{write("poll", pair[0])[0], read("poll", pair[1]), place("poll", 2*len(d.polls)+1)})
	}
	d.hello, d.motors = write("hello", o.Hello...), write("motors", o.Motors...)
	d.reset, d.drive, d.output = optional("reset", o.Reset), optional("drive", o.Drive), optional("output", o.Output)
	if d.stop = optional("stop", o.Stop); d.stop == nil {
		d.stop = d.drive
	}
	d.servos.move, d.servos.hold = optional("servo", o.Servo), optional("hold", o.Hold)
	for _, text := range o.Rays {
		rays, wrong := newRays(text)
		err = cmp.Or(err, wrong)
		d.sensors.rays = append(d.sensors.rays, rays)
	}
	for i, text := range o.Joints {
		joint, wrong := newJoint(i, text)
		err = cmp.Or(err, wrong)
		d.servos.joints = append(d.servos.joints, joint)
	}
	if err != nil {
		return nil, err
	}
	d.guard = newGuard(o.Most)
	joints := max(d.last(fieldJoint, lastJoint), d.last(fieldState, lastState))
	switch m := &d.measured; {
	case len(o.Joints) > maxJoint || len(o.Joints) < joints || len(o.Joints) == 0 && d.servos.move != nil:
		return nil, fmt.Errorf("joints: want one for each joint, 1 to %d, and there are %d", maxJoint, len(o.Joints))
	case d.servos.hold != nil && d.servos.move == nil:
		return nil, errors.New("hold: there is no servo, so no joint moves")
	case m[fieldLeft] != m[fieldRight]:
		return nil, errors.New("read: {left} and {right} go together")
	case m[fieldLeft] && (m[fieldX] || m[fieldY] || m[fieldHeading]):
		return nil, errors.New("read: the position is either {left} and {right}, or {x}, {y} and {heading}")
	case m[fieldLeftSpeed] != m[fieldRightSpeed]:
		return nil, errors.New("read: {leftspeed} and {rightspeed} go together, in one line")
	case len(o.Motors) != 0 && len(o.Motors) != 2:
		return nil, errors.New("motors: want two lines, on and off")
	case len(o.Read)+len(o.Poll) == 0 || len(d.provides()) == 0:
		return nil, errors.New("read, poll: no pattern has a field")
	}
	d.Protocol = d.protocol()
	return d, nil
}

const (
	booting transport.Phase = iota
	asking
)

// protocol returns the transport's protocol for the board.
func (d *Driver) protocol() transport.Protocol {
	o := &d.opts
	example := slices.Concat(o.Read, o.Poll[min(1, len(o.Poll)):])[0] // New has seen a pattern
	// Opening the line again would restart a board that boots longer, again and again.
	patience := fmt.Sprintf("; if the board boots for more than %v when its port is opened, raise boot, which is %d ms", o.Boot+margin, o.Boot.Milliseconds())
	p := transport.Protocol{
		Address: o.Port, Name: "a board with lines of text", Speeds: []int{o.Baud},
		Begin: d.begin, Limit: o.Boot + margin,
		Steps: []transport.Step{
			booting: {Wait: max(o.Boot, time.Millisecond), Late: d.Then(asking)},
			asking:  {Send: d.ask, Wait: answerLimit, Tries: int(margin / answerLimit)},
		},
		Framing: &d.lines.Framing, Receive: d.receive, Wake: d.wake, Bye: d.bye,
		Others: fmt.Sprintf("Its baud is %d%s.", o.Baud, patience),
		Silent: fmt.Errorf("no line of text comes at %d bit/s: check cable, speed and program of the board%s", o.Baud, patience),
		Stuck: func(transport.Phase) error {
			return fmt.Errorf("lines come at %d bit/s, but none matches read or poll, such as %q%s", o.Baud, example, patience)
		},
	}
	if d.stop != nil || d.servos.hold != nil {
		p.LastWords = d.halt([]byte(d.eol)) // behind the end of a line that was cut off
	}
	return p
}

// provides returns the devices that the lines are about.
func (d *Driver) provides() (specs []devices.Spec) {
	if d.drive != nil || d.has(fieldX, fieldRightSpeed) {
		specs = append(specs, devices.Position())
	}
	if d.has(fieldSonar, lastSonar) {
		specs = append(specs, devices.Sonar())
	}
	if d.has(fieldFront, fieldBattery) {
		specs = append(specs, devices.Misc())
	}
	return append(specs, d.sensors.provides(d)...)
}

// has reports whether a pattern has one of the fields from one to another.
func (d *Driver) has(from, to int) bool { return slices.Contains(d.measured[from:to+1], true) }

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	for _, device := range link.Devices() {
		switch device.Letter() {
		case codec.Position:
			d.position = device
		case codec.Sonar:
			d.sonar = device
		case codec.Misc:
			d.misc = device
		case codec.Servo:
			d.servos.device = device
		default:
			d.sensors.set(device)
		}
	}
	d.odometry = wheels.Odometry{Base: d.opts.Base}
	d.restarts = limited.Line{}
	d.positionData, d.sonarData, d.miscData = codec.PositionData{}, codec.SonarData{}, codec.MiscData{}
	d.sensors.begin(d)
	d.servos.begin()
	d.Transport.Setup(now, link)
}

// begin is Protocol.Begin: the board boots.
func (d *Driver) begin(now time.Duration) transport.Phase {
	d.booted, d.moving, d.free, d.due, d.flushAt = false, false, 0, 0, 0
	d.doubt, d.tested = false, false
	d.asked, d.awaiting, d.askAt, d.round = 0, len(d.polls) > 0, now+d.opts.Boot+answerLimit, now
	d.turned, d.drifting, d.fresh = turning{}, drift{}, [2]bool{}
	d.servos.begin()
	return booting
}

// halt appends the lines that stop the motors, if it has any.
func (d *Driver) halt(dst []byte) []byte {
	if d.stop != nil {
		dst = d.stop.append(dst, &[args]float64{})
	}
	return d.servos.halt(dst)
}

// greet appends the greeting of a board that has booted. It may have been left driving.
func (d *Driver) greet(dst []byte) []byte {
	d.booted = true
	dst = d.halt(dst)
	for _, line := range d.hello {
		dst = line.append(dst, &[args]float64{})
	}
	return dst
}

// ask appends the request of the handshake: the greeting, and the first poll until it
// is answered.
func (d *Driver) ask(dst []byte) []byte {
	if d.Tried() == 1 {
		dst = d.greet(dst)
	}
	if len(d.polls) > 0 {
		dst = d.polls[0].line.append(dst, &[args]float64{})
	}
	return dst
}

// bye is Protocol.Bye: the motors stop.
func (d *Driver) bye(dst []byte) []byte {
	if !d.booted {
		return dst
	}
	return d.halt(dst)
}

// wake is Protocol.Wake: a command or a poll is due.
func (d *Driver) wake(now time.Duration) {
	d.moving = d.moving || d.due != 0 && now >= d.due
	d.flush(now)
	d.poll(now)
}

// poll sends the next poll if it is time. It gives up a poll without an answer; then the line must settle, and one answer
// and no other must come to a poll.
func (d *Driver) poll(now time.Duration) {
	if len(d.polls) == 0 {
		return
	}
	if d.awaiting && now >= d.askAt {
		d.answered(now)
		d.doubt, d.tested, d.askAt = true, false, now+settle
	}
	if !d.awaiting && now >= d.askAt {
		d.doubt = d.doubt && !d.tested
		if d.asked == 0 {
			d.round = now
		}
		d.out = d.polls[d.asked].line.append(d.out[:0], &[args]float64{})
		d.Port().Write(d.out)
		d.awaiting, d.tested, d.askAt = true, false, now+answerLimit
	}
	d.schedule()
}

// answered continues with the next poll.
func (d *Driver) answered(now time.Duration) {
	d.awaiting, d.askAt = false, now
	if d.asked++; d.asked == len(d.polls) {
		d.asked, d.askAt = 0, max(now, d.round+d.opts.Round)
	}
}

// schedule sets the next deadline.
func (d *Driver) schedule() {
	at := d.flushAt
	if len(d.polls) > 0 && (at == 0 || d.askAt < at) {
		at = d.askAt
	}
	d.WakeAt(at)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		d.line(now, line)
	}
}

// line publishes the values of a line. The first line after the boot ends the handshake.
func (d *Driver) line(now time.Duration, line []byte) {
	if d.doubt && d.late(now, line) {
		return
	}
	answer := d.awaiting && d.polls[d.asked].answer.match(line, &d.values)
	unasked := -1
	if !answer {
		unasked = slices.IndexFunc(d.patterns, func(p pattern) bool { return p.match(line, &d.values) })
	}
	if !answer && unasked < 0 {
		if len(line) > 0 {
			d.Found()
			d.lines.Stats.Broken++
		}
		return
	}
	if !d.booted {
		return
	}
	if d.values.unknown {
		d.lines.Stats.Broken++
	}
	d.Heard(now)
	if answer && !d.IsUp() && d.Tried() > 1 {
		d.doubt, d.tested = true, true // a board that has booted late answers them all
		d.Up(now)
		d.awaiting, d.askAt = false, now+settle
		d.poll(now)
		return
	}
	d.guard.origin(d, answer, unasked)
	d.pair()
	d.guard.values(now, d)
	d.publish(now)
	d.Up(now)
	if answer {
		d.answered(now)
	}
	d.poll(now)
}

// late reports whether a line is an answer that is not believed. Only its time shows to which request it belongs.
func (d *Driver) late(now time.Duration, line []byte) bool {
	if !slices.ContainsFunc(d.polls, func(p poll) bool { return p.answer.match(line, &d.values) }) {
		return false
	}
	d.Heard(now)
	// One answer belongs to the newest poll, if no other follows.
	d.tested = d.awaiting && d.polls[d.asked].answer.match(line, &d.values)
	d.awaiting, d.askAt = false, now+settle
	d.poll(now)
	return true
}

// pair keeps left or right of one line until the other has come in another one.
func (d *Driver) pair() {
	v := &d.values
	for i := range d.way {
		if v.has[fieldLeft+i] {
			d.way[i], d.fresh[i] = v.number[fieldLeft+i], true
		}
	}
	both := d.fresh == [2]bool{true, true}
	v.has[fieldLeft], v.has[fieldRight] = both, both
	if both {
		d.fresh = [2]bool{}
	}
}

// publish publishes the devices that have a field in the line.
func (d *Driver) publish(now time.Duration) {
	v := &d.values
	if d.position != nil && v.seen(fieldX, fieldRightSpeed) {
		d.locate(now)
		d.positionData.Time = uint32(now.Milliseconds())
		d.out = d.positionData.Append(d.out[:0])
		d.position.Publish(now, d.out)
	}
	if d.sonar != nil && v.seen(fieldSonar, lastSonar) {
		for i := range d.sonarData {
			take(v, fieldSonar+i, &d.sonarData[i], 0, math.MaxUint16)
		}
		d.out = d.sonarData.Append(d.out[:0])
		d.sonar.Publish(now, d.out)
	}
	if d.misc != nil && v.seen(fieldFront, fieldBattery) {
		take(v, fieldFront, &d.miscData.FrontBumpers, 0, 31)
		take(v, fieldRear, &d.miscData.RearBumpers, 0, 31)
		v.number[fieldBattery] *= 10 // decivolt
		take(v, fieldBattery, &d.miscData.Battery, 0, math.MaxUint8)
		d.out = d.miscData.Append(d.out[:0])
		d.misc.Publish(now, d.out)
	}
	d.sensors.publish(now, d)
	d.servos.publish(now, d)
}

// locate sets the position from the fields of a line.
func (d *Driver) locate(now time.Duration) {
	v, p := &d.values, &d.positionData
	if v.has[fieldLeft] && v.has[fieldRight] {
		d.turn(now, d.way)
		d.odometry.Fill(p)
	}
	if v.has[fieldLeftSpeed] && v.has[fieldRightSpeed] {
		d.roll(now, [2]float64{v.number[fieldLeftSpeed], v.number[fieldRightSpeed]})
	}
	d.guard.pose(now, d)
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

// turn takes the total distances of the wheels, in mm.
func (d *Driver) turn(now time.Duration, way [2]float64) {
	if !d.turned.begun {
		d.turned.begin(now, way)
		d.odometry.Forget() // the board may have begun anew
		return
	}
	p := &d.positionData
	steps, restarted := d.turned.update(now, way, d.values.unit, measured(p.Speed, p.TurnRate, d.opts.Base))
	if restarted {
		d.odometry.Forget()
		d.position.ForgetCommand() // nothing moves by itself
		d.moving, d.due = false, 0
		d.Send(d.greet)
		d.restarts.Warn(now, d.Log(), "the board has restarted: its wheels count from 0 again")
	}
	d.odometry.Move(now, steps[0], steps[1])
	if !restarted {
		d.guard.wheels(now, d, fieldLeft, steps)
	}
}

// roll takes the speeds of the wheels in mm/s. They give the position of a board that does not count.
func (d *Driver) roll(now time.Duration, speed [2]float64) {
	p := &d.positionData
	if !d.has(fieldX, fieldHeading) && !d.measured[fieldLeft] {
		steps := d.drifting.update(now, speed)
		d.odometry.Move(now, steps[0], steps[1])
		d.guard.wheels(now, d, fieldLeftSpeed, steps)
		d.odometry.Fill(p)
	}
	p.Speed = int16(math.Round((speed[0] + speed[1]) / 2))
	p.TurnRate = int16(math.Round(max(math.MinInt16, min((speed[1]-speed[0])/d.opts.Base*180/math.Pi, math.MaxInt16))))
}

// take sets to to a field of the line, rounded and bounded, if the line has it.
func take[T uint8 | uint16 | int16 | int32](v *values, field int, to *T, least, most float64) {
	if v.has[field] {
		*to = T(math.Round(max(least, min(v.number[field], most))))
	}
}

func (d *Driver) Command(now time.Duration, device *devices.Device) {
	switch {
	case !d.IsUp():
	case device == d.position && d.drive != nil:
		d.moving = true
		d.flush(now)
	case device == d.sensors.io && d.output != nil:
		d.set(device.Command())
	case device == d.servos.device:
		d.servos.command(device.Command())
		d.flush(now)
	}
}

// flush sends the newest commands when the line is free: those to the wheels first.
func (d *Driver) flush(now time.Duration) {
	if d.Port().Buffered() > 0 {
		d.free = now + commandGap // the line's buffer is full: try again
	}
	d.flushAt = 0
	if d.drive != nil {
		d.flushWheels(now)
	}
	if slices.Contains(d.servos.pending[:], true) {
		if now >= d.free {
			var lines int
			d.out, lines = d.servos.flush(d.out[:0])
			d.Port().Write(d.out)
			d.free = now + time.Duration(lines)*commandGap
		} else if d.flushAt == 0 || d.free < d.flushAt {
			d.flushAt = d.free
		}
	}
	d.schedule()
}

// flushWheels sends the newest command to the wheels if the line is free. It sets when it is due next.
func (d *Driver) flushWheels(now time.Duration) {
	b := d.position.Command()
	if d.moving && now >= d.free && b != nil {
		var c codec.PositionCommand
		_ = c.Decode(b) // its size was checked
		left, right := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), d.opts.Base, d.opts.Most)
		d.turned.commanded = [2]float64{left, right}
		line := d.drive
		if c == (codec.PositionCommand{}) {
			line = d.stop
		}
		d.out = line.append(d.out[:0], &[args]float64{
			argSpeed: (left + right) / 2, argTurn: (right - left) / d.opts.Base * 180 / math.Pi, argLeft: left, argRight: right})
		d.Port().Write(d.out)
		d.moving, d.free = false, now+commandGap
		if d.due = 0; d.opts.Repeat > 0 {
			d.due = now + d.opts.Repeat
		}
	}
	switch {
	case d.moving && b != nil:
		d.flushAt = d.free
	case b == nil: // it was forgotten
		d.moving, d.due, d.flushAt = false, 0, 0
	default:
		d.flushAt = d.due
	}
}

func (d *Driver) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	c, err := d.RobotConfig(payload)
	if err != nil {
		return err
	}
	var line template
	switch {
	case c.Code == codec.ConfigMotors && len(d.motors) == 2:
		line = d.motors[1-min(int(c.Arg), 1)]
	case c.Code == codec.ConfigOdometry && (d.measured[fieldLeft] || d.measured[fieldLeftSpeed] && d.reset == nil):
		d.odometry.Reset()
		return nil
	case c.Code == codec.ConfigOdometry && d.reset != nil:
		line = d.reset
	default:
		return fmt.Errorf("configuration %q: %w", c.Code, errUnknown)
	}
	d.out = line.append(d.out[:0], &[args]float64{})
	d.Port().Write(d.out)
	return nil
}
