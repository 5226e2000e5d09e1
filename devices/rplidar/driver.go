package rplidar

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
)

const (
	// setupTime bounds the handshake: the motor takes two seconds to reach its speed.
	setupTime = 5500 * time.Millisecond

	// stopTime is the pause after Stop: the protocol asks for 10 ms, and the sensor's
	// earlier bytes must have arrived.
	stopTime = 30 * time.Millisecond
	// answerTime is how long an answer may take.
	answerTime = 300 * time.Millisecond
	// bootTime is how long a sensor takes to start after Reset.
	bootTime = 800 * time.Millisecond
)

// speeds are the adapters' speeds in baud: A1 and A2M8; A2M7, A2M12, A3 and S1; C1; S2 and S3
// (the SDK, sl_lidar_driver.cpp).
var speeds = []int{115200, 256000, 460800, 1000000}

var (
	errSilent   = errors.New("no RPLIDAR answers at 115200, 256000, 460800 or 1000000 baud: check cable and power")
	errScan     = errors.New("the sensor sends no scan: does its motor turn?")
	errNotReady = errors.New("the sensor answers, but does not start to scan")
)

const (
	stopping transport.Phase = iota // Stop was sent
	naming                          // GetInfo was sent
	checking                        // GetHealth was sent
	booting                         // Reset was sent
	choosing                        // GetConfig was sent
	express                         // ExpressScan was sent
	standard                        // Scan was sent
	scanning                        // data is to come when the motor has its speed
)

// steps is the handshake. Firmware before 1.17 does not answer ExpressScan. A sensor that
// answers with data of another kind begins anew, without it: its data ends with Stop.
func (d *Driver) steps() []transport.Step {
	return []transport.Step{
		stopping: {Send: request(Stop), Wait: stopTime, Late: d.Then(naming)},
		naming:   {Send: request(GetInfo), Fresh: true, Wait: answerTime},
		checking: {Send: request(GetHealth), Wait: answerTime},
		booting:  {Send: request(Reset), Wait: bootTime, Late: d.Then(stopping)},
		choosing: {Send: AppendGetTypicalMode, Wait: answerTime, Late: d.Then(standard)},
		express:  {Send: func(dst []byte) []byte { return AppendExpressScan(d.motor(dst), d.mode) }, Wait: answerTime, Late: d.withoutExpress},
		standard: {Send: func(dst []byte) []byte { return AppendRequest(d.motor(dst), Scan) }, Wait: answerTime},
		scanning: {Wait: setupTime},
	}
}

// request returns a function that sends a request without payload.
func request(r Request) func(dst []byte) []byte {
	return func(dst []byte) []byte { return AppendRequest(dst, r) }
}

// tooWide is how many times the span of the packet before it a packet cannot have.
const tooWide = 1.5

// Driver drives the sensor.
type Driver struct {
	scan.Lidar

	useStandard bool // standard scan even if the sensor can do better

	reset bool // the sensor was restarted in this handshake
	plain bool // this handshake asks for a standard scan
	info  Info
	mode  byte // working mode of the express scan

	framing transport.Framing
	buf     [packetSize]byte
	stream  byte    // the kind of data that comes: answerScan, answerExpress, answerDense
	last    Packet  // its span is still unknown
	waits   bool    // last is one
	damage  uint64  // garbage before last, in bytes
	span    float64 // of the packet before last, in degrees; 0: none
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "rplidar", Doc: "Slamtec RPLIDAR A1, A2, A3, C1, S1, S2 and S3 laser scanners", SetupLimit: setupTime + transport.Grace,
		Probe:    probe(),
		Provides: scan.Provides(),
		Options: append(scan.LidarOptions(),
			devices.Option{Name: "standard", Default: false, Doc: "standard scan, also if the sensor can do express scan"}),
		New: func(a devices.Args) (devices.Driver, error) { return newDriver(a), nil },
	}
}

func newDriver(a devices.Args) *Driver {
	d := &Driver{useStandard: a.Bool("standard")}
	d.Set(a, transport.Protocol{
		Name: "an RPLIDAR", Speeds: speeds, Search: []transport.Attempt{{Speed: 0}, {Speed: 1}, {Speed: 2}, {Speed: 3}, {Speed: 0}, {Speed: 1}, {Speed: 2}, {Speed: 3}},
		Begin: d.begin, Steps: d.steps(), Limit: setupTime,
		Framing: &d.framing, Receive: d.receive, Bye: d.bye,
		Others: "This driver reads A1, A2, A3, C1, S1, S2 and S3.",
		Silent: errSilent, Stuck: stuck,
	})
	return d
}

