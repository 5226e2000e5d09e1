package server

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"player/config/rights"
)

// Reloads of the configuration in the simulation: other drivers of a robot, a robot that goes and comes back, and
// rights that change.

// restricted is the computer whose clients may only read while rules are in force.
const restricted = "10.1.0.3"

// rules returns rules by which clients of the restricted computer may only read, unless they have a certificate and
// trusted is set.
func rules(trusted bool) rights.Rules {
	all := rights.Rule{Allow: rights.All}
	const networks = "127.0.0.0/8 10.0.0.0/16 192.0.2.0/24 10.1.0.1/32 10.1.0.2/32 2001:db8::/32"
	for _, from := range strings.Fields(networks) {
		all.From = append(all.From, netip.MustParsePrefix(from))
	}
	list := rights.Rules{all, {Allow: rights.Read, From: []netip.Prefix{netip.MustParsePrefix(restricted + "/32")}}}
	if trusted {
		list = append(list, rights.Rule{Allow: rights.All, Names: []string{"ada"}})
	}
	return list
}

// mayOnlyRead reports whether rules keep the client from driving.
func (c *simClient) mayOnlyRead(by rights.Rules) bool {
	name := ""
	if c.encrypts {
		name = "ada"
	}
	address, _ := netip.AddrFromSlice(c.conn.remote.IP)
	return !by.Of(address, name).Has(rights.Write)
}

// owns reports whether the server keeps places for the client: it is on its computer, or rules let it drive.
func (c *simClient) owns() bool {
	return c.conn.remote.IP.IsLoopback() || len(c.sim.access) > 0 && !c.mayOnlyRead(c.sim.access)
}

// reloads changes the configuration, while robots drive or not, and later again.
func (s *sim) reloads(r *simRobot) {
	moves, changes, trusted := s.chance(2), s.chance(2), s.chance(2)
	s.onLoop(func(now time.Duration) {
		switch {
		case !s.accepting: // one is under way
		case r.gone || slices.ContainsFunc(s.robots, func(o *simRobot) bool { return o != r && !o.gone }) && moves:
			s.move(now, r)
		case changes:
			s.change(now, trusted)
		default:
			s.reload(now, r)
		}
	})
	s.later(aReload, s.fate.IntN(len(s.robots)), 40*time.Second)
}

// change changes the rights of clients. Rules trust certificates or not.
func (s *sim) change(now time.Duration, trusted bool) {
	var access rights.Rules
	if len(s.access) == 0 {
		access = rules(trusted)
	}
	s.note("the rights change: %v", access)
	s.summary.Rights++
	lose := map[*simClient]bool{}
	for _, c := range s.clients {
		if c.conn.handler != nil && !c.over && c.mayOnlyRead(access) && !c.mayOnlyRead(s.access) {
			lose[c] = true
			c.excuse = "its rights have changed"
		}
	}
	clients := slices.Clone(s.clients)
	s.access, s.changed = access, s.now
	s.server.Reload(now, s.serving(nil, false), access, func(time.Duration, []int) { s.reloaded() })
	for _, c := range clients {
		if lose[c] && !c.conn.closed {
			s.fail("%v of %v has lost rights, and its connection stands", c, c.conn.remote)
		}
	}
}

// serving returns the robots that are served, with other drivers of one of them, or without it.
func (s *sim) serving(r *simRobot, with bool) (robots []Robot) {
	for _, o := range s.server.robots {
		robot := o.Robot
		robot.Links = o.Table.Links()
		if r != nil && robot.Port == 6665+r.index {
			if !with {
				continue
			}
			robot.Links = r.next.Links()
		}
		robots = append(robots, robot)
	}
	return robots
}

// reloaded is called at the end of a reload: it has connected the drivers to the server's host.
func (s *sim) reloaded() {
	for _, o := range s.server.robots {
		o.Table.Connect(s.host)
	}
}

// reload replaces all drivers of a robot.
func (s *sim) reload(now time.Duration, r *simRobot) {
	r.faulty("its drivers change") // requests are refused meanwhile
	s.summary.Reloads++
	adopt := r.replace()
	s.server.Reload(now, s.serving(r, true), s.access, func(time.Duration, []int) {
		adopt()
		s.reloaded()
	})
}

// replace makes new drivers for the robot, and returns the function to call when they are its drivers.
func (r *simRobot) replace() (replaced func()) {
	next, adopt := r.table(r.sim.log)
	r.next = next
	r.changesFor("its devices have changed")
	return func() {
		r.mended()
		adopt()
	}
}

// changesFor lets the server disconnect the clients of the robot.
func (r *simRobot) changesFor(excuse string) {
	for _, c := range r.sim.clients {
		if c.robot == r {
			c.excuse = excuse
		}
	}
}

// wasGone reports whether the robot was not in the configuration at some time since then.
func (r *simRobot) wasGone(since time.Duration) bool {
	return r.gone || r.away != nil && r.away.ret >= since
}

// watchGone checks that a robot which is not served has no clients.
func (r *simRobot) watchGone() {
	s := r.sim
	for _, c := range s.clients {
		if r.gone && s.server.reload == nil && c.robot == r && c.conn.handler != nil && !c.conn.closed {
			s.fail("%v is connected, and %s is not served", c, r.path)
		}
	}
}

// move removes a robot from the configuration, or brings it back with new drivers.
func (s *sim) move(now time.Duration, r *simRobot) {
	s.summary.Moves++
	if !r.gone {
		r.faulty("it leaves the configuration")
		r.changesFor("its robot goes")
		r.gone, r.away = true, r.addStop(false) // a robot that is not served takes no stop
		s.server.Reload(now, s.serving(r, false), s.access, func(time.Duration, []int) { s.reloaded() })
		s.later(aClient, r.index, 50*time.Millisecond) // it does not know
		for _, c := range slices.Clone(s.clients) {
			if c.robot == r && c.conn.handler != nil && !c.conn.closed {
				s.fail("%v is connected, and %s is not served", c, r.path)
			}
		}
		return
	}
	s.note("%s comes back", r.path)
	adopt := r.replace()
	robot := Robot{
		Address: fmt.Sprintf(":%d", 6665+r.index), Port: 6665 + r.index, Table: r.next, Links: r.next.Links(),
		KeepControl: r.keeps, CommandLifetime: r.lease,
	}
	s.server.Reload(now, append(s.serving(nil, false), robot), s.access, func(_ time.Duration, refused []int) {
		if len(refused) > 0 {
			s.fail("%v are not served", refused)
		}
		r.away.end(s.now)
		r.gone = false
		adopt()
		s.reloaded()
	})
}
