// Package ydlidar emulates a YDLIDAR X2, X4, G4, TG30 or T-mini Pro on a fake serial line.
//
// It follows YDLIDAR's development manuals and the protocol document of its SDK; everything
// else is marked "assumed".
package ydlidar

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// A Model is a kind of sensor, by the number that it reports.
type Model byte

const (
	X2    Model = iota // sends as long as it has power, and ignores input
	G4    Model = 5
	X4    Model = 6
	G6    Model = 13  // with packets in other units
	TG30  Model = 101 // measures the time of flight
	TMini Model = 150 // a T-mini Pro
)

// A make has the differences of the models (the SDK's doc/Dataset.md, and its protocol document).
type make struct {
	baud       int
	rate       float64 // samples a second
	unit       float64 // parts of a mm in which distances are sent
	intensity  bool    // in front of each distance is a byte of it
	triangle   bool    // hosts correct angles, so that the sensor reports them as they were without it
	configured byte    // the answer to the question for the rate of samples; 0: it cannot be asked for settings
}

var makes = map[Model]make{
	X2:    {115200, 3000, 4, false, true, 0},
	X4:    {128000, 5000, 4, false, true, 0},
	G4:    {230400, 9000, 4, false, true, 2}, // of 4000, 8000 and 9000
	G6:    {512000, 9000, 4, false, true, 2},
	TG30:  {512000, 20000, 1, false, false, 20},
	TMini: {230400, 4000, 4, true, false, 4},
}

// Options of a sensor. Zero fields have the default in parentheses.
type Options struct {
	Line     line.Options // Baud (the model's)
	Model    Model        // (X2)
	Rate     float64      // revolutions per second (7)
	Scanning bool         // a host has left it scanning
	// Room returns the distance in mm at an angle in degrees, clockwise, 0 ahead;
	// zero: no return. Nil: a square of 4 m with the sensor in its middle.
	Room func(degrees float64) float64
}

const (
	samplesPerPacket = 40
	chunk            = 16 * time.Millisecond // assumed: how often packets go out
)

// A Lidar is a sensor at the end of a cable. Its methods may be called by any goroutine.
type Lidar struct {
	line.End
	opts Options

	scanning bool
	next     time.Duration
	due      float64 // samples
	angle    float64 // degrees, of the next sample
}

// Start plugs a sensor in.
func Start(opts Options) (*Lidar, error) {
	opts.Line.Baud, opts.Rate = cmp.Or(opts.Line.Baud, makes[opts.Model].baud), cmp.Or(opts.Rate, 7)
	opts.Room = room.Or(opts.Room)
	d := &Lidar{opts: opts, scanning: opts.Scanning || opts.Model == X2, next: chunk}
	return d, d.Attach(opts.Line, d)
}

func (d *Lidar) Frame(buf []byte) (n int, note string) {
	switch {
	case d.opts.Model == X2:
		return len(buf), "unheard"
	case buf[0] != 0xA5:
		return 1, "junk"
	case len(buf) < 2:
		return 0, ""
	}
	return 2, "request"
}

// During a scan only Stop is accepted.
func (d *Lidar) Receive(now time.Duration, r []byte) {
	if d.opts.Model == X2 || r[0] != 0xA5 || d.scanning && r[1] != 0x65 && r[1] != 0x00 {
		return
	}
	switch r[1] {
	case 0x65, 0x00: // YDLIDAR's SDK also sends 00
		d.scanning = false
	case 0x60:
		d.scanning, d.due, d.next = true, 0, now+chunk
		d.Send([]byte{0xA5, 0x5A, 5, 0, 0, 0x40, 0x81}, "descriptor")
	case 0x91, 0x92: // of the manuals, and of YDLIDAR's SDK
		d.Send([]byte{0xA5, 0x5A, 3, 0, 0, 0, 6, 0, 0, 0}, "health") // good, without an error's number
	case 0x0D, 0xD1:
		d.setting(r[1])
	case 0x90:
		d.Send(append([]byte{0xA5, 0x5A, 20, 0, 0, 0, 4, byte(d.opts.Model), 4, 1, 1}, "2026112300000001"...), "info")
	}
}

