package web

import (
	"context"
	"errors"
	"fmt"
	"time"

	"player/client"
	"player/codec"
)

const (
	// deadMan is how long a robot keeps driving without a command from the dashboard,
	// which repeats it ten times a second. With less, a short disturbance of a
	// wireless link would stop it; with more, the robot of a page that hangs would
	// drive more than half a metre at full speed.
	deadMan = 400 * time.Millisecond
	// holdLimit is how long a page that does not drive keeps write access to the
	// wheels. The server stops the wheels when access ends (PROTOCOL 5.4): a page
	// that kept it would stop another program's robot later, when it is closed.
	holdLimit = 3 * time.Second
	// refusalLimit is how long a refused device is not requested again. The server
	// tries to start it at each request, which takes seconds, and a page repeats
	// its commands ten times a second.
	refusalLimit = 5 * time.Second
)

// commander commands one device for one page, on its own Player connection: while
// a device is set up, the server executes nothing that follows the request
// (PROTOCOL 2.7), and a camera's setup must not delay the stop of the wheels.
type commander struct {
	socket   *socket
	device   byte
	name     string // of the device, for people
	report   *report
	commands chan driveCommand // buffers one
	robot    *client.Client    // nil before the first command

	held    bool      // write access
	refusal error     // the error of the last refused request
	retryAt time.Time // after a refusal

	moving bool
	timer  *time.Timer // while moving, for deadMan, otherwise for holdLimit
}

func newCommander(sock *socket, device byte, name string, r *report) *commander {
	return &commander{socket: sock, device: device, name: name, report: r, commands: make(chan driveCommand, 1), timer: time.NewTimer(holdLimit)}
}

// put hands a command to run, merged with one that waits. It does not block. Only
// one goroutine may call it.
func (c *commander) put(command driveCommand) {
	command.heard = time.Now()
	select {
	case waiting := <-c.commands:
		command = waiting.with(command)
	default:
	}
	c.commands <- command // does not block: the buffer is empty
}

// run executes commands until ctx ends or the connection fails. Then it closes
// the connection, and the server stops the wheels.
func (c *commander) run(ctx context.Context) error {
	defer c.close()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case command := <-c.commands:
			err = c.execute(ctx, command)
		case <-c.timer.C:
			err = c.lapse(ctx)
		}
		switch {
		case refused(err):
			c.report.failed(err)
		case err != nil:
			return err
		}
	}
}

func (c *commander) close() {
	c.timer.Stop()
	if c.robot != nil {
		c.robot.Close()
	}
}

// execute executes a command. It gets write access to the device first, and
// merges a command that arrives meanwhile.
func (c *commander) execute(ctx context.Context, command driveCommand) error {
	if err := c.acquire(ctx); err != nil {
		return err
	}
	select {
	case newer := <-c.commands:
		command = command.with(newer)
	default:
	}
	if !c.moving {
		c.timer.Reset(holdLimit)
	}
	var err error
	if command.Motors != nil {
		err = c.robot.ChangeMotorState(*command.Motors)
	}
	if command.Reset {
		err = errors.Join(err, c.robot.ResetPosition())
	}
	if d := command.Drive; d != nil {
		err = errors.Join(err, c.drive(d[0], d[1], deadMan-time.Since(command.heard)))
	}
	if l := command.Look; l != nil {
		err = errors.Join(err, c.robot.SetPTZ(l[0], l[1], l[2]))
	}
	if g := command.Grip; g != nil {
		err = errors.Join(err, c.robot.SetGripper(g[0], g[1]))
	}
	return err
}

// drive drives until silence has passed without another command. If silence is
// not positive it stops: the command waited for the setup of the wheels, and is
// too old.
func (c *commander) drive(speed, turnRate int, silence time.Duration) error {
	c.moving = silence > 0 && (speed != 0 || turnRate != 0)
	if !c.moving {
		c.timer.Reset(holdLimit)
		return c.robot.SetSpeed(0, 0)
	}
	c.timer.Reset(silence)
	return c.robot.SetSpeed(speed, turnRate)
}

// lapse stops the robot when the dashboard has sent no command for too long, and
// later gives up write access to the wheels.
func (c *commander) lapse(ctx context.Context) error {
	switch {
	case c.moving:
		c.report.failed(notice{text: fmt.Sprintf("stopped: nothing heard from this page for %v s", deadMan.Seconds())})
		return c.drive(0, 0, 0)
	case c.held && c.device == codec.Position:
		return c.request(ctx, codec.AccessClose)
	}
	return nil
}

// acquire gets write access to the device, and connects if necessary.
func (c *commander) acquire(ctx context.Context) (err error) {
	switch {
	case c.held:
		return nil
	case time.Now().Before(c.retryAt):
		return c.refusal
	case c.robot == nil:
		if c.robot, err = c.socket.dial(ctx); err != nil {
			return err
		}
	}
	return c.request(ctx, codec.AccessWrite)
}

// request requests access and reports whether it is held.
func (c *commander) request(ctx context.Context, access byte) error {
	limited, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := c.robot.Request(limited, string([]byte{c.device, access}))
	c.held = err == nil && access == codec.AccessWrite
	if refused(err) {
		err = notice{"the robot refuses access to its " + c.name + ": the server's log has the reason", err}
		c.refusal, c.retryAt = err, time.Now().Add(refusalLimit)
	}
	c.report.holds(c.device, c.held)
	return err
}

// refused reports whether the robot's server did not grant an access. The
// connection is still good then.
func refused(err error) bool {
	_, is := errors.AsType[*client.AccessError](err)
	return is
}
