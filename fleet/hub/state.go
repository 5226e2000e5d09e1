package hub

import (
	"maps"
	"slices"
	"sync"
)

// status is the message on a robot's .status.
type status struct {
	Robot     string            `json:"robot"`
	Address   string            `json:"address"`
	Bridge    string            `json:"bridge"`    // which serves it
	Connected bool              `json:"connected"` // to read data
	Reading   []string          `json:"reading"`   // interfaces that somebody listens to and that give data
	Error     string            `json:"error,omitempty"`
	Holders   map[string]string `json:"holders"` // of leases, by interface
}

// state is what the goroutines of a robot report for its status.
type state struct {
	mu     sync.Mutex
	status status
}

func newState(r Robot) *state {
	return &state{status: status{Robot: r.Name, Address: r.Address, Reading: []string{}, Holders: map[string]string{}}}
}

// connection notes the state of the connection for data.
func (s *state) connection(connected bool, reading []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Connected, s.status.Reading, s.status.Error = connected, append([]string{}, reading...), ""
	slices.Sort(s.status.Reading)
	if err != nil {
		s.status.Error = err.Error()
	}
}

// holder notes who has the lease of a device; empty: nobody.
func (s *state) holder(iface, name string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held {
		s.status.Holders[iface] = name
	} else {
		delete(s.status.Holders, iface)
	}
}

// json returns the message.
func (s *state) json(bridge string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.status
	m.Bridge, m.Holders = bridge, maps.Clone(m.Holders)
	return mustJSON(m)
}
