// Package rights decides a client's rights at a robot, by the network of the client's
// address and by the name in its certificate.
package rights

import (
	"net/netip"
	"slices"
	"strings"
)

// Set is a client's rights.
type Set uint8

const (
	Read   Set = 1 << iota // open devices for reading
	Write                  // open devices for writing: command them
	Config                 // configure devices (PROTOCOL 6)
	Take                   // command a robot while another client keeps control (PROTOCOL 8.6)

	None Set = 0
	// All is the access of every client without rules. It lacks Take: otherwise no client
	// could keep control.
	All Set = Read | Write | Config
)

// Names returns the words for the rights, in the order of their bits.
func Names() []string { return []string{"read", "write", "config", "take"} }

// Has reports whether all of want are in s.
func (s Set) Has(want Set) bool { return s&want == want }

// String names the rights, for example "read write".
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

// Rule gives rights to the clients of some networks, or to clients with some names in their
// certificates, or, if it has both, to clients that match both.
type Rule struct {
	Allow Set
	From  []netip.Prefix // nil: any network
	Names []string       // nil: any name, or none
}

// applies reports whether the rule is about a client.
func (r Rule) applies(client netip.Addr, name string) bool {
	if r.From == nil && r.Names == nil {
		return false
	}
	return (r.From == nil || slices.ContainsFunc(r.From, func(network netip.Prefix) bool { return network.Contains(client) })) &&
		(r.Names == nil || name != "" && slices.Contains(r.Names, name))
}

// Rules are all rules of a server. A client has the rights of every rule that applies to it;
// without any such rule it has none. Without rules every client has All, as in the manual.
type Rules []Rule

// Local returns the rules of a page that has none of its own: visitors on this computer may do
// all, others may read.
func Local() Rules {
	network := netip.MustParsePrefix
	return Rules{
		{Allow: All, From: []netip.Prefix{network("127.0.0.0/8"), network("::1/128")}},
		{Allow: Read, From: []netip.Prefix{network("0.0.0.0/0"), network("::/0")}},
	}
}

// Of returns the rights of a client with an address. name is the one in its
// certificate, which the caller has verified; empty: it has none.
func (r Rules) Of(client netip.Addr, name string) Set {
	if len(r) == 0 {
		return All
	}
	client = client.Unmap().WithZone("") // ::ffff:10.0.0.1 is 10.0.0.1, and fe80::1%eth0 is in fe80::/10
	var s Set
	for _, rule := range r {
		if rule.applies(client, name) {
			s |= rule.Allow
		}
	}
	return s
}

// Equal reports whether the rules are the same.
func (r Rules) Equal(o Rules) bool {
	return slices.EqualFunc(r, o, func(a, b Rule) bool {
		return a.Allow == b.Allow && slices.Equal(a.From, b.From) && slices.Equal(a.Names, b.Names)
	})
}

// Computer returns the address that stands for a client's computer: for IPv6 the address of
// its /64 network, because a computer may use all addresses of its network.
func Computer(from netip.Addr) netip.Addr {
	from = from.Unmap().WithZone("")
	if from.Is6() && !from.IsLoopback() {
		if network, err := from.Prefix(64); err == nil {
			return network.Addr()
		}
	}
	return from
}
