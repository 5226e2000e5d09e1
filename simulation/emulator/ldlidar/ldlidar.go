// Package ldlidar emulates an LDROBOT LD06 or LD19 on a fake serial line.
//
// It follows LDROBOT's "LD19 Development Manual".
package ldlidar

import (
	"cmp"
	"encoding/binary"
	"math"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// Options of a sensor. Zero fields have the default in parentheses.
type Options struct {
	Line line.Options // Baud (230400)
	Rate float64      // revolutions per second (10)
	// Room returns the distance in mm at an angle in degrees, clockwise, 0 ahead;
	// zero: no return. Nil: a square of 4 m with the sensor in its middle.
	Room func(degrees float64) float64
}

const (
	samplesPerSecond = 4500
	samplesPerPacket = 12
	polynomial       = 0x14D
	// chunk is how often packets go out: the sensor sends one every 2.7 ms.
	chunk = 16 * time.Millisecond
)

// A Lidar is a sensor at the end of a cable. It sends as long as it has power. Its methods
// may be called by any goroutine.
type Lidar struct {
	line.End
	opts Options

	next time.Duration
	sent int // samples
}

// Start plugs a sensor in.
func Start(opts Options) (*Lidar, error) {
	opts.Line.Baud, opts.Rate = cmp.Or(opts.Line.Baud, 230400), cmp.Or(opts.Rate, 10)
	opts.Room = room.Or(opts.Room)
	d := &Lidar{opts: opts, next: chunk}
	return d, d.Attach(opts.Line, d)
}

// The sensor's only line is its output.
func (d *Lidar) Frame(buf []byte) (n int, note string) { return len(buf), "unheard" }

func (d *Lidar) Receive(time.Duration, []byte) {}

func (d *Lidar) Advance(now time.Duration) time.Duration {
	for ; d.next <= now; d.next += chunk {
		for due := int(d.next.Seconds() * samplesPerSecond); d.sent+samplesPerPacket <= due; {
			d.Send(d.packet(), "packet")
		}
	}
	return d.next
}

// packet returns the next packet.
func (d *Lidar) packet() []byte {
	step := 360 * d.opts.Rate / samplesPerSecond
	angle := func(k int) float64 { return math.Mod(float64(d.sent+k)*step, 360) }
	two := func(p []byte, v float64) []byte { return binary.LittleEndian.AppendUint16(p, uint16(math.Round(v))) }
	p := two([]byte{0x54, 0x2C}, 360*d.opts.Rate)
	p = two(p, angle(0)*100)
	for k := range samplesPerPacket {
		p = append(two(p, d.opts.Room(angle(k))), 200)
	}
	p = two(p, angle(samplesPerPacket-1)*100)
	p = two(p, float64(d.sent*1000/samplesPerSecond%30000))
	d.sent += samplesPerPacket
	return append(p, crc(p))
}

// crc divides the bits of p, and eight zeros, by the polynomial.
func crc(p []byte) byte {
	rest := 0
	for _, b := range p {
		rest ^= int(b)
		for range 8 {
			if rest <<= 1; rest&0x100 != 0 {
				rest ^= polynomial
			}
		}
	}
	return byte(rest)
}
