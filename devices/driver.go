// Package devices is the state table of the robot: the newest data and the newest
// command of every device, and the driver behind it. It knows neither clients'
// connections nor descriptors; both reach it through the small interfaces
// Subscriber and Host.
//
// Words: a Device is one wire letter. A Driver is code for one piece of hardware.
// A Link is a driver with its devices: it starts the driver with the first
// subscription to any of them and stops it with the last.
package devices

import (
	"syscall"
	"time"

	"player/codec"
)

// Driver is the code for one piece of hardware, real, simulated or virtual.
// All methods are called on the one thread of the server and must return at once:
// whatever takes time is a state machine over Tick and the ports. The other interfaces of a
// driver in this file are optional; Link.SetDriver looks up which of them it has. docs/DRIVERS.md has a complete driver.
type Driver interface {
	// Setup starts the hardware. It ends, then or later, with link.Ready or
	// link.Fail; when Kind.SetupLimit has passed, the link fails it. The driver
	// keeps link for its other calls.
	Setup(now time.Duration, link *Link)

	// Shutdown stops the hardware, motors first. It ends, then or later, with
	// link.Stopped. It may come while Setup is still under way.
	Shutdown(now time.Duration)
}

// Commanded is a driver whose devices take commands. Commands to other drivers
// are accepted and have no effect.
type Commanded interface {
	// Command is called when d has a new command: d.Command. The driver may take
	// it now or when the hardware is ready for it; a newer one overwrites it.
	Command(now time.Duration, d *Device)
}

// Configurer is a driver that takes configuration requests (manual 3.6).
// Requests to other drivers are refused.
type Configurer interface {
	// Configure carries out one request that was addressed to d; payload is code
	// and arguments, valid during the call. It is only called while the link is
	// ready. The error goes to the log.
	Configure(now time.Duration, d *Device, payload []byte) error
}

// Surveyed is a driver that knows more of the geometry of its devices than the
// configuration declares.
type Surveyed interface {
	// AppendParts appends the parts of d, as the driver knows them now, in the frame
	// of what the driver controls: a robot, or a sensor that stands at the origin.
	AppendParts(dst []codec.Part, d *Device) []codec.Part
}

// Motored is a driver that knows whether the motors of its robot have power.
type Motored interface {
	// MotorsOff reports whether the motors are off: then the robot obeys no command to
	// position. It is only called while the link is ready.
	MotorsOff(now time.Duration) bool
}

// Charged is a driver that knows what the charger of its robot does.
type Charged interface {
	// Charge returns it in a word of PROTOCOL 8.9.4, or an empty text: not known. It is
	// only called while the link is ready.
	Charge() string
}

// Polled is a driver that asks its hardware for data, no faster than clients read them.
type Polled interface {
	// Wanted is called when the newest data of d are read for the first time, also
	// within the making of a frame: all it may do is set a deadline.
	Wanted(d *Device)
}

// Ticker is a driver that sets deadlines with Link.WakeAt.
type Ticker interface {
	// Tick is called at the deadline that Link.WakeAt or the last Tick set. It
	// returns the next deadline, zero for none.
	Tick(now time.Duration) time.Duration
}

// Stepper is a driver that may wait for its clients: a simulation whose time goes on
// when they have asked for its data.
type Stepper interface {
	// InStep reports whether it does. It never changes.
	InStep() bool
	// Asked is called, while the link is ready, when one of Link.AppendWaiters has asked
	// for data, has come or has gone.
	Asked(now time.Duration)
}

// Recorder is a driver that records. It has no device, so it reports its own state.
type Recorder interface {
	Recording() Recording
}

// Recording is what a Recorder does.
type Recording struct {
	File     string    // path of the log
	On       bool      // it records
	Manual   bool      // a client starts and stops it
	Err      error     // why it has failed, and records nothing more; nil: it has not
	Since    time.Time // of this recording, or the last one; zero: there was none
	Messages int       // of it
	Bytes    int64     // of their payloads
	Lost     int       // messages of it that the disk was too slow for
}

// Sourced is a driver that was made from files that its block names, such as a world.
type Sourced interface {
	// Source returns a digest of these files as they were. A reload of the configuration
	// restarts the driver if it has changed.
	Source() string
}

// Spec describes one device.
type Spec struct {
	Letter      byte
	Name        string // of the interface, manual table 6
	DataSize    int    // largest data payload in bytes
	CommandSize int    // size of a command in bytes; zero: takes none
	// Stop is the command given when the client that gave the newest one leaves
	// (PROTOCOL 5.4); empty: the device keeps its command.
	Stop string
	// Index distinguishes devices of one interface. Clients see index 0. Other
	// drivers can require any index but Hidden.
	Index int
}

// At returns the spec with another index.
func (s Spec) At(index int) Spec {
	s.Index = index
	return s
}

