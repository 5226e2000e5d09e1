package hub

import (
	"maps"
	"slices"
	"sync"

	"player/codec"
	"player/devices"
	"player/fleet/bridge"
)

// state has the reports of a robot's goroutines for its status.
type state struct {
	changed chan struct{} // receives when the status is to be published before its time

	mu     sync.Mutex
	status bridge.RobotStatus
	counts Counts

	more    chan struct{} // receives when further has grown
	further []devices.Spec
}

func newState(r Robot) *state {
	return &state{changed: make(chan struct{}, 1), more: make(chan struct{}, 1), status: bridge.RobotStatus{Robot: r.Name, Address: r.Address, Page: r.Page, Origin: r.Origin, Reading: []string{}, Holders: map[string]string{}, Refused: map[string]string{}}}
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

// obstacles notes the obstacles to commands; known reports whether the robot's server
// has answered.
func (s *state) obstacles(o obstacles, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Stopped, s.status.Control, s.status.Right, s.status.Lost = nil, o.control, o.right, map[string]string{}
	s.status.MotorsOff = o.motors != ""
	if known {
		s.status.Stopped = &o.stopped
	}
	maps.Copy(s.status.Lost, o.lost)
}

// list notes which devices the robot's server has listed. The further ones that it has had before stay known: a reload may
// bring them back.
func (s *state) list(entries []codec.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Devices = nil
	for _, e := range entries {
		s.status.Devices = append(s.status.Devices, bridge.NameOf(devices.Spec{Name: e.Interface, Index: e.Index}))
	}
	known := len(s.further)
	for _, spec := range bridge.Further(entries) {
		if !slices.Contains(s.further, spec) {
			s.further = append(s.further, spec)
		}
	}
	if len(s.further) == known {
		return
	}
	select {
	case s.more <- struct{}{}:
	default: // the lister is about to look
	}
}

// furtherFrom returns the further devices that were listed so far (bridge.Further), from a number on.
func (s *state) furtherFrom(number int) []devices.Spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.further[number:])
}

// stall notes whether the wheels have stalled.
func (s *state) stall(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Stall = &on
}

// refused notes why the last command of the holder was not obeyed; nil: it was.
func (s *state) refused(device string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.status.Refused, device)
	} else {
		s.status.Refused[device] = err.Error()
	}
}

// holder notes the holder of the lease of a device; empty: none.
func (s *state) holder(device, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wake()
	if name == "" {
		delete(s.status.Holders, device)
		delete(s.status.Refused, device)
	} else {
		s.status.Holders[device] = name
	}
}

// count changes the counts.
func (s *state) count(change func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// report returns the status and the counts. Its maps are copies.
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
