// Package devices is the state table of the robot: the newest data and the newest
// command of every device, and the driver behind it. It knows neither clients'
// connections nor descriptors; both reach it through the small interfaces
// Subscriber and Host.
//
// Words: a Device is one byte on the wire. A Driver is code for one piece of hardware.
// A Link is a driver with its devices: it starts the driver with the first
// subscription to any of them and stops it with the last.
package devices

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"time"

	"player/codec"
)

// Driver is the code for one piece of hardware, real, simulated or virtual.
// All methods are called on the one thread of the server and must return at once: work that takes time
// is a state machine, driven by Tick and the ports. The other interfaces of a driver in this file are
// optional; Link.SetDriver finds out which of them it implements. docs/DRIVERS.md has a complete driver.
type Driver interface {
	// Setup starts the hardware. The driver calls link.Ready or link.Fail when that has ended,
	// within Setup or later. After Kind.SetupLimit the setup has failed. The driver keeps link
	// for its other calls.
	Setup(now time.Duration, link *Link)

	// Shutdown stops the hardware, motors first. The driver calls link.Stopped when that has
	// ended, within Shutdown or later. Shutdown may come before the setup has ended.
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
	// Configure carries out one request to d; payload is its code and arguments, valid during
	// the call. It is only called while the link is ready. The error is logged.
	Configure(now time.Duration, d *Device, payload []byte) error
}

// Surveyed is a driver that knows more of the geometry of its devices than the
// configuration declares.
type Surveyed interface {
	// AppendParts appends the parts of d, as the driver knows them now. The origin is the robot
	// or the sensor that the driver controls.
	AppendParts(dst []codec.Part, d *Device) []codec.Part
}

// Ranged is a driver that knows where the readings of its rangers look. Link derives it for lasers and sonars from their
// parts.
type Ranged interface {
	// AppendRays appends the rays of d, a ranger, as the driver knows them now, in the frame of AppendParts.
	AppendRays(dst []codec.Rays, d *Device) []codec.Rays
}

// Channelled is a driver that has inputs and outputs, or joints.
type Channelled interface {
	// AppendChannels appends a description for each channel of d, as the driver knows them now.
	AppendChannels(dst []codec.Channel, d *Device) []codec.Channel
}

// Colored is a driver that knows which colours the channels of its vision devices have.
type Colored interface {
	// AppendColors appends the colour of each channel of d for which the camera has been trained, as the driver knows
	// them now.
	AppendColors(dst []codec.ChannelColor, d *Device) []codec.ChannelColor
}

// Motored is a driver that knows whether the motors of its robot have power.
type Motored interface {
	// MotorsOff reports whether the motors are off: then the robot obeys no command to
	// position. It is only called while the link is ready.
	MotorsOff(now time.Duration) bool
}

// Charged is a driver that knows the state of its robot's charger.
type Charged interface {
	// Charge returns the charger's state in a word of PROTOCOL 8.9.4, empty if it is unknown. It
	// is only called while the link is ready.
	Charge() string
}

// Polled is a driver that asks its hardware for data, no faster than clients read them.
type Polled interface {
	// Wanted is called when the newest data of d is read for the first time. That may be while a
	// frame is made, so Wanted may only set a deadline.
	Wanted(d *Device)
}

// Ticker is a driver that sets deadlines with Link.WakeAt.
type Ticker interface {
	// Tick is called at the deadline that Link.WakeAt or the last Tick has set. It returns the
	// next deadline, zero for none.
	Tick(now time.Duration) time.Duration
}

// Stepper is a driver that may wait for its clients: a simulation whose time goes on only when they
// have asked for its data.
type Stepper interface {
	// InStep reports whether the driver waits for its clients. The answer never changes.
	InStep() bool
	// Asked is called while the link is ready, when a client of Link.AppendWaiters has asked for
	// data, and when one was added or removed.
	Asked(now time.Duration)
}

// Recorder is a driver that records. It has no device, so it reports its own state.
type Recorder interface {
	Recording() Recording
}

