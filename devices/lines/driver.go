package lines

import (
	"cmp"
	"errors"
	"fmt"
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
