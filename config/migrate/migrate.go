// Package migrate rewrites configuration files of Player 1, 2 and 3 for this
// server. Sources: the manual of Player 1.5 (chapters 4 and 7), and the reference
// pages of Player 1.6.5, 2.0, 2.1 and 3.0 at playerstage.sourceforge.net/doc.
package migrate

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"player/formats/syntax"
)

// Result is a converted file.
type Result struct {
	// Text is a configuration for this server with the same effect as the file, as far as
	// there are counterparts. The parts without one are in comments that begin with "no
	// counterpart".
	Text    string
	Drivers int  // in Text; 0: there are only comments
	Foreign bool // the file has words of Player 1 to 3 that this server does not have

	Sections int // drivers in the file; in Player 1 each device is one
	Dropped  int // drivers that were left out completely
	Options  int // that were left out of the others
	// LeftOut has a line for each driver with parts that were left out: its place in the
	// file, and those parts.
	LeftOut []string
}

// Convert converts a file of Player 1 to 3. It uses the getters of the file's sections, so
// the file's errors mean nothing afterwards. It refuses a driver if this server cannot reach
// its hardware, or if it reverses its data as no driver here does: the result would use
// another line, or give other data. The error may be several joined.
func Convert(file *syntax.File) (Result, error) {
	c := converter{file: file}
	c.out = append(c.out, printable("# From "+file.Name+`, by player migrate. Lines marked "no counterpart" were left out.`))
	top := &block{}
	for _, plugin := range file.Plugins {
		top.drop(quoted("plugin", plugin.Text), noLibraries)
		c.result.Foreign = true
	}
	for _, f := range file.Global.Fields {
		if f.Name == "unit_length" || f.Name == "unit_angle" {
			top.add(f.Text())
		} else {
			top.drop(f.Text(), "")
		}
	}
	c.count(file.Name, top)
	c.out = append(c.out, top.lines...)
	for _, s := range file.Global.Children {
		c.section(s)
	}
	c.sharePorts()
	for _, b := range c.blocks {
		c.addLaser(b)
	}
	for _, b := range c.blocks {
		c.showHidden(b)
		c.print(b)
	}
	c.out = append(c.out, "")
	c.result.Text = strings.Join(c.out, "\n")
	return c.result, file.Join(c.lost...)
}

// count notes the parts that were left out of a block at a place.
func (c *converter) count(where string, b *block) {
	left := strings.Join(b.left, ", ")
	switch {
	case len(b.sections) > 0 && b.driver == "":
		c.result.Dropped += len(b.sections)
		left = "all of " + b.sections[0].String("name", b.sections[0].Type)
	case left == "":
		return
	default:
		c.result.Options += len(b.left)
	}
	c.result.LeftOut = append(c.result.LeftOut, printable(where+": "+left))
}

const noLibraries = "a driver is a program here, not a library: docs/PLUGINS.md"

// driverSection is the type of a driver's section in Player 1.6 to 3, and here.
const driverSection = "driver"

// stage is the driver of simulated robots there and here. In Player 1 the names of
// its parts began with stagePrefix.
const (
	stage       = "stage"
	stagePrefix = "stg_"
)

type converter struct {
	file   *syntax.File
	result Result
	blocks []*block
	lost   []error  // hardware at another place
	out    []string // lines
}

// block is a block of this server. In Player 1 the devices of a Pioneer had one section
// each.
type block struct {
	sections []*syntax.Section // there
	driver   string            // here; empty: there are only comments
	devices  []device
	lines    []string // fields and comments
	left     []string // fields that were left out
	port     string   // the section's serial port; empty: none
	ranges   bool     // it is a scanner with a ranger, which may be a laser as well
	serial   string   // serial port otherwise; empty: the driver has none
}

func (b *block) add(line string) { b.lines = append(b.lines, line) }

