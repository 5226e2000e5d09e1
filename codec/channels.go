package codec

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

const (
	// MaxChannels is the most inputs and outputs of a device, and MaxJoints the most servos. Their numbers are bytes, and
	// AllJoints is none of them.
	MaxChannels = 128
	MaxJoints   = 64

	MaxIOSize        = 4 * MaxChannels
	IOCommandSize    = 1 + 4
	jointSize        = 4 + 4 + 1
	MaxServoSize     = jointSize * MaxJoints
	ServoCommandSize = 1 + 4 + 4
)

// IOData is the values of digital and analogue inputs and outputs (PROTOCOL 7.12). The answer to QuestionChannels
// describes them. A digital one is 0 or 1.
type IOData struct {
	Values []int32 `json:"values"` // of each channel in its unit; or Unknown
}

// Append appends 4 bytes for each channel. Channels beyond MaxChannels are left out.
//
//go:noinline
func (d *IOData) Append(dst []byte) []byte {
	for _, v := range d.Values[:min(len(d.Values), MaxChannels)] {
		dst = binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	return dst
}

// AppendBits appends count digital values: the bits of word, from the lowest one on, or Unknown. It is not worth a copy
// of its code in each driver.
//
//go:noinline
func (d *IOData) AppendBits(word uint16, count int, known bool) {
	for i := range count {
		value := int32(Unknown)
		if known {
			value = int32(word >> i & 1)
		}
		d.Values = append(d.Values, value)
	}
}

// Decode reads a payload, reusing d.Values. A size that is no multiple of 4, or above MaxIOSize, is an error.
func (d *IOData) Decode(b []byte) error {
	if len(b)%4 != 0 || len(b) > MaxIOSize {
		return fmt.Errorf("io payload has %d bytes, want 4 for each of at most %d channels", len(b), MaxChannels)
	}
	d.Values = d.Values[:0]
	for ; len(b) > 0; b = b[4:] {
		d.Values = append(d.Values, int32(binary.BigEndian.Uint32(b)))
	}
	return nil
}

// IOCommand sets one output (PROTOCOL 5.1).
type IOCommand struct {
	Channel uint8
	Value   int32 // in the unit of the channel
}

// Append appends the 5 payload bytes.
func (c IOCommand) Append(dst []byte) []byte {
	return binary.BigEndian.AppendUint32(append(dst, c.Channel), uint32(c.Value))
}

// Decode reads the 5 payload bytes; another size is an error.
func (c *IOCommand) Decode(b []byte) error {
	if err := checkSize("io command", b, IOCommandSize); err != nil {
		return err
	}
	*c = IOCommand{Channel: b[0], Value: int32(binary.BigEndian.Uint32(b[1:]))}
	return nil
}

// Bits of Joint.State. Without JointKnown the others mean nothing.
const (
	JointMoving uint8 = 1 << iota
	JointPowered
	JointAtLimit
	JointFailed
	JointKnown uint8 = 1 << 7
)

// Joint is one servo of a ServoData.
type Joint struct {
	Position int32 `json:"position"` // in the unit of the joint; or Unknown
	Goal     int32 `json:"goal"`     // in the unit of the joint; or Unknown: it has none
	State    uint8 `json:"state"`    // JointMoving ... JointKnown
}

// ServoData is the state of servos, or of the joints of an arm (PROTOCOL 7.13). The answer to QuestionChannels
// describes them.
type ServoData struct {
	Joints []Joint `json:"joints"`
}

// Append appends 9 bytes for each joint. Joints beyond MaxJoints are left out.
func (d *ServoData) Append(dst []byte) []byte {
	for _, j := range d.Joints[:min(len(d.Joints), MaxJoints)] {
		dst = binary.BigEndian.AppendUint32(dst, uint32(j.Position))
		dst = binary.BigEndian.AppendUint32(dst, uint32(j.Goal))
		dst = append(dst, j.State)
	}
	return dst
}

// Decode reads a payload, reusing d.Joints. A size that is no multiple of 9, or above MaxServoSize, is an error.
func (d *ServoData) Decode(b []byte) error {
	if len(b)%jointSize != 0 || len(b) > MaxServoSize {
		return fmt.Errorf("servo payload has %d bytes, want %d for each of at most %d joints", len(b), jointSize, MaxJoints)
	}
	d.Joints = d.Joints[:0]
	for ; len(b) > 0; b = b[jointSize:] {
		d.Joints = append(d.Joints, Joint{int32(binary.BigEndian.Uint32(b)), int32(binary.BigEndian.Uint32(b[4:])), b[8]})
	}
	return nil
}

// AllJoints is the ServoCommand.Joint that addresses all joints.
const AllJoints = 0xFF

// ServoCommand moves one joint, or all (PROTOCOL 5.1).
type ServoCommand struct {
	Joint uint8
	Goal  int32  // in the unit of the joint; or Unknown: it stops where it is
	Speed uint32 // in the unit of the joint each second; 0: as the driver moves it
}

// StopServos stops all joints where they are.
func StopServos() ServoCommand { return ServoCommand{Joint: AllJoints, Goal: Unknown} }

// Append appends the 9 payload bytes.
func (c ServoCommand) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, c.Joint), uint32(c.Goal))
	return binary.BigEndian.AppendUint32(dst, c.Speed)
}

