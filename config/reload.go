package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"player/devices"
)

// Plan is how a running server becomes what its file describes now.
type Plan struct {
	// Server is what it becomes. Its drivers are those that go on and new ones. A robot
	// whose port stays has its old Table, which still has its old links.
	Server *Server

	Open, Close       []int    // ports
	Keep, Stop, Start []string // drivers, as "6665 p2os"
}

// group is what a block has become: a driver, or one for each of several robots.
type group struct {
	block   *block
	args    devices.Args // of a driver that requires others
	drivers []Driver
}

// Reload plans how old becomes next, which was built from the new file and is used up.
// Drivers go on, with their links and devices, if their block has not changed, nor the
// files that it names, nor a driver that they require. The drivers of a block go on
// together or not at all. Reload changes nothing of old.
func Reload(old, next *Server) (*Plan, error) {
	p := &Plan{Server: next}
	kept := map[*devices.Device]*devices.Device{} // what stands for a device of next
	taken := map[*group]bool{}
	for _, g := range next.groups {
		before := old.sameGroup(g, kept, taken)
		switch {
		case before != nil:
			taken[before] = true
			for i := range g.drivers {
				for n, d := range g.drivers[i].Link.Devices() {
					kept[d] = before.drivers[i].Link.Devices()[n]
				}
				g.drivers[i].Driver, g.drivers[i].Link = before.drivers[i].Driver, before.drivers[i].Link
			}
			g.args = before.args
			p.Keep = append(p.Keep, g.names()...)
		default:
			if err := g.requireKept(kept); err != nil {
				return nil, err
			}
			p.Start = append(p.Start, g.names()...)
		}
	}
	for _, g := range old.groups {
		if !taken[g] {
			p.Stop = append(p.Stop, g.names()...)
		}
	}
	for i := range next.Robots {
		robot := &next.Robots[i]
		robot.Drivers = next.driversOf(robot.Port)
		if before := old.robot(robot.Port); before != nil {
			robot.Table = before.Table
		} else {
			p.Open = append(p.Open, robot.Port)
		}
	}
	for _, robot := range old.Robots {
		if next.robot(robot.Port) == nil {
			p.Close = append(p.Close, robot.Port)
		}
	}
	return p, nil
}

// Remove removes a robot that cannot be served, so that a later Reload opens it again.
func (s *Server) Remove(port int) {
	s.Robots = slices.DeleteFunc(slices.Clone(s.Robots), func(r Robot) bool { return r.Port == port })
}

func (s *Server) robot(port int) *Robot {
	i := slices.IndexFunc(s.Robots, func(r Robot) bool { return r.Port == port })
	if i < 0 {
		return nil
	}
	return &s.Robots[i]
}

// driversOf returns the drivers of a robot, in the order they were attached.
func (s *Server) driversOf(port int) (drivers []Driver) {
	for _, g := range s.groups {
		for _, d := range g.drivers {
			if d.port == port {
				drivers = append(drivers, d)
			}
		}
	}
	return drivers
}

// sameGroup returns the group of s that goes on as g, nil if there is none.
func (s *Server) sameGroup(g *group, kept map[*devices.Device]*devices.Device, taken map[*group]bool) *group {
	i := slices.IndexFunc(s.groups, func(o *group) bool {
		return !taken[o] && slices.EqualFunc(o.drivers, g.drivers, Driver.same) &&
			slices.EqualFunc(o.args.Requires, g.args.Requires, func(was, is *devices.Device) bool { return kept[is] == was })
	})
	if i < 0 {
		return nil
	}
	return s.groups[i]
}

// same reports whether a driver of an old file is described the same by a new one,
// but for the drivers that it requires.
func (d Driver) same(n Driver) bool {
	specs := func(l *devices.Link) (all []devices.Spec) {
		for _, device := range l.Devices() {
			all = append(all, device.Spec())
		}
		return all
	}
	was, is := d.Link, n.Link
	return d.port == n.port && d.Kind.Name == n.Kind.Name && was.Name() == is.Name() &&
		was.AlwaysOn() == is.AlwaysOn() && was.Geometry() == is.Geometry() && slices.Equal(specs(was), specs(is)) &&
		reflect.DeepEqual(d.Values, n.Values) && source(d.Driver) == source(n.Driver)
}

// source returns the digest of the files that a driver was made from.
func source(d devices.Driver) string {
	if s, ok := d.(devices.Sourced); ok {
		return s.Source()
	}
	return ""
}

// requireKept makes the drivers again if they require devices that others stand for.
func (g *group) requireKept(kept map[*devices.Device]*devices.Device) error {
	requires := slices.Clone(g.args.Requires)
	for i, d := range requires {
		if k := kept[d]; k != nil {
			requires[i] = k
		}
	}
	if slices.Equal(requires, g.args.Requires) {
		return nil
	}
	g.args.Requires = requires
	made, err := g.block.kind.Make(g.args)
	if err == nil && len(made) != len(g.drivers) {
		err = errors.New("it has changed while it was read")
	}
	if err != nil {
		return g.block.errorf(g.block.section.Pos, "%w", err)
	}
	for i, instance := range made {
		g.drivers[i].Driver = instance.Driver
		g.drivers[i].Link.SetDriver(instance.Driver)
	}
	return nil
}

// names returns the drivers for people.
func (g *group) names() (names []string) {
	for _, d := range g.drivers {
		names = append(names, fmt.Sprintf("%d %s", d.port, d.Link.Name()))
	}
	return names
}
