package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"player/devices"
	"player/formats/syntax"
)

// block is one driver ( ... ) of a file, checked against its kind.
type block struct {
	section  *syntax.Section
	kind     devices.Kind
	name     string
	provides []address // nil: all that the driver provides
	requires []address
	where    map[string]syntax.Pos // of the addresses, by text
	alwaysOn bool
	control  string // newest or first: the clients whose commands count
	geometry devices.Geometry
	values   map[string]any
}

// readBlock reads a driver's section. The file keeps errors about values of a wrong type;
// others are returned. A Broken section has no block, and its missing values are not
// reported: they may be in the unreadable part.
func (b *builder) readBlock(s *syntax.Section) (*block, error) {
	name := s.String("name", "")
	kind, ok := b.kindOf(s, name)
	if !ok {
		for _, f := range s.Fields { // one error is enough: mark them as used
			s.Field(f.Name)
		}
		if s.Field("name") == nil && s.Broken {
			return nil, nil
		}
		if s.Field("name") == nil {
			return nil, s.Errorf("", `a driver needs its name, as in name "p2os"`)
		}
		if name == "deadman" {
			return nil, s.Errorf("name", "deadman is no driver any more: remove this block, let the driver behind it provide position:0, and start with -deadman MS")
		}
		return nil, s.Errorf("name", "unknown driver %.40q%s", name, syntax.Suggest(name, kindNames(b.Kinds)))
	}
	d := &block{section: s, kind: kind, name: name, where: map[string]syntax.Pos{}, values: map[string]any{}}
	if name == "" {
		d.name = kind.Name
	}
	d.geometry = readGeometry(s)
	// All fields are read before an error is returned: an unread field is another error.
	d.alwaysOn = s.Bool("alwayson", false) || kind.AlwaysOn
	d.control = s.String("control", controlNewest)
	var wrong error
	if d.control != controlNewest && d.control != controlFirst {
		wrong = s.Errorf("control", `control is "newest" or "first", not %.40q`, d.control)
	}
	for _, o := range kind.Options {
		v, err := b.readOption(s, o, kind.Name)
		d.values[o.Name] = v
		wrong = errors.Join(wrong, err)
	}
	var errProvides, errRequires error
	d.provides, errProvides = b.addresses(d, "provides")
	d.requires, errRequires = b.addresses(d, "requires")
	if wrong = errors.Join(wrong, errProvides, errRequires); wrong != nil || s.Broken {
		return nil, wrong
	}
	return d, d.checkAddresses(b.Port)
}

// readGeometry reads pose [x y heading] and size [length width].
func readGeometry(s *syntax.Section) devices.Geometry {
	g, size := readPose(s), s.Lengths("size", 0, 0)
	g.Length, g.Width = size[0]*mm, size[1]*mm
	return g
}

const mm, deg = 1000, 180 / math.Pi // of the units that package syntax returns

// readPose reads pose [x y heading].
func readPose(s *syntax.Section) devices.Geometry {
	pose := s.Tuple("pose", "lla", 0, 0, 0)
	return devices.Geometry{X: pose[0] * mm, Y: pose[1] * mm, Heading: pose[2] * deg}
}

// kindOf finds the kind of a section. A section with the field plugin is of kind
// plugin, whatever its name.
func (b *builder) kindOf(s *syntax.Section, name string) (devices.Kind, bool) {
	if slices.ContainsFunc(s.Fields, func(f *syntax.Field) bool { return f.Name == pluginKind }) {
		name = pluginKind
	}
	i := slices.IndexFunc(b.Kinds, func(k devices.Kind) bool { return k.Name == name })
	if i < 0 {
		return devices.Kind{}, false
	}
	return b.Kinds[i], true
}

// Which client's commands to position count (session.Control).
const (
	controlNewest = "newest"
	controlFirst  = "first"
)

// pluginKind is the name of the kind whose driver is a program, and of the field with the
// program's name.
const pluginKind = "plugin"

