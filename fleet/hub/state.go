package hub

import (
	"maps"
	"slices"
	"sync"

	"player/devices"
	"player/fleet/bridge"
)

// state is what the goroutines of a robot report for its status.
type state struct {
	changed chan struct{} // receives when the status is to be published before its time

	mu     sync.Mutex
	status bridge.RobotStatus
	counts Counts
}

func newState(r Robot) *state {
	return &state{changed: make(chan struct{}, 1), status: bridge.RobotStatus{Robot: r.Name, Address: r.Address, Page: r.Page, Origin: r.Origin, Reading: []string{}, Holders: map[string]string{}, Refused: map[string]string{}}}
}

// connection notes the state of the connection for data.
func (s *state) connection(connected bool, reading []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Connected, s.status.Reading, s.status.Error = connected, append([]string{}, reading...), ""
	if !slices.Contains(reading, "position") {
		s.status.Stall = nil
	}
	slices.Sort(s.status.Reading)
	if err != nil {
		s.status.Error = err.Error()
	}
}

// wake has the status published now.
func (s *state) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // it is about to be
	}
}

// obstacles notes what stands in the way of commands; known reports whether the robot's server
// has answered.
func (s *state) obstacles(o obstacles, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Stopped, s.status.Control, s.status.Right, s.status.Lost = nil, o.control, o.right, map[string]string{}
	s.status.MotorsOff = o.motors != ""
	if known {
		s.status.Stopped = &o.stopped
	}
	for _, spec := range devices.Lettered() {
		if why := o.lost[spec.Letter]; why != "" {
			s.status.Lost[spec.Name] = why
		}
	}
}

// stall notes whether the wheels have stalled.
func (s *state) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Stall = &on
}

// refused notes why the last command of the holder was not obeyed; nil: it was.
func (s *state) refused(iface string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.status.Refused, iface)
	} else {
		s.status.Refused[iface] = err.Error()
	}
}

// holder notes who has the lease of a device; empty: nobody.
func (s *state) holder(iface, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wake()
	if name == "" {
		delete(s.status.Holders, iface)
		delete(s.status.Refused, iface)
	} else {
		s.status.Holders[iface] = name
	}
}

// count changes the counts.
func (s *state) count(change func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// report returns what is known. Its maps are copies.
func (s *state) report() (bridge.RobotStatus, Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	status.Holders, status.Lost, status.Refused = maps.Clone(status.Holders), maps.Clone(status.Lost), maps.Clone(status.Refused)
	return status, s.counts
}

// json returns the message.
func (s *state) json(self string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.status
	m.Bridge = self
	return mustJSON(m)
}
