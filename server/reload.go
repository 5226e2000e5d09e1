package server

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/devices"
)

// Reasons to disconnect a client.
var (
	errChanged = errors.New("a device that it has open, or the robot, has changed in the configuration")
	errRights  = errors.New("it has fewer rights in the new configuration")
)

// reload is a change of the robots that is under way: it waits until the drivers that are
// removed have stopped.
type reload struct {
	robots   []Robot
	stopping []*devices.Link
	waiting  []func(now time.Duration) // accept clients by TLS
	done     func(now time.Duration, refused []int)
}

// Reload serves robots instead of the current ones, with access as their rules. A robot whose
// Table is served already keeps its listener and clients, and its links that stay go on as before.
//
// First, clients that have fewer rights than before, or devices of a removed link open, are
// disconnected, which stops the motors that they command. Then the removed links are stopped. New
// links are started when all of these are off. Clients that connect meanwhile wait.
//
// done is called when the new robots are served, with the ports that cannot be listened on; they
// are logged as well. It is not called if the server ends first. Only one Reload may be under way.
func (s *Server) Reload(now time.Duration, robots []Robot, access rights.Rules, done func(now time.Duration, refused []int)) {
	if s.cutOffAt != 0 {
		return
	}
	s.reload = &reload{robots: robots, done: done}
	s.loop.Accepting(false)
	s.restrict(now, access)
	for _, r := range s.robots {
		next := robotWith(robots, r.Table)
		if next == nil {
			s.loop.Unlisten(r.listener)
		}
		for _, l := range r.Table.Links() {
			if next == nil || !slices.Contains(next.Links, l) {
				s.reload.stopping = append(s.reload.stopping, l)
			}
		}
	}
	for _, c := range s.inOrder() {
		if robotWith(robots, c.robot.Table) == nil || slices.ContainsFunc(s.reload.stopping, c.session.Uses) {
			s.disconnect(now, c, errChanged)
		}
	}
	for _, l := range s.reload.stopping {
		l.Shutdown(now)
	}
}

// robotWith returns the robot that has a table, nil if there is none.
func robotWith(robots []Robot, table *devices.Table) *Robot {
	i := slices.IndexFunc(robots, func(r Robot) bool { return r.Table == table })
	if i < 0 {
		return nil
	}
	return &robots[i]
}

// restrict applies access rules to the clients. A right that is new to a client counts from its
// next request.
func (s *Server) restrict(now time.Duration, access rights.Rules) {
	s.config.Access = access
	for _, c := range s.inOrder() {
		may := access.Of(addressOf(c.remote).Addr(), c.certificate())
		if !may.Has(c.rights) {
			s.disconnect(now, c, errRights)
			continue
		}
		c.rights = may
		c.session.Restrict(may)
	}
}

// finishReload serves the new robots and starts their links: the links that are removed are off.
func (s *Server) finishReload(now time.Duration) {
	r := s.reload
	for _, l := range r.stopping {
		s.host.Forget(l)
	}
	before := s.robots
	s.robots = nil
	var refused []int
	for _, robot := range r.robots {
		state := &robotState{}
		if i := slices.IndexFunc(before, func(b *robotState) bool { return b.Table == robot.Table }); i >= 0 {
			state = before[i]
		} else {
			var err error
			if state.listener, err = s.loop.Listen(robot.Address); err != nil {
				s.log.Error(LogNotServed, zap.Error(err))
				refused = append(refused, robot.Port)
				continue
			}
			s.log.Info(LogServing, zap.String("address", robot.Address))
		}
		state.Robot, state.control.First = robot, robot.KeepControl
		robot.Table.SetLinks(robot.Links)
		robot.Table.Connect(s.host)
		s.robots = append(s.robots, state)
	}
	for _, robot := range s.robots { // now that all have their links
		robot.Table.Start(now)
	}
	s.loop.Accepting(true)
	s.endReload(now)
	r.done(now, refused)
}

// endReload accepts the clients that have waited for the end of the reload.
func (s *Server) endReload(now time.Duration) {
	waiting := s.reload.waiting
	s.reload = nil
	for _, accept := range waiting {
		accept(now)
	}
}
