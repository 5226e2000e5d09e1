// Package ydlidar drives YDLIDAR's X2, X4 and G4 laser scanners, and others that triangulate
// and send no intensities, Player's laser device.
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
	packetSize = headSize + 2*math.MaxUint8 // the most: the number of samples is a byte
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

// models are the names of those with packets that this package reads, by number (the SDK,
// DriverInterface.h). Others send intensities, or distances in other units.
var models = [...]string{1: "F4", 4: "S4", 5: "G4", 6: "X4", 7: "G4PRO", 8: "F4PRO", 9: "R2", 14: "G2A"}

// modelName returns the name of a model; empty: this package cannot read its packets.
func modelName(number byte) string {
	if int(number) < len(models) {
		return models[number]
	}
	return ""
}

// inspect recognises a packet of samples, or the answer to GetInfo.
func inspect(b []byte) (size int, v transport.Verdict) {
	switch v := transport.Begins(b, []byte{0xAA, 0x55}, headSize); v {
	case transport.Whole:
		return inspectPacket(b)
	case transport.Partial:
		return 0, v
	}
	return infoSize, transport.Begins(b, info[:], infoSize)
}

// inspectPacket recognises a packet of samples by the bytes after its first two.
func inspectPacket(b []byte) (size int, v transport.Verdict) {
	p := Packet(b)
	if p.count() == 0 || b[4]&b[6]&1 == 0 {
		return 0, transport.Junk
	}
	size = headSize + 2*p.count()
	if len(b) < size {
		return 0, transport.Partial
	}
	// The exclusive or of all words, including the checksum, is zero.
	sum := uint16(0)
	for i := 0; i < size; i += 2 {
		sum ^= binary.LittleEndian.Uint16(b[i:])
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

// sample returns sample k: the angle in degrees, clockwise, and the distance in mm, zero if
// there was no return. The samples lie evenly between the packet's two angles, which are the
// angles of the first and the last sample. Then each angle is corrected for its distance, by
// the formula of the manuals and the SDK. Distances are sent in 1/4 mm.
func (p Packet) sample(k int) (degrees float64, mm int) {
	quarters := int(binary.LittleEndian.Uint16(p[headSize+2*k:]))
	degrees = (float64(p.angle(4)) + float64(p.span()*k)/float64(max(p.count()-1, 1))) / degree
	if quarters > 0 {
		d := float64(quarters) / 4
		degrees += math.Atan(21.8*(155.3-d)/(155.3*d)) * 180 / math.Pi
	}
	return degrees, (quarters + 2) / 4
}
