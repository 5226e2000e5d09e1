package devices

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// Kind is the declaration of a driver: its name, devices, limits and options, and the function that
// makes one. The program lists its kinds in one place. The reference in docs/CONFIG.md and the output of
// player list are generated from them.
type Kind struct {
	Name string // as in driver ( name "p2os" )
	Doc  string // one line, without a full stop

	// Provides are the devices that it can provide; nil: the devices that its block names. A device that is Hidden here is
	// there only if the block names it.
	Provides []Spec
	// Requires are the interfaces of which it needs one device each from other drivers. Accepts are
	// the interfaces of which it uses any number of devices.
	Requires, Accepts []Spec
	// Several: a flag of its name gives it also those devices of Accepts with an index above 0 of which Device.IsPlaced
	// is true. The device of index 0 it gets in any case.
	Several bool
	// AlwaysOn runs the driver from the server's start, even if its block does not say so: it is
	// useful without subscribers.
	AlwaysOn bool

	// Simulated: its devices move nothing real.
	Simulated bool

	// Probe recognises the hardware for player find; nil: the hardware cannot be found. The first
	// SerialPort of Options is set to the line on which it was found.
	Probe *Probe

	// SetupLimit is the longest that a Setup may take; zero: 10 s.
	SetupLimit time.Duration
	Options    []Option

	// New makes a driver. It does not touch hardware: Setup does.
	New func(a Args) (Driver, error)
	// NewAll is set instead of New if the devices depend on the options, or if there is a driver for
	// each of several robots.
	NewAll func(a Args) ([]Instance, error)
}

// Instance is a driver and its devices, ready for Table.Attach. A field that NewAll leaves empty gets
// the value that the Kind declares.
type Instance struct {
	Driver     Driver
	Name       string // for logs
	Provides   []Spec
	SetupLimit time.Duration
	// Port is the TCP port of its robot. Zero: the port of its block, plus one for each driver
	// that the block has made before.
	Port int
}

// Instance returns an instance of d with the declarations of the kind.
func (k Kind) Instance(d Driver) Instance {
	return Instance{Driver: d, Name: k.Name, Provides: k.Provides, SetupLimit: k.SetupLimit}
}

// Select gives the first device of an interface the index of the first one of that interface in names, the second device
// the index of the second one, and so on. It hides the devices for which names has none.
func (i *Instance) Select(names []Spec) {
	i.Provides, names = slices.Clone(i.Provides), slices.Clone(names)
	for n := range i.Provides {
		spec := &i.Provides[n]
		spec.Index = Hidden
		if m := slices.IndexFunc(names, func(s Spec) bool { return s.Letter == spec.Letter }); m >= 0 {
			spec.Index = names[m].Index
			names = slices.Delete(names, m, m+1)
		}
	}
}

// Make makes the drivers of a block, with all fields set but Port.
func (k Kind) Make(a Args) ([]Instance, error) {
	var made []Instance
	var err error
	if k.NewAll != nil {
		made, err = k.NewAll(a)
	} else {
		made = make([]Instance, 1)
		made[0].Driver, err = k.New(a)
	}
	for i := range made {
		m := &made[i]
		m.Name = cmp.Or(m.Name, a.Name)
		m.SetupLimit = cmp.Or(m.SetupLimit, k.SetupLimit)
		if m.Provides == nil {
			m.Provides = k.Provides
		}
		if m.Provides == nil {
			m.Provides = a.Provides
		}
	}
	return made, err
}

// Option is one field of a driver's block.
type Option struct {
	Name string
	// Default also sets the type: string, Path, SerialPort, int, float64, bool,
	// []string or []float64.
	Default any
	// Min and Max bound an int or a float64; both zero: no bounds.
	Min, Max float64
	Unit     string // "Hz"; empty: it has none
	Doc      string // one line, without a full stop
	Required bool   // the block must set it
}

// Path is the default of an option that names a file. A path in a configuration
// file is relative to the directory of that file.
type Path string

// Args is the content of a driver's block, checked against its Kind.
type Args struct {
	Name     string         // of the driver, for logs
	Provides []Spec         // the devices that the block names; nil: it names none
	Requires []*Device      // one for each of Kind.Requires in that order, then of Kind.Accepts
	Log      *zap.Logger    // for warnings about files that the block names
	Values   map[string]any // of all options, as Option.Default but with string for Path and SerialPort
	// Place returns where the i-th value of an option is, as robot.cfg:12, or where the block is, if it does not have it.
	// nil: the block is in no file.
	Place func(option string, i int) string
}

// PlaceOf is Place, and empty where that is nil.
func (a Args) PlaceOf(option string, i int) string {
	if a.Place == nil {
		return ""
	}
	return a.Place(option, i)
}

// The getters panic when the driver has not declared the option with that type.
func (a Args) String(option string) string    { return value[string](a, option) }
func (a Args) Int(option string) int          { return value[int](a, option) }
func (a Args) Float(option string) float64    { return value[float64](a, option) }
func (a Args) Bool(option string) bool        { return value[bool](a, option) }
func (a Args) Strings(option string) []string { return value[[]string](a, option) }
func (a Args) Floats(option string) []float64 { return value[[]float64](a, option) }

func value[T any](a Args, option string) T {
	v, ok := a.Values[option].(T)
	if !ok {
		panic(fmt.Sprintf("driver %s reads option %q as %T, which it does not declare", a.Name, option, v))
	}
	return v
}

// Defaults returns the values of an empty block.
func (k Kind) Defaults() map[string]any {
	values := map[string]any{}
	for _, o := range k.Options {
		switch path := o.Default.(type) {
		case Path:
			values[o.Name] = string(path)
		case SerialPort:
			values[o.Name] = string(path)
		default:
			values[o.Name] = o.Default
		}
	}
	return values
}

// Interfaces returns all interfaces: of manual table 6, joystick, and the ones without letters.
func Interfaces() []Spec {
	return []Spec{Misc(), Gripper(), Position(), Sonar(), Laser(), Vision(), PTZ(), Joystick(), Ranger(), IMU(), GPS(), IO(), Servo(), Goto()}
}

// Lettered returns the interfaces whose device 0 has a letter in the protocol.
func Lettered() []Spec {
	return slices.DeleteFunc(Interfaces(), func(s Spec) bool { return !codec.OnWire(s.Letter) })
}

// Joystick returns the spec of PROTOCOL 7.8.
func Joystick() Spec {
	return Spec{Letter: codec.Joystick, Name: "joystick", DataSize: codec.JoystickSize}
}
