package dashboard

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"player/codec"
	"player/config/rights"
	"player/visitors"
)

// deadMan is how long a robot keeps driving without a command from the page, which
// repeats it ten times a second. With less, a short disturbance of a wireless network would
// stop the robot; with more, the robot of a page that hangs would drive more than half a
// metre at full speed.
const deadMan = 400 * time.Millisecond

// driveCommand is a command of a page to the robot that it drives: one of these.
type driveCommand struct {
	Drive  *[2]int   `json:"drive"`  // mm/s forward, deg/s counterclockwise
	Take   bool      `json:"take"`   // Drive 0, 0 stops the robot even if another client drives it
	Look   *[3]int   `json:"look"`   // pan, tilt in deg, zoom (PROTOCOL 5.1)
	Grip   *[2]uint8 `json:"grip"`   // gripper command and argument (PROTOCOL 5.1)
	Motors *bool     `json:"motors"` // power of the motors
	Reset  bool      `json:"reset"`  // of the odometry
}

func (c driveCommand) needs() rights.Set {
	if c.Motors != nil || c.Reset {
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
	mu                      sync.Mutex
	granted                 string // driveReport.Held
}

// drive serves one drive socket. When it ends, the commands to each device end their Player
// connection, and the robot's server stops the wheels.
func (s *server) drive(sock *socket) error {
	d := &driver{socket: sock}
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
	if l := c.Look; l != nil {
		d.camera.Put("look", func(w *visitors.Controller) error { return w.Robot().SetPTZ(l[0], l[1], l[2]) })
	}
	if g := c.Grip; g != nil {
		d.gripper.Put("grip", func(w *visitors.Controller) error { return w.Robot().SetGripper(g[0], g[1]) })
	}
	return nil
}

func (d *driver) failed(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.socket.reply(driveReport{d.granted, explain(err)})
}

// result reports whether the page has a device, and those of its errors that do not end the commands to
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
