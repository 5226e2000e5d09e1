package rplidar

import (
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
	// setupLimit is for the link; after setupTime, which must be shorter, the driver
	// itself gives up with a better explanation. The motor takes two seconds to reach
	// its speed.
	setupLimit = 6 * time.Second
	setupTime  = 5500 * time.Millisecond
	// silenceTime is for a sensor that answers nothing at all at either speed.
	silenceTime = 1500 * time.Millisecond

	// stopTime is the pause after Stop: the protocol asks for 10 ms, and what the
	// sensor has sent must have arrived.
	stopTime = 30 * time.Millisecond
	// answerTime is how long an answer may take.
	answerTime = 300 * time.Millisecond
	// bootTime is how long a sensor takes to start after Reset.
	bootTime = 800 * time.Millisecond
	// minReadings is the number of readings that make a sweep of the front half: at
	// its edges single samples change places. The slowest sensor has 180.
	minReadings = 30
)

// speeds are those of the adapters in baud: A1 and A2M8, then A2M7 and A2M12.
var speeds = [...]int{115200, 256000}

var (
	errSilent   = errors.New("no RPLIDAR answers at 115200 or 256000 baud: check cable and power")
	errScan     = errors.New("the sensor sends no scan: does its motor turn?")
	errNotReady = errors.New("the sensor answers, but does not start to scan")
)

type phase uint8

const (
	stopping phase = iota // Stop was sent
	naming                // GetInfo was sent
	checking              // GetHealth was sent
	booting               // Reset was sent
	express               // ExpressScan was sent
	standard              // Scan was sent
	scanning              // data comes, or is to come
	running               // the first scan was published
)

// Driver drives the sensor.
type Driver struct {
	port        string
	far         uint16 // mm, the reading where nothing is seen
	useStandard bool   // standard scan even if the sensor can do better

	link      *devices.Link
	laser     *devices.Device
	transport transport.Transport

	phase  phase
	giveUp time.Duration // when the handshake fails
	heard  bool          // the sensor has answered in this handshake
	reset  bool          // it was restarted in this handshake
	speed  int           // index in speeds, that of the last success first
	info   Info

	framing transport.Framing
	buf     [packetSize]byte
	stream  byte   // the kind of data that comes: answerScan, answerExpress
	last    Packet // whose span is not known yet
	held    bool   // last is one

	sweep  scan.Scan
	inside int  // readings of the front half in this sweep
	whole  bool // the sweep began outside of the front half
	out    []byte
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "rplidar", Doc: "Slamtec RPLIDAR A1 and A2 laser scanners", SetupLimit: setupLimit,
		Probe:    probe(),
		Provides: []devices.Spec{devices.Laser()},
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port"},
			scan.HeadingOption(),
			scan.FlipOption(),
			{Name: "range", Default: 12000, Min: 100, Max: 65535, Unit: "mm", Doc: "the reading where nothing is seen, or only something further away"},
			{Name: "standard", Default: false, Doc: "standard scan, also if the sensor can do express scan"},
		},
		New: func(a devices.Args) (devices.Driver, error) {
			return &Driver{
				port: a.String("port"), far: uint16(a.Int("range")), useStandard: a.Bool("standard"),
				sweep: scan.Scan{Mount: scan.NewMount(a)},
			}, nil
		},
	}
}

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.laser = link, link.Device(codec.Laser)
	d.transport.Setup(now, link, d.port, d)
}

// Shutdown implements devices.Driver: laser and motor stop.
func (d *Driver) Shutdown(now time.Duration) {
	if !d.transport.Shutdown(now) {
		return
	}
	d.out = AppendRequest(d.out[:0], Stop)
	if d.info.hasMotorControl() {
		d.out = AppendMotor(d.out, 0)
	}
	d.turnMotor(false)
	d.transport.Finish(now, d.out)
}

// Tick implements devices.Ticker.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.transport.Tick(now) }

// Open implements transport.Hardware.
func (d *Driver) Open(h devices.PortHandler) (devices.Port, error) {
	return d.link.Host().OpenSerial(d.port, speeds[d.speed], h)
}

// Greet implements transport.Hardware.
func (d *Driver) Greet(now time.Duration) {
	d.giveUp = now + silenceTime
	d.heard, d.reset, d.info = false, false, Info{}
	d.turnMotor(true)
	d.enter(now, stopping)
}

// turnMotor switches the motor of an A1, which runs while DTR is released.
func (d *Driver) turnMotor(on bool) {
	if p, ok := d.transport.Port().(devices.ModemPort); ok {
		_ = p.SetModemLines(!on, !on) // a port without these lines has no A1's motor
	}
}

