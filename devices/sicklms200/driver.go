package sicklms200

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/scan"
	"player/devices/transport"
	"player/timers/limited"
)

const (
	// setupTime bounds the handshake of a laser that answers: it may write its setting.
	setupTime = 7500 * time.Millisecond
	// healthPeriod is how often a warning of the laser is logged; the laser sends it
	// five times a second.
	healthPeriod = time.Minute
	// severityWarning is the lowest severity that is logged, see Status.Severity.
	severityWarning = 2
)

// Driver drives the laser, Player's laser device. The phases of the handshake
// are in handshake.go.
type Driver struct {
	transport.Transport

	laser  *devices.Device
	ranger scan.Ranger
	flip   bool // it is mounted upside down

	// The laser's settings: as it has reported, or as its first scan shows. Zero or empty:
	// unknown.
	variant      Variant
	config       Configuration
	configurable bool // it is in configuration mode

	parser transport.Parser
	health limited.Line
	out    []byte
	ranges codec.LaserData
}

// New returns the driver of the laser on a serial port.
func New(port string) *Driver {
	d := &Driver{parser: transport.NewParser(inspect, MaxTelegram)}
	d.Protocol = d.protocol(port)
	return d
}

// Kind declares the driver.
func Kind() devices.Kind {
	return devices.Kind{
		Name: "sicklms200", Doc: "SICK LMS-200 laser scanner", SetupLimit: setupTime + transport.Grace,
		Provides: scan.Provides(),
		Options: []devices.Option{
			{Name: "port", Default: devices.SerialPort("/dev/ttyS1"), Doc: "serial port, or HOST:PORT"},
			scan.FlipOption(),
		},
		Probe: probe(),
		New: func(a devices.Args) (devices.Driver, error) {
			d := New(a.String("port"))
			d.flip, d.ranger.Flip = a.Bool("flip"), a.Bool("flip")
			return d, nil
		},
	}
}

func (d *Driver) Setup(now time.Duration, link *devices.Link) {
	d.laser = link.Device(codec.Laser)
	d.health = limited.Line{Period: healthPeriod}
	d.ranger.Open(link)
	if d.ranger.Named() {
		d.ranger.Far = farthest
		d.ranger.Set(-codec.LaserView/2, scanStep, ScanCount, 1)
	}
	d.Transport.Setup(now, link)
}

func (d *Driver) receive(now time.Duration, p []byte) {
	for t, rest := d.parser.Next(p); t != nil && d.IsOpen(); t, rest = d.parser.Next(rest) {
		d.Found()
		if d.Phase() >= waiting {
			d.scan(now, t)
		} else if !d.Pausing() {
			d.answer(now, t)
		}
	}
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
	case d.Phase() == waiting && errors.Is(err, ErrVariant) && d.variant == Variant{} && s.variant() != Variant{}:
		d.variant = s.variant() // it has not reported it before
		d.Enter(now, stopping)
		return
	case d.Phase() == waiting && err != nil:
		d.Down(now, fmt.Errorf("%w; %s", err, advice))
		return
	case err != nil: // not the laser's setting
		d.Down(now, err)
		return
	}
	d.Heard(now)
	for i := range d.ranges {
		d.ranges[i] = s.Range(i)
	}
	if d.flip {
		slices.Reverse(d.ranges[:])
	}
	d.out = d.ranges.Append(d.out[:0])
	d.laser.Publish(now, d.out)
	d.measured(now, s)
	d.watchHealth(now, t.Status())
	d.Up(now)
}

// measured publishes the readings of the ranger.
func (d *Driver) measured(now time.Duration, s Scan) {
	if !d.ranger.Wanted() {
		return
	}
	d.ranger.Clear()
	for i := range ScanCount {
		d.ranger.Add(-codec.LaserView/2+scanStep*float64(i), distance(s.Range(i)))
	}
	d.ranger.Publish(now)
}

func (d *Driver) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return d.ranger.AppendRays(dst)
}

func (d *Driver) AppendParts(dst []codec.Part, device *devices.Device) []codec.Part {
	if device.Letter() == codec.Ranger {
		return d.ranger.AppendPart(dst)
	}
	return append(dst, codec.Part{Range: farthest, View: codec.LaserView})
}

func (d *Driver) watchHealth(now time.Duration, s Status) {
	if s.Severity() >= severityWarning || s.Polluted() {
		d.health.Warn(now, d.Log(), "the laser complains: clean its window, and switch it off and on if that does not help",
			zap.Bool("polluted", s.Polluted()), zap.Int("severity", s.Severity()))
	}
}
