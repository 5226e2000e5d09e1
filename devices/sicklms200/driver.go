package sicklms200

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/timers"
)

const (
	// setupLimit is for the link; after setupTime, which must be shorter, the driver
	// itself gives up with a better explanation.
	setupLimit = 8 * time.Second
	setupTime  = 7500 * time.Millisecond
	// healthPeriod is how often a warning of the laser is logged; the laser sends it
	// five times a second.
	healthPeriod = time.Minute
	// severityWarning is the lowest severity that is logged, see Status.Severity.
	severityWarning = 2
)

// Driver drives the laser, Player's laser device. The phases of the handshake
// are in handshake.go.
type Driver struct {
	port      string
	transport transport.Transport
	link      *devices.Link
	laser     *devices.Device

	phase     phase
	tries     int           // requests of this phase that were not answered, and this one
	asked     time.Duration // when the last one was sent
	pausing   bool          // the request waits until the line has settled
	giveUp    time.Duration // when the handshake fails
	first     int           // baud: where the search begins, which is where the laser was last
	probe     int           // how many speeds were tried
	speed     int           // baud, of the line
	heard     bool          // the laser has sent a good telegram at this speed
	noisy     bool          // something was heard since the request
	overheard []byte        // during the search, for transport.Recognize

	// What the laser measures: as it has told, or as its first scan shows. Zero or
	// empty: unknown.
	variant      Variant
	config       Configuration
	configurable bool // it is in configuration mode

	parser Parser
	health timers.Limiter
	out    []byte
	ranges codec.LaserData
}

// New returns the driver of the laser on a serial port.
func New(port string) *Driver { return &Driver{port: port, first: speeds[0]} }

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "sicklms200", Doc: "SICK LMS-200 laser scanner", Provides: []devices.Spec{devices.Laser()}, SetupLimit: setupLimit,
		Options: []devices.Option{{Name: "port", Default: devices.SerialPort("/dev/ttyS1"), Doc: "serial port"}},
		Probe:   probe(),
		New:     func(a devices.Args) (devices.Driver, error) { return New(a.String("port")), nil },
	}
}

// Setup implements devices.Driver.
func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.link, d.laser = link, link.Device(codec.Laser)
	d.health = timers.Limiter{Period: healthPeriod}
	d.transport.Setup(now, link, d.port, d)
}

// Shutdown implements devices.Driver. The laser stays at the speed it has.
func (d *Driver) Shutdown(now time.Duration) {
	if d.transport.Shutdown(now) {
		d.transport.Finish(now, AppendMode(d.out[:0], OnRequest))
	}
}

// Tick implements devices.Ticker.
func (d *Driver) Tick(now time.Duration) time.Duration { return d.transport.Tick(now) }

// Receive implements transport.Hardware.
func (d *Driver) Receive(now time.Duration, p []byte) {
	if d.phase == stopping && len(p) > 0 {
		d.noisy, d.overheard = true, transport.Remember(d.overheard, p)
	}
	for t, rest := d.parser.Next(p); t != nil && d.transport.IsOpen(); t, rest = d.parser.Next(rest) {
		d.heard = true
		if d.phase >= waiting {
			d.scan(now, t)
		} else if !d.pausing {
			d.answer(now, t)
		}
	}
	d.transport.Noise(now, d.parser.Stats)
}

// scan publishes a measurement. The first one ends the handshake.
func (d *Driver) scan(now time.Duration, t Telegram) {
	s, err := DecodeScan(t)
	switch {
	case errors.Is(err, ErrNotScan):
		return // a late answer
	case errors.Is(err, ErrScan):
		d.parser.Stats.Broken++
		return
	case d.phase == waiting && errors.Is(err, ErrVariant) && d.variant == Variant{} && s.variant() != Variant{}:
		d.variant = s.variant() // it has not told before
		d.search(now)
		return
	case d.phase == waiting && err != nil:
		d.transport.Down(now, fmt.Errorf("%w; %s", err, advice))
		return
	case err != nil: // not what the laser was set to
		d.transport.Down(now, err)
		return
	}
	d.transport.Heard(now)
	for i := range d.ranges {
		d.ranges[i] = s.Range(i)
	}
	d.out = d.ranges.Append(d.out[:0])
	d.laser.Publish(now, d.out)
	d.watchHealth(now, t.Status())
	if d.phase == waiting {
		d.phase, d.first, d.overheard = running, d.speed, nil
		d.transport.WakeAt(0)
		d.transport.Up(now)
	}
}

func (d *Driver) watchHealth(now time.Duration, s Status) {
	if s.Severity() < severityWarning && !s.Polluted() {
		return
	}
	if _, ok := d.health.Allow(now); ok {
		d.transport.Log().Warn("the laser complains: clean its window, and switch it off and on if that does not help",
			zap.Bool("polluted", s.Polluted()), zap.Int("severity", s.Severity()))
	}
}