// set adds a field. A block has one field of a name.
func (b *block) set(name, value string) {
	line := name + " " + value
	for _, other := range b.lines {
		if other == line {
			return
		}
		if strings.HasPrefix(other, name+" ") {
			b.drop(line, "")
			return
		}
	}
	b.add(line)
}

// note adds a comment.
func (b *block) note(text string) { b.add(printable("# " + text)) }

// drop notes text that is left out, and the reason if that helps.
func (b *block) drop(text, why string) {
	b.left = append(b.left, text)
	if why != "" {
		why = " (" + why + ")"
	}
	b.note(strings.TrimSuffix("no counterpart"+why+": "+text, " "))
}

// quoted returns a field with a string. A string of a configuration file contains
// no quotes and no newlines.
func quoted(name, value string) string { return name + ` "` + value + `"` }

// printable makes text fit a comment: on one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

func (c *converter) add(line string) { c.out = append(c.out, line) }

// print adds the lines of a block to the output.
func (c *converter) print(b *block) {
	from := ""
	for _, s := range b.sections {
		from += ", "
		if s.Pos.File != c.file.Name {
			from += s.Pos.File + " "
		}
		from += "line " + strconv.Itoa(s.Pos.Line)
	}
	c.count(b.sections[0].Pos.Place(), b)
	c.result.Sections += len(b.sections)
	c.add("")
	c.add(printable("# " + from[2:]))
	if b.driver == "" {
		c.out = append(c.out, b.lines...)
		return
	}
	c.result.Drivers++
	c.add("driver\n(\n  " + quoted("name", b.driver))
	provides := ""
	for _, d := range b.devices {
		provides += ` "` + d.String() + `"`
	}
	if provides != "" {
		c.add("  provides [" + provides[1:] + "]")
	}
	for _, line := range b.lines {
		c.add("  " + line)
	}
	c.add(")")
}

// section converts a section at top level.
func (c *converter) section(s *syntax.Section) {
	if s.Type == driverSection {
		c.driver(s, s.String("name", ""), s.Strings("provides"))
		return
	}
	name, index, ok := parseName(s.Type)
	if ok || s.Type == "interface" {
		c.result.Foreign = true
	}
	if !ok {
		c.begin(s).refuse("")
		return
	}
	// Player 1: the section is a device, and names its driver.
	driver := s.String("driver", entry(usual, entry(interfaces, name)))
	c.driver(s, driver, []string{name + ":" + strconv.Itoa(index)})
}

// begin returns a new block for a section.
func (c *converter) begin(s *syntax.Section) *block {
	b := &block{sections: []*syntax.Section{s}}
	c.blocks = append(c.blocks, b)
	return b
}

// refuse makes b a comment with its sections.
func (b *block) refuse(why string) {
	*b = block{sections: b.sections}
	b.drop("", why)
	for _, s := range b.sections {
		for _, line := range strings.Split(strings.TrimSuffix(s.Text(), "\n"), "\n") {
			b.note(line)
		}
	}
}