func kindNames(kinds []devices.Kind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	return names
}

// readOption reads the field of one option. A flag overrides it.
func (b *builder) readOption(s *syntax.Section, o devices.Option, kind string) (any, error) {
	var v any
	switch def := o.Default.(type) {
	case string:
		v = s.String(o.Name, def)
	case devices.Path:
		v = s.Path(o.Name, string(def))
	case devices.SerialPort:
		v = s.String(o.Name, string(def))
	case int:
		v = s.Int(o.Name, def)
	case float64:
		v = s.Float(o.Name, def)
	case bool:
		v = s.Bool(o.Name, def)
	case []string:
		v = s.Strings(o.Name, def...)
	case []float64:
		v = s.Floats(o.Name, def...)
	default:
		panic(fmt.Sprintf("option %s of driver %s has a default of type %T", o.Name, kind, def))
	}
	errorf := func(format string, args ...any) error { return s.Errorf(o.Name, format, args...) }
	given := isGiven(s.Field(o.Name))
	for _, f := range b.Overrides {
		if f.Driver == kind && f.Option == o.Name {
			v, given, b.used[f.Flag] = f.Value, true, true
			errorf = func(format string, args ...any) error { return fmt.Errorf(f.Flag+": "+format, args...) }
		}
	}
	if _, ok := o.Default.(devices.SerialPort); ok {
		where, err := devices.SerialPort(v.(string)).Locate()
		if err != nil {
			return v, errorf("%w", err)
		}
		v = where
	}
	if o.Required && !given && !s.Broken {
		return v, errorf("%s needs %s: %s", kind, o.Name, o.Doc)
	}
	n, isNumber := number(v)
	if isNumber && (o.Min != 0 || o.Max != 0) && (n < o.Min || n > o.Max) {
		return v, errorf("%s is %v to %v%s, not %v", o.Name, o.Min, o.Max, unit(o), v)
	}
	return v, nil
}

