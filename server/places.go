package server

import (
	"errors"
	"net/netip"

	"player/config/rights"
	"player/server/fair"
)

// One in keptPlaces places, rounded up, is kept for this computer and for clients that access
// rules let drive. Strangers cannot occupy all places, so the owner of the robot gets in.
const keptPlaces = 8

// Reasons to refuse a client.
var (
	errEnding    = errors.New("the server is shutting down")
	errClients   = errors.New("too many clients (-max-clients)")
	errAddress   = errors.New("too many clients of this address (-max-per-address)")
	errStrangers = errors.New("too many clients; the last places are kept for this computer and those that access rules let drive")
)

// address is a computer that clients connect from.
type address struct {
	from    netip.Addr
	clients int
	waiting fair.Address[*client]
}

// place is one of the MaxClients places for clients, with the address of its client.
type place struct {
	address  *address
	stranger bool
}

// takePlace takes a place for a client with the given address and rights. Clients that
// have a place keep it.
func (s *Server) takePlace(from netip.Addr, may rights.Set) (place, error) {
	// Without rules every client may drive, so the right to drive shows no owner.
	owner := from.Unmap().IsLoopback() || len(s.config.Access) > 0 && may.Has(rights.Write)
	from = rights.Computer(from)
	a := s.addresses[from]
	if a == nil {
		a = &address{from: from}
	}
	most, kept := s.config.MaxClients, (s.config.MaxClients+keptPlaces-1)/keptPlaces
	switch {
	case s.cutOffAt != 0:
		return place{}, errEnding
	case len(s.clients) >= most:
		return place{}, errClients
	case a.clients >= s.config.MaxPerAddress:
		return place{}, errAddress
	case !owner && most > 1 && s.strangers >= most-kept:
		return place{}, errStrangers
	}
	if err := s.config.Descriptors.Clients.Take(1); err != nil {
		return place{}, err
	}
	s.addresses[from] = a
	a.clients++
	if !owner {
		s.strangers++
	}
	return place{a, !owner}, nil
}

// leavePlace gives a place back.
func (s *Server) leavePlace(p place) {
	s.config.Descriptors.Clients.Return(1)
	if p.stranger {
		s.strangers--
	}
	if p.address.clients--; p.address.clients == 0 {
		delete(s.addresses, p.address.from)
	}
}
