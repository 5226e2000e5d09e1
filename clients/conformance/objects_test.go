package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"player/codec"
	"player/e2e/must"
)

// interfaces has the interfaces of devices with letters.
var interfaces = map[byte]string{
	codec.Position: "position", codec.Sonar: "sonar", codec.Laser: "laser", codec.Misc: "misc", codec.Gripper: "gripper",
	codec.Vision: "vision", codec.PTZ: "ptz", codec.Joystick: "joystick",
}

// wire has the members of answers about the protocol, which objects hide.
var wire = []string{"size", "code", "granted"}

// withoutCalls has the names of the cases of which a client whose devices are objects sends other bytes.
var withoutCalls = map[string]bool{
	"what is not sent":           true, // some calls of objects open what they need
	"devices of an older server": true, // Java does not ask for a device that has a letter, C++ does
}

// byObjects returns the cases, by their groups, for a client whose devices are objects: those for which it has calls.
func byObjects(t *testing.T, cases map[string][]Case) map[string][]Case {
	t.Helper()
	with := map[string][]Case{}
	for group, list := range cases {
		open := openingByName
		if group == "named" {
			open = knowingNames
		}
		for _, c := range list {
			if withoutCalls[c.Name] {
				continue
			}
			if steps, ok := open(c.Steps); ok {
				with[group] = append(with[group], Case{c.Name, c.Clauses, withoutWire(t, steps)})
			}
		}
	}
	return with
}

// openingByName returns the steps of a case with each device opened by its name, with a request of its own. The client asks
// before which devices there are, since it asks for nothing else when it knows them.
func openingByName(of []Step) (steps []Step, ok bool) {
	var lines []string
	var want [][]any
	for _, letter := range slices.Sorted(maps.Keys(interfaces)) {
		e := codec.Entry{Code: letter, Interface: interfaces[letter], Driver: "p2os"}
		lines, want = append(lines, e.Line()), append(want, []any{e.Address(), e.Code})
	}
	for _, s := range of {
		switch s.Do["op"] {
		case "connect":
			steps = append(steps, s, devicesOf(h(codec.AppendAnswers(nil, codec.QuestionDevices, lines)), want...))
		case "open", "reconnect":
			return nil, false // of a server that is asked for other devices
		case "request":
			opened, ok := opening(s)
			if !ok {
				return nil, false
			}
			steps = append(steps, opened...)
		default:
			steps = append(steps, s)
		}
	}
	return steps, true
}

// knowingNames returns the steps of a case of the group named for a client that asks which devices there are before it
// opens the first one, the position. It knows laser:1 then.
func knowingNames(of []Step) (steps []Step, ok bool) {
	list := make([][]any, len(listed))
	for i, e := range listed {
		list[i] = []any{e.Address(), e.Code}
	}
	for _, s := range of {
		switch {
		case s.Do["op"] == "connect":
			steps = append(steps, s, devicesOf(listing(), list...))
		case s.Do["op"] == "request":
			opened, ok := opening(s)
			if !ok {
				return nil, false
			}
			steps = append(steps, opened...)
		case s.Do["name"] == "laser:1" && len(s.Then) > 0:
			s.Expect, s.Send, s.Then = s.Then[0].Expect, s.Then[0].Send, s.Then[1:]
			steps = append(steps, s)
		default:
			steps = append(steps, s)
		}
	}
	return steps, true
}

// withoutWire returns steps whose answers may be without the members of wire, with the values that JSON has.
func withoutWire(t *testing.T, of []Step) (steps []Step) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(of))(t), &steps))
	for _, s := range steps {
		maps.DeleteFunc(s.Want, func(member string, _ any) bool { return slices.Contains(wire, member) })
	}
	return steps
}

// opening returns the steps that open the devices of a request one by one.
func opening(s Step) (steps []Step, ok bool) {
	pairs, _ := s.Do["pairs"].(string)
	if s.Want["ok"] != true || s.Want["granted"] != pairs || s.End != "" || s.Hz != 0 || len(s.Then) > 0 ||
		!slices.Equal(s.Send, []string{block(codec.KindReply, []byte(pairs))}) {
		return nil, false
	}
	seen := map[byte]bool{}
	for i := 0; i+1 < len(pairs); i += 2 {
		letter, access := pairs[i], pairs[i+1:i+2]
		name, device := interfaces[letter]
		switch {
		case seen[letter] || access != "r" && access != "w" && access != "a" || !device && letter != codec.Server:
			return nil, false
		case device:
			steps = append(steps, openNamed(name+":0", letter, access))
		default:
			steps = append(steps, open(pairs[i:i+2]))
		}
		seen[letter] = true
	}
	return steps, true
}
