// Package config builds robots from a configuration file. It defines the meaning of a driver
// block; package syntax defines the grammar.
//
//	driver
//	(
//	  name "p2os"
//	  provides ["position:0" "sonar:0" "gripper:0" "misc:0"]
//	  port "/dev/ttyS0"
//	)
//
// docs/CONFIG.md is the guide. A field or section without effect is an error,
// with its place and the nearest valid name.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"player/config/access"
	"player/config/rights"
	"player/devices"
	"player/formats/syntax"
)

// Options has the additions of the program and its flags to a file.
type Options struct {
	Kinds     []devices.Kind // all drivers
	Port      int            // TCP port of a robot without a port of its own
	Overrides []Override
	// Fronts are the drivers that flags of their names put in front of every robot, between
	// its clients and the devices that the driver works on. The first is next to the robot.
	Fronts []string
	TLS    TLS // its fields override the file's
	Log    *zap.Logger
}

// Override is an option given by a flag. It overrides the file.
type Override struct {
	Flag   string // "-pp", for errors
	Driver string
	Option string
	Value  any // as devices.Args.Values
}

// Server is the server that a file describes.
type Server struct {
	Robots []Robot // by port, ascending
	Access rights.Rules
	TLS    TLS
	// Dashboard has the robots of other servers in the dashboard's list, as HOST:PORT.
	Dashboard []string
	Cameras   []Camera // in the order of the file

	groups []*group // in the order they were attached
}

// HasMotors reports whether a client could drive the motors of a real robot.
func (s *Server) HasMotors() bool {
	return slices.ContainsFunc(s.Robots, func(r Robot) bool {
		return slices.ContainsFunc(r.Drivers, func(d Driver) bool {
			return !d.Simulated && slices.ContainsFunc(d.Link.Devices(), func(dev *devices.Device) bool {
				return dev.Spec().Index == 0 && canMove(dev)
			})
		})
	})
}

// canMove reports whether a device has motors, which stop with a client.
func canMove(d *devices.Device) bool { return d.Spec().Stop != "" }

// Robot is one robot of the server: a TCP port and its devices.
type Robot struct {
	Port    int
	TLS     string // host:port for clients with TLS; empty: there is none
	Table   *devices.Table
	Drivers []Driver // in the order they were attached
	// KeepControl is control "first": a client keeps control of position while it
	// commands.
	KeepControl bool
}

// Driver is one driver of a robot, and the block that describes it.
type Driver struct {
	Driver devices.Driver
	Link   *devices.Link
	Kind   devices.Kind
	Values map[string]any // as devices.Args.Values
	Pos    syntax.Pos     // of the block
	// Simulated reports whether no real motor moves: the kind is simulated, or
	// all devices with motors that the driver works on are.
	Simulated bool

	port int // of its robot
}

// Build makes the robots that a file describes. The error joins all mistakes in the file,
// also the parser's, in the order of the lines, each a *syntax.Error if it has a place;
// after 20 mistakes the others are only counted. A consequence of a mistake is not reported
// as another mistake.
func Build(file *syntax.File, options Options) (*Server, error) {
	b := &builder{Options: options, file: file, used: map[string]bool{}, simulated: map[*devices.Link]bool{}}
	for _, plugin := range file.Plugins {
		b.fail(file.Errorf(plugin.Pos, `a plugin is named in the block of its driver: driver ( name "..." plugin %q provides [...] )`, plugin.Text))
	}
	b.incomplete = file.Err() != nil
	for _, s := range file.Global.Sections("driver") {
		d, err := b.readBlock(s)
		if err != nil {
			b.fail(err)
		}
		if err != nil || s.Broken {
			b.incomplete = true
			continue
		}
		b.blocks = append(b.blocks, d)
	}
	b.checkPorts()
	tls, dashboard := b.readTLS(), b.readDashboard()
	certificates := exampleTLS
	if tls.Clients != "" {
		certificates = ""
	}
	rules, mistakes := access.Read(file, certificates)
	b.errs = append(b.errs, mistakes...)
	for _, o := range b.Overrides {
		if !b.used[o.Flag] && !b.incomplete {
			b.fail(fmt.Errorf("%s has no effect: there is no driver %q in %s", o.Flag, o.Driver, file.Name))
		}
	}
	if len(b.blocks) == 0 && !b.incomplete {
		b.fail(fmt.Errorf("%s: there is no driver in this file", file.Name))
	}
	order, err := b.order()
	if err != nil {
		b.fail(err)
	}
	b.attachAll(order)
	cameras := b.readCameras()
	for _, mistake := range slices.Concat(file.Unused(), file.Redefined()) {
		b.fail(mistake)
	}
	b.placeTLS(tls.Listen)
	if err := file.Join(append(b.errs, file.Err())...); err != nil {
		return nil, err
	}
	for _, f := range b.Fronts {
		if err := b.putInFront(f); err != nil {
			return nil, err
		}
	}
	return &Server{b.robots, rules, tls, dashboard, cameras, b.groups}, nil
}