// Recording is the state of a Recorder.
type Recording struct {
	File     string    // path of the log
	On       bool      // it records
	Manual   bool      // a client starts and stops it
	Err      error     // why it has failed, and records nothing more; nil: it has not
	Since    time.Time // when this recording, or the last one, has begun; zero: there was none
	Messages int       // messages of this recording
	Bytes    int64     // bytes of their payloads
	Lost     int       // messages that are missing, because the disk was too slow
}

// Sourced is a driver that was made from files that its block names, such as a world.
type Sourced interface {
	// Source returns a digest of the files at the time when they were read. A reload of the
	// configuration restarts the driver if the digest is another one now.
	Source() string
}

// Spec describes one device.
type Spec struct {
	Letter      byte   // of the interface; a capital letter is never on the wire (codec.Ranger)
	Name        string // of the interface, manual table 6
	DataSize    int    // largest data payload in bytes
	CommandSize int    // size of a command in bytes; zero: takes none
	// Stop is the command that the server gives when the client that gave the newest command is
	// lost (PROTOCOL 5.4); empty: the device keeps its command.
	Stop string
	// Wheels: a command moves the wheels of the robot. The client that gives one is the commander (PROTOCOL 8.6).
	Wheels bool
	// ByPart: a command is for the part of the device that its first byte names. It overwrites only commands to that part.
	ByPart bool
	// Index distinguishes devices of one interface. Drivers can require any index but Hidden.
	Index int
	// Front: clients see the device with index 0 only. Those with other indices are behind virtual devices, which
	// clients must not pass by.
	Front bool
}

// Address returns the name of the device on its robot, as laser:1.
func (s Spec) Address() string { return fmt.Sprintf("%s:%d", s.Name, s.Index) }

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
		CommandSize: codec.PositionCommandSize, Stop: "\x00\x00\x00\x00", Wheels: true, Front: true}
}
func Gripper() Spec {
	return Spec{Letter: codec.Gripper, Name: "gripper", DataSize: codec.GripperSize, CommandSize: codec.GripperCommandSize}
}
func Vision() Spec { return Spec{Letter: codec.Vision, Name: "vision", DataSize: codec.MaxVisionSize} }
func PTZ() Spec {
	return Spec{Letter: codec.PTZ, Name: "ptz", DataSize: codec.PTZSize, CommandSize: codec.PTZCommandSize}
}

// The devices of PROTOCOL 7.9 to 7.14.
func Ranger() Spec { return Spec{Letter: codec.Ranger, Name: "ranger", DataSize: codec.MaxRangerSize} }
func IMU() Spec    { return Spec{Letter: codec.IMU, Name: "imu", DataSize: codec.IMUSize} }
func GPS() Spec    { return Spec{Letter: codec.GPS, Name: "gps", DataSize: codec.GPSSize} }
func IO() Spec {
	return Spec{Letter: codec.IO, Name: "io", DataSize: codec.MaxIOSize, CommandSize: codec.IOCommandSize, ByPart: true}
}
func Servo() Spec {
	return Spec{Letter: codec.Servo, Name: "servo", DataSize: codec.MaxServoSize, CommandSize: codec.ServoCommandSize,
		Stop: "\xff\x80\x00\x00\x00\x00\x00\x00\x00", ByPart: true}
}

func Goto() Spec {
	return Spec{Letter: codec.Goto, Name: "goto", DataSize: codec.GotoSize, CommandSize: codec.GotoCommandSize,
		Stop: "\x80" + strings.Repeat("\x00", codec.GotoCommandSize-1), Wheels: true}
}

// Geometry is a device's place on the robot and its size, as the configuration
// declares it.
type Geometry struct {
	X, Y    float64 // mm forward and to the left of the robot's centre of rotation
	Heading float64 // deg, counterclockwise

	Length, Width float64 // mm
}

// place returns where on the robot a place on the sensor is.
func (g Geometry) place(x, y, heading float64) (onX, onY, turned float64) {
	sin, cos := math.Sincos(g.Heading * math.Pi / 180)
	return g.X + cos*x - sin*y, g.Y + sin*x + cos*y, math.Remainder(g.Heading+heading, 360)
}

