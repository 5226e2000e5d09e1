package session

import "player/codec"

// access is the state of one device on one connection (PROTOCOL 2.3). Its value is
// the letter for that state in a reply.
type access byte

const (
	none   access = 0 // never opened: has no slot
	read   access = access(codec.AccessRead)
	write  access = access(codec.AccessWrite)
	all    access = access(codec.AccessAll)
	closed access = access(codec.AccessClose)
	failed access = access(codec.AccessError)
)

func (a access) reads() bool  { return a == read || a == all }
func (a access) writes() bool { return a == write || a == all }
func (a access) open() bool   { return a.reads() || a.writes() }

// after returns the state after a request for want in state a, if the setup that it needs
// succeeds (the table of PROTOCOL 2.3). r followed by w gives a; a followed by r or w is a
// downgrade; an unknown letter changes nothing.
func (a access) after(want byte) access {
	switch want {
	case codec.AccessRead:
		if a == write {
			return all
		}
		return read
	case codec.AccessWrite:
		if a == read {
			return all
		}
		return write
	case codec.AccessAll:
		return all
	case codec.AccessClose:
		if a.open() {
			return closed
		}
	}
	return a
}

// reply returns the letter sent to the client. A device that was never opened
// is an error (PROTOCOL 2.5).
func (a access) reply() byte {
	if a == none {
		return codec.AccessError
	}
	return byte(a)
}
