package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of the command payloads in bytes (manual table 5).
const (
	PositionCommandSize = 4
	PTZCommandSize      = PTZSize
	GripperCommandSize  = 2
)

// PositionCommand moves the wheels (manual table 5, PROTOCOL 5.1).
type PositionCommand struct {
	Speed    int16 // mm/s, forward
	TurnRate int16 // deg/s, counterclockwise
}

// Append appends the 4 payload bytes.
func (c PositionCommand) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Speed))
	return binary.BigEndian.AppendUint16(dst, uint16(c.TurnRate))
}

// Decode reads the 4 payload bytes; another size is an error.
func (c *PositionCommand) Decode(b []byte) error {
	if err := checkSize("position command", b, PositionCommandSize); err != nil {
		return err
	}
	c.Speed = int16(binary.BigEndian.Uint16(b))
	c.TurnRate = int16(binary.BigEndian.Uint16(b[2:]))
	return nil
}

// PTZCommand pans, tilts and zooms the camera (manual table 5); units as in PTZData.
type PTZCommand = PTZData

// Gripper command codes (PROTOCOL 5.1): the first byte of a gripper command,
// sent to the gripper unchanged.
const (
	GripOpen   uint8 = 1
	GripClose  uint8 = 2
	GripStop   uint8 = 3
	LiftRaise  uint8 = 4
	LiftLower  uint8 = 5
	LiftStop   uint8 = 6
	GripStore  uint8 = 7
	GripDeploy uint8 = 8
	GripHalt   uint8 = 15
	GripPress  uint8 = 16
	LiftCarry  uint8 = 17
)

// GripperCommand moves paddles and lift (manual table 5).
type GripperCommand struct {
	Code uint8 // GripOpen ... LiftCarry
	Arg  uint8 // argument of GripPress and LiftCarry, in 20 ms steps; ignored otherwise
}

// Append appends the 2 payload bytes.
func (c GripperCommand) Append(dst []byte) []byte { return append(dst, c.Code, c.Arg) }

// Decode reads the 2 payload bytes; another size is an error.
func (c *GripperCommand) Decode(b []byte) error {
	if err := checkSize("gripper command", b, GripperCommandSize); err != nil {
		return err
	}
	*c = GripperCommand{Code: b[0], Arg: b[1]}
	return nil
}

// Configuration codes of the server (manual table 8, PROTOCOL 4; those after
// ConfigData are ours, PROTOCOL 4 and 8).
const (
	ConfigFrequency byte = 'f' // u16, Hz
	ConfigMode      byte = 'r' // byte: non-zero selects request/reply mode
	ConfigData      byte = 'd' // no argument: asks for one frame
	ConfigFresh     byte = 'n' // byte: non-zero selects only new data
	ConfigCompact   byte = 'z' // byte: the form of the frames, then nothing or a Scan
	ConfigName      byte = 'w' // text: the client's name
	ConfigStop      byte = 'e' // byte: non-zero is an emergency stop, zero releases it
	ConfigPath      byte = 'p' // identifiers: which client waits for the request
	ConfigLifetime  byte = 'l' // u16, ms: for how long a command to position is good
	ConfigQuestion  byte = 'q' // byte: a question, answered with KindAnswer
)

// LifetimeEndless is the argument of ConfigLifetime for a client that yields to other
// clients (PROTOCOL 5.5), and whose commands are valid until its next one.
const LifetimeEndless uint16 = 0xFFFF

// Forms of frames, for ConfigCompact.
const (
	FramesPlain   uint16 = 0
	FramesCompact uint16 = 1
	FramesAuto    uint16 = 2 // compact while the network is full
)

// Scan selects a part of laser scans (PROTOCOL 8.4.7). The zero value is all of them.
type Scan struct {
	Step        uint8  // each Step-th reading
	First, Last uint16 // from reading First to reading Last, which may be beyond the end
	Unit        uint8  // mm; ranges are rounded to multiples of it
}

// Configuration codes of the robot's microcontroller (manual table 8,
// PROTOCOL 6).
const (
	ConfigMotors   byte = 'm' // byte: non-zero switches motor power on
	ConfigVelocity byte = 'v' // byte: non-zero selects separate translation and rotation
	ConfigOdometry byte = 'R' // no argument: resets odometry to (0,0,0)
)

// Config is one decoded configuration request: a code and its argument. Arg is
// zero if the code has no argument; Text is the argument of ConfigName and of
// ConfigPath.
type Config struct {
	Code byte
	Arg  uint16
	Scan Scan // of ConfigCompact
	Text string
}

