package sickcola

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
	"player/timers/limited"
)

const (
	// setupTime bounds the handshake, in which a sensor on standby starts its motor.
	setupTime = 9 * time.Second
	// answerTime is how long an answer may take.
	answerTime = 600 * time.Millisecond
	// scanTime is how long the next scan may take: sensors make 15 to 50 a second, and may be
	// set to send one in some ten.
	scanTime = 1500 * time.Millisecond
	// changeTime is how often at most a change of the sensor's status is logged.
	changeTime = 10 * time.Second
)

// search tries each form of the protocol three times.
var search = []transport.Attempt{{First: asking}, {First: askingB}, {First: asking}, {First: askingB}, {First: asking}, {First: askingB}}

var (
	errSilent = errors.New("no SICK sensor answers: check its power, that this computer has an address in its network, and that the port is 2112 or 2111")
	errNoScan = errors.New("the sensor answers, but sends no scan: after power-up it needs half a minute; try again")
	errBehind = errors.New("the sensor is set to measure nothing in front of the robot: check heading, and its output range with SICK's SOPAS")
	errEmpty  = errors.New("the sensor sends no distances that make sense: check its data output with SICK's SOPAS")
)

const (
	asking    transport.Phase = iota // identify was sent as CoLa A
	askingB                          // as CoLa B
	scanning                         // scans was sent
	loggingIn                        // login was sent, because no scan has come
	starting                         // start was sent
	running                          // run was sent
)

// requests are the requests of the phases.
var requests = [...]request{asking: identify, askingB: identify, scanning: scans, loggingIn: login, starting: start, running: run}

// Driver drives the sensor.
type Driver struct {
	transport.Transport

	far     uint16 // mm, the reading where nothing is seen
	parser  transport.Parser
	form    int  // of the requests that the sensor understands
	started bool // it was commanded to measure
	model   string
	reach   int   // mm, how far the model sees; 0: not known
	status  uint8 // of the sensor, that was logged
	changes limited.Line

	sweep  scan.Scan
	ranger scan.Ranger
	out    []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "sickcola", Doc: "SICK TiM5xx, TiM7xx, LMS1xx and LMS5xx laser scanners on the network", SetupLimit: setupTime + transport.Grace,
		Probe: &devices.Probe{
			Ask:       []byte(identify[formA] + identify[formB]),
			Wait:      200 * time.Millisecond,
			Recognise: recognise,
		},
		Provides: scan.Provides(),
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("192.168.0.1:2112"), Doc: "HOST:PORT of the sensor"},
			scan.HeadingOption(),
			scan.FlipOption(),
			{Name: "range", Default: 20000, Min: 100, Max: 65535, Unit: "mm", Doc: "the reading where nothing is seen, or only something further away"},
		},
		New: newDriver,
	}
}

func newDriver(a devices.Args) (devices.Driver, error) {
	mount := scan.NewMount(a)
	d := &Driver{changes: limited.Line{Period: changeTime}, far: uint16(a.Int("range")),
		sweep: scan.Scan{Mount: mount}, ranger: scan.Ranger{Mount: mount}}
	d.parser = transport.NewParser(inspect, maxSize)
	ask := d.ask
	d.Protocol = transport.Protocol{
		Address: a.String("port"), Name: "a SICK sensor", Begin: d.begin, Limit: setupTime, Search: search,
		Steps: []transport.Step{
			asking:    {Send: ask, Wait: answerTime},
			askingB:   {Send: ask, Wait: answerTime},
			scanning:  {Send: ask, Wait: scanTime, Late: d.wake},
			loggingIn: {Send: ask, Wait: answerTime},
			starting:  {Send: ask, Wait: scanTime},
			running:   {Send: ask, Wait: scanTime},
		},
		Framing: &d.parser.Framing, Receive: d.receive, Bye: func(dst []byte) []byte { return append(dst, quiet[d.form]...) },
		Silent: errSilent, Stuck: func(transport.Phase) error { return errNoScan },
	}
	if !d.OverNetwork() {
		return nil, errors.New(`port: the sensor is on the network: write "HOST:PORT"`)
	}
	return d, nil
}

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.ranger.Open(link)
	d.Transport.Setup(now, link)
}

// ask appends the request of the phase, in the form that the sensor speaks.
func (d *Driver) ask(dst []byte) []byte {
	form, phase := d.form, d.Phase()
	if phase == askingB {
		form = formB
	}
	return append(dst, requests[phase][form]...)
}

func recognise(heard []byte) (a devices.Answer) {
	for b := range transport.Packets(heard, inspect, maxSize) {
		t := open(b)
		if string(t.word()) != "sRA" || string(t.word()) != "DeviceIdent" {
			continue
		}
		if model, name := ident(&t); isKnown(name) {
			return devices.Answer{Found: true, Model: model}
		}
	}
	return a
}

// ident reads a sensor's identity, behind the name of the telegram: its name and version for
// people, and its name.
func ident(t *telegram) (model, name string) {
	name = t.text()
	return fmt.Sprintf("SICK %.40s %.40s", printable(name), printable(t.text())), name
}

