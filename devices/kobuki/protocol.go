// Package kobuki drives Yujin's Kobuki, the base of the TurtleBot 2. It becomes Player's
// position and misc devices.
//
// Sources: Yujin, "Kobuki: Protocol Specification" ("the specification"), and the vendor's
// driver, kobuki_core ("the vendor's driver"). Numbers of more than one byte are sent low
// byte first.
package kobuki

import (
	"encoding/binary"
	"math"

	"player/codec"
	"player/devices/transport"
	"player/devices/wheels"
)

const (
	// maxPacket is the largest packet: the head, a size that is one byte, the checksum.
	maxPacket = 3 + 255 + 1
	// fullTurn is 360 degrees in the gyroscope's unit, 0.01 degree.
	fullTurn = 36000

	basicID, basicSize = 1, 15  // basic sensor data
	gyroID, gyroSize   = 4, 7   // inertial sensor data
	inputID, inputSize = 16, 16 // general purpose input

	// The commands.
	baseControl   = 1
	generalOutput = 12
)

const (
	// wheelBase is the distance between the wheels in mm (specification, base control).
	wheelBase = 230
	// mmPerCount is the way of a wheel for one count of its encoder: its radius of 35 mm,
	// and the radians of a count (the vendor's driver, diff_drive.cpp).
	mmPerCount = 35 * 0.002436916871363930187454
	// maxWheelSpeed is the highest commanded speed of a wheel, in mm/s: the robot was sold
	// with 70 cm/s. The specification names no limit.
	maxWheelSpeed = 700
	// fastest is the speed of a wheel, in mm/s, above which a report is not believed: a
	// fifth more than it is commanded. In the 2 s that a line may hold reports up a wheel makes
	// 1.7 m then; its count is ambiguous from 2.8 m on.
	fastest = 1.2 * maxWheelSpeed
)

// head begins packets in both directions.
var head = [...]byte{0xAA, 0x55}

// inspect recognises a packet of the robot: head, size, parts, and the exclusive or of all
// but the head. A part is an identifier, a size, and as many bytes.
func inspect(b []byte) (size int, v transport.Verdict) {
	if v := transport.Begins(b, head[:], 3); v != transport.Whole {
		return 0, v
	}
	end := 3 + int(b[2])
	at := 3
	for at < end && at+1 < len(b) {
		at += 2 + int(b[at+1])
	}
	switch {
	case at > end, end == 3: // parts fill a packet
		return 0, transport.Damaged
	case len(b) <= end:
		return 0, transport.Partial
	case sum(b[2:end]) != b[end]:
		return 0, transport.Damaged
	}
	return end + 1, transport.Whole
}

func sum(p []byte) (x byte) {
	for _, b := range p {
		x ^= b
	}
	return x
}

// report is the robot's report, sent 50 times a second.
type report struct {
	Time        uint16 // ms, by the robot's clock; starts over after 65535
	Bumpers     byte   // bit 0 right, bit 1 middle, bit 2 left
	Dropped     byte   // wheels: bit 0 right, bit 1 left
	Cliffs      byte   // sensors that detect no floor: bit 0 right, bit 1 middle, bit 2 left
	Buttons     byte   // that are pressed: bit 0 to 2
	Left, Right uint16 // encoder counts, forward, start over after 65535
	Stalled     bool   // a wheel's motor draws too much current
	Battery     byte   // decivolt
	Gyro        bool   // Angle and Rate are there
	Angle       int16  // 0.01 degree, counterclockwise, wraps after a revolution
	Rate        int16  // 0.01 degree each second, counterclockwise
	Inputs      bool   // Digital and Analog are there
	Digital     byte   // inputs of the expansion port with a high voltage: bit 0 to 3
	Analog      [4]uint16
}

// decode reads a packet that inspect has accepted. Unknown parts are left out. It returns
// false if the packet has no basic sensor data.
func decode(b []byte) (r report, ok bool) {
	le := binary.LittleEndian
	for rest := b[3 : len(b)-1]; len(rest) > 0; rest = rest[2+int(rest[1]):] {
		p := rest[2 : 2+int(rest[1])]
		switch {
		case rest[0] == basicID && len(p) == basicSize:
			ok = true
			r.Time, r.Bumpers, r.Dropped, r.Cliffs = le.Uint16(p), p[2]&7, p[3]&3, p[4]&7
			r.Buttons = p[11] & 7
			r.Left, r.Right = le.Uint16(p[5:]), le.Uint16(p[7:])
			r.Battery, r.Stalled = p[13], p[14]&3 != 0
		case rest[0] == gyroID && len(p) == gyroSize:
			r.Gyro, r.Angle, r.Rate = true, int16(le.Uint16(p)), int16(le.Uint16(p[2:]))
		case rest[0] == inputID && len(p) == inputSize:
			r.Inputs, r.Digital = true, p[0]&0xF
			for i := range r.Analog {
				r.Analog[i] = le.Uint16(p[2+2*i:])
			}
		}
	}
	return r, ok
}

// appendOutputs appends a command to all outputs: digital ones, power of other hardware, and LEDs (the specification,
// "General Purpose Output").
func appendOutputs(dst []byte, bits uint16) []byte {
	at := len(dst)
	dst = append(dst, head[0], head[1], 4, generalOutput, 2, byte(bits), byte(bits>>8))
	return append(dst, sum(dst[at+2:]))
}

// appendDrive appends a command to the wheels. The command has the speed of the outer wheel
// and the radius of the curve; the radius is positive if the centre is on the left. Radius 0
// is straight on, radius 1 a rotation on the spot, at the speed of the right wheel.
func appendDrive(dst []byte, c codec.PositionCommand) []byte {
	left, right := wheels.Speeds(float64(c.Speed), float64(c.TurnRate), wheelBase, maxWheelSpeed)
	speed, radius := right, 0.0
	if left != right {
		radius = math.Round((left + right) / (right - left) * wheelBase / 2)
		switch {
		case math.Abs(radius) <= 1:
			speed, radius = (right-left)/2, 1
		case radius < 0:
			speed = left
		}
	}
	radius = max(math.MinInt16, min(radius, math.MaxInt16))
	at := len(dst)
	dst = append(dst, head[0], head[1], 6, baseControl, 4)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(int16(math.Round(speed))))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(int16(radius)))
	return append(dst, sum(dst[at+2:]))
}
