// Package rplidar emulates a Slamtec RPLIDAR of the A, C or S series on a fake serial line.
//
// It follows Slamtec's interface protocol (revision 2.1), and, for the C and S series, its
// rplidar_sdk 2.1 as far as that depends on the device; everything else is marked "assumed".
package rplidar

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"player/simulation/emulator/line"
	"player/simulation/emulator/room"
)

// Options of a sensor. Zero fields have the default in parentheses.
type Options struct {
	Line  line.Options // Baud (the model's)
	Model byte         // (A1), A2, A3, C1, S1, S2, S3
	Mode  byte         // the working mode that it recommends: 0: standard (C, S), 1: dense (C, S), express (A), 2: ultra (A)
	Rate  float64      // revolutions per second (8)
	// NoExpress is firmware 1.10, which has neither express scans nor a configuration; a C or S does
	// not report its configuration.
	NoExpress bool
	Scanning  bool // a host has left it scanning
	Failed    bool // it reports an error; a reset does not help
	FailOnce  bool // it reports an error until it is reset
	// Room returns the distance in mm at an angle in degrees, clockwise, 0 ahead;
	// zero: no return. Nil: a square of 4 m with the sensor in its middle.
	Room func(degrees float64) float64
}

// The models, by their own names. The motors of A2, A3, S1, S2 and S3 have to be started.
const (
	A1 = 0x18
	A2 = 0x28
	A3 = 0x31
	C1 = 0x41
	S1 = 0x61
	S2 = 0x71
	S3 = 0x81
)

// bauds are the speeds of models without 115200.
var bauds = map[byte]int{A3: 256000, C1: 460800, S1: 256000, S2: 1000000, S3: 1000000}

const (
	standardRate = 2000 // samples a second
	expressRate  = 4000
	ultraRate    = 8000
	denseRate    = 10000                 // samples a second, between a C1's and an S2's
	chunk        = 16 * time.Millisecond // samples go out together
	spinUp       = 500 * time.Millisecond
	boot         = 300 * time.Millisecond // assumed
)

// A Lidar is a sensor at the end of a cable. Its methods may be called by any
// goroutine.
type Lidar struct {
	line.End
	opts Options

	failed      bool
	motor       bool          // it rotates, or spins up
	steady      time.Duration // when it has its speed
	booting     bool
	booted      time.Duration // when it answers again
	scan        byte          // kind of its data, 0x81 to 0x85; zero: none
	next        time.Duration
	angle       float64  // degrees, of the next sample
	starts      bool     // the next packet is the first one
	samplesSent int      // in packets
	received    [256]int // requests by kind
}

// Start plugs a sensor in.
func Start(opts Options) (*Lidar, error) {
	opts.Model, opts.Rate = cmp.Or(opts.Model, A1), cmp.Or(opts.Rate, 8)
	opts.Line.Baud = cmp.Or(opts.Line.Baud, bauds[opts.Model], 115200)
	if opts.Model < C1 {
		opts.Mode = cmp.Or(opts.Mode, 2)
	}
	opts.Room = room.Or(opts.Room)
	d := &Lidar{opts: opts, failed: opts.Failed || opts.FailOnce}
	d.motor = opts.Model == A1 || opts.Model == C1 // a pseudo-terminal has no DTR: the motor always runs
	if opts.Scanning {
		d.motor, d.scan, d.next = true, dataStandard, chunk
	}
	return d, d.Attach(opts.Line, d)
}

func (d *Lidar) Frame(buf []byte) (n int, note string) {
	switch {
	case buf[0] != 0xA5:
		return 1, "junk"
	case len(buf) < 2:
		return 0, ""
	case buf[1] < 0x80:
		return 2, "request"
	case len(buf) < 3 || len(buf) < 4+int(buf[2]):
		return 0, ""
	}
	return 4 + int(buf[2]), "request with payload"
}

func (d *Lidar) Receive(now time.Duration, r []byte) {
	if r[0] != 0xA5 || d.booting {
		return
	}
	if r[1] >= 0x80 && line.Xor(r) != 0 {
		return
	}
	d.received[r[1]]++
	switch r[1] {
	case 0x25:
		d.scan, d.next = 0, 0
	case 0x40:
		d.scan, d.next, d.booting, d.booted = 0, 0, true, now+boot
		d.failed = d.opts.Failed
	case 0x50:
		minor := byte(29)
		if d.opts.NoExpress {
			minor = 10
		}
		d.Send(append([]byte{0xA5, 0x5A, 0x14, 0, 0, 0, 4, d.opts.Model, minor, 1, 7}, make([]byte, 16)...), "info")
	case 0x52:
		answer := []byte{0xA5, 0x5A, 3, 0, 0, 0, 6, 0, 0, 0}
		if d.failed {
			answer[7], answer[8] = 2, 0x01
		}
		d.Send(answer, "health")
	case 0x59:
		if !d.opts.NoExpress {
			d.answer(0x15, append(halfword(1e6/standardRate), halfword(1e6/expressRate)...), "sample rates")
		}
	case 0xFF:
		d.answer(0xFF, []byte{line.Bit(d.opts.Model == A2 || d.opts.Model == A3), 0, 0, 0}, "adapter")
	case 0x84:
		d.answerConfiguration(r[3 : 3+int(r[2])])
	case 0xF0, 0xA8:
		if r[1] == 0xA8 != (d.opts.Model>>4 >= 6) || r[2] < 2 {
			break // of another series
		}
		on := r[3] != 0 || r[4] != 0
		if on && !d.motor {
			d.steady = now + spinUp
		}
		d.motor = on
	case 0x20, 0x21: // 0x21 does not wait for the motor: no difference if it runs
		d.begin(now, dataStandard)
	case 0x82:
		switch mode, late := r[3], d.opts.Model >= C1; {
		case d.opts.NoExpress, r[2] < 1, late && mode == 0: // assumed: mode 0 has no packets
		case mode == 0:
			d.begin(now, dataExpress) // the request of a host that does not know of modes
		case int(mode) < len(d.modes()):
			d.begin(now, d.modes()[mode].data)
		}
	}
}

