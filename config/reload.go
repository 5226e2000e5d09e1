package config

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"player/devices"
)

// Plan changes a running server to the configuration that its file has now.
type Plan struct {
	// Server is the result: the drivers that go on, and new ones. A robot that keeps its
	// port has its old Table with its old links.
	Server *Server

	steps [verbs][]string // ports, and drivers as "6665 p2os"
}

// The verbs of a plan.
const (
	opens = iota
	closes
	keeps
	stops
	starts
	verbs
)

// String describes the plan for people, for example "opens 7000; keeps 6665 p2os, 6665 acts".
func (p *Plan) String() string {
	var parts []string
	for verb, name := range [verbs]string{"opens", "closes", "keeps", "stops", "starts"} {
		if what := p.steps[verb]; what != nil {
			parts = append(parts, name+" "+strings.Join(what, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func (p *Plan) add(verb int, what string) { p.steps[verb] = append(p.steps[verb], what) }

func (p *Plan) addDrivers(verb int, g *group) {
	for _, d := range g.drivers {
		p.add(verb, strconv.Itoa(d.port)+" "+d.Link.Name())
	}
}

// group is the result for a block: a driver, or one for each of several robots.
type group struct {
	block   *block
	args    devices.Args // of a driver that requires others
	drivers []Driver
}

// Reload plans the change from old to next, which was built from the new file; next must not
// be used any more. Drivers stay, with their links and devices, if their block has not
// changed, nor the files that it names, nor a driver that they require. The drivers of a
// block stay together or not at all. Reload changes nothing of old.
func Reload(old, next *Server) (*Plan, error) {
	p := &Plan{Server: next}
	kept := map[*devices.Device]*devices.Device{} // the device that replaces a device of next
	taken := map[*group]bool{}
	for _, g := range next.groups {
		before := old.sameGroup(g, kept, taken)
		if before == nil {
			p.addDrivers(starts, g)
			if err := g.requireKept(kept); err != nil {
				return nil, err
			}
			continue
		}
		p.addDrivers(keeps, g)
		taken[before], g.args = true, before.args
		for i := range g.drivers {
			d, was := &g.drivers[i], before.drivers[i]
			for n, device := range d.Link.Devices() {
				kept[device] = was.Link.Devices()[n]
			}
			d.Driver, d.Link = was.Driver, was.Link
		}
	}
	for _, g := range old.groups {
		if !taken[g] {
			p.addDrivers(stops, g)
		}
	}
	for i := range next.Robots {
		robot := &next.Robots[i]
		robot.Drivers = next.driversOf(robot.Port)
		if before := old.robot(robot.Port); before != nil {
			robot.Table = before.Table
		} else {
			p.add(opens, strconv.Itoa(robot.Port))
		}
	}
	for _, robot := range old.Robots {
		if next.robot(robot.Port) == nil {
			p.add(closes, strconv.Itoa(robot.Port))
		}
	}
	return p, nil
}

// Remove removes a robot that cannot be served, so that a later Reload opens it.
func (s *Server) Remove(port int) {
	i := slices.IndexFunc(s.Robots, func(r Robot) bool { return r.Port == port })
	s.Robots = slices.Delete(s.Robots, i, i+1)
}

func (s *Server) robot(port int) *Robot {
	for i := range s.Robots {
		if s.Robots[i].Port == port {
			return &s.Robots[i]
		}
	}
	return nil
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

// sameGroup returns the group of s that stays as g, nil if there is none.
func (s *Server) sameGroup(g *group, kept map[*devices.Device]*devices.Device, taken map[*group]bool) *group {
	for _, o := range s.groups {
		if !taken[o] && slices.EqualFunc(o.drivers, g.drivers, Driver.same) &&
			slices.EqualFunc(o.args.Requires, g.args.Requires, func(was, is *devices.Device) bool { return kept[is] == was }) {
			return o
		}
	}
	return nil
}

// same reports whether the old and the new file describe a driver the same, except for the
// drivers that it requires.
func (d Driver) same(n Driver) bool {
	spec := func(was, is *devices.Device) bool { return was.Spec() == is.Spec() }
	was, is := d.Link, n.Link
	return d.port == n.port && d.Kind.Name == n.Kind.Name && was.Name() == is.Name() &&
		was.AlwaysOn() == is.AlwaysOn() && was.Geometry() == is.Geometry() && slices.EqualFunc(was.Devices(), is.Devices(), spec) &&
		reflect.DeepEqual(d.Values, n.Values) && was.Source() == is.Source()
}

// requireKept makes the drivers again if they require devices that are replaced by kept ones.
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
