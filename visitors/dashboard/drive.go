package dashboard

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
	"player/visitors"
)

// deadMan is how long a robot keeps driving without a command from the page, which
// repeats it ten times a second. With less, a short disturbance of a wireless network would
// stop the robot; with more, the robot of a page that hangs would drive more than half a
// metre at full speed.
const deadMan = 400 * time.Millisecond

// goalSilence is how long a goal is good without its repetition. It is longer than deadMan, because the goto device avoids
// obstacles by itself, and a goal that has lapsed is not taken up again: a disturbance of the network would end it.
const goalSilence = 2 * time.Second

// driveCommand is a command of a page to the robot that it drives: one of these.
type driveCommand struct {
	Drive  *[2]int   `json:"drive"`  // mm/s forward, deg/s counterclockwise
	Take   bool      `json:"take"`   // Drive 0, 0 stops the robot even if another client drives it
	Look   *[3]int   `json:"look"`   // pan, tilt in deg, zoom (PROTOCOL 5.1)
	Grip   *[2]uint8 `json:"grip"`   // gripper command and argument (PROTOCOL 5.1)
	Motors *bool     `json:"motors"` // power of the motors
	Reset  bool      `json:"reset"`  // of the odometry

	// Device is the name of a device without a letter that gets Look, Grip or one of these, for example servo:0.
	Device string       `json:"device"`
	Output *outputValue `json:"output"` // of an io device
	Joint  *jointTarget `json:"joint"`  // of a servo device
	Power  *bool        `json:"power"`  // of all joints
	Goal   *place       `json:"goal"`   // of a goto device: the page repeats it
}

// outputValue sets an output.
type outputValue struct {
	Number uint8 `json:"number"`
	Value  int32 `json:"value"` // in the unit of the output
}

// jointTarget moves a joint. Without a goal it stops where it is, and all joints without a number.
type jointTarget struct {
	Number *uint8 `json:"number"`
	Goal   *int32 `json:"goal"` // in the unit of the joint
}

// place is a goal in the frame of the odometry. Without X and Y the device gives up its goal.
type place struct {
	X     *int32 `json:"x"`     // mm
	Y     *int32 `json:"y"`     // mm
	Tag   uint16 `json:"tag"`   // by which the page knows its goal in the data
	Speed uint16 `json:"speed"` // the highest, mm/s; 0: the device's own
	Turn  uint16 `json:"turn"`  // the highest turn rate, deg/s; 0: the device's own
}

// command returns the command to the device.
func (p place) command() codec.GotoCommand {
	if p.X == nil || p.Y == nil {
		return codec.StopGoto()
	}
	return codec.GotoCommand{X: *p.X, Y: *p.Y, Heading: codec.AnyHeading, Speed: p.Speed, TurnRate: p.Turn, Tag: p.Tag}
}

func (c driveCommand) needs() rights.Set {
	if c.Motors != nil || c.Reset || c.Power != nil {
		return rights.Write | rights.Config
	}
	return rights.Write
}

// driveReport is sent to the dashboard when it changes.
type driveReport struct {
	Held  string `json:"held"`            // letters of the devices that the dashboard has write access to
	Error string `json:"error,omitempty"` // for people: of the last command that failed, or why the robot stopped
}

type driver struct {
	socket                  *socket
	wheels, camera, gripper *visitors.Commands
	named                   map[string]*visitors.Commands // to devices without letters
	mu                      sync.Mutex
	granted                 string // driveReport.Held
}

// maxNamed is how many devices without letters a page may command: each takes a connection to the robot.
const maxNamed = 16

// drive serves one drive socket. When it ends, the commands to each device end their Player
// connection, and the robot's server stops the wheels.
func (s *server) drive(sock *socket) error {
	d := &driver{socket: sock, named: map[string]*visitors.Commands{}}
	d.wheels = visitors.NewCommands(codec.Position, "wheels", deadMan, sock.dial, d.result(codec.Position))
	d.camera = visitors.NewCommands(codec.PTZ, "camera", 0, sock.dial, d.result(codec.PTZ))
	d.gripper = visitors.NewCommands(codec.Gripper, "gripper", 0, sock.dial, d.result(codec.Gripper))
	return converse(sock, d.take, d.wheels.Run, d.camera.Run, d.gripper.Run, sock.write(nil)) // there is no data
}

