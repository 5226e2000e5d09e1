package devices

import (
	"fmt"

	"go.uber.org/zap"

	"player/codec"
)

// Kind is what a driver package declares: what a configuration file may say of
// the driver, and how to make one. The program lists its kinds in one place;
// the reference of docs/CONFIG.md and the -list flag are generated from them.
type Kind struct {
	Name string // as in driver ( name "p2os" )
	Doc  string // one line, without a full stop

	// Provides are the interfaces that it can provide; nil: any.
	Provides []Spec
	// Requires are the interfaces that it needs of other drivers, one device
	// each. Accepts are those of which it takes any number, none too.
	Requires, Accepts []Spec
	// AlwaysOn runs the driver from the server's start, whatever the file
	// says: it is of use without a subscriber.
	AlwaysOn bool

	// Simulated says that its devices move nothing real.
	Simulated bool
	// Beside says that it has a goroutine that waits in system calls while the
	// loop goes on.
	Beside bool

	Options []Option

	// New makes a driver. It does not touch hardware: that waits for Setup.
	New func(a Args) (Driver, error)
	// NewAll stands in place of New for a kind that makes a driver for each of
	// several robots.
	NewAll func(a Args) ([]Placed, error)
}

// Placed is a driver of the robot on a TCP port. Port zero stands for the port
// of the block it comes from, or one port further for every driver before it.
type Placed struct {
	Driver Driver
	Port   int
}

// Option is one field of a driver's block.
type Option struct {
	Name string
	// Default says the type too: string, Path, int, float64, bool, []string or
	// []float64.
	Default any
	// Min and Max bound an int or a float64; both zero: no bounds.
	Min, Max float64
	Unit     string // "Hz"; empty: it has none
	Doc      string // one line, without a full stop
	Required bool   // the default is not good enough
}

// Path is the default of an option that names a file. What is given in a
// configuration file is relative to the directory of that file.
type Path string

// Args is what a driver's block says, checked against its Kind.
type Args struct {
	Name     string         // of the driver, for logs
	Provides []Spec         // what the block asks for; nil: everything
	Requires []*Device      // one for each of Kind.Requires in that order, then the accepted ones
	Log      *zap.Logger    // for warnings about what the block names, say a world file
	Values   map[string]any // of all options, as Option.Default but with string for Path
}

// The getters panic when the option was not declared with that type: it is the
// driver's own declaration.
func (a Args) String(option string) string    { return value[string](a, option) }
func (a Args) Int(option string) int          { return value[int](a, option) }
func (a Args) Float(option string) float64    { return value[float64](a, option) }
func (a Args) Bool(option string) bool        { return value[bool](a, option) }
func (a Args) Strings(option string) []string { return value[[]string](a, option) }

func value[T any](a Args, option string) T {
	v, ok := a.Values[option].(T)
	if !ok {
		panic(fmt.Sprintf("driver %s asks for option %q as %T, which its kind does not declare", a.Name, option, v))
	}
	return v
}

// Defaults returns the values of a block that says nothing.
func (k Kind) Defaults() map[string]any {
	values := map[string]any{}
	for _, o := range k.Options {
		if path, ok := o.Default.(Path); ok {
			values[o.Name] = string(path)
			continue
		}
		values[o.Name] = o.Default
	}
	return values
}

// Interfaces are all interfaces: those of manual table 6, and joystick.
func Interfaces() []Spec {
	return []Spec{Misc(), Gripper(), Position(), Sonar(), Laser(), Vision(), PTZ(), Joystick()}
}

// Joystick is the device of PROTOCOL 7.8.
func Joystick() Spec {
	return Spec{Letter: codec.Joystick, Name: "joystick", DataSize: codec.JoystickSize}
}