// Decode reads the 9 payload bytes; another size is an error.
func (c *ServoCommand) Decode(b []byte) error {
	if err := checkSize("servo command", b, ServoCommandSize); err != nil {
		return err
	}
	*c = ServoCommand{Joint: b[0], Goal: int32(binary.BigEndian.Uint32(b[1:])), Speed: binary.BigEndian.Uint32(b[5:])}
	return nil
}

// Role is the kind of a channel: an input or an output of an io device, or a joint of a servo device.
type Role string

const (
	Input   Role = "input"
	Output  Role = "output"
	Jointed Role = "joint"
)

// Channel describes one input, output or joint (PROTOCOL 8.9.7).
type Channel struct {
	Device byte   `json:"-"`
	Number int    `json:"number"` // in the data and in commands, from 0
	Role   Role   `json:"role"`
	Unit   string `json:"unit"` // of its values, one word, for example bit, mV, mdeg; -: not known
	Min    int32  `json:"min"`  // of its values; or Unknown
	Max    int32  `json:"max"`  // of its values; or Unknown
	Name   string `json:"name"` // for people; may be empty
}

// AppendChannels appends channels like c, one for each of the names, which have commas between them. Their numbers
// follow the number of c.
func AppendChannels(dst []Channel, c Channel, names string) []Channel {
	for name := range strings.SplitSeq(names, ",") {
		c.Name = name
		dst = append(dst, c)
		c.Number++
	}
	return dst
}

// UnitBit is the Channel.Unit of a digital input or output, whose values are 0 and 1.
const UnitBit = "bit"

// Line returns the line of an answer that ParseChannel reads.
func (c Channel) Line(key string) string {
	unit := c.Unit
	if unit == "" || strings.ContainsAny(unit, " \n") { // a line is cut at spaces
		unit = "-"
	}
	return fmt.Sprintf("%s %d %s %s %d %d %s", key, c.Number, c.Role, unit, c.Min, c.Max, c.Name)
}

// ParseChannel reads a line about a channel. It reports false for another line.
func ParseChannel(line string, keys Keys) (Channel, bool) {
	words := strings.SplitN(line, " ", 7)
	if len(words) != 7 {
		return Channel{}, false
	}
	code, known := keys(words[0])
	number, wrongNumber := strconv.ParseUint(words[1], 10, 8)
	least, wrongLeast := strconv.ParseInt(words[4], 10, 32)
	most, wrongMost := strconv.ParseInt(words[5], 10, 32)
	role := Role(words[2])
	if !known || words[3] == "" || number >= MaxChannels || role != Input && role != Output && role != Jointed ||
		wrongNumber != nil || wrongLeast != nil || wrongMost != nil {
		return Channel{}, false
	}
	return Channel{code, int(number), role, words[3], int32(least), int32(most), words[6]}, true
}