type builder struct {
	Options
	file      *syntax.File
	blocks    []*block
	robots    []Robot
	groups    []*group
	used      map[string]bool        // flags of overrides that had an effect
	simulated map[*devices.Link]bool // links of drivers that move no real motor
	errs      []error
	// incomplete: blocks with mistakes are missing, and so are their devices.
	incomplete bool
	failTLS    func(format string, args ...any) error // makes an error about TLS
}

func (b *builder) fail(err error) { b.errs = append(b.errs, err) }

// order sorts the blocks: each comes after the blocks with the devices that it requires,
// otherwise in the order of the file.
func (b *builder) order() (sorted []*block, err error) {
	done := map[*block]bool{}
	var path []*block
	var visit func(d *block) error
	visit = func(d *block) error {
		if done[d] {
			return nil
		}
		if i := slices.Index(path, d); i >= 0 {
			var names []string
			for _, on := range append(path[i:], d) {
				names = append(names, on.name)
			}
			return d.section.Errorf("requires", "circular requires: %s", strings.Join(names, " requires "))
		}
		path = append(path, d)
		for _, a := range d.requires {
			for _, other := range b.blocks {
				if other.mayProvide(a, b.Port) {
					if err := visit(other); err != nil {
						return err
					}
				}
			}
		}
		path = path[:len(path)-1]
		done[d] = true
		sorted = append(sorted, d)
		return nil
	}
	for _, d := range b.blocks {
		if err := visit(d); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}

// attachAll attaches the drivers of all blocks. A block has no error of its own if it
// requires devices of a block with an error.
func (b *builder) attachAll(order []*block) {
	var failed []*block
	for _, d := range order {
		waits := slices.ContainsFunc(d.requires, func(a address) bool {
			return slices.ContainsFunc(failed, func(f *block) bool { return f.mayProvide(a, b.Port) })
		})
		if !waits {
			e := b.attach(d)
			if e == nil {
				continue
			}
			b.fail(e)
		}
		failed = append(failed, d)
	}
}

// mayProvide reports whether the block provides the device, as far as that is known before
// the driver is made.
func (d *block) mayProvide(a address, usual int) bool {
	if d.provides != nil {
		return slices.ContainsFunc(d.provides, a.same)
	}
	// A kind that makes several drivers chooses their ports, and how many devices they have.
	may := slices.ContainsFunc(d.kind.Provides, func(s devices.Spec) bool {
		return s.Letter == a.spec.Letter && (s.Index == a.spec.Index || d.kind.NewAll != nil)
	})
	return may && (a.port == d.port(usual) || d.kind.NewAll != nil)
}

// attach makes the driver or drivers of a block and attaches each to its robot.
func (b *builder) attach(d *block) error {
	args := devices.Args{Name: d.name, Values: d.values, Log: b.Log, Place: d.placeOf}
	for _, a := range d.provides {
		args.Provides = append(args.Provides, a.spec)
	}
	for _, a := range d.requires {
		device := b.robot(a.port).Table.Find(a.spec.Letter, a.spec.Index)
		if device == nil && b.incomplete {
			return nil
		}
		if device == nil {
			return d.errorf(d.pos("requires", a), "%s requires %s, which no driver provides%s", d.name, a.short(b.Port), b.suggestDevice(a))
		}
		args.Requires = append(args.Requires, device)
	}
	made, err := d.kind.Make(args)
	if e := (*syntax.Error)(nil); errors.As(err, &e) {
		return err // it has a place, in a file that the block names
	}
	if err != nil {
		return d.errorf(d.section.Pos, "%w", err)
	}
	if len(made) > 1 && d.provides != nil {
		return d.section.Errorf("provides", "this block makes %d drivers, each with all its devices: omit provides", len(made))
	}
	b.groups = append(b.groups, &group{block: d, args: args})
	for i, instance := range made {
		if instance.Port == 0 {
			instance.Port = d.port(b.Port) + i
		}
		if err := b.place(d, instance, args); err != nil {
			return err
		}
	}
	return nil
}

// place attaches one driver to its robot. args.Provides are the devices that the block
// lists, with their indices; nil: all devices of the driver.
func (b *builder) place(d *block, instance devices.Instance, args devices.Args) error {
	for i, spec := range args.Provides {
		switch most := count(instance.Provides, spec.Letter); {
		case most == 0:
			return d.errorf(d.pos("provides", d.provides[i]), "%s cannot provide %s%s", d.name, spec.Name, whatIs(instance.Provides))
		case d.named(i) > most:
			return d.tooMany(d.provides[i], most)
		}
	}
	if args.Provides != nil {
		instance.Select(args.Provides)
	}
	if d.section.Field("control") != nil && !hasLetter(instance.Provides, devices.Position().Letter) {
		return d.section.Errorf("control", "control is for the driver of position: %s does not provide it", d.name)
	}
	robot := b.robot(instance.Port)
	for _, spec := range instance.Provides {
		if other := robot.Table.Find(spec.Letter, spec.Index); other != nil {
			a := address{instance.Port, spec}
			return d.errorf(d.pos("provides", a), "%s is provided twice: %s also provides it", a.short(b.Port), other.Link().Name())
		}
	}
	link, err := robot.Table.Attach(instance)
	if err != nil {
		return d.errorf(d.section.Pos, "%w", err)
	}
	link.SetGeometry(d.geometry)
	if d.alwaysOn {
		link.KeepOn()
	}
	robot.KeepControl = robot.KeepControl || d.control == controlFirst
	b.simulated[link] = d.kind.Simulated || b.onSimulated(args.Requires)
	made := Driver{instance.Driver, link, d.kind, d.values, d.section.Pos, b.simulated[link], instance.Port}
	robot.Drivers = append(robot.Drivers, made)
	b.groups[len(b.groups)-1].drivers = append(b.groups[len(b.groups)-1].drivers, made)
	return nil
}

// onSimulated reports whether devices with motors are among those required, none
// of them real.
func (b *builder) onSimulated(required []*devices.Device) bool {
	motors, moves := false, false
	for _, device := range required {
		motors = motors || canMove(device)
		moves = moves || canMove(device) && !b.simulated[device.Link()]
	}
	return motors && !moves
}

// robot returns the robot on a port. The first call for a port makes it.
func (b *builder) robot(port int) *Robot {
	i := slices.IndexFunc(b.robots, func(r Robot) bool { return r.Port >= port })
	if i < 0 {
		i = len(b.robots)
	}
	if i == len(b.robots) || b.robots[i].Port != port {
		log := b.Log
		if port != b.Port {
			log = log.With(zap.Int("robot", port))
		}
		b.robots = slices.Insert(b.robots, i, Robot{Port: port, Table: devices.NewTable(log)})
		b.robots[i].Table.Kinds = b.Kinds
	}
	return &b.robots[i]
}

// suggestDevice ends an error about a device that does not exist: it names the nearest
// existing one.
func (b *builder) suggestDevice(want address) string {
	var there []string
	for _, d := range b.blocks {
		provides := d.provides
		if provides == nil {
			for _, spec := range d.kind.Provides {
				provides = append(provides, address{b.Port, spec.At(max(spec.Index, 0))})
			}
		}
		for _, a := range provides {
			if !a.same(want) {
				there = append(there, a.short(b.Port))
			}
		}
	}
	if len(there) == 0 {
		return ""
	}
	return syntax.Suggest(want.short(b.Port), there)
}