// driver converts the section of a driver that provides some devices.
func (c *converter) driver(s *syntax.Section, name string, provides []string) {
	b := c.part(s, name)
	if b == nil {
		b = c.begin(s)
	} else {
		b.sections = append(b.sections, s)
	}
	d, why := row(drivers, name), because(reasons, name)
	if strings.HasPrefix(name, stagePrefix) {
		d = row(drivers, stage)
	}
	if d != nil && d[1] != name || why != "" && !has(own, name) {
		c.result.Foreign = true
	}
	switch {
	case d == nil:
		if why == "" {
			why = unknownDriver(provides)
		}
	case d[1] == stage:
		if s.String("worldfile", "") == "" {
			why = "the world has all robots; port in the world is the port of a robot: docs/STAGE.md"
		} else if c.simulates() {
			why = "one world is simulated"
		}
		c.result.Foreign = c.result.Foreign || s.Field("worldfile") != nil || s.Field("model") != nil
	default:
		if c.provide(b, d[2], provides); len(b.devices) == 0 {
			why = "none of its devices has a counterpart"
		}
	}
	if why != "" {
		b.refuse(why)
		return
	}
	b.driver = d[1]
	if d[3] != "-" {
		b.serial = strings.TrimPrefix(d[3], elsewhere)
	}
	remote := ""
	if b.driver == "p2os" {
		remote = remoteOf(s)
	}
	if remote != "" {
		b.port = remote
		b.set("port", `"`+remote+`"`)
	}
	for _, f := range s.Fields {
		switch {
		case remote == "":
		case f.Name == "port":
			b.drop(f.Text(), "use_tcp replaces it")
			continue
		case has(tcp, f.Name):
			continue
		}
		dropped := len(b.left)
		b.field(s, f, counterpart(d, f.Name))
		switch lost := len(b.left) > dropped; {
		case lost && locates(s, f):
			c.lost = append(c.lost, c.file.Errorf(f.Pos, lostPort, b.driver, f.Name))
		case lost && has(turned, f.Name) && !asHere(s, f):
			c.lost = append(c.lost, c.file.Errorf(f.Pos, lostTurn, b.driver, f.Name))
		}
	}
	if b.port == "" && strings.HasPrefix(d[3], elsewhere) {
		b.note("the default of " + name + " in Player, which is another one here")
		b.set("port", `"`+b.serial+`"`)
	}
	for _, child := range s.Children {
		b.drop(child.Name+" ( ... )", "")
	}
}

// lostPort is the error for a driver of this server and a field with the place of its hardware.
const lostPort = `the driver %s does not connect in this way: without %s it would take another line. ` +
	`Give it port "/dev/..." or port "HOST:PORT"`

// lostTurn is the error of a driver here and a field without which its data is another.
const lostTurn = `the driver %s does not turn data round: without %s it would be mirrored or exchanged. ` +
	`Remove the field from the file if your programs can do that instead`

// asHere reports whether a field of turned has the value of this server's drivers.
func asHere(s *syntax.Section, f *syntax.Field) bool {
	if f.Name == "invert" {
		return !s.Bool(f.Name, true)
	}
	axes := s.Floats(f.Name) // Player has 0 and 1, and from 2.1 on 1, 2 and 0, unless the file says otherwise
	return slices.Equal(axes, []float64{0, 1}) || slices.Equal(axes, []float64{1, 2, 0})
}

// locates reports whether a field of a driver gives the place of its hardware.
func locates(s *syntax.Section, f *syntax.Field) bool {
	switch f.Name {
	case "tcp_remote_host", "tcp_remote_port": // they mean nothing alone
		return false
	case "use_tcp":
		return len(f.Values) != 1 || f.Values[0].Text != "0" && s.Bool(f.Name, true)
	}
	return has(transports, f.Name)
}

// remoteOf returns the address HOST:PORT of a robot of Player 2 and 3 that is reached over
// TCP; empty: it is not, or the section has no address.
func remoteOf(s *syntax.Section) string {
	switch f := s.Field("use_tcp"); {
	case f == nil, f.Tuple, !has("1 true", f.Values[0].Text):
		return ""
	}
	port := "8101"
	if f := s.Field("tcp_remote_port"); f != nil {
		port = portOf(f)
	}
	host := s.String("tcp_remote_host", "localhost")
	if port == "" || host == "" {
		return ""
	}
	return net.JoinHostPort(host, port)
}

// part returns the block of the robot that a section of Player 1 is a part of, or
// nil. Sections without a serial port belong to the first robot.
func (c *converter) part(s *syntax.Section, name string) *block {
	port := s.String("port", "")
	for _, b := range c.blocks {
		if b.driver == "p2os" && strings.HasPrefix(name, "p2os_") && (port == "" || b.port == "" || b.port == port) {
			return b
		}
	}
	return nil
}