func (d *Driver) begin(time.Duration) transport.Phase {
	d.reset, d.plain, d.info, d.mode, d.stream = false, d.useStandard, Info{}, 0, 0
	d.SetModemLines(false, false) // the motor of an A1 runs while DTR is released
	return stopping
}

// bye stops laser and motor.
func (d *Driver) bye(dst []byte) []byte {
	d.SetModemLines(true, true)
	dst = AppendRequest(dst, Stop)
	if r, _ := d.info.motor(); r != 0 {
		dst = AppendMotor(dst, r, 0)
	}
	return dst
}

// withoutExpress begins the handshake anew, for a standard scan.
func (d *Driver) withoutExpress(now time.Duration) {
	d.plain = true
	d.Enter(now, stopping)
}

func stuck(p transport.Phase) error {
	if p == scanning {
		return errScan
	}
	return errNotReady
}

// motor appends the request that starts the motor, if the sensor has one.
func (d *Driver) motor(dst []byte) []byte {
	if r, speed := d.info.motor(); r != 0 {
		return AppendMotor(dst, r, speed)
	}
	return dst
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for d.IsOpen() {
		inspect := inspectAnswer
		switch d.stream {
		case answerScan:
			inspect = inspectSample
		case answerExpress, answerDense:
			inspect = inspectPacket
		}
		var b []byte
		if b, p = d.framing.Next(d.buf[:], p, inspect); b == nil {
			break
		}
		switch d.stream {
		case answerScan:
			s := decodeSample(b)
			d.Take(now, s.Angle, s.MM)
		case answerExpress, answerDense:
			d.packet(now, Packet(b))
		default:
			d.answer(now, b)
		}
	}
}

// answer handles the answer to a request.
func (d *Driver) answer(now time.Duration, b []byte) {
	d.Found()
	kind, data := b[6], b[descriptorSize:]
	switch {
	case d.Phase() == naming && kind == answerInfo:
		d.info = Info{Model: data[0], Minor: data[1], Major: data[2]}
		d.Model, d.Reach = d.info.String(), d.info.reach()
		d.Enter(now, checking)
	case d.Phase() == checking && kind == answerHealth:
		d.health(now, Health{Status: data[0], Code: uint16(data[1]) | uint16(data[2])<<8})
	case d.Phase() == choosing && kind == answerConfig && data[0] == typicalMode:
		// Mode 0 is the standard scan (the SDK, SL_LIDAR_CONF_SCAN_COMMAND_STD).
		if d.mode = data[4]; d.mode == 0 {
			d.Enter(now, standard)
		} else {
			d.Enter(now, express)
		}
	case d.Phase() == express && (kind == answerExpress || kind == answerDense), d.Phase() == standard && kind == answerScan:
		d.stream, d.waits, d.span = kind, false, 0
		d.Begin()
		d.Enter(now, scanning)
	}
}

// health continues with a healthy sensor, restarts a failed one, and gives up if that did
// not help.
func (d *Driver) health(now time.Duration, h Health) {
	switch {
	case h.failed() && d.reset:
		d.Down(now, fmt.Errorf("the sensor reports error %#04x: disconnect its power, and check that its head turns freely", h.Code))
	case h.failed():
		d.reset = true
		d.Enter(now, booting)
	case d.plain:
		d.Enter(now, standard)
	case !d.info.triangulates():
		d.Enter(now, choosing)
	default:
		d.Enter(now, express)
	}
	if h.Status == 1 {
		d.Log().Warn("the sensor warns that it may fail soon", zap.Uint16("code", h.Code))
	}
}

// packet adds the samples of the packet before p. Their angles are known now, unless a
// damaged packet was between the two (like the SDK, handler_capsules.cpp), or a packet was lost
// without a trace: the span is two packets' then, and no motor slows down so fast.
func (d *Driver) packet(now time.Duration, p Packet) {
	garbage := d.framing.Stats.Garbage
	if d.waits && !p.first() && garbage == d.damage {
		n, sample, span, usual := 2*cabins, d.last.sample, d.last.span(&p), d.span
		if d.stream == answerDense {
			n, sample = distances, d.last.dense
		}
		if d.span = span; usual != 0 && span > tooWide*usual {
			n = 0
		}
		for k := range n {
			s := sample(k, span)
			d.Take(now, s.Angle, s.MM)
		}
	}
	d.last, d.waits, d.damage = p, true, garbage
}
