// Package conformance runs the same cases on the client library of every
// language (docs/CLIENTS.md). The cases are the files in cases/, generated from
// package codec and docs/PROTOCOL.md. The adapter of a language is a program
// that obeys one JSON request per line.
package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Case is a script for a client and a server.
type Case struct {
	Name    string `json:"name"`
	Clauses string `json:"clauses"` // of docs/PROTOCOL.md
	Steps   []Step `json:"steps"`
}

// Step is carried out in the order of its fields. The client's request is in
// progress while the server acts, so that the client meets input in
// pieces.
type Step struct {
	Do     Object     `json:"do,omitempty"`     // request to the adapter
	Expect string     `json:"expect,omitempty"` // hex: bytes to the server
	Send   []string   `json:"send,omitempty"`   // hex: bytes of the server, each in one write
	Then   []Exchange `json:"then,omitempty"`   // the following exchanges
	Hz     int        `json:"hz,omitempty"`     // writes per second; 0: at once
	End    string     `json:"end,omitempty"`    // of the connection: one of the constants below
	Want   Object     `json:"want,omitempty"`   // members that the adapter's answer must have
	Until  *Until     `json:"until,omitempty"`
}

// Exchange is bytes that the server receives, and bytes that it then sends.
type Exchange struct {
	Again  bool     `json:"again,omitempty"` // before, the server ends the connection, and the client connects again
	Expect string   `json:"expect"`          // hex
	Send   []string `json:"send,omitempty"`  // hex, each in one write
}

// The ways in which a connection ends, for Step.End.
const (
	endClose  = "close"  // by the server
	endReset  = "reset"  // by the server, which discards bytes that the client has not read
	endClient = "client" // by the client
)

// Until repeats the request of its step until the data of a device are as
// wanted.
type Until struct {
	Get  string `json:"get"` // device
	Want Object `json:"want"`
}

// Object is a JSON object.
type Object = map[string]any

// mismatch returns how got differs from want, or "". An object may have members
// that are not wanted, but for a member "why". The order of letters in a member "new"
// is free, and y, the server itself, may be among them.
func mismatch(path string, want, got any) string {
	differs := func() string { return fmt.Sprintf("%s is %s, want %s", path, text(got), text(want)) }
	switch want := want.(type) {
	case Object:
		object, ok := got.(Object)
		if !ok {
			return differs()
		}
		for name, w := range want {
			g, ok := object[name]
			if !ok {
				return fmt.Sprintf("%s has no member %q: %s", path, name, text(got))
			}
			if name == "new" && letters(w) == letters(g) {
				continue
			}
			if want, got := members(w), members(g); name == "why" && want != got {
				return fmt.Sprintf("%s.%s has %d members, want %d: %s", path, name, got, want, text(g))
			}
			if m := mismatch(path+"."+name, w, g); m != "" {
				return m
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return differs()
		}
		for i := range want {
			if m := mismatch(path+"["+strconv.Itoa(i)+"]", want[i], list[i]); m != "" {
				return m
			}
		}
		return ""
	}
	if want != got {
		return differs()
	}
	return ""
}

func members(v any) int {
	object, _ := v.(Object)
	return len(object)
}

// letters returns the set of devices in a member "new", without y.
func letters(v any) (set [256]bool) {
	s, _ := v.(string)
	for _, letter := range []byte(s) {
		set[letter] = letter != 'y'
	}
	return set
}

// text returns a value in JSON, shortened.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	const long = 300
	if len(b) > long {
		b = append(b[:long], "..."...)
	}
	return string(b)
}
