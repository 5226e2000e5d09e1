package urg

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
)

const (
	// setupLimit is for the link; after setupTime, which must be shorter, the driver
	// itself gives up with a better explanation.
	setupLimit = 4 * time.Second
	setupTime  = 3500 * time.Millisecond
	// silenceTime is for a sensor that answers nothing at any speed.
	silenceTime = 2 * time.Second

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

// speeds are those of serial lines in baud: that after power-up, and that which the
// driver sets. Over USB and TCP they have no effect.
var speeds = [...]int{19200, 115200}

const fast = 1 // index in speeds

var (
	errSilent   = errors.New("no sensor with SCIP 2.0 answers: check power and cable, and the address")
	errNotReady = errors.New("the sensor answers, but sends no scan")
)

type phase uint8

const (
	quieting phase = iota // QT was sent
	greeting              // SCIP2.0 was sent
	asking                // PP was sent
	changing              // SS was sent
	settling              // the line changes its speed
	lighting              // BM was sent
	starting              // MD was sent
	running
)

// Driver drives the sensor.
type Driver struct {
	port string // serial port, or IP:PORT
	far  int    // mm, the reading where nothing is seen; zero: the range of the sensor

	link      *devices.Link
	laser     *devices.Device
	transport transport.Transport

	phase  phase
	giveUp time.Duration // when the handshake fails
	heard  bool          // the sensor has answered in this handshake
	speed  int           // index in speeds, that of the last success first

	lines       transport.Lines
	answer      Answer
	params      Parameters
	first, last int // steps that are asked for

	sweep scan.Scan
	out   []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "urg", Doc: "Hokuyo laser scanners with SCIP 2.0 (URG, UBG, UST, UTM)", SetupLimit: setupLimit,
		Probe:    probe(),
		Provides: []devices.Spec{devices.Laser()},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyACM0"), Doc: "serial port, or IP:PORT of a sensor on the network"},
			scan.HeadingOption(),
			scan.FlipOption(),
			{Name: "range", Default: 0, Min: 0, Max: 65535, Unit: "mm", Doc: "the reading where nothing nearer is seen; 0: the range of the sensor"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return &Driver{port: a.String("port"), far: a.Int("range"), sweep: scan.Scan{Mount: scan.NewMount(a)}}, nil
		},
	}
}

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.laser = link, link.Device(codec.Laser)
	d.transport.Setup(now, link, d.port, d)
}

func (d *Driver) overTCP() bool {
	_, err := netip.ParseAddrPort(d.port)
	return err == nil
}

// Shutdown implements devices.Driver: the laser is switched off.
func (d *Driver) Shutdown(now time.Duration) {
	if d.transport.Shutdown(now) {
		d.transport.Finish(now, append(append(d.out[:0], quit...), '\n'))
	}
}

// Tick implements devices.Ticker.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.transport.Tick(now) }

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	if d.overTCP() {
		return d.link.Host().Dial(d.port, h)
	}
	return d.link.Host().OpenSerial(d.port, speeds[d.speed], h)
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.giveUp, d.heard = now+silenceTime, false
	d.enter(now, quieting)
}

// enter begins a phase of the handshake.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase = p
	limit := answerTime
	switch p {
	case quieting:
		d.send(quit)
		limit = quietTime
	case greeting:
		d.lines.Reset()
		d.answer = Answer{}
		d.send(scip2)
		limit = quietTime // SCIP 1.1 answers in its own way
	case asking:
		d.params = Parameters{}
		d.send(parameters)
	case changing:
		d.send(fastLine)
	case settling:
		limit = speedTime
	case lighting:
		d.send(laserOn)
	case starting:
		d.send(Scan(d.first, d.last))
		limit = firstScan
		d.giveUp = now + firstScan
	case running:
		d.transport.WakeAt(0)
		return
	}
	d.transport.WakeAt(now + limit)
}

// send sends a request.
func (d *Driver) send(request string) {
	d.out = append(append(d.out[:0], request...), '\n')
	d.transport.Port().Write(d.out)
}

