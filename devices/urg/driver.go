package urg

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
)

const (
	// setupTime bounds the handshake, in which the motor starts.
	setupTime = 3500 * time.Millisecond

	// quietTime is how long a scan that is under way takes to end.
	quietTime = 100 * time.Millisecond
	// answerTime is how long an answer may take: the parameters take 0.1 s at 19200
	// baud.
	answerTime = 400 * time.Millisecond
	// firstScan is how long the motor may take to reach its speed.
	firstScan = 2 * time.Second
	// speedTime is how long a sensor needs to change the speed of its line.
	speedTime = 50 * time.Millisecond
)

// speeds are the speeds of serial lines in baud: after power-up, and the speed that
// the driver sets. Over USB and TCP they have no effect.
var speeds = []int{19200, fast}

const fast = 115200

var (
	errSilent   = errors.New("no sensor with SCIP 2.0 answers: check power and cable, and the address")
	errNotReady = errors.New("the sensor answers, but sends no scan")
)

const (
	quieting transport.Phase = iota // QT was sent
	greeting                        // SCIP2.0 was sent
	asking                          // PP was sent
	freeing                         // TM2 was sent
	changing                        // SS was sent
	settling                        // the line changes its speed
	lighting                        // BM was sent
	starting                        // MD was sent
)

// steps is the handshake. SCIP 1.1 answers SCIP2.0 in its own way; over USB nothing answers
// a change of speed.
func (d *Driver) steps() []transport.Step {
	return []transport.Step{
		quieting: {Send: ask(quit), Wait: quietTime, Late: d.Then(greeting)},
		greeting: {
			Send: func(dst []byte) []byte {
				d.answer, d.params = Answer{}, Parameters{}
				return ask(scip2)(dst)
			},
			Fresh: true, Wait: quietTime, Late: d.Then(asking),
		},
		asking:   {Send: ask(parameters), Wait: answerTime},
		freeing:  {Send: ask(adjusted), Wait: answerTime, Late: d.Then(asking)},
		changing: {Send: ask(fastLine), Wait: answerTime, Late: d.Then(lighting)},
		settling: {Wait: speedTime, Late: d.hurry},
		lighting: {Send: ask(laserOn), Wait: answerTime},
		starting: {
			Send: func(dst []byte) []byte { return ask(Scan(d.first, d.last))(dst) },
			Wait: firstScan, Late: func(now time.Duration) { d.Down(now, errNotReady) },
		},
	}
}

// ask returns a function that sends a request.
func ask(request string) func(dst []byte) []byte {
	return func(dst []byte) []byte { return append(append(dst, request...), '\n') }
}

// Driver drives the sensor.
type Driver struct {
	transport.Transport

	far         int // mm, the reading where nothing is seen; zero: the range of the sensor
	lines       transport.Lines
	answer      Answer
	params      Parameters
	first, last int // steps that are asked for

	sweep  scan.Scan
	ranger scan.Ranger
	out    []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "urg", Doc: "Hokuyo laser scanners with SCIP 2.0 (URG, UBG, UST, UTM)", SetupLimit: setupTime + transport.Grace,
		Probe:    probe(),
		Provides: scan.Provides(),
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyACM0"), Doc: "serial port, or HOST:PORT, also of a sensor on the network"},
			scan.HeadingOption(),
			scan.FlipOption(),
			{Name: "range", Default: 0, Min: 0, Max: 65535, Unit: "mm", Doc: "the reading where nothing nearer is seen; 0: the range of the sensor"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return newDriver(a.String("port"), a.Int("range"), scan.NewMount(a)), nil
		},
	}
}

func newDriver(port string, far int, mount scan.Mount) *Driver {
	d := &Driver{far: far, sweep: scan.Scan{Mount: mount}, ranger: scan.Ranger{Mount: mount}}
	d.Protocol = transport.Protocol{
		Address: port, Name: "a Hokuyo sensor", Speeds: speeds, Search: []transport.Attempt{{Speed: 0}, {Speed: 1}, {Speed: 0}, {Speed: 1}},
		Steps: d.steps(), Limit: setupTime,
		Framing: &d.lines.Framing, Receive: d.receive, Bye: ask(quit),
		Others: "This driver reads sensors with SCIP 2.0.",
		Silent: errSilent, Stuck: func(transport.Phase) error { return errNotReady },
	}
	return d
}

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.ranger.Open(link)
	d.Transport.Setup(now, link)
}

