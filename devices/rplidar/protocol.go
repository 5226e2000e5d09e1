// Package rplidar drives Slamtec's RPLIDAR A1, A2, A3, C1, S1, S2 and S3 laser scanners,
// Player's laser device.
//
// Sources: Slamtec, "RPLIDAR Interface Protocol and Application Notes", 2018 and
// 2019, revisions 1.1 and 2.1 ("the protocol" below), and the vendor's rplidar_sdk 2.1
// ("the SDK"). Numbers of more than one byte are sent low byte first. Angles of the
// sensor are clockwise, 0 ahead.
package rplidar

import (
	"encoding/binary"
	"fmt"

	"player/devices/transport"
)

// Request is the second byte of a request.
type Request byte

const (
	Stop        Request = 0x25 // ends a scan; it is not answered
	Reset       Request = 0x40 // restarts the sensor; it is not answered
	Scan        Request = 0x20 // standard scan
	ExpressScan Request = 0x82 // scan in packets, twice as many samples
	GetInfo     Request = 0x50
	GetHealth   Request = 0x52
	GetConfig   Request = 0x84 // of newer firmware
	SetMotor    Request = 0xF0 // of an A2: the motor's duty cycle
	SetRPM      Request = 0xA8 // of an S1 and later: the motor's speed (the SDK, sl_lidar_cmd.h)
)

const (
	requestStart = 0xA5
	// withPayload is set in requests with a payload, its size and a checksum.
	withPayload = 0x80
	// motorSpeed is the duty cycle of an A2 that the protocol recommends, of 1023.
	motorSpeed = 660
	// motorRPM is the SDK's setting, in revolutions a minute: 10 scans a second.
	motorRPM = 600
	// typicalMode is the entry of the configuration with the working mode of the express
	// scan that the sensor recommends; its value is 2 bytes.
	typicalMode = 0x7C
)

// AppendRequest appends a request. The checksum is the exclusive or of all bytes
// before it.
func AppendRequest(dst []byte, r Request, payload ...byte) []byte {
	start := len(dst)
	dst = append(dst, requestStart, byte(r))
	if r&withPayload == 0 {
		return dst
	}
	dst = append(dst, byte(len(payload)))
	dst = append(dst, payload...)
	sum := byte(0)
	for _, b := range dst[start:] {
		sum ^= b
	}
	return append(dst, sum)
}

// AppendMotor appends the request r, SetMotor or SetRPM, for a speed of the motor, zero
// to stop it.
func AppendMotor(dst []byte, r Request, speed uint16) []byte {
	return AppendRequest(dst, r, byte(speed), byte(speed>>8))
}

// AppendExpressScan appends the request for an express scan in a working mode. Mode 0
// ("legacy") is known to every sensor of the A series with express scan.
func AppendExpressScan(dst []byte, mode byte) []byte {
	return AppendRequest(dst, ExpressScan, mode, 0, 0, 0, 0)
}

// AppendGetTypicalMode appends the request for the recommended working mode.
func AppendGetTypicalMode(dst []byte) []byte {
	return AppendRequest(dst, GetConfig, typicalMode, 0, 0, 0)
}

// The kinds of answers: the last byte of a descriptor.
const (
	answerInfo    = 0x04
	answerHealth  = 0x06
	answerScan    = 0x81
	answerExpress = 0x82
	answerDense   = 0x85
	answerConfig  = 0x20
)

const (
	descriptorSize = 7
	infoSize       = 20
	healthSize     = 3
	sampleSize     = 5
	packetSize     = 84
	// configSize is the size of a value of 2 bytes, with the number of its entry before it.
	configSize = 6
	// cabins is the number of pairs of samples in a packet, distances the number of samples
	// in a dense packet.
	cabins    = 16
	distances = 40
)

// descriptors are the first bytes of the answers to requests of this package: start,
// size of the data with the way of sending in its highest two bits, and kind.
var descriptors = map[byte][descriptorSize]byte{
	answerInfo:    {0xA5, 0x5A, infoSize, 0, 0, 0, answerInfo},
	answerHealth:  {0xA5, 0x5A, healthSize, 0, 0, 0, answerHealth},
	answerScan:    {0xA5, 0x5A, sampleSize, 0, 0, 0x40, answerScan},
	answerExpress: {0xA5, 0x5A, packetSize, 0, 0, 0x40, answerExpress},
	answerDense:   {0xA5, 0x5A, packetSize, 0, 0, 0x40, answerDense},
	answerConfig:  {0xA5, 0x5A, configSize, 0, 0, 0, answerConfig},
}

// inspectAnswer recognises a descriptor with the data of a request that has one answer.
func inspectAnswer(b []byte) (size int, v transport.Verdict) {
	if v := transport.Begins(b, []byte{0xA5, 0x5A}, descriptorSize); v != transport.Whole {
		return 0, v
	}
	d, known := descriptors[b[6]]
	if !known || d != [descriptorSize]byte(b[:descriptorSize]) {
		return 0, transport.Junk
	}
	size = descriptorSize
	if b[5] == 0 { // one answer
		size += int(b[2])
	}
	if len(b) < size {
		return 0, transport.Partial
	}
	return size, transport.Whole
}

// Info is the answer to GetInfo.
type Info struct {
	Model        byte // see series
	Minor, Major byte // of the firmware
}

// The series of models, by the high half of their number: the lowest number of each series
// (the SDK, sl_lidar_driver.cpp).
const (
	seriesA = 1
	seriesC = 4
	seriesS = 6
)

