// Package ldlidar drives LDROBOT's LD06, LD19 and STL-19P laser scanners, Player's
// laser device.
//
// Sources: LDROBOT, "LD19 Development Manual" ("the manual"), and the vendor's SDK,
// ldlidar_stl_sdk ("the SDK"). Numbers of more than one byte are sent low byte first.
// Angles of the sensor are clockwise, 0 ahead.
package ldlidar

import (
	"encoding/binary"

	"player/devices/transport"
)

const (
	packetSize = 47
	count      = 12 // samples in a packet
	// fullTurn is 360 degrees in the sensor's unit, 0.01 degree.
	fullTurn = 36000
	// maxSpan bounds the angle from the first sample of a packet to the last, in 0.01 degree: at the sensor's fastest 13
	// revolutions a second it is 11.4 degrees. Without this limit one damaged packet of 256 would spread its samples
	// over the whole revolution.
	maxSpan = 2000
)

// head is the first bytes of a packet: its kind, and the kind of sensor with the number
// of samples in the lowest five bits.
var head = [...]byte{0x54, 0x2C}

// remainders are the remainders of four bits in the high half of a byte, divided by the
// polynomial x^8 + x^6 + x^3 + x^2 + 1.
var remainders = [16]byte{
	0x00, 0x4D, 0x9A, 0xD7, 0x79, 0x34, 0xE3, 0xAE, 0xF2, 0xBF, 0x68, 0x25, 0x8B, 0xC6, 0x11, 0x5C,
}

// sum returns the CRC of p.
func sum(p []byte) (crc byte) {
	for _, b := range p {
		crc ^= b
		crc = crc<<4 ^ remainders[crc>>4]
		crc = crc<<4 ^ remainders[crc>>4]
	}
	return crc
}

// inspect recognises a packet.
func inspect(b []byte) (size int, v transport.Verdict) {
	if v := transport.Begins(b, head[:], packetSize); v != transport.Whole {
		return 0, v
	}
	if p := Packet(b[:packetSize]); sum(p[:packetSize-1]) != p[packetSize-1] || p.start() >= fullTurn || p.span() > maxSpan {
		return 0, transport.Damaged
	}
	return packetSize, transport.Whole
}

// Packet is 12 samples: head, turning speed (2 bytes, deg/s), angle of the first sample,
// samples (distance, 2 bytes, and intensity), angle of the last one, time (2 bytes, ms),
// CRC.
type Packet [packetSize]byte

func (p *Packet) start() int { return int(binary.LittleEndian.Uint16(p[4:])) }

// span returns the angle from the first sample to the last, in 0.01 degree.
func (p *Packet) span() int {
	end := int(binary.LittleEndian.Uint16(p[6+3*count:]))
	return (end + fullTurn - p.start()) % fullTurn
}

// sample returns sample k, 0 to 11: its angle in degrees, clockwise, 0 to less than 380, and the distance in mm, zero if
// there was no return. The samples lie evenly between the packet's two angles, which are the angles of the first and the
// last sample (the SDK, lipkg.cpp).
func (p *Packet) sample(k int) (degrees float64, mm int) {
	degrees = (float64(p.start()) + float64(p.span()*k)/(count-1)) / 100
	return degrees, int(binary.LittleEndian.Uint16(p[6+3*k:]))
}