// Timeout implements transport.Timer: a pause is over, or an answer has not come.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case d.phase == quieting:
		d.enter(now, greeting)
	case d.phase == greeting:
		d.enter(now, asking)
	case d.phase == changing: // it cannot, over USB
		d.enter(now, lighting)
	case d.phase == settling:
		if d.setSpeed(now, fast) {
			d.enter(now, lighting)
		}
	case now >= d.giveUp && d.heard:
		d.transport.Down(now, errNotReady)
	case now >= d.giveUp && d.overTCP():
		d.transport.Down(now, errSilent)
	case now >= d.giveUp:
		d.transport.Unanswered(now, errSilent)
	case d.heard || d.overTCP() || d.setSpeed(now, (d.speed+1)%len(speeds)):
		d.enter(now, quieting)
	}
}

// setSpeed is Transport.SetSpeed for an index in speeds.
func (d *Driver) setSpeed(now time.Duration, speed int) bool {
	d.speed = speed
	return d.transport.SetSpeed(now, speeds[speed])
}

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	for line, rest, ok := d.lines.Next(p); ok && d.transport.IsOpen(); line, rest, ok = d.lines.Next(rest) {
		if d.answer.next == content && d.answer.answers(parameters) {
			d.params.Set(line)
		}
		if d.answer.Take(line) {
			d.answered(now)
		}
	}
	if d.phase == running {
		d.transport.Noise(now, d.lines.Stats)
	}
}

// answered handles a whole answer.
func (d *Driver) answered(now time.Duration) {
	a := &d.answer
	if a.isScan() {
		if d.phase >= starting {
			d.scan(now)
		}
		return
	}
	good := !a.broken && (a.Status() == "00" || d.phase == lighting && a.Status() == "02") // 02: it is on already
	switch {
	case d.phase == asking && a.answers(parameters) && good:
		if !d.heard {
			d.heard, d.giveUp = true, now+setupTime-silenceTime
		}
		d.describe(now)
	case d.phase == changing && a.answers(fastLine):
		if good {
			d.enter(now, settling)
		} else {
			d.enter(now, lighting)
		}
	case d.phase == lighting && a.answers(laserOn):
		if !good && !a.broken {
			d.transport.Down(now, fmt.Errorf("the sensor cannot switch its laser on (status %s): switch it off and on", a.Status()))
			return
		}
		d.enter(now, starting)
	case d.phase == starting && a.answers(scanning) && !good && !a.broken:
		d.transport.Down(now, fmt.Errorf("the sensor refuses to scan (status %s)", a.Status()))
	}
}

// describe takes the sensor's description, and chooses the steps to ask for: those
// in front of the robot.
func (d *Driver) describe(now time.Duration) {
	p := &d.params
	if err := p.Check(); err != nil {
		d.transport.Down(now, err)
		return
	}
	d.first, d.last = p.First, p.Last
	if ahead := d.sweep.Ahead(); ahead >= -90 && ahead <= 90 { // else the robot's front is in two pieces
		const margin = 1 // degree, for rounding
		d.first, d.last = p.Step(ahead-90-margin), p.Step(ahead+90+margin)
	}
	if d.overTCP() || d.speed == fast {
		d.enter(now, lighting)
	} else {
		d.enter(now, changing)
	}
}

// scan publishes a scan. The first one ends the handshake.
func (d *Driver) scan(now time.Duration) {
	p := &d.params
	d.sweep.Clear()
	ok := d.answer.distances(d.last-d.first+1, func(i, mm int) {
		if mm < p.Min || mm > p.Max {
			mm = 0 // an error code, or nothing was seen
		}
		d.sweep.Add(p.Angle(d.first+i), mm)
	})
	if !ok {
		d.lines.Stats.Broken++
		return
	}
	d.transport.Heard(now)
	d.out = d.sweep.Append(d.out[:0], uint16(cmp.Or(d.far, min(p.Max, 0xFFFF))))
	d.laser.Publish(now, d.out)
	if d.phase == starting {
		d.transport.Log().Info("laser scanner", zap.String("model", p.Model), zap.Int("turns a minute", p.TurnsAMinute))
		d.enter(now, running)
		d.transport.Up(now)
	}
}
