package server

import (
	"net"
	"net/netip"
	"time"

	"player/server/pacing"
	"player/timers"
)

// network is the network of a group of clients, and the timer that polls it while one of them is
// in its queue.
type network struct {
	pacing    *pacing.Network
	pollTimer *timers.Timer
}

// Networks that are no interface. Interfaces have other names: at most 15 bytes without blanks.
const (
	thisComputer = "this computer"                       // programs on it
	unlisted     = "all addresses that no interface has" // for example of a transparent proxy
)

// networks finds the network of a client. Clients that come in on one interface have one network,
// whichever of its addresses they have connected to. Programs on this computer have a network of
// their own, even if they have connected to the address of an interface. Their frames never wait
// in the transmit queue of that interface, so pacing would think that it is idle.
type networks struct {
	serve func(now time.Duration, n *network) time.Duration // polls a network
	all   map[string]*network                               // by interface
	// addresses has the interface of each address of this computer. It is listed again when a
	// connection comes in on an address that is missing, because the network has changed.
	addresses map[netip.Addr]string
	list      func() map[netip.Addr]string // listAddresses, except in the simulation
}

func newNetworks(serve func(now time.Duration, n *network) time.Duration) networks {
	return networks{serve: serve, all: map[string]*network{}, list: listAddresses}
}

// of returns the network of a connection between a local and a remote address.
func (n *networks) of(local, remote netip.Addr) *network {
	name := n.name(local, remote)
	found := n.all[name]
	if found == nil {
		found = &network{pacing: pacing.NewNetwork()}
		found.pollTimer = timers.NewTimer(func(now time.Duration) time.Duration { return n.serve(now, found) })
		n.all[name] = found
	}
	return found
}

// name returns the name of the network that a connection belongs to.
func (n *networks) name(local, remote netip.Addr) string {
	local, remote = local.WithZone(""), remote.WithZone("")
	name, known := n.addresses[local]
	if !known && local.IsLoopback() { // lo has millions of addresses, and lists one
		return thisComputer
	}
	if !known {
		n.addresses = n.list()
		if name, known = n.addresses[local]; !known {
			name = unlisted
			n.addresses[local] = name // not listed again for the next connection
		}
	}
	if _, ours := n.addresses[remote]; ours {
		return thisComputer
	}
	return name
}

// listAddresses returns the interface of each address of this computer. It is empty if interfaces
// cannot be listed, for example in a sandbox without netlink: then all clients of other computers
// have one network.
func listAddresses() map[netip.Addr]string {
	addresses := map[netip.Addr]string{}
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		prefixes, _ := i.Addrs()
		for _, prefix := range prefixes {
			if p, err := netip.ParsePrefix(prefix.String()); err == nil {
				addresses[p.Addr().Unmap()] = i.Name
			}
		}
	}
	return addresses
}