// setting answers a question for a setting that hosts may change: 0D is the rate of revolutions in 1/100 Hz, D1 the rate
// of samples, as a choice (G4, G6) or in thousands.
func (d *Lidar) setting(which byte) {
	switch m := makes[d.opts.Model]; {
	case m.configured == 0:
	case which == 0x0D:
		d.Send(binary.LittleEndian.AppendUint32([]byte{0xA5, 0x5A, 4, 0, 0, 0, 4}, uint32(d.opts.Rate*100)), "revolutions")
	default:
		d.Send([]byte{0xA5, 0x5A, 1, 0, 0, 0, 4, m.configured}, "samples")
	}
}

func (d *Lidar) Advance(now time.Duration) time.Duration {
	if !d.scanning {
		return 0
	}
	for ; d.next <= now; d.next += chunk {
		for d.due += makes[d.opts.Model].rate * chunk.Seconds(); d.due >= samplesPerPacket; d.due -= samplesPerPacket {
			d.packets()
		}
	}
	return d.next
}

// packets sends a packet, and one of a single sample where a revolution begins.
func (d *Lidar) packets() {
	step := 360 * d.opts.Rate / makes[d.opts.Model].rate
	for left := samplesPerPacket; left > 0; {
		n := min(left, int((360-d.angle)/step)+1)
		d.Send(d.packet(0, step, n), "packet")
		left -= n
		if d.angle >= 360 {
			d.angle -= 360
			d.Send(d.packet(byte(d.opts.Rate*10)<<1|1, step, 1), "packet")
		}
	}
}

// packet returns the next packet, of n samples.
func (d *Lidar) packet(kind byte, step float64, n int) []byte {
	angle := func(k int) float64 { return d.angle + float64(k)*step }
	word := func(degrees float64) uint16 { return uint16(degrees*64)<<1 | 1 }
	first, last := word(angle(0)), word(angle(n-1))
	const header = 10 // bytes, with the checksum
	p := slices.Grow([]byte{0xAA, 0x55, kind, byte(n)}, header+3*n)
	p = binary.LittleEndian.AppendUint16(p, first)
	p = binary.LittleEndian.AppendUint16(p, last)
	m := makes[d.opts.Model]
	sum := uint16(0x55AA) ^ (uint16(n)<<8 | uint16(kind)) ^ first ^ last
	p = p[:header]
	for k := range n {
		var mm float64
		if m.triangle {
			mm = d.see(angle(k))
		} else {
			mm = d.opts.Room(angle(k))
		}
		q := uint16(min(math.Round(mm*m.unit), math.MaxUint16))
		if m.intensity {
			q &^= 3 // a flag of glass or sunlight: none
			p = append(p, 200)
			sum ^= 200
		}
		sum ^= q
		p = binary.LittleEndian.AppendUint16(p, q)
	}
	d.angle += float64(n) * step
	binary.LittleEndian.PutUint16(p[header-2:], sum)
	return p
}

// see returns the distance that a host will place at the corrected angle: the ray's
// direction depends on its own length.
func (d *Lidar) see(reported float64) (mm float64) {
	mm = d.opts.Room(reported)
	for range 8 {
		if mm == 0 {
			// Without an echo there is no distance to correct by: the ray of far echoes is tried.
			mm = d.opts.Room(reported - limit)
			if mm == 0 {
				return 0
			}
		}
		last := mm
		if mm = d.opts.Room(reported + correction(mm)); math.Abs(mm-last) < settled {
			break
		}
	}
	return min(mm, math.MaxUint16/4)
}

// settled is the change of a distance, in mm, from which on the search for it ends: less than half of
// the unit that the sensor sends, 0.25 mm. Most searches end after two or three of the eight rounds.
const settled = 0.05

// limit is how far back far samples are moved, in degrees.
const limit = 7.99

// correction is the angle by which hosts move a sample, in degrees. It is the geometry of a
// laser and a lens that are 21.8 mm apart and point at one point 155.3 mm ahead (assumed: the
// manuals have the formula, but not its reason).
func correction(mm float64) float64 {
	return (math.Atan(21.8/mm) - ahead) * 180 / math.Pi
}

// ahead is the angle between them, in radians.
var ahead = math.Atan(21.8 / 155.3)

// Scanning reports whether the sensor sends samples.
func (d *Lidar) Scanning() bool { return line.Copy(&d.End, &d.scanning) }