// PathID is the size in bytes of an identifier in the argument of ConfigPath.
const PathID = 8

// MaxName is the longest name of a client, in bytes.
const MaxName = 64

// DecodeServerConfig reads the payload of a server configuration.
func DecodeServerConfig(b []byte) (Config, error) {
	if len(b) == 0 {
		return Config{}, errNoCode
	}
	switch b[0] {
	case ConfigFrequency, ConfigLifetime:
		return decodeConfig(b, 2)
	case ConfigMode, ConfigFresh, ConfigStop, ConfigQuestion:
		return decodeConfig(b, 1)
	case ConfigData:
		return decodeConfig(b, 0)
	case ConfigCompact:
		return decodeCompact(b)
	case ConfigName:
		return decodeName(b[1:])
	case ConfigPath:
		if len(b[1:])%PathID != 0 {
			return Config{}, fmt.Errorf("a path of %d bytes, which is no multiple of %d", len(b)-1, PathID)
		}
		return Config{Code: ConfigPath, Text: string(b[1:])}, nil
	}
	return Config{}, fmt.Errorf("unknown configuration code %q", b[0])
}

// DecodeRobotConfig reads the payload of a configuration of the robot's
// microcontroller.
func DecodeRobotConfig(b []byte) (Config, error) {
	if len(b) == 0 {
		return Config{}, errNoCode
	}
	switch b[0] {
	case ConfigMotors, ConfigVelocity:
		return decodeConfig(b, 1)
	case ConfigOdometry:
		return decodeConfig(b, 0)
	}
	return Config{}, fmt.Errorf("unknown configuration code %q", b[0])
}

func decodeName(text []byte) (Config, error) {
	if len(text) > MaxName {
		return Config{}, fmt.Errorf("a name of %d bytes, longer than %d", len(text), MaxName)
	}
	for _, c := range text {
		if c < ' ' || c > '~' {
			return Config{}, fmt.Errorf("a name with byte %#02x, which is not printable ASCII", c)
		}
	}
	return Config{Code: ConfigName, Text: string(text)}, nil
}

var errNoCode = fmt.Errorf("configuration without a code")

func decodeConfig(b []byte, arg int) (Config, error) {
	if len(b) != 1+arg {
		return Config{}, fmt.Errorf("configuration %q has %d argument bytes, want %d", b[0], len(b)-1, arg)
	}
	c := Config{Code: b[0]}
	switch arg {
	case 1:
		c.Arg = uint16(b[1])
	case 2:
		c.Arg = binary.BigEndian.Uint16(b[1:])
	}
	return c, nil
}

// scanSize is the size of a Scan in a configuration, in bytes.
const scanSize = 6

var errCompact = errors.New("configuration 'z' with a form or a scan that does not exist")

func decodeCompact(b []byte) (Config, error) {
	var scan Scan
	if len(b) == 2+scanSize {
		a := b[2:]
		scan = Scan{Step: a[0], First: binary.BigEndian.Uint16(a[1:]), Last: binary.BigEndian.Uint16(a[3:]), Unit: a[5]}
		if scan.Step == 0 || scan.Last < scan.First || scan.Unit == 0 {
			return Config{}, errCompact
		}
		b = b[:2]
	}
	c, err := decodeConfig(b, 1)
	if err == nil && c.Arg > FramesAuto {
		err = errCompact
	}
	c.Scan = scan
	return c, err
}

// Append appends the payload: the code, then an argument of the code's width.
func (c Config) Append(dst []byte) []byte {
	dst = append(dst, c.Code)
	switch c.Code {
	case ConfigFrequency, ConfigLifetime:
		return binary.BigEndian.AppendUint16(dst, c.Arg)
	case ConfigMode, ConfigFresh, ConfigStop, ConfigQuestion, ConfigMotors, ConfigVelocity:
		return append(dst, byte(c.Arg))
	case ConfigCompact:
		return c.Scan.append(append(dst, byte(c.Arg)))
	case ConfigName, ConfigPath:
		return append(dst, c.Text...)
	}
	return dst
}

func (s Scan) append(dst []byte) []byte {
	if s == (Scan{}) {
		return dst
	}
	dst = append(dst, s.Step)
	dst = binary.BigEndian.AppendUint16(dst, s.First)
	return append(binary.BigEndian.AppendUint16(dst, s.Last), s.Unit)
}
