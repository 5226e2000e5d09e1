package p2os

import "bytes"

// Command is a command to the robot, the first byte of a body.
type Command byte

// The commands that the driver sends. While the robot is not connected the first three
// numbers mean the handshake: the robot echoes SYNC0 and SYNC1 and answers SYNC2 with its
// Identity. A robot that is still connected takes them for PULSE, OPEN and CLOSE.
const (
	Sync0 Command = 0
	Sync1 Command = 1
	Sync2 Command = 2

	Pulse Command = 0 // resets the watchdog, no other effect
	Open  Command = 1 // starts the SIP stream
	Close Command = 2 // stops it

	Enable     Command = 4  // motor power, 1 on, 0 off
	SetA       Command = 5  // acceleration in mm/s2; negative: deceleration
	SetOrigin  Command = 7  // SETO: the robot's odometry becomes (0, 0, 0)
	Vel        Command = 11 // translation in mm/s, forward
	RVel       Command = 21 // rotation in deg/s, counterclockwise
	SetRA      Command = 23 // acceleration of the rotation in deg/s2; negative: deceleration
	Sonar      Command = 28 // sonars, 1 on, 0 off
	Stop       Command = 29
	DigOut     Command = 30 // see AppendDigOut
	Vel2       Command = 32 // wheel velocities, see AppendVel2
	Gripper    Command = 33 // see AppendGripper
	GripperVal Command = 36 // argument of the gripper command before it
	Gyro       Command = 58 // 1: a GYROpac with each SIP, until CLOSE

	// Of ARCOS, for the time of the connection (Pioneer 3 Operations Manual).
	RevCount    Command = 88 // the ticks that the robot counts in a revolution
	DriftFactor Command = 89 // 1/8192 by which the wheels differ
	TicksMM     Command = 93 // encoder ticks in a mm
)

// Argument types: the sign of an integer is in its type.
const (
	argPositive = 0x3B
	argNegative = 0x1B
)

// AppendCommand appends the packet of a command without argument.
func AppendCommand(dst []byte, c Command) []byte { return appendPacket(dst, byte(c)) }

// AppendInt appends the packet of a command with an integer argument.
func AppendInt(dst []byte, c Command, v int16) []byte {
	sign, magnitude := byte(argPositive), int(v)
	if v < 0 {
		sign, magnitude = argNegative, -magnitude
	}
	return appendPacket(dst, byte(c), sign, byte(magnitude), byte(magnitude>>8))
}

// AppendSetOrigin appends SETO, which zeroes the robot's own odometry. It has an argument
// type but no argument, as in the original server.
func AppendSetOrigin(dst []byte) []byte {
	return appendPacket(dst, byte(SetOrigin), argPositive)
}

// AppendVel2 appends VEL2: both wheels' velocities in units of 20 mm/s, positive forward.
// Its type is a positive integer for all signs, and its low byte is the right wheel.
func AppendVel2(dst []byte, left, right int8) []byte {
	return appendPacket(dst, byte(Vel2), argPositive, byte(right), byte(left))
}

// AppendDigOut appends DIGOUT: the user outputs whose bits are in mask get the bits of values. The high byte of the
// argument is the mask (ARIA, com2Bytes of its demo); its type is a positive integer, as of VEL2.
func AppendDigOut(dst []byte, mask, values byte) []byte {
	return appendPacket(dst, byte(DigOut), argPositive, values, mask)
}

// Gripper commands that have an argument.
const (
	gripPress = 16 // the argument is the force
	liftCarry = 17 // the argument is the time, in 20 ms
)

// AppendGripper appends a client's gripper command (manual table 5): GRIPPER with the
// command, and for GRIPpress and LIFTcarry a second packet, GRIPPERVAL with the argument.
// For all other commands the argument is ignored.
func AppendGripper(dst []byte, command, argument byte) []byte {
	dst = AppendInt(dst, Gripper, int16(command))
	if command == gripPress || command == liftCarry {
		dst = AppendInt(dst, GripperVal, int16(argument))
	}
	return dst
}

// Identity is the robot's answer to SYNC2, for logs
// (print with %q: the bytes are the robot's). A packet bounds it: all three
// together are shorter than MaxPacket.
type Identity struct {
	Name     string // the owner's name for it
	Class    string // "Pioneer"
	Subclass string // "p2dx"
}

// DecodeIdentity reads the answer to SYNC2: three strings, each ended by a
// zero byte. Missing ones are empty: the handshake needs only the packet's type. It
// returns false if p is not of that type.
func DecodeIdentity(p Packet) (id Identity, ok bool) {
	if p.Type() != byte(Sync2) {
		return id, false
	}
	text := p.Body()[1:]
	for _, s := range []*string{&id.Name, &id.Class, &id.Subclass} {
		var field []byte
		field, text, _ = bytes.Cut(text, []byte{0})
		*s = string(field)
	}
	return id, true
}
