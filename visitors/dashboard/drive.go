package dashboard

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"player/codec"
	"player/config/rights"
	"player/visitors"
)

// driveCommand is a command of a page to the robot that it drives: one of these.
// Commands that wait are merged into one.
type driveCommand struct {
	Drive  *[2]int   `json:"drive"`  // mm/s forward, deg/s counterclockwise
	Take   bool      `json:"take"`   // Drive 0, 0 stops the robot whoever drives it
	Look   *[3]int   `json:"look"`   // pan, tilt in deg, zoom (PROTOCOL 5.1)
	Grip   *[2]uint8 `json:"grip"`   // gripper command and argument (PROTOCOL 5.1)
	Motors *bool     `json:"motors"` // power of the motors
	Reset  bool      `json:"reset"`  // of the odometry

	heard time.Time // when Drive was received
}

// with merges two commands. Where both have a value, the newer one counts.
func (c driveCommand) with(newer driveCommand) driveCommand {
	if newer.Drive == nil {
		newer.Drive, newer.Take, newer.heard = c.Drive, c.Take, c.heard
	}
	newer.Look = cmp.Or(newer.Look, c.Look)
	newer.Grip = cmp.Or(newer.Grip, c.Grip)
	newer.Motors = cmp.Or(newer.Motors, c.Motors)
	newer.Reset = newer.Reset || c.Reset
	return newer
}

// needs returns the rights that a command needs.
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

// driver commands one robot for one page.
type driver struct {
	socket                  *socket
	report                  report
	wheels, camera, gripper *executor
}

// drive serves one drive socket. When it ends, each executor closes its Player
// connection, and the robot's server stops the wheels.
func (s *server) drive(ctx context.Context, sock *socket) error {
	d := driver{socket: sock, report: report{changed: make(chan struct{}, 1)}}
	d.wheels = newExecutor(sock.dial, codec.Position, "wheels", deadMan, &d.report)
	d.camera = newExecutor(sock.dial, codec.PTZ, "camera", 0, &d.report)
	d.gripper = newExecutor(sock.dial, codec.Gripper, "gripper", 0, &d.report)
	return converse(ctx, sock, d.take, d.run)
}

// take hands a command to its executor and does not block. Configuration of the
// microcontroller has no effect while none of its devices is open (PROTOCOL 6.6):
// it goes to the executor of the wheels, which opens them.
func (d *driver) take(_ context.Context, message []byte) error {
	var c driveCommand
	if err := decodeCommand(message, &c); err != nil {
		return err
	}
	if err := visitors.Need(d.socket.may, c.needs()); err != nil {
		d.report.failed(err)
		return nil
	}
	switch {
	case c.Look != nil:
		d.camera.put(c)
	case c.Grip != nil:
		d.gripper.put(c)
	default:
		d.wheels.put(c)
	}
	return nil
}

// run runs the executors and sends reports to the dashboard, until an executor fails.
// It does not wait for the others, which end with ctx.
func (d *driver) run(ctx context.Context) error {
	ended := make(chan error, 3)
	for _, c := range []*executor{d.wheels, d.camera, d.gripper} {
		go func() { ended <- visitors.Recovered(func() error { return c.run(ctx) }) }()
	}
	for {
		select {
		case err := <-ended:
			return err
		case <-d.report.changed:
			if err := d.socket.sendJSON(ctx, d.report.take()); err != nil {
				return err
			}
		}
	}
}

// report is the next report to the dashboard. Executors update it without blocking: an
// executor that waited for the dashboard could not stop the robot.
type report struct {
	mu      sync.Mutex
	next    driveReport
	changed chan struct{} // buffers one
}

// holds sets whether the dashboard has write access to a device.
func (r *report) holds(device byte, held bool) {
	r.mu.Lock()
	same := strings.IndexByte(r.next.Held, device) >= 0 == held
	r.mu.Unlock()
	if same {
		return
	}
	r.update(func(next *driveReport) {
		next.Held = strings.ReplaceAll(next.Held, string(device), "")
		if held {
			next.Held += string(device)
		}
	})
}

// failed sets the error.
func (r *report) failed(err error) {
	r.update(func(next *driveReport) { next.Error = explain(err) })
}

func (r *report) update(fn func(next *driveReport)) {
	r.mu.Lock()
	fn(&r.next)
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default: // the report has not been taken since the last change
	}
}

// take returns the report and clears the error, which is sent once.
func (r *report) take() driveReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.next
	r.next.Error = ""
	return taken
}