// take passes a command on and does not block. Configuration of the
// microcontroller has no effect while none of its devices is open (PROTOCOL 6.6):
// it goes to the wheels, which are opened for it.
func (d *driver) take(c driveCommand) error {
	if err := visitors.Need(d.socket.May, c.needs()); err != nil {
		return d.failed(err)
	}
	if c.Motors != nil {
		d.wheels.Put("motors", func(w *visitors.Controller) error { return w.Robot().ChangeMotorState(*c.Motors) })
	}
	if c.Reset {
		d.wheels.Put("reset", func(w *visitors.Controller) error { return w.Robot().ResetPosition() })
	}
	if v, heard := c.Drive, time.Now(); v != nil {
		d.wheels.Put("drive", func(w *visitors.Controller) error {
			if c.Take && *v == [2]int{} {
				return w.Overrule()
			}
			return w.Drive(v[0], v[1], heard)
		})
	}
	if c.Device != "" {
		return d.takeNamed(c)
	}
	if l := c.Look; l != nil {
		d.camera.Put("look", func(w *visitors.Controller) error { return w.Robot().SetPTZ(l[0], l[1], l[2]) })
	}
	if g := c.Grip; g != nil {
		d.gripper.Put("grip", func(w *visitors.Controller) error { return w.Robot().SetGripper(g[0], g[1]) })
	}
	return nil
}

// takeNamed passes a command to a device without a letter on.
func (d *driver) takeNamed(c driveCommand) error {
	iface, _, ok := codec.ParseAddress(c.Device)
	kind, silence, send := "", time.Duration(0), func(*client.Client, byte) error { return nil }
	switch letter := codec.InterfaceLetter(iface); {
	case ok && letter == codec.PTZ && c.Look != nil:
		kind, send = "look", func(r *client.Client, code byte) error {
			look := codec.PTZCommand{Pan: short(c.Look[0]), Tilt: short(c.Look[1]), Zoom: short(c.Look[2])}
			return r.Command(code, look.Append(nil))
		}
	case ok && letter == codec.Gripper && c.Grip != nil:
		kind, send = "grip", func(r *client.Client, code byte) error {
			return r.Command(code, codec.GripperCommand{Code: c.Grip[0], Arg: c.Grip[1]}.Append(nil))
		}
	case ok && letter == codec.IO && c.Output != nil:
		kind, send = fmt.Sprint("output ", c.Output.Number), func(r *client.Client, code byte) error {
			return r.SetOutput(code, c.Output.Number, c.Output.Value)
		}
	case ok && letter == codec.Servo && c.Joint != nil:
		target := codec.StopServos()
		if c.Joint.Number != nil {
			target.Joint = *c.Joint.Number
		}
		if c.Joint.Goal != nil {
			target.Goal = *c.Joint.Goal
		}
		kind, send = fmt.Sprint("joint ", target.Joint), func(r *client.Client, code byte) error {
			return r.Command(code, target.Append(nil))
		}
	case ok && letter == codec.Servo && c.Power != nil:
		power := codec.Config{Code: codec.ConfigMotors}
		if *c.Power {
			power.Arg = 1
		}
		kind, send = "power", func(r *client.Client, code byte) error { return r.Config(code, power.Append(nil)) }
	case ok && letter == codec.Goto && c.Goal != nil:
		kind, silence, send = "goal", goalSilence, func(r *client.Client, code byte) error {
			return r.Command(code, c.Goal.command().Append(nil))
		}
	default:
		return unfit(fmt.Errorf("no such command to device %s", visitors.Quote(c.Device)))
	}
	commands := d.named[c.Device]
	if commands == nil {
		if len(d.named) == maxNamed {
			return d.failed(visitors.Notice{Text: "this page commands too many devices: reload it"})
		}
		commands = visitors.NewNamedCommands(c.Device, silence, d.socket.dial, d.resultNamed)
		d.named[c.Device] = commands
		d.socket.Start(commands.Run)
	}
	commands.Put(kind, func(w *visitors.Controller) error { return send(w.Robot(), w.Device()) })
	return nil
}

// short limits v to the range of an int16, so that an angle never changes sign.
func short(v int) int16 { return int16(max(math.MinInt16, min(v, math.MaxInt16))) }

// resultNamed reports those errors that do not end the commands to other devices.
func (d *driver) resultNamed(err error, _ bool) error {
	if _, refused := errors.AsType[*visitors.Refusal](err); refused || errors.Is(err, client.ErrNoDevice) {
		return d.failed(err)
	}
	return err
}

func (d *driver) failed(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.socket.reply(driveReport{d.granted, explain(err)})
}

// result reports whether the page has a device, and the errors that do not end the commands to
// other devices.
func (d *driver) result(device byte) visitors.Result {
	return func(err error, has bool) error {
		if changed := d.hold(device, has); changed != nil {
			return changed
		}
		switch _, refused := errors.AsType[*visitors.Refusal](err); {
		case err == visitors.ErrSilent:
			return d.failed(nothingHeard())
		case refused:
			return d.failed(err)
		}
		return err
	}
}

func (d *driver) hold(device byte, has bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if strings.IndexByte(d.granted, device) >= 0 == has {
		return nil
	}
	d.granted = strings.ReplaceAll(d.granted, string(device), "")
	if has {
		d.granted += string(device)
	}
	return d.socket.reply(driveReport{Held: d.granted})
}

// nothingHeard is the reason why a page that has gone silent drives no more.
func nothingHeard() error {
	return visitors.Notice{Text: fmt.Sprintf("stopped: nothing heard from this page for %v s", deadMan.Seconds())}
}
