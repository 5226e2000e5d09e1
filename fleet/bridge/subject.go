// Package bridge has the rules by which robots appear on NATS: subjects, messages,
// leases, rates, and which bridge serves which robot. It is pure: no sockets, and
// every rule that depends on the time is given the time.
package bridge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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

// Subject returns player.FLEET.ROBOT.INTERFACE.INDEX.LAST. The index is 0: clients of
// a robot see no other (docs/CONFIG.md).
func Subject(fleet, robot, iface, last string) string {
	return Prefix(fleet, robot) + "." + iface + ".0." + last
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
// nobody can have an answer sent to where it means something else.
func AnswerSubject(fleet, robot, name string) string {
	return Prefix(fleet, robot) + "." + Answer + "." + name
}

// Interface returns the interface's token of a subject that Subject made.
func Interface(subject string) string { return token(subject, 3) }

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

// Named returns the device of that interface; ok is false if there is no such
// interface.
func Named(iface string) (spec devices.Spec, ok bool) {
	all := devices.Lettered()
	i := slices.IndexFunc(all, func(s devices.Spec) bool { return s.Name == iface })
	if i < 0 {
		return spec, false
	}
	return all[i], true
}
