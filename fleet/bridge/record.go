package bridge

import (
	"fmt"
	"slices"
	"strings"

	"player/devices"
)

// everything means all interfaces in a choice of a recording.
const everything = "all"

// Stream is the name of the JetStream stream that records a fleet.
func Stream(fleet string) string { return "player_" + fleet }

// Recorded returns the subjects of the chosen recordings. A choice is
// INTERFACE or ROBOT.INTERFACE, which are all devices of the interface, and the interface can be
// "all". No two subjects of the result have a subject in common, which a stream requires.
func Recorded(fleet string, choices []string) ([]string, error) {
	var subjects []string
	for _, choice := range choices {
		robot, iface, ok := strings.Cut(choice, ".")
		if !ok {
			robot, iface = "*", choice
		} else if err := CheckName(robot); err != nil {
			return nil, err
		}
		known := false
		for _, spec := range devices.Interfaces() {
			if iface == everything || iface == spec.Name {
				known = true
				subjects = append(subjects, Subject(fleet, robot, spec.Name+":*", Data))
			}
		}
		if !known {
			return nil, fmt.Errorf("there is no interface %q", iface)
		}
	}
	slices.Sort(subjects)
	subjects = slices.Compact(subjects)
	all := slices.Clone(subjects)
	return slices.DeleteFunc(subjects, func(subject string) bool {
		wild := Subject(fleet, "*", Interface(subject)+":*", Data)
		return subject != wild && slices.Contains(all, wild)
	}), nil
}