// enter begins a phase of the handshake.
func (d *Driver) enter(now time.Duration, p phase) {
	d.phase, d.stream = p, 0
	limit := answerTime
	switch p {
	case stopping:
		d.request(Stop)
		limit = stopTime
	case naming:
		d.transport.Port().Discard()
		d.framing.Reset()
		d.request(GetInfo)
	case checking:
		d.request(GetHealth)
	case booting:
		d.reset = true
		d.request(Reset)
		limit = bootTime
	case express:
		d.write(AppendExpressScan(d.motor()))
	case standard:
		d.write(AppendRequest(d.motor(), Scan))
	case scanning:
		limit = d.giveUp - now // until the motor has its speed
		d.held, d.inside, d.whole = false, 0, false
		d.sweep.Clear()
	case running:
		d.transport.WakeAt(0)
		return
	}
	d.transport.WakeAt(now + limit)
}

// motor returns the request that starts the motor of an A2.
func (d *Driver) motor() []byte {
	if d.info.hasMotorControl() {
		return AppendMotor(d.out[:0], motorSpeed)
	}
	return d.out[:0]
}

func (d *Driver) request(r Request) { d.write(AppendRequest(d.out[:0], r)) }

func (d *Driver) write(b []byte) {
	d.out = b
	d.transport.Port().Write(b)
}

// Timeout implements transport.Timer: a pause is over, or an answer has not come.
func (d *Driver) Timeout(now time.Duration) {
	switch {
	case d.phase == stopping:
		d.enter(now, naming)
	case d.phase == booting:
		d.enter(now, stopping)
	case d.phase == express: // firmware before 1.17
		d.enter(now, standard)
	case d.phase == scanning:
		d.transport.Down(now, errScan)
	case now >= d.giveUp && d.heard:
		d.transport.Down(now, errNotReady)
	case now >= d.giveUp:
		d.transport.Unanswered(now, errSilent)
	default:
		if !d.heard {
			d.speed = (d.speed + 1) % len(speeds)
			if !d.transport.SetSpeed(now, speeds[d.speed]) {
				return
			}
		}
		d.enter(now, stopping)
	}
}

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	for len(p) > 0 && d.transport.IsOpen() {
		inspect := inspectAnswer
		switch d.stream {
		case answerScan:
			inspect = inspectSample
		case answerExpress:
			inspect = inspectPacket
		}
		var b []byte
		if b, p = d.framing.Next(d.buf[:], p, inspect); b == nil {
			break
		}
		switch d.stream {
		case answerScan:
			d.take(now, decodeSample(b))
		case answerExpress:
			d.packet(now, Packet(b))
		default:
			d.answer(now, b)
		}
	}
	if d.phase == running { // what comes before is the rest of another scan
		d.transport.Noise(now, d.framing.Stats)
	}
}

// answer handles the answer to a request.
func (d *Driver) answer(now time.Duration, b []byte) {
	if !d.heard {
		d.heard, d.giveUp = true, now+setupTime-silenceTime
	}
	kind, data := b[6], b[descriptorSize:]
	switch {
	case d.phase == naming && kind == answerInfo:
		d.info = Info{Model: data[0], Minor: data[1], Major: data[2]}
		d.enter(now, checking)
	case d.phase == checking && kind == answerHealth:
		d.health(now, Health{Status: data[0], Code: uint16(data[1]) | uint16(data[2])<<8})
	case d.phase == express && kind == answerExpress, d.phase == standard && kind == answerScan:
		d.enter(now, scanning)
		d.stream = kind
	}
}

// health goes on with a sensor that is well, restarts one that has failed, and
// gives up when that did not help.
func (d *Driver) health(now time.Duration, h Health) {
	switch {
	case h.failed() && d.reset:
		d.transport.Down(now, fmt.Errorf("the sensor reports error %#04x: disconnect its power, and check that its head turns freely", h.Code))
	case h.failed():
		d.enter(now, booting)
	case d.useStandard:
		d.enter(now, standard)
	default:
		d.enter(now, express)
	}
	if h.Status == 1 {
		d.transport.Log().Warn("the sensor warns that it may fail soon", zap.Uint16("code", h.Code))
	}
}

// packet takes the samples of the packet before p: where they lie is known now.
func (d *Driver) packet(now time.Duration, p Packet) {
	if d.held && !p.first() {
		span := d.last.span(&p)
		for k := range 2 * cabins {
			d.take(now, d.last.sample(k, span))
		}
	}
	d.last, d.held = p, true
}

// take adds a sample to the sweep. The sensor turns clockwise: a sweep of the front
// half ends at the right.
func (d *Driver) take(now time.Duration, s Sample) {
	if !d.transport.IsOpen() {
		return
	}
	if d.sweep.Add(-s.Angle, s.MM) {
		d.inside++
		return
	}
	if d.inside < minReadings { // one sample may lie before the others
		d.whole = d.whole || d.inside == 0
		return
	}
	if d.whole {
		d.publish(now)
	}
	d.sweep.Clear()
	d.inside, d.whole = 0, true
}

func (d *Driver) publish(now time.Duration) {
	d.transport.Heard(now)
	d.out = d.sweep.Append(d.out[:0], d.far)
	d.laser.Publish(now, d.out)
	if d.phase == scanning {
		d.transport.Log().Info("laser scanner", zap.Stringer("model", d.info), zap.Int("baud", speeds[d.speed]))
		stream := d.stream
		d.enter(now, running)
		d.stream = stream
		d.transport.Up(now)
	}
}
