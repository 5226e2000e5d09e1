package codec

import (
	"strconv"
	"strings"
)

// Entry is one device of the robot: a line of the answer to QuestionDevices (PROTOCOL 8.9.5).
type Entry struct {
	Code      byte   // in requests, commands, configurations and blocks
	Interface string // for example laser
	Index     int    // among the devices of the interface
	Driver    string // for people
}

// Address returns the device's name on its robot, for example laser:1.
func (e Entry) Address() string { return e.Interface + ":" + strconv.Itoa(e.Index) }

// Line returns the line that ParseEntry reads.
func (e Entry) Line() string {
	return strconv.Itoa(int(e.Code)) + " " + e.Interface + " " + strconv.Itoa(e.Index) + " " + e.Driver
}

// ParseEntry reads a line about a device of the robot. It reports false for another line. A later server may send more
// behind the name of the driver.
func ParseEntry(line string) (e Entry, ok bool) {
	words := strings.SplitN(line, " ", 4)
	if len(words) != 4 || words[1] == "" || strings.Contains(words[1], ":") {
		return Entry{}, false
	}
	code, wrongCode := strconv.ParseUint(words[0], 10, 8)
	index, wrongIndex := strconv.ParseUint(words[2], 10, 31)
	if wrongCode != nil || wrongIndex != nil || code == 0 {
		return Entry{}, false
	}
	return Entry{byte(code), words[1], int(index), words[3]}, true
}

// ParseAddress reads the name of a device: an interface and an index, for example laser:1, or an interface alone, which
// means its device 0. It reports false for another text. It does not know which interfaces there are.
func ParseAddress(name string) (iface string, index int, ok bool) {
	iface, text, given := strings.Cut(name, ":")
	if given {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return "", 0, false
		}
		index = int(n)
	}
	return iface, index, iface != ""
}

// OnWire reports whether the letter of an interface is in the protocol: the byte of its device 0.
func OnWire(letter byte) bool { return 'a' <= letter && letter <= 'z' }

// IsLetter reports whether a byte of a device is a letter of the alphabet. Servers hand out other bytes only (PROTOCOL 2.11).
func IsLetter(code byte) bool { return 'a' <= code|0x20 && code|0x20 <= 'z' }

// InterfaceLetter returns the letter that names an interface inside of a program: in the protocol it is the letter of the device
// with index 0, if the interface has one. It is 0 for an unknown interface.
func InterfaceLetter(name string) byte {
	switch name {
	case "laser":
		return Laser
	case "sonar":
		return Sonar
	case "position":
		return Position
	case "gripper":
		return Gripper
	case "misc":
		return Misc
	case "vision":
		return Vision
	case "ptz":
		return PTZ
	case "joystick":
		return Joystick
	case "ranger":
		return Ranger
	case "imu":
		return IMU
	case "gps":
		return GPS
	case "io":
		return IO
	case "servo":
		return Servo
	case "goto":
		return Goto
	}
	return 0
}
