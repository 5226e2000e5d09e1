// Package bridge has the rules by which robots appear on NATS: subjects, messages,
// leases, rates, and which bridge serves which robot. It is pure: no sockets, and
// every rule that depends on the time is given the time.
package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"player/codec"
	"player/devices"
)

// Last tokens of subjects.
const (
	Data    = "data"    // payload of PROTOCOL 7
	JSON    = "json"    // the same as JSON
	Command = "command" // payload of PROTOCOL 5
	Config  = "config"  // payload of PROTOCOL 6
	Lease   = "lease"   // requests for control
	Rate    = "rate"    // requests for a rate of data
	Status  = "status"  // of a robot
	Stop    = "stop"    // the emergency stop, of a robot or of the fleet
	Release = "release" // of that
	Plan    = "plan"    // requests for the floor plan of a robot
	Picture = "picture" // of a camera: a JPEG
	Answer  = "answer"  // before the name that a body gave: answers for programs that cannot send requests
)

// maxToken is the longest name of a fleet or a robot, in bytes. Names are part of
// every subject and of keys.
const maxToken = 64

// CheckName reports why text cannot name a fleet or a robot: it becomes one token of
// a subject and part of a key.
func CheckName(text string) error {
	if text == "" {
		return errors.New("a name is empty")
	}
	if len(text) > maxToken {
		return fmt.Errorf("name %.20q... has %d bytes, at most %d", text, len(text), maxToken)
	}
	for _, c := range []byte(text) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return fmt.Errorf("name %q: only letters, digits, - and _ can be part of a subject", text)
		}
	}
	return nil
}

// FleetPrefix is the beginning of a fleet's subjects.
func FleetPrefix(fleet string) string { return "player." + fleet }

// Prefix is the beginning of a robot's subjects.
func Prefix(fleet, robot string) string { return FleetPrefix(fleet) + "." + robot }

// Subject returns player.FLEET.ROBOT.INTERFACE.INDEX.LAST of a device by its name, for example laser:1. A name without an
// index is device 0's.
func Subject(fleet, robot, device, last string) string {
	iface, index, _ := strings.Cut(device, ":")
	return Prefix(fleet, robot) + "." + iface + "." + cmp.Or(index, "0") + "." + last
}

// Every is the name of all devices in Subject, and, as an index, of all devices of an interface.
const Every = "*:*"

// NameOf returns the name of a device: its interface, and its index if that is not 0.
func NameOf(spec devices.Spec) string {
	if spec.Index == 0 {
		return spec.Name
	}
	return spec.Address()
}

// cameraToken is where the subjects of devices have the interface; no device has it.
const cameraToken = "camera"

// CameraSubject returns player.FLEET.ROBOT.camera.NAME.LAST.
func CameraSubject(fleet, robot, name, last string) string {
	return Prefix(fleet, robot) + "." + cameraToken + "." + name + "." + last
}

// CameraOf returns the camera's token of a subject that CameraSubject made, or "" if it is
// another one.
func CameraOf(subject string) string {
	if token(subject, 3) != cameraToken {
		return ""
	}
	return token(subject, 4)
}

// AnswerSubject returns player.FLEET.ROBOT.answer.NAME. No other subject has five tokens, so
// no program can have an answer sent to a subject where it means something else.
func AnswerSubject(fleet, robot, name string) string {
	return Prefix(fleet, robot) + "." + Answer + "." + name
}

// Interface returns the interface's token of a subject that Subject made.
func Interface(subject string) string { return token(subject, 3) }

// Device returns the name of the device of a subject that Subject made, or "" if it is another one. The index is as in the
// subject: no device is named laser:01.
func Device(subject string) string {
	iface, index := token(subject, 3), token(subject, 4)
	if index == "0" {
		return iface
	}
	return iface + ":" + index
}

// RobotOf returns the robot's token of a subject that Subject made.
func RobotOf(subject string) string { return token(subject, 2) }

// token returns a token of a subject that Subject or CameraSubject made, or "" if it is another one.
func token(subject string, number int) string {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 6 {
		return ""
	}
	return tokens[number]
}

// Named returns the device with that name; ok is false if there can be no such device.
func Named(device string) (spec devices.Spec, ok bool) {
	iface, index, ok := codec.ParseAddress(device)
	all := devices.Interfaces()
	i := slices.IndexFunc(all, func(s devices.Spec) bool { return s.Name == iface })
	if !ok || i < 0 || index > codec.MaxIndex || NameOf(all[i].At(index)) != device {
		return spec, false
	}
	return all[i].At(index), true
}

// Further returns the devices of a robot's list that are not the first of an interface with a letter, in its order. Devices
// of unknown interfaces are left out.
func Further(entries []codec.Entry) (further []devices.Spec) {
	for _, e := range entries {
		i := slices.IndexFunc(devices.Interfaces(), func(s devices.Spec) bool { return s.Name == e.Interface })
		if i < 0 || e.Index > codec.MaxIndex {
			continue
		}
		if spec := devices.Interfaces()[i].At(e.Index); !HasLetter(spec) {
			further = append(further, spec)
		}
	}
	return further
}

// HasLetter reports whether a device has a letter in the protocol, so that its byte is known without a question.
func HasLetter(spec devices.Spec) bool { return spec.Index == 0 && codec.OnWire(spec.Letter) }
