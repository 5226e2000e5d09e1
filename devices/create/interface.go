// Package create drives robots with iRobot's Open Interface: Create 2, and Roomba
// from the 500 series on. They become Player's position and misc devices.
//
// Source: iRobot Create 2 Open Interface Specification based on the Roomba 600,
// August 2016 ("the specification" below). Numbers of more than one byte are sent
// high byte first.
package create

import (
	"encoding/binary"

	"player/devices/transport"
)

// Command is the first byte of a command to the robot.
type Command byte

const (
	Start       Command = 128 // begins the interface, in mode Passive: motors off
	Safe        Command = 131 // mode Safe
	Full        Command = 132 // mode Full
	LEDs        Command = 139 // bits of LEDs, colour and intensity of the power LED
	DriveDirect Command = 145 // speeds of the right and the left wheel
	Stream      Command = 148 // a Report every 15 ms from now on
	PauseStream Command = 150 // 0 ends it, 1 resumes it
)

// Mode is the state of the interface, packet 35.
type Mode byte

const (
	Off     Mode = iota // it ignores everything but Start
	Passive             // it reports, and ignores motor commands
	// ModeSafe obeys, and falls back to Passive when a wheel drops, when it drives
	// forward to a cliff, and when the charger is plugged in.
	ModeSafe
	ModeFull // it obeys in every situation
)

func (m Mode) String() string {
	names := [...]string{"off", "passive", "safe", "full"}
	if int(m) < len(names) {
		return names[m]
	}
	return "unknown"
}

const (
	// maxWheelSpeed is the highest speed that a wheel can be commanded to drive, in mm/s.
	maxWheelSpeed = 500
	// streamHeader begins a frame of the stream.
	streamHeader = 19
)

// reported are the packets of a Report in the order of the stream: the number of
// the packet and its size in bytes. The frame takes 26 bytes, and 28 with the buttons, which fit into the
// 15 ms of the stream also at 19200 baud.
var reported = [...]struct{ packet, size byte }{
	{7, 1},  // bumps and wheel drops
	{9, 1},  // cliff left
	{10, 1}, // cliff front left
	{11, 1}, // cliff front right
	{12, 1}, // cliff right
	{14, 1}, // overcurrents
	{22, 2}, // battery voltage
	{35, 1}, // mode
	{43, 2}, // encoder of the left wheel
	{44, 2}, // encoder of the right wheel
	{18, 1}, // buttons, only for device io
}

// always is how many of reported are in every stream.
const always = len(reported) - 1

const (
	// payloadSize is the size of the packets that are always there, with their numbers, in bytes. buttonsSize is the
	// same for the buttons.
	payloadSize = 23
	buttonsSize = 2
	// frameSize adds the header, the size and the checksum.
	frameSize = payloadSize + 3

	// minText and maxText bound a line of text in bytes, without its end. Shorter ones may be
	// noise; one of the charger has 80.
	minText, maxText = 4, 200
)

// Report is the robot's report, sent every 15 ms.
type Report struct {
	Bumps      byte   // bit 0 right, bit 1 left; bit 2 right wheel dropped, bit 3 left wheel dropped
	Cliffs     byte   // bit 0 left, bit 1 front left, bit 2 front right, bit 3 right
	Stalled    bool   // a wheel's motor draws too much current
	Battery    uint16 // mV
	Mode       Mode
	Left       uint16 // encoder counts, forward, start over after 65535
	Right      uint16
	HasButtons bool // Buttons is there
	Buttons    byte // that are pressed: bit 0 to 7, in the order of AppendChannels
}

// Parser finds Reports in the bytes of the robot. The zero value is ready.
type Parser struct {
	transport.Framing
	Text uint64 // bytes of lines of text that were skipped

	buf [maxText + 2]byte
}

// Next consumes p up to the end of the first report. ok is false when p is used
// up.
func (s *Parser) Next(p []byte) (r Report, rest []byte, ok bool) {
	for rest = p; ; {
		var frame []byte
		switch frame, rest = s.Framing.Next(s.buf[:], rest, inspect); {
		case frame == nil:
			return Report{}, nil, false
		case frame[0] == streamHeader:
			return decode(frame), rest, true
		}
		s.Text += uint64(len(frame))
	}
}

