// Package ydlidar drives YDLIDAR's X2, X4 and G4 laser scanners, and others that triangulate
// and send no intensities, TG15 to TG50, and T-mini, Player's laser device.
//
// Sources: YDLIDAR, "X4 Development Manual" and "G4 Development Manual" ("the manuals"),
// and the vendor's YDLidar-SDK ("the SDK"): doc/YDLidar-SDK-Communication-Protocol.md,
// src/YDlidarDriver.cpp. Numbers of more than one byte are sent low byte first. Angles of
// the sensor are clockwise, 0 ahead.
package ydlidar

import (
	"encoding/binary"
	"math"

	"player/devices/transport"
)

// Request is the second and last byte of a request.
type Request byte

const (
	Scan    Request = 0x60 // the motor runs, if the sensor controls it, and samples come
	Stop    Request = 0x65 // ends a scan; it is not answered
	GetInfo Request = 0x90
)

// AppendRequest appends a request.
func AppendRequest(dst []byte, r Request) []byte { return append(dst, 0xA5, byte(r)) }

const (
	headSize   = 10                         // of a packet, before its samples
	packetSize = headSize + 3*math.MaxUint8 // the most: the number of samples is a byte
	infoSize   = 7 + 20                     // an answer to GetInfo: descriptor, model, firmware, hardware, serial number
	// degree and fullTurn are in the sensor's unit of angles.
	degree   = 64
	fullTurn = 360 * degree
	// maxSpan bounds the angle from the first sample of a packet to the last: a span of more
	// than half a revolution may as well go backwards. Without this limit one damaged packet
	// could spread its samples over the whole revolution.
	maxSpan = fullTurn / 2
)

// info is the descriptor of an answer to GetInfo. The descriptor of an answer to Scan is not
// needed: packets follow it.
var info = [...]byte{0xA5, 0x5A, infoSize - 7, 0, 0, 0, 0x04}

// format is how the samples of a model are sent.
type format struct {
	intensity int  // bytes of it in front of each distance
	unit      int  // parts of a mm in which distances are
	corrected bool // hosts correct the angle of a sample for its distance
}

// The formats of models that triangulate, of those that measure the time of flight, and of the T-mini, whose distances
// have two bits below the mm that mean something else (the SDK, YDlidarDriver.cpp, parsePoints; CYdLidar.cpp has the
// units).
var (
	triangle = format{unit: 4, corrected: true}
	flight   = format{unit: 1}
	mini     = format{intensity: 1, unit: 4}
)

// A model is a name and the format of its samples.
type model struct {
	name string
	format
}

// models are those whose packets this package reads, by number (the SDK, DriverInterface.h). Others send distances in
// other units, or intensities of two bytes.
var models = map[byte]model{
	1: {"F4", triangle}, 4: {"S4", triangle}, 5: {"G4", triangle}, 6: {"X4", triangle}, 7: {"G4PRO", triangle},
	8: {"F4PRO", triangle}, 9: {"R2", triangle}, 14: {"G2A", triangle},
	100: {"TG15", flight}, 101: {"TG30", flight}, 102: {"TG50", flight},
	140: {"T-mini", mini}, 150: {"T-mini Pro", mini}, 151: {"T-mini Plus", mini},
}

// sampleSize returns the bytes of a sample.
func (f format) sampleSize() int { return f.intensity + 2 }

// inspect recognises a packet of samples, or the answer to GetInfo.
func (f format) inspect(b []byte) (size int, v transport.Verdict) {
	switch v := transport.Begins(b, []byte{0xAA, 0x55}, headSize); v {
	case transport.Whole:
		return f.inspectPacket(b)
	case transport.Partial:
		return 0, v
	}
	return infoSize, transport.Begins(b, info[:], infoSize)
}

// inspectPacket recognises a packet of samples by the bytes after its first two.
func (f format) inspectPacket(b []byte) (size int, v transport.Verdict) {
	p := Packet(b)
	if p.count() == 0 || b[4]&b[6]&1 == 0 {
		return 0, transport.Junk
	}
	size = headSize + f.sampleSize()*p.count()
	if len(b) < size {
		return 0, transport.Partial
	}
	// The exclusive or of all words, including the checksum, is zero. An intensity counts as a word.
	sum := uint16(0)
	for at := 0; at < size; at += 2 {
		if at >= headSize {
			for range f.intensity {
				sum ^= uint16(b[at])
				at++
			}
		}
		sum ^= binary.LittleEndian.Uint16(b[at:])
	}
	if sum != 0 || p.span() > maxSpan {
		return 0, transport.Damaged
	}
	return size, transport.Whole
}

// Packet is samples: 0xAA 0x55, kind (bit 0: a new revolution begins), number of samples,
// angles of the first and of the last, checksum (each 2 bytes), distances.
type Packet []byte

func (p Packet) count() int { return int(p[3]) }

// angle returns the angle at an offset, in 1/64 degree: its lowest bit is a check bit, 1.
func (p Packet) angle(at int) int { return int(binary.LittleEndian.Uint16(p[at:]) >> 1) }

// span returns the angle from the first sample to the last, in 1/64 degree.
func (p Packet) span() int {
	d := p.angle(6) - p.angle(4)
	if d < 0 {
		d += fullTurn
	}
	return d
}

// sample returns sample k of a packet: the angle in degrees, clockwise, and the distance in mm, zero if
// there was no return. The samples lie evenly between the packet's two angles, which are the
// angles of the first and the last sample. Then the angles of sensors that triangulate are corrected for the distance,
// by the formula of the manuals and the SDK.
func (f format) sample(p Packet, k int) (degrees float64, mm int) {
	distance := int(binary.LittleEndian.Uint16(p[headSize+f.sampleSize()*k+f.intensity:]))
	degrees = (float64(p.angle(4)) + float64(p.span()*k)/float64(max(p.count()-1, 1))) / degree
	if f.intensity > 0 {
		distance &^= 3
	}
	if f.corrected && distance > 0 {
		d := float64(distance) / float64(f.unit)
		degrees += math.Atan(21.8*(155.3-d)/(155.3*d)) * 180 / math.Pi
	}
	return degrees, (distance + f.unit/2) / f.unit
}
