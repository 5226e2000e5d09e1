package scan

import (
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/transport"
)

// Lidar has the parts common to drivers of sensors that rotate continuously: the end of a
// serial line, the sweep, and devices laser and ranger. Call Set before use.
type Lidar struct {
	transport.Transport

	// Model is the sensor's name in the log.
	Model string
	// Reach is how far the sensor sees, in mm, if that is known; 0: as far as its block says.
	Reach int

	far   uint16 // mm, the reading of device laser where nothing is seen
	sweep Revolution
	out   []byte

	ranger  Ranger
	samples int  // since the last turn
	before  int  // samples of the turn before
	turns   int  // of this connection
	taking  bool // the ranger has all samples since the last turn
}

// A turn has as many samples as the last one when the motor has its speed: then the numbers differ by a twentieth at
// most. After mostTurns turns the last one counts, whatever its number, because the setup must end.
const (
	steady    = 20
	mostTurns = 5
)

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
	l.ranger.Mount = l.sweep.Mount
}

// Setup implements devices.Driver. The number of readings of the ranger is found anew.
func (l *Lidar) Setup(now time.Duration, link *devices.Link) {
	l.ranger.Open(link)
	l.Transport.Setup(now, link)
}

func (l *Lidar) AppendParts(dst []codec.Part, d *devices.Device) []codec.Part {
	if d.Letter() == codec.Ranger {
		return l.ranger.AppendPart(dst)
	}
	return append(dst, codec.Part{Range: float64(l.far), View: codec.LaserView})
}

func (l *Lidar) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return l.ranger.AppendRays(dst)
}

// Begin forgets all samples. Samples may be taken after it.
func (l *Lidar) Begin() {
	l.sweep.Begin()
	l.samples, l.before, l.turns, l.taking = 0, 0, 0, false
}

// Take takes a sample: the angle in degrees clockwise, 0 ahead of the sensor, and the
// distance in mm, zero if there was no return. A complete sweep is published; the first one
// of a connection ends the handshake. If the block names the ranger, the handshake goes on until
// its number of readings is known.
func (l *Lidar) Take(now time.Duration, degrees float64, mm int) {
	if !l.IsOpen() {
		return
	}
	l.samples++
	if l.taking {
		l.ranger.Add(-degrees, mm)
	}
	if !l.sweep.Add(-degrees, mm) {
		return
	}
	l.Heard(now)
	l.out = l.sweep.Append(l.out[:0], l.far)
	l.Link().Device(codec.Laser).Publish(now, l.out)
	if l.turned(now) && !l.IsUp() {
		l.Log().Info("laser scanner", zap.String("model", l.Model), zap.Int("baud", l.Baud()))
		l.Up(now)
	}
}

// turned ends a turn for the ranger. It reports whether its number of readings is known, or not needed.
func (l *Lidar) turned(now time.Duration) bool {
	samples, r := l.samples, &l.ranger
	l.samples = 0
	if !r.Named() {
		return true
	}
	if r.Count() == 0 {
		l.turns++
		apart := max(samples-l.before, l.before-samples)
		l.before = samples
		if apart*steady > samples && l.turns < mostTurns {
			return false
		}
		r.Far = max(l.Reach, int(l.far))
		n := turnReadings(samples)
		r.Set(-180, 360/float64(n), n, 1)
	}
	if l.taking {
		r.Publish(now)
	}
	if l.taking = r.Wanted(); l.taking {
		r.Clear()
	}
	return true
}
