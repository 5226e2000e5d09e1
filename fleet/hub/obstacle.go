package hub

import (
	"errors"
	"fmt"
	"strings"

	"player/codec"
	"player/devices"
	"player/fleet/bridge"
)

// errStopped is why a robot obeys no command under an emergency stop.
var errStopped = errors.New("the emergency stop holds")

// obstacles is the server's list of the obstacles to a client's commands and data
// (PROTOCOL 8.9.2). The zero value: nothing.
type obstacles struct {
	stopped bool
	motors  string            // why commands to position move nothing: the motors are off
	control string            // the client that has control of position: its address, and its name
	right   string            // why the client may do nothing
	lost    map[string]string // devices that do not work, by name: why
}

// readObstacles reads the lines of an answer. Those that are unknown are skipped.
func readObstacles(lines []string) (o obstacles) {
	for _, line := range lines {
		what, text, _ := strings.Cut(line, " ")
		switch what {
		case "stopped":
			o.stopped = true
		case "motors":
			o.motors = text
		case "control":
			o.control = text
		case "right":
			o.right = text
		default:
			name := deviceOf(what)
			if r, ok := codec.ParseReason(line, func(string) (byte, bool) { return 0, name != "" }); ok {
				if o.lost == nil {
					o.lost = map[string]string{}
				}
				o.lost[name] = r.Text
			}
		}
	}
	return o
}

// deviceOf returns the name of a device that a line names by its letter or by its interface and index, or "" for another
// word.
func deviceOf(key string) string {
	for _, spec := range devices.Lettered() {
		if key == string(rune(spec.Letter)) {
			return spec.Name
		}
	}
	iface, index, ok := codec.ParseAddress(key)
	if spec, known := bridge.Named(iface); ok && known {
		return bridge.NameOf(spec.At(index))
	}
	return ""
}

// to returns why a command to a device is not obeyed, or nil if nothing is in its way.
func (o obstacles) to(spec devices.Spec) error {
	switch {
	case o.stopped:
		return errStopped
	case o.right != "":
		return errors.New(o.right)
	case o.control != "" && spec.Letter == codec.Position:
		return fmt.Errorf("another client has control: %s", o.control)
	case o.lost[bridge.NameOf(spec)] != "":
		return errors.New(o.lost[bridge.NameOf(spec)])
	case o.motors != "" && spec.Letter == codec.Position:
		return errors.New(o.motors)
	}
	return nil
}
