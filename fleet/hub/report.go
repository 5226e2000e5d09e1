package hub

import "player/fleet/bridge"

// Report is the state of a bridge, for its operator.
type Report struct {
	Bridges int    // alive, with this one
	Hangs   uint64 // how often this one has hung for so long that others took its robots
	Robots  []RobotReport
}

// RobotReport is the part of one robot.
type RobotReport struct {
	Name   string
	Served bool // by this bridge; otherwise the rest is zero
	Status bridge.RobotStatus
	Counts Counts
}

// Counts begin with 0 when the bridge begins to serve a robot.
type Counts struct {
	Messages, Bytes uint64 // of data, also without any, published; payloads
	Commands        uint64 // passed on to the robot; those that were requests, obeyed
	Refused         uint64 // commands
	Leases          uint64 // given, or taken over from another bridge
	Lapsed          uint64 // leases that ended because they were not renewed
}

// report returns the report of this moment.
func (h *hub) report(serving map[string]*served) Report {
	r := Report{Bridges: h.peers.Alive(h.Now()), Hangs: h.hangs, Robots: make([]RobotReport, len(h.Robots))}
	for i, robot := range h.Robots {
		r.Robots[i].Name = robot.Name
		if s := serving[robot.Name]; s != nil {
			r.Robots[i].Served = true
			r.Robots[i].Status, r.Robots[i].Counts = s.state.report()
		}
	}
	return r
}