func (d *Lidar) begin(now time.Duration, data byte) {
	if d.failed {
		return
	}
	d.Send([]byte{0xA5, 0x5A, sizes[data], 0, 0, 0x40, data}, "descriptor")
	d.scan, d.starts, d.next = data, true, max(now+chunk, d.steady)
}

func (d *Lidar) Advance(now time.Duration) time.Duration {
	if d.booting {
		if now < d.booted {
			return d.booted
		}
		d.booting = false
		// As owners have seen it of an A1; hosts wait for its 64 bytes.
		d.Send(fmt.Appendf(nil, "RP LIDAR System.\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: %02x\r\n", d.opts.Model), "boot text")
	}
	for d.next != 0 && d.next <= now && d.motor {
		d.next += chunk
		switch {
		case d.scan == dataStandard:
			d.samples(standardRate * chunk.Seconds())
		case d.scan == dataDense:
			for range int(denseRate * chunk.Seconds() / 40) {
				d.densePacket()
			}
		case d.scan == dataUltra:
			for range int(ultraRate * chunk.Seconds() / ultraSamples) {
				d.ultraPacket()
			}
		default:
			for range int(expressRate * chunk.Seconds() / 32) {
				d.packet()
			}
		}
	}
	return d.next
}

// samples sends samples of a standard scan.
func (d *Lidar) samples(n float64) {
	var out []byte
	for range int(n) {
		mm := d.opts.Room(d.angle)
		begin := d.angle < d.step(standardRate)
		flags := byte(15<<2 | 2)
		if begin {
			flags = 15<<2 | 1
		}
		angle, dist := uint16(d.angle*64)<<1|1, uint16(math.Round(mm*4))
		out = append(out, flags)
		out = binary.LittleEndian.AppendUint16(out, angle)
		out = binary.LittleEndian.AppendUint16(out, dist)
		d.turn(standardRate)
	}
	d.Send(out, "samples")
}

// packet sends a packet of an express scan. The samples have all corrections, 0 to 63 and
// back, so that hosts have to use them, and to read them without a sign.
func (d *Lidar) packet() {
	p := d.beginning()
	for k := 0; k < 32; k += 2 {
		var words [2]uint16
		var lows [2]byte
		for i := range words {
			six := byte(min(d.samplesSent%126, 126-d.samplesSent%126)) // eighths of a degree
			d.samplesSent++
			mm := d.opts.Room(d.angle - float64(six)/8)
			words[i] = uint16(math.Round(mm))<<2 | uint16(six>>4)
			lows[i] = six & 0xF
			d.turn(expressRate)
		}
		p = binary.LittleEndian.AppendUint16(p, words[0])
		p = binary.LittleEndian.AppendUint16(p, words[1])
		p = append(p, lows[1]<<4|lows[0])
	}
	d.seal(p)
}

// densePacket sends a packet of 40 distances.
func (d *Lidar) densePacket() {
	p := d.beginning()
	for range 40 {
		p = binary.LittleEndian.AppendUint16(p, uint16(math.Round(d.opts.Room(d.angle))))
		d.turn(denseRate)
	}
	d.seal(p)
}

// beginning returns the first bytes of a packet, without its checksum.
func (d *Lidar) beginning() []byte {
	p := make([]byte, 4, 132)
	start := uint16(d.angle * 64)
	if d.starts {
		start |= 0x8000
		d.starts = false
	}
	binary.LittleEndian.PutUint16(p[2:], start)
	return p
}

// seal sends a packet with its checksum.
func (d *Lidar) seal(p []byte) {
	sum := line.Xor(p[2:])
	p[0], p[1] = 0xA0|sum&0xF, 0x50|sum>>4
	d.Send(p, "packet")
}

func (d *Lidar) step(rate float64) float64 { return 360 * d.opts.Rate / rate }

func (d *Lidar) turn(rate float64) { d.angle = math.Mod(d.angle+d.step(rate), 360) }

// Count returns how many requests of a kind the sensor has received.
func (d *Lidar) Count(request byte) int { return line.Copy(&d.End, &d.received[request]) }

// MotorRuns reports whether the motor runs.
func (d *Lidar) MotorRuns() bool { return line.Copy(&d.End, &d.motor) }

// Scanning reports whether the sensor sends a scan.
func (d *Lidar) Scanning() bool { return line.Copy(&d.End, &d.scan) != 0 }