// simulates reports whether there is a block for the simulator.
func (c *converter) simulates() bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool { return b.driver == stage })
}

// taken reports whether a block provides a device.
func (c *converter) taken(d device) bool {
	return slices.ContainsFunc(c.blocks, func(b *block) bool { return slices.Contains(b.devices, d) })
}

// sharePorts leaves out a driver if another driver has its serial port.
func (c *converter) sharePorts() {
	for i, b := range c.blocks {
		if b.port != "" {
			b.serial = path.Clean(b.port)
		}
		for _, other := range c.blocks[:i] {
			if b.serial != "" && b.serial == other.serial {
				b.refuse(other.driver + " above has its serial port, " + b.serial)
			}
		}
	}
}

// provide adds devices to a block, of the interfaces here that its driver has. One
// driver has one device of an interface here, all on one robot.
func (c *converter) provide(b *block, known string, provides []string) {
	for _, text := range provides {
		a, ok := parseAddress(text)
		d := a.here
		if a.key == "gyro" {
			d.name, d.index = "imu", 0
		}
		c.result.Foreign = c.result.Foreign || ok && (a.key != "" || a.name != d.name)
		why := b.conflict(d)
		switch {
		case !ok:
			why = "not a device here"
		case a.key == "compass":
			b.note(text + " is a field of position")
			continue
		case !slices.Contains(strings.Split(known, ","), d.name):
			why = because(others, a.name)
		case why == joined:
			b.note(text + " is in " + d.name)
			continue
		case why == "" && c.taken(d):
			why = "another driver has it"
		case why == "":
			b.devices = append(b.devices, d)
			if a.key == "gyro" {
				b.note(text + " is " + d.String())
			}
			b.ranges = b.ranges || d.name == "ranger" && strings.HasPrefix(known, "laser,")
			continue
		}
		b.drop(quoted("provides", text), why)
	}
}

// unknownDriver returns why a driver that is in no table is left out.
func unknownDriver(provides []string) string {
	for _, text := range provides {
		a, _ := parseAddress(text)
		if there := because(others, a.name); there != "" {
			return there
		}
	}
	return "docs/PLUGINS.md shows how to write a driver"
}

// joined is the conflict of devices that are one here: power and bumper, digital and analogue channels.
const joined = "it is in another device"

// conflict returns why a block cannot have one more device; empty: it can.
func (b *block) conflict(d device) string {
	for _, other := range b.devices {
		if other.robot != d.robot {
			return "a driver serves one robot"
		}
		if other.name == d.name && has("misc io", d.name) {
			return joined
		}
		if other.name == d.name {
			return "there is one " + d.name
		}
	}
	return ""
}

// addLaser makes the scanner of a ranger a laser as well, if the robot has no such laser: the programs and pages that know
// lasers only then have it, as before rangers were devices.
func (c *converter) addLaser(b *block) {
	if !b.ranges {
		return
	}
	for _, d := range b.devices {
		d.name = "laser"
		if !c.taken(d) && b.conflict(d) == "" {
			b.devices = append(b.devices, d)
			b.note(d.String() + " has the same readings, for programs that know no rangers")
		}
	}
}

// showHidden gives devices with letters index 0, which clients of 0.7.4a see, if no other device has it: the driver in
// front of it in Player has no counterpart. A simulated robot may have index 0, so the device keeps its index then.
func (c *converter) showHidden(b *block) {
	for i, d := range b.devices {
		first := d
		first.index = 0
		if first == d || c.simulates() || has(unlettered, d.name) {
			continue
		}
		if c.taken(first) {
			if d.name == "position" {
				b.note(`clients see index 0 only: "6666:` + d.name + `:0" is for clients of port 6666`)
			}
			continue
		}
		b.devices[i] = first
		b.note(first.String() + " was " + d.String() + ": clients of 0.7.4a see index 0 only")
	}
}
