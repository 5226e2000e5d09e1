package hub

import (
	"maps"
	"slices"
	"sync"

	"player/fleet/bridge"
)

// state is what the goroutines of a robot report for its status.
type state struct {
	mu     sync.Mutex
	status bridge.RobotStatus
}

func newState(r Robot) *state {
	return &state{status: bridge.RobotStatus{Robot: r.Name, Address: r.Address, Page: r.Page, Origin: r.Origin, Reading: []string{}, Holders: map[string]string{}}}
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
func (s *state) holder(iface, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		delete(s.status.Holders, iface)
	} else {
		s.status.Holders[iface] = name
	}
}

// json returns the message.
func (s *state) json(self string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.status
	m.Bridge, m.Holders = self, maps.Clone(m.Holders)
	return mustJSON(m)
}