// inspect recognises a frame of the stream, or a line of text.
func inspect(b []byte) (size int, v transport.Verdict) {
	if len(b) > 0 && isText(b[0]) {
		return inspectText(b)
	}
	return inspectFrame(b)
}

func isText(c byte) bool { return c >= ' ' && c < 0x7F || c == '\t' }

// inspectText recognises a line of text, such as "bat:   min 3  sec 12  mV 16380 ...". A robot
// sends such lines between the frames when it starts, sleeps or wakes, and each second while
// it charges. They end with CR LF, CR, LF, or in the boot loader with ETX.
func inspectText(b []byte) (size int, v transport.Verdict) {
	const etx = 3
	n := 0
	for n < len(b) && isText(b[n]) {
		n++
	}
	switch {
	case n > maxText:
		return 0, transport.Junk
	case n == len(b):
		return 0, transport.Partial
	case n < minText:
		return 0, transport.Junk
	case b[n] == '\n' || b[n] == etx:
		return n + 1, transport.Whole
	case b[n] != '\r':
		return 0, transport.Junk
	case n+1 == len(b):
		return 0, transport.Partial
	case b[n+1] == '\n':
		n++
	}
	return n + 1, transport.Whole
}

// inspectFrame recognises a frame of the stream with the packets of reported. The bytes
// of a frame add up to zero, in eight bits.
func inspectFrame(b []byte) (size int, v transport.Verdict) {
	payload, packets := byte(payloadSize), reported[:always]
	if len(b) > 1 && b[1] == payloadSize+buttonsSize {
		payload, packets = payloadSize+buttonsSize, reported[:]
	}
	size = int(payload) + frameSize - payloadSize
	if v := transport.Begins(b, []byte{streamHeader, payload}, size); v != transport.Whole {
		return 0, v
	}
	at, sum := 2, byte(0)
	for _, p := range packets {
		if b[at] != p.packet {
			return 0, transport.Damaged
		}
		at += 1 + int(p.size)
	}
	for _, c := range b[:size] {
		sum += c
	}
	if sum != 0 {
		return 0, transport.Damaged
	}
	return size, transport.Whole
}

// decode reads a frame that inspect has accepted.
func decode(b []byte) Report {
	be := binary.BigEndian
	r := Report{
		Bumps:   b[3] & 0x0F,
		Stalled: b[13]&0x18 != 0, // bit 3 right wheel, bit 4 left wheel
		Battery: be.Uint16(b[15:]),
		Mode:    Mode(b[18]),
		Left:    be.Uint16(b[20:]),
		Right:   be.Uint16(b[23:]),
	}
	for i := range 4 {
		if b[5+2*i] != 0 {
			r.Cliffs |= 1 << i
		}
	}
	if b[1] == payloadSize+buttonsSize {
		r.HasButtons, r.Buttons = true, b[26]
	}
	return r
}

// AppendStream appends the request for Reports.
func AppendStream(dst []byte, withButtons bool) []byte {
	packets := reported[:always]
	if withButtons {
		packets = reported[:]
	}
	dst = append(dst, byte(Stream), byte(len(packets)))
	for _, p := range packets {
		dst = append(dst, p.packet)
	}
	return dst
}

// AppendLEDs appends the states of all LEDs: bits, and colour and intensity of the power LED.
func AppendLEDs(dst []byte, bits, colour, intensity byte) []byte {
	return append(dst, byte(LEDs), bits, colour, intensity)
}

// AppendDrive appends the speeds of the wheels in mm/s, forward.
func AppendDrive(dst []byte, left, right int16) []byte {
	dst = append(dst, byte(DriveDirect))
	dst = binary.BigEndian.AppendUint16(dst, uint16(right))
	return binary.BigEndian.AppendUint16(dst, uint16(left))
}