// The devices of manual tables 3 to 7.
func Laser() Spec { return Spec{Letter: codec.Laser, Name: "laser", DataSize: codec.LaserSize} }
func Sonar() Spec { return Spec{Letter: codec.Sonar, Name: "sonar", DataSize: codec.SonarSize} }
func Misc() Spec  { return Spec{Letter: codec.Misc, Name: "misc", DataSize: codec.MiscSize} }
func Position() Spec {
	return Spec{Letter: codec.Position, Name: "position", DataSize: codec.PositionSize,
		CommandSize: codec.PositionCommandSize, Stop: "\x00\x00\x00\x00"}
}
func Gripper() Spec {
	return Spec{Letter: codec.Gripper, Name: "gripper", DataSize: codec.GripperSize, CommandSize: codec.GripperCommandSize}
}
func Vision() Spec { return Spec{Letter: codec.Vision, Name: "vision", DataSize: codec.MaxVisionSize} }
func PTZ() Spec {
	return Spec{Letter: codec.PTZ, Name: "ptz", DataSize: codec.PTZSize, CommandSize: codec.PTZCommandSize}
}

// Geometry is a device's place on the robot and its size, as the configuration
// declares it.
type Geometry struct {
	X, Y    float64 // mm forward and to the left of the robot's centre of rotation
	Heading float64 // deg, counterclockwise

	Length, Width float64 // mm
}

// Host is the outside world as drivers see it; the reactor provides it.
type Host interface {
	// WakeAt has l.Wake called at the absolute deadline at; the deadline that Wake
	// returns is the next, zero for none. A later WakeAt for the same link replaces
	// the deadline; at zero cancels it.
	WakeAt(l *Link, at time.Duration)

	// OpenSerial opens a serial line, raw 8N1, exclusively. An adapter may take its time or
	// never answer, so opened is called when the line is open or cannot be opened, later or
	// within the call, unless the link has stopped or begun anew by then. The error names the
	// port and the remedy.
	OpenSerial(path string, baud int, h PortHandler, opened func(now time.Duration, l Line, err error))

	// Identify finds out which hardware answers on a serial line that is not open, by
	// the Probes of all Kinds, and calls done within some seconds. The zero Finding means
	// that no Kind knows the hardware. OpenSerial ends the search, and waits until it has
	// ended; then done is not called.
	Identify(path string, done func(now time.Duration, f Finding))

	// OpenInput opens a device that is only read, such as /dev/input/js0, or a FIFO. opened
	// is called as for OpenSerial.
	OpenInput(path string, h PortHandler, opened func(now time.Duration, p Port, err error))

	// Dial begins a TCP connection to a numeric address. Bytes may be written
	// at once; they go out when it is established. A refusal is a Hangup.
	Dial(address string, h PortHandler) (Port, error)

	// StartProgram starts the program name of PATH in a process group of its own;
	// its output goes to our standard error. exited is called once, when it has
	// ended; err is nil for exit status 0.
	StartProgram(exited func(now time.Duration, err error), name string, args ...string) (Program, error)

	// StartPlugin starts a program with pipes, in a process group of its own, which
	// is killed when the program has ended. Its output goes to stdout and stderr.
	// The port is its standard input; closing the port is the end of that input.
	// exited is as for StartProgram; the last output may come after it.
	StartPlugin(stdout, stderr PortHandler, exited func(now time.Duration, err error), name string, args ...string) (Program, Port, error)
}

// Program is a program that was started.
type Program interface {
	// Signal sends a signal to the program's process group: to the program and to
	// what it has started. It has no effect once exited was called.
	Signal(s syscall.Signal)
}

// Port is an open descriptor in the loop.
type Port interface {
	// Write sends p whole; what the kernel does not take at once is sent later. p
	// may be reused.
	Write(p []byte)
	// LastWords hands over, in advance, bytes that stop the motors, in whole packets
	// that the hardware understands even in the middle of another packet. They are
	// written when the process dies, short of SIGKILL and of errors that end the Go
	// runtime, and when the driver has panicked. Close forgets them.
	LastWords(p []byte)
	// Buffered returns how many bytes the kernel has not taken yet.
	Buffered() int
	// Close closes the port. It ends the calls of its handler.
	Close()
}

// Line is a serial line. An adapter may take its time to carry out what follows, or never
// answer. Until it has answered nothing is received, and what is written waits. A line whose
// adapter does not answer hangs up.
type Line interface {
	Port
	// SetSpeed changes the speed in baud: bytes that have not left yet are sent at the new
	// speed. done is called afterwards, later or within the call, unless the line is closed
	// before.
	SetSpeed(baud int, done func(now time.Duration, err error))
	// SetModemLines asserts or releases DTR and RTS, if the line has them. At TTL level an
	// asserted line is low.
	SetModemLines(dtr, rts bool)
	// Discard drops what was received but not read.
	Discard()
}

// PortHandler handles the events of a port.
type PortHandler interface {
	// Receive brings bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
	// Hangup is called when the port was unplugged or closed by its peer, when its adapter
	// does not answer, and when the connection of Host.Dial could not be made (Unreachable). It is not called for
	// Port.Close.
	Hangup(now time.Duration, err error)
}