// printable removes unprintable characters from a text.
func printable(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.form, d.started, d.status = formA, false, 0
	return asking
}

// wake has a sensor measure that sends no scan: it is on standby, or a program has left it
// logged in.
func (d *Driver) wake(now time.Duration) {
	if d.started {
		d.Enter(now, scanning)
		return
	}
	d.started = true
	d.Enter(now, loggingIn)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for b, rest := d.parser.Next(p); b != nil && d.IsOpen(); b, rest = d.parser.Next(rest) {
		d.answered(now, open(b))
	}
}

// answered handles a telegram.
func (d *Driver) answered(now time.Duration, t telegram) {
	phase := d.Phase()
	inBinary := t.binary
	if len(t.rest) >= 3 && string(t.rest[:3]) == "sFA" {
		d.refused(now, t)
		return
	}
	kind, name := t.word(), t.word()
	switch {
	case string(kind) == "sSN" && string(name) == "LMDscandata":
		if phase == scanning || d.IsUp() {
			d.scan(now, t)
		}
	case phase <= askingB && string(kind) == "sRA" && string(name) == "DeviceIdent":
		d.Found()
		if d.form = formA; inBinary {
			d.form = formB
		}
		var plain string
		if d.model, plain = ident(&t); !isKnown(plain) {
			d.Down(now, fmt.Errorf("the sensor is a %s, which this driver does not know: it drives TiM5xx, TiM7xx, LMS1xx and LMS5xx", d.model))
			return
		}
		d.reach = reach(plain)
		d.Enter(now, scanning)
	case string(kind) != "sAN":
	case phase == loggingIn && string(name) == "SetAccessMode":
		if t.number(1) == 0 {
			d.Down(now, errors.New("the sensor is on standby, and has another password: have it measure with SICK's SOPAS"))
			return
		}
		d.Enter(now, starting)
	case phase == starting && string(name) == "LMCstartmeas":
		d.Enter(now, running)
	case phase == running && string(name) == "Run":
		d.Enter(now, scanning)
	}
}

// refused handles the sensor's refusal of a request: sFA and a number, in CoLa B with or
// without a space before it.
func (d *Driver) refused(now time.Duration, t telegram) {
	phase := d.Phase()
	if phase <= askingB || int(phase) >= len(requests) {
		return // it lacks the other form of the protocol, or is up
	}
	if t.binary {
		t.rest = t.rest[max(3, len(t.rest)-2):]
	} else {
		t.word()
	}
	code := t.number(2)
	d.Down(now, fmt.Errorf("the sensor refuses %q, error %d: %s", strings.Trim(requests[phase][formA], "\x02\x03"), code, refusal(code)))
}

// scan publishes a scan. The first one ends the handshake.
func (d *Driver) scan(now time.Duration, t telegram) {
	s, ok := t.scan()
	if !ok {
		d.parser.Stats.Broken++
		if !d.IsUp() && !t.bad {
			d.Down(now, errEmpty)
		}
		return
	}
	if d.ranger.Named() && d.ranger.Count() == 0 {
		d.ranger.Far = max(d.reach, int(d.far))
		d.ranger.Set(s.angle(0), float64(s.step)/degree, s.count, int(math.Ceil(s.scale)))
	}
	wanted := d.ranger.Wanted()
	if wanted {
		d.ranger.Clear()
	}
	seen := false
	d.sweep.Clear()
	s.each(func(degrees float64, mm int) {
		seen = d.sweep.Add(degrees, max(mm, scan.Nothing)) || seen
		if wanted {
			d.ranger.Add(degrees, mm)
		}
	})
	laser := d.Link().Device(codec.Laser)
	if !seen && laser.Spec().Index != devices.Hidden {
		d.Down(now, errBehind)
		return
	}
	d.Heard(now)
	d.out = d.sweep.Append(d.out[:0], d.far)
	laser.Publish(now, d.out)
	if wanted {
		d.ranger.Publish(now)
	}
	if !d.IsUp() {
		d.Log().Info("laser scanner", zap.String("model", d.model), zap.Float64("first degree", s.angle(0)),
			zap.Float64("last degree", s.angle(s.count-1)), zap.Float64("step", float64(s.step)/degree))
		d.Up(now)
	}
	if s.status != d.status {
		if d.changes.Allow(now) {
			d.status = s.status
			d.report(s.status)
		}
	}
}

// report logs a new status of the sensor: bit 0 is an error, 1 that its window gets dirty,
// 2 that it is.
func (d *Driver) report(status uint8) {
	switch {
	case status == 0:
		d.Log().Info("the sensor reports no error any more")
	case status&4 != 0:
		d.Log().Warn("the sensor's window is dirty, its distances may be wrong: clean it")
	case status&2 != 0:
		d.Log().Warn("the sensor's window gets dirty: clean it")
	default:
		d.Log().Warn("the sensor reports an error: switch it off and on", zap.Uint8("status", status))
	}
}

func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return d.ranger.AppendRays(dst)
}

func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	if device.Letter() == codec.Ranger {
		return d.ranger.AppendPart(dst)
	}
	return append(dst, codec.Part{Range: float64(d.far), View: codec.LaserView})
}