// series are those that have names, the last one first.
var series = [...]struct{ first, letter byte }{{12, 'M'}, {9, 'T'}, {seriesS, 'S'}, {seriesC, 'C'}, {seriesA, 'A'}}

func (i Info) String() string {
	for _, s := range series {
		if m := i.Model >> 4; m >= s.first {
			return fmt.Sprintf("%c%d, firmware %d.%02d", s.letter, m-s.first+1, i.Major, i.Minor)
		}
	}
	return fmt.Sprintf("model %#02x, firmware %d.%02d", i.Model, i.Major, i.Minor)
}

// triangulates reports whether the sensor is of the A series. Later ones measure the time of
// flight, and report their working modes.
func (i Info) triangulates() bool { return i.Model>>4 < seriesC }

// motor returns the request that sets the speed of the motor, and the speed; 0 if there is
// no such request: the motor of an A1 runs while DTR is released, the motor of a C1 while it
// scans.
func (i Info) motor() (r Request, speed uint16) {
	switch m := i.Model >> 4; {
	case m >= seriesS:
		return SetRPM, motorRPM
	case m > seriesA && m < seriesC:
		return SetMotor, motorSpeed
	}
	return 0, 0
}

// reach returns how far a white thing is seen at most, in mm, of the models that see farther than 12 m (Slamtec's data
// sheets of A3, S1, S2 and S3); 0: not known.
func (i Info) reach() int {
	switch i.Model >> 4 {
	case seriesA + 2:
		return 25000
	case seriesS, seriesS + 2:
		return 40000
	case seriesS + 1:
		return 30000
	}
	return 0
}

// Health is the answer to GetHealth.
type Health struct {
	Status byte // 0 good, 1 warning, 2 error
	Code   uint16
}

// failed reports whether the sensor refuses to scan.
func (h Health) failed() bool { return h.Status == 2 }

// Sample is one measurement: the angle in degrees, clockwise, and the distance in
// mm, zero if there was no return.
type Sample struct {
	Angle float64
	MM    int
}

// isSample reports whether 5 bytes have the check bits of a sample: the two lowest
// bits of the first byte differ, the lowest of the second is set.
func isSample(b []byte) bool { return b[0]&1 != b[0]>>1&1 && b[1]&1 == 1 }

// runUp is the number of samples in a row that must have their check bits for the
// first one to count: three bits would let one in eight of all beginnings pass.
const runUp = 4

// inspectSample recognises a sample of a standard scan.
func inspectSample(b []byte) (size int, v transport.Verdict) {
	for i := range runUp {
		if len(b) < (i+1)*sampleSize {
			return 0, transport.Partial
		}
		if !isSample(b[i*sampleSize:]) {
			return 0, transport.Junk
		}
	}
	return sampleSize, transport.Whole
}

// decodeSample reads a sample. Angles are in 1/64 degree, distances in 1/4 mm.
func decodeSample(b []byte) Sample {
	return Sample{
		Angle: float64(binary.LittleEndian.Uint16(b[1:])>>1) / 64,
		MM:    int(binary.LittleEndian.Uint16(b[3:])+2) / 4,
	}
}

// inspectPacket recognises a packet of an express scan, dense or not: 0xA and 0x5 in the
// high halves of the first two bytes, the checksum of the rest in their low halves.
func inspectPacket(b []byte) (size int, v transport.Verdict) {
	for i, want := range [...]byte{0xA, 0x5} {
		if len(b) <= i {
			return 0, transport.Partial
		}
		if b[i]>>4 != want {
			return 0, transport.Junk
		}
	}
	if len(b) < packetSize {
		return 0, transport.Partial
	}
	sum := b[0]&0xF | b[1]<<4
	for _, c := range b[2:packetSize] {
		sum ^= c
	}
	if sum != 0 {
		return 0, transport.Damaged
	}
	return packetSize, transport.Whole
}

// Packet is a packet of an express scan.
type Packet [packetSize]byte

// start returns the angle at the beginning of the packet, in degrees.
func (p *Packet) start() float64 {
	return float64(binary.LittleEndian.Uint16(p[2:])&0x7FFF) / 64
}

// first reports whether the packet is the first one after the request.
func (p *Packet) first() bool { return p[3]&0x80 != 0 }

// span returns the degrees from the beginning of the packet to the beginning of the next.
func (p *Packet) span(next *Packet) float64 {
	d := next.start() - p.start()
	if d < 0 {
		d += 360
	}
	return d
}

// dense returns sample k, 0 to 39, of a dense packet that spans the given degrees: a
// distance in mm. The samples lie evenly in the span and have no corrections (the SDK,
// handler_capsules.cpp).
func (p *Packet) dense(k int, span float64) Sample {
	return Sample{
		Angle: p.start() + span/distances*float64(k),
		MM:    int(binary.LittleEndian.Uint16(p[4+2*k:])),
	}
}

// sample returns sample k, 0 to 31, of a packet that spans the given degrees. The
// samples lie evenly in the span; each has a correction of its own, 6 bits without a
// sign in 1/8 degree (Slamtec's SDK, handler_capsules.cpp).
func (p *Packet) sample(k int, span float64) Sample {
	cabin := p[4+k/2*5:][:5]
	word := binary.LittleEndian.Uint16(cabin[k%2*2:])
	low := cabin[4] >> (k % 2 * 4) & 0xF
	correction := byte(word&3)<<4 | low
	return Sample{
		Angle: p.start() + span/(2*cabins)*float64(k) - float64(correction)/8,
		MM:    int(word >> 2),
	}
}
