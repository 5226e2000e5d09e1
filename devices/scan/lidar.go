package scan

import (
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

// Lidar has the parts common to drivers of sensors that rotate continuously: the end of a
// serial line, the sweep, and device laser. Call Set before use.
type Lidar struct {
	transport.Transport

	// Model is the sensor's name in the log.
	Model string

	far   uint16 // mm, the reading where nothing is seen
	sweep Revolution
	out   []byte
}

// LidarOptions declares the options of Lidar.Set.
func LidarOptions() []devices.Option {
	return []devices.Option{
		{Name: "port", Default: devices.SerialPort("/dev/ttyUSB0"), Doc: "serial port, or HOST:PORT"},
		HeadingOption(),
		FlipOption(),
		{Name: "range", Default: 12000, Min: 100, Max: 65535, Unit: "mm", Doc: "the reading where nothing is seen, or only something further away"},
	}
}

// Set prepares the lidar as a driver's block declares, for a protocol, which it completes
// with the port.
func (l *Lidar) Set(a devices.Args, p transport.Protocol) {
	p.Address = a.String("port")
	l.Protocol, l.far, l.sweep.Mount = p, uint16(a.Int("range")), NewMount(a)
}

func (l *Lidar) AppendParts(dst []codec.Part, _ *devices.Device) []codec.Part {
	return append(dst, codec.Part{Range: float64(l.far), View: codec.LaserView})
}

// Begin forgets all samples. Samples may be taken after it.
func (l *Lidar) Begin() { l.sweep.Begin() }

// Take takes a sample: the angle in degrees clockwise, 0 ahead of the sensor, and the
// distance in mm, zero if there was no return. A complete sweep is published; the first one
// of a connection ends the handshake.
func (l *Lidar) Take(now time.Duration, degrees float64, mm int) {
	if !l.IsOpen() || !l.sweep.Add(-degrees, mm) {
		return
	}
	l.Heard(now)
	l.out = l.sweep.Append(l.out[:0], l.far)
	l.Link().Device(codec.Laser).Publish(now, l.out)
	if !l.IsUp() {
		l.Log().Info("laser scanner", zap.String("model", l.Model), zap.Int("baud", l.Baud()))
		l.Up(now)
	}
}