// isGiven reports whether a field gives a required option. "" does not: it would
// fail only when the driver starts.
func isGiven(f *syntax.Field) bool {
	return f != nil && (f.Tuple || f.Values[0].Text != "")
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func unit(o devices.Option) string {
	if o.Unit == "" {
		return ""
	}
	return " " + o.Unit
}

// addresses reads the field provides or requires; nil when there is none, and
// never empty otherwise.
func (b *builder) addresses(d *block, field string) ([]address, error) {
	texts := d.section.Strings(field)
	if texts == nil {
		return nil, nil
	}
	if len(texts) == 0 {
		return nil, d.section.Errorf(field, "%s is empty: list devices or omit it", field)
	}
	values := d.section.Field(field).Values
	found := make([]address, 0, len(texts))
	var wrong error
	for i, text := range texts {
		a, err := parseAddress(text, b.Port)
		if err == nil && slices.ContainsFunc(found, a.same) {
			err = fmt.Errorf("%s is listed twice in %s", a.short(b.Port), field)
		}
		if err != nil {
			wrong = errors.Join(wrong, d.errorf(values[i].Pos, "%w", err))
			continue
		}
		d.where[field+a.String()] = values[i].Pos
		found = append(found, a)
	}
	return found, wrong
}

// checkAddresses checks the addresses against the interfaces that the kind provides and
// requires, and sorts the required addresses in the kind's sequence. A block without
// requires gets the interfaces in the kind's list, on the block's robot.
func (d *block) checkAddresses(port int) error {
	if d.kind.Provides == nil && d.provides == nil {
		return d.section.Errorf("", `%s needs the devices that it provides, as in provides ["laser:0"]`, d.name)
	}
	for i, a := range d.provides {
		if d.kind.Provides != nil && !hasLetter(d.kind.Provides, a.spec.Letter) {
			return d.errorf(d.pos("provides", a), "%s cannot provide %s%s", d.name, a.spec.Name, whatIs(d.kind.Provides))
		}
		if most := count(d.kind.Provides, a.spec.Letter); d.kind.Provides != nil && d.kind.NewAll == nil && d.named(i) > most {
			return d.tooMany(a, most)
		}
		if a.port != d.provides[0].port {
			return d.errorf(d.pos("provides", a), "one driver provides devices of one robot: write a block for each")
		}
	}
	if d.requires == nil && len(d.kind.Requires) > 0 {
		for _, need := range d.kind.Requires {
			d.requires = append(d.requires, address{d.port(port), need})
		}
	}
	for _, a := range d.requires {
		if !hasLetter(d.kind.Requires, a.spec.Letter) && !hasLetter(d.kind.Accepts, a.spec.Letter) {
			return d.errorf(d.pos("requires", a), "%s does not use %s%s", d.name, a.spec.Name, whatIs(slices.Concat(d.kind.Requires, d.kind.Accepts)))
		}
	}
	sorted := make([]address, 0, len(d.requires))
	for _, need := range d.kind.Requires {
		i := slices.IndexFunc(d.requires, func(a address) bool { return a.spec.Letter == need.Letter })
		if i < 0 {
			return d.section.Errorf("requires", "%s requires a %s", d.name, need.Name)
		}
		sorted = append(sorted, d.requires[i])
	}
	for _, a := range d.requires {
		if slices.ContainsFunc(sorted, a.same) {
			continue
		}
		if !hasLetter(d.kind.Accepts, a.spec.Letter) {
			return d.errorf(d.pos("requires", a), "%s requires only one %s", d.name, a.spec.Name)
		}
		sorted = append(sorted, a)
	}
	d.requires = sorted
	return nil
}

// named returns how many devices of the interface of the i-th one in provides the block names up to it.
func (d *block) named(i int) (n int) {
	for _, a := range d.provides[:i+1] {
		if a.spec.Letter == d.provides[i].spec.Letter {
			n++
		}
	}
	return n
}

// tooMany is the error of a block that names more devices of an interface than its driver has.
func (d *block) tooMany(a address, most int) error {
	if most == 1 {
		return d.errorf(d.pos("provides", a), "%s provides only one %s", d.name, a.spec.Name)
	}
	return d.errorf(d.pos("provides", a), "%s provides only %d devices %s", d.name, most, a.spec.Name)
}

// port returns the robot of the block: the robot with the devices that it provides or
// requires, otherwise usual.
func (d *block) port(usual int) int {
	for _, devices := range [][]address{d.provides, d.requires} {
		if len(devices) > 0 {
			return devices[0].port
		}
	}
	return usual
}

func (d *block) errorf(pos syntax.Pos, format string, args ...any) error {
	return d.section.File().Errorf(pos, format, args...)
}

// pos returns the place of an address in a field of the block, or the block's
// place if the field does not list it.
func (d *block) pos(field string, a address) syntax.Pos {
	if pos, ok := d.where[field+a.String()]; ok {
		return pos
	}
	return d.section.Pos
}

func hasLetter(specs []devices.Spec, letter byte) bool { return count(specs, letter) > 0 }

// count returns how many of the devices are of an interface.
func count(specs []devices.Spec, letter byte) (n int) {
	for _, s := range specs {
		if s.Letter == letter {
			n++
		}
	}
	return n
}

// whatIs ends an error about an unsuitable interface: it lists the suitable ones.
func whatIs(specs []devices.Spec) string {
	if len(specs) == 0 {
		return ", nor anything else"
	}
	return ", only " + strings.Join(interfaceNames(specs), ", ")
}

// placeOf is devices.Args.Place.
func (d *block) placeOf(option string, i int) string {
	f := d.section.Field(option)
	if f == nil || i >= len(f.Values) {
		return d.section.Pos.Place()
	}
	return f.Values[i].Pos.Place()
}