// hurry changes the speed of the line to the sensor's new one.
func (d *Driver) hurry(now time.Duration) {
	d.SetSpeed(now, fast, d.Then(lighting))
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		if d.answer.Describe(&d.params, line) {
			d.answered(now)
		}
	}
}

// answered handles a complete answer.
func (d *Driver) answered(now time.Duration) {
	a := &d.answer
	if a.isScan() {
		if d.IsUp() || d.Phase() == starting {
			d.scan(now)
		}
		return
	}
	good := !a.broken && (a.Status() == "00" || d.Phase() == lighting && a.Status() == "02") // 02: it is on already
	switch {
	case d.Phase() == asking && a.answers(parameters) && good:
		d.Found()
		d.describe(now)
	case d.Phase() == asking && a.answers(parameters) && a.Status() == "0E": // its clock is being adjusted
		d.Enter(now, freeing)
	case d.Phase() == freeing && a.answers(adjusted):
		d.Enter(now, asking)
	case d.Phase() == changing && a.answers(fastLine):
		if good {
			d.Enter(now, settling)
		} else {
			d.Enter(now, lighting)
		}
	case d.Phase() == lighting && a.answers(laserOn):
		if !good && !a.broken {
			d.Down(now, fmt.Errorf("the sensor cannot switch its laser on (status %s): switch it off and on", a.Status()))
			return
		}
		d.Enter(now, starting)
	case d.Phase() == starting && a.answers(scanning) && !good && !a.broken:
		d.Down(now, fmt.Errorf("the sensor refuses to scan (status %s)", a.Status()))
	}
}

// describe reads the sensor's description, and chooses the steps to request: the ones in
// front of the robot, or all for a ranger.
func (d *Driver) describe(now time.Duration) {
	p := &d.params
	if err := p.Check(); err != nil {
		d.Down(now, err)
		return
	}
	d.first, d.last = p.First, p.Last
	ahead := d.sweep.Ahead()
	switch {
	case d.ranger.Named():
		if d.ranger.Count() == 0 { // a sensor that is back keeps its angles
			unit := (p.Max + codec.MaxReading - 1) / codec.MaxReading // 1 mm if its farthest distance fits
			d.ranger.Near, d.ranger.Far = p.Min, p.Max
			d.ranger.Set(p.Angle(p.First), p.Angle(p.Front+1), min(p.Last-p.First+1, p.Steps), unit)
		}
	case ahead >= -90 && ahead <= 90: // else the robot's front is in two pieces
		const margin = 1 // degree, for rounding
		d.first, d.last = p.Step(ahead-90-margin), p.Step(ahead+90+margin)
	}
	if d.OverNetwork() || d.Baud() == fast {
		d.Enter(now, lighting)
	} else {
		d.Enter(now, changing)
	}
}

// AppendRays implements devices.Ranged: all steps, once the sensor has reported them.
func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return d.ranger.AppendRays(dst)
}

// AppendParts implements devices.Surveyed: the range, once the sensor has reported it.
func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	if device.Letter() == codec.Ranger {
		return d.ranger.AppendPart(dst)
	}
	if far := cmp.Or(d.far, d.params.Max); far > 0 {
		dst = append(dst, codec.Part{Range: float64(far), View: codec.LaserView})
	}
	return dst
}

// scan publishes a scan. The first one ends the handshake.
func (d *Driver) scan(now time.Duration) {
	p, wanted := &d.params, d.ranger.Wanted()
	nothing := p.nothing()
	d.sweep.Clear()
	if wanted {
		d.ranger.Clear()
	}
	ok := d.answer.distances(d.last-d.first+1, func(i, mm int) {
		mm = p.distance(mm, nothing)
		d.sweep.Add(p.Angle(d.first+i), max(mm, scan.Nothing))
		if wanted {
			d.ranger.Add(p.Angle(d.first+i), mm)
		}
	})
	if !ok {
		d.lines.Stats.Broken++
		return
	}
	d.Heard(now)
	d.out = d.sweep.Append(d.out[:0], uint16(cmp.Or(d.far, min(p.Max, 0xFFFF))))
	d.Link().Device(codec.Laser).Publish(now, d.out)
	if wanted {
		d.ranger.Publish(now)
	}
	if !d.IsUp() {
		d.Log().Info("laser scanner", zap.String("model", p.Model), zap.Int("turns a minute", p.TurnsAMinute))
		d.Up(now)
	}
}
