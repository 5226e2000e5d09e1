package server

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"player/server/session"
	"player/server/status"
)

// robotState is a robot that is served, with the state that its clients share.
type robotState struct {
	Robot
	listener int // of the loop
	control  session.Control
	past     status.Counts // of clients that have disconnected
}

// robotOn returns the robot on a port, nil if there is none.
func (s *Server) robotOn(port int) *robotState {
	i := slices.IndexFunc(s.robots, func(r *robotState) bool { return r.Port == port })
	if i < 0 {
		return nil
	}
	return s.robots[i]
}

// EmergencyStop stops the robot on a port until it is released, or releases it, for a visitor that
// is not a client. by names the visitor in the log. EmergencyStop reports whether there is a robot
// on the port.
func (s *Server) EmergencyStop(now time.Duration, port int, on bool, by string) bool {
	r := s.robotOn(port)
	if r == nil {
		return false
	}
	log := s.log.With(zap.Int("robot", port), zap.String("by", by))
	if on {
		r.Table.Stop(now)
		log.Warn("emergency stop")
	} else {
		r.Table.Release()
		log.Warn("emergency stop released")
	}
	return true
}

// ControlChanges returns a number that changes when the commander of a robot changes, and when a robot
// is stopped or released.
func (s *Server) ControlChanges() uint64 {
	const apart = 1_000_003 // a prime: the changes of two robots do not cancel out
	var changes uint64
	for _, r := range s.robots {
		changes = changes*apart + 2*r.control.Passed()
		if r.Table.Stopped() {
			changes++
		}
	}
	return changes
}