// Host opens ports and starts programs for drivers. Package server/host implements it.
type Host interface {
	// WakeAt has l.Wake called at the absolute deadline at; the deadline that Wake
	// returns is the next, zero for none. A later WakeAt for the same link replaces
	// the deadline; at zero cancels it.
	WakeAt(l *Link, at time.Duration)

	// OpenSerial opens a serial line, raw 8N1, exclusively. It calls opened when the line is open
	// or cannot be opened: within the call, or later, because an adapter may take its time or
	// never answer. If the link has stopped or begun anew by then, opened is not called. The
	// error names the port and the remedy.
	OpenSerial(path string, baud int, h PortHandler, opened func(now time.Duration, l Line, err error))

	// Identify finds out which hardware answers on a serial line that is not open, by the Probes
	// of all Kinds. It calls done after some seconds. The zero Finding means that no Kind knows
	// the hardware. OpenSerial on the same path ends the search first; then done is not called.
	Identify(path string, done func(now time.Duration, f Finding))

	// OpenInput opens a device that is only read, such as /dev/input/js0, or a FIFO. opened
	// is called as for OpenSerial.
	OpenInput(path string, h PortHandler, opened func(now time.Duration, p Port, err error))

	// Dial begins a TCP connection to a numeric address. Bytes may be written at once; they are
	// sent when the connection is made. If it cannot be made, Hangup is called.
	Dial(address string, h PortHandler) (Port, error)

	// StartProgram starts the program name of PATH in a process group of its own;
	// its output goes to our standard error. exited is called once, when it has
	// ended; err is nil for exit status 0.
	StartProgram(exited func(now time.Duration, err error), name string, args ...string) (Program, error)

	// StartPlugin starts a program with pipes, in a process group of its own, which
	// is killed when the program has ended. Its output goes to stdout and stderr.
	// The port is its standard input; closing the port is the end of that input.
	// exited is as for StartProgram. It is called after stdout.Hangup, or 0.1 s after the end if another
	// process keeps that pipe open. The last of stderr may come after it.
	StartPlugin(stdout, stderr PortHandler, exited func(now time.Duration, err error), name string, args ...string) (Program, Port, error)
}

// Program is a program that was started.
type Program interface {
	// Signal sends a signal to the program's process group: the program and its children. It has
	// no effect once exited was called.
	Signal(s syscall.Signal)
}

// Port is an open descriptor in the loop.
type Port interface {
	// Write sends all of p. Bytes that the kernel does not take at once are sent later. p may be
	// reused.
	Write(p []byte)
	// LastWords hands over, in advance, bytes that stop the motors: whole packets that the
	// hardware understands even in the middle of another packet. They are written when the
	// driver has panicked and when the process dies. After SIGKILL, and after errors that end
	// the Go runtime, only the guard can write them. Close forgets them.
	LastWords(p []byte)
	// Buffered returns how many bytes the kernel has not taken yet.
	Buffered() int
	// Close closes the port. It ends the calls of its handler.
	Close()
}

// Line is a serial line. Its adapter may take its time to carry out these methods, or never answer.
// Until it has answered, nothing is received, and bytes that are written wait. If it does not answer,
// Hangup is called.
type Line interface {
	Port
	// SetSpeed changes the speed in baud: bytes that were not sent yet are sent at the new speed.
	// done is called afterwards, within the call or later, unless the line is closed before.
	SetSpeed(baud int, done func(now time.Duration, err error))
	// SetModemLines asserts or releases DTR and RTS, if the line has them. At TTL level an
	// asserted line is low.
	SetModemLines(dtr, rts bool)
	// Discard drops the bytes that were received but not read.
	Discard()
}

// PortHandler handles the events of a port.
type PortHandler interface {
	// Receive brings bytes as they came; p is valid during the call.
	Receive(now time.Duration, p []byte)
	// Hangup is called when the port was unplugged or closed by its peer, when its adapter does
	// not answer, and when the connection of Host.Dial could not be made (Unreachable). It is not
	// called after Port.Close.
	Hangup(now time.Duration, err error)
}
