// Package rights decides what a client may do with a robot, by the network that
// it connects from.
package rights

import (
	"net/netip"
	"slices"
	"strings"
)

// Set is what a client may do.
type Set uint8

const (
	Read   Set = 1 << iota // open devices for reading
	Write                  // open devices for writing: command them
	Config                 // configure devices (PROTOCOL 6)
	Take                   // command a robot of which another client keeps control (PROTOCOL 8.6)

	None Set = 0
	// All is what everybody may do without rules. If that had Take, no client could
	// keep control.
	All Set = Read | Write | Config
)

// Names returns the words for the rights, in the order of their bits.
func Names() []string { return []string{"read", "write", "config", "take"} }

// Has reports whether all of want are in s.
func (s Set) Has(want Set) bool { return s&want == want }

// String names the rights, as in "read write".
func (s Set) String() string {
	var names []string
	for i, name := range Names() {
		if s.Has(1 << i) {
			names = append(names, name)
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, " ")
}

// Rule gives rights to the clients of some networks.
type Rule struct {
	Allow Set
	From  []netip.Prefix
}

// Rules are all rules of a server. A client has the rights of every rule that
// lists its network, and none if no rule does. Without rules every client has All,
// as in the manual.
type Rules []Rule

// Of returns the rights of a client with an address.
func (r Rules) Of(client netip.Addr) Set {
	if len(r) == 0 {
		return All
	}
	client = client.Unmap().WithZone("") // ::ffff:10.0.0.1 is 10.0.0.1, and fe80::1%eth0 is in fe80::/10
	var s Set
	for _, rule := range r {
		for _, network := range rule.From {
			if network.Contains(client) {
				s |= rule.Allow
			}
		}
	}
	return s
}

// Equal reports whether the rules are the same.
func (r Rules) Equal(o Rules) bool {
	return slices.EqualFunc(r, o, func(a, b Rule) bool { return a.Allow == b.Allow && slices.Equal(a.From, b.From) })
}
