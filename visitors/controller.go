// Package visitors has the common parts of the servers for pages, viewers and bridges: people
// and programs use a robot of this server through them.
package visitors

import (
	"context"
	"errors"
	"time"

	"player/client"
	"player/codec"
)

const (
	// restLimit is how long a visitor that does not drive keeps the wheels. Then hardware
	// without other users is switched off; with less, it would be started again at each
	// press of a button.
	restLimit = 3 * time.Second
	// retryPeriod is the pause before a refused device is requested again. The server tries
	// to start it at each request, which takes seconds, and visitors repeat their commands
	// ten times a second.
	retryPeriod = 5 * time.Second
	// setupLimit is how long a robot may take to start its devices: a laser at an unknown
	// line speed takes more than ten seconds.
	setupLimit = 40 * time.Second
)

// Controller controls one device of a robot for a visitor. It acquires the device when the visitor
// commands, and releases it when the visitor ends. It has a Player connection of its own: while a
// device is set up, the server delays all messages behind the request (PROTOCOL 2.7), and a
// camera's setup must not delay the stop of the wheels.
//
// The robot's server chooses the driving client: commands of a Controller have a lifetime, and yield
// (PROTOCOL 5.5). So the robot stops however the visitor or this process ends, but not if another
// client has taken over. One goroutine uses a Controller.
type Controller struct {
	device  byte
	address string // of a device without a letter: the robot says which byte it has
	name    string // for people
	silence time.Duration
	dial    Dial

	robot   *client.Client // nil: the device is not acquired
	closed  func()
	moving  bool
	timer   *time.Timer // of the wheels: while moving for silence, otherwise for restLimit
	refusal error       // of the last request, nil: it was granted
	retryAt time.Time   // after a refusal
}

// Dial connects to a robot. closed is called when the connection has been closed.
type Dial func(ctx context.Context) (robot *client.Client, closed func(), err error)

// NewController returns a controller of a device, by its letter and its name for people. silence is
// how long a command of Drive is good, from 1 ms to a minute. It is zero for a device other
// than the wheels, which is kept until Release.
func NewController(device byte, name string, silence time.Duration, dial Dial) *Controller {
	c := &Controller{device: device, name: name, silence: silence, dial: dial, timer: time.NewTimer(restLimit)}
	c.timer.Stop()
	return c
}

// NewNamedController returns a controller of a device by its name on the robot, for example servo:0. Commands to a goto device
// are good for silence; without commands for restLimit it is released. silence is zero for other devices, which are kept
// until Release. The other parameters are the same as for NewController.
func NewNamedController(address string, silence time.Duration, dial Dial) *Controller {
	c := NewController(0, address, silence, dial)
	c.address = address
	return c
}

// Device returns the byte of the device while it is acquired.
func (c *Controller) Device() byte { return c.device }

// Refusal is the error of a device that a robot does not grant to a visitor.
type Refusal struct {
	Name  string // of the device
	Cause *client.AccessError
}

func (r *Refusal) Error() string {
	reason := "it grants less"
	for _, a := range r.Cause.Devices {
		if a.Granted == codec.AccessError {
			reason = a.Reason()
		}
	}
	return "the robot refuses access to its " + r.Name + ": " + reason
}

// Unwrap returns the robot's answer.
func (r *Refusal) Unwrap() error { return r.Cause }

// Acquire acquires the device. It returns at once if the visitor has the device, or if it was
// refused less than retryPeriod ago: then with the error of that time.
func (c *Controller) Acquire(ctx context.Context) error {
	if c.refusal != nil && time.Now().Before(c.retryAt) {
		return c.refusal
	}
	if c.robot == nil {
		c.refusal = c.request(ctx)
		if c.refusal != nil {
			c.Release()
			c.retryAt = time.Now().Add(retryPeriod)
			return c.refusal
		}
	}
	if !c.moving {
		c.rest()
	}
	return nil
}

func (c *Controller) request(ctx context.Context) (err error) {
	if c.robot, c.closed, err = c.dial(ctx); err != nil {
		c.robot = nil
		return err
	}
	if c.silence != 0 {
		if err := c.robot.SetCommandLifetime(c.silence); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	if c.address != "" {
		c.device, err = c.robot.Open(ctx, c.address, codec.AccessWrite, nil)
	} else {
		err = c.robot.Request(ctx, string([]byte{c.device, codec.AccessWrite}))
	}
	if refused, ok := errors.AsType[*client.AccessError](err); ok {
		return &Refusal{c.name, refused}
	}
	return err
}

// rest starts the timer after which a visitor that does not drive releases the wheels.
func (c *Controller) rest() {
	c.moving = false
	if c.silence != 0 {
		c.timer.Reset(restLimit)
	}
}

// Robot returns the connection that has the device, for commands other than Drive; nil
// while the device is not acquired.
func (c *Controller) Robot() *client.Client { return c.robot }

// Drive drives at a speed in mm/s forward and a turn rate in deg/s counterclockwise, until
// silence has passed since the command was heard. If the visitor drives the robot, 0, 0
// stops it, and so does a command that waited too long for the setup of the wheels. The
// wheels must be acquired.
func (c *Controller) Drive(speed, turnRate int, heard time.Time) error {
	left := c.silence - time.Since(heard)
	if left <= 0 || speed == 0 && turnRate == 0 {
		c.rest()
		return c.robot.SetSpeed(0, 0)
	}
	c.moving = true
	c.timer.Reset(left)
	return c.robot.SetSpeed(speed, turnRate)
}

// Overrule stops the robot, even if another client drives it. The wheels must be acquired.
func (c *Controller) Overrule() error {
	c.rest()
	return errors.Join(c.robot.SetCommandLifetime(0), c.robot.SetSpeed(0, 0), c.robot.SetCommandLifetime(c.silence))
}

// Due delivers when Expire is to be called.
func (c *Controller) Due() <-chan time.Time { return c.timer.C }

// Expire stops the robot if the visitor drives it and was silent for too long, and otherwise
// releases the wheels. It reports whether the visitor drove.
func (c *Controller) Expire() (drove bool, err error) {
	if !c.moving {
		c.Release()
		return false, nil
	}
	c.rest()
	return true, c.robot.SetSpeed(0, 0)
}

// Release gives the device up: it closes the connection, and the robot's server stops the
// robot if the visitor drives it. The next Acquire connects again.
func (c *Controller) Release() {
	c.timer.Stop()
	c.moving = false
	if c.robot != nil {
		c.robot.Close()
		c.closed()
		c.robot = nil
	}
}
