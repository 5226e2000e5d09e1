// Package visitors is what the servers for pages, viewers and bridges share: people and
// programs that use a robot of this server through them.
package visitors

import (
	"context"
	"errors"
	"time"

	"player/client"
	"player/codec"
)

const (
	// holdLimit is how long a visitor that does not drive holds the wheels. Then hardware
	// without other users is switched off; with less, it would be started again at each
	// press of a button.
	holdLimit = 3 * time.Second
	// retryPeriod is how long a device that was refused is not requested again. The
	// server tries to start it at each request, which takes seconds, and visitors repeat
	// their commands ten times a second.
	retryPeriod = 5 * time.Second
	// setupLimit is how long a robot may take to start the device: a laser whose line
	// speed must be found takes more than ten seconds.
	setupLimit = 40 * time.Second
)

// Hand is the hand of a visitor on one device of a robot. It takes hold when the visitor
// commands, and lets go when the visitor ends. It has a Player connection of its own: while
// a device is set up, the server delays all that follows the request (PROTOCOL 2.7), and a
// camera's setup must not delay the stop of the wheels.
//
// The robot's server decides who drives: commands of a Hand have a lifetime, and yield
// (PROTOCOL 5.5). So the robot stops however the visitor or this process ends, and a client
// that has taken over drives on. One goroutine uses a Hand.
type Hand struct {
	device  byte
	name    string
	silence time.Duration
	dial    Dial

	robot   *client.Client // nil: it holds nothing
	closed  func()
	moving  bool
	timer   *time.Timer // of the wheels: while moving for silence, otherwise for holdLimit
	refusal error       // of the last request, nil: it was granted
	retryAt time.Time   // after a refusal
}

// Dial connects to a robot. closed is called when the connection has been closed.
type Dial func(ctx context.Context) (robot *client.Client, closed func(), err error)

// NewHand returns a hand on a device, by its letter and its name for people. silence is
// how long a command of Drive is good, from 1 ms to a minute. It is zero for a device other
// than the wheels, which is held until LetGo.
func NewHand(device byte, name string, silence time.Duration, dial Dial) *Hand {
	h := &Hand{device: device, name: name, silence: silence, dial: dial, timer: time.NewTimer(holdLimit)}
	h.timer.Stop()
	return h
}

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

// Unwrap returns what the robot has answered.
func (r *Refusal) Unwrap() error { return r.Cause }

// Hold takes hold of the device. It returns at once if the visitor holds it, or if it was
// refused less than retryPeriod ago: then with the error of that time.
func (h *Hand) Hold(ctx context.Context) error {
	if err := h.Refused(); err != nil {
		return err
	}
	if h.robot == nil {
		h.refusal = h.take(ctx)
		if h.refusal != nil {
			h.LetGo()
			h.retryAt = time.Now().Add(retryPeriod)
			return h.refusal
		}
	}
	if !h.moving {
		h.rest()
	}
	return nil
}

// Refused returns the error of the last Hold as long as another one would return it, too.
func (h *Hand) Refused() error {
	if h.refusal != nil && time.Now().Before(h.retryAt) {
		return h.refusal
	}
	return nil
}

func (h *Hand) take(ctx context.Context) (err error) {
	if h.robot, h.closed, err = h.dial(ctx); err != nil {
		h.robot = nil
		return err
	}
	if h.silence != 0 {
		if err := h.robot.SetCommandLifetime(h.silence); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err = h.robot.Request(ctx, string([]byte{h.device, codec.AccessWrite}))
	if refused, ok := errors.AsType[*client.AccessError](err); ok {
		return &Refusal{h.name, refused}
	}
	return err
}

// rest begins the time after which a visitor that does not drive lets go.
func (h *Hand) rest() {
	h.moving = false
	if h.silence != 0 {
		h.timer.Reset(holdLimit)
	}
}

// Robot returns the connection that holds the device, for commands other than Drive; nil
// while the visitor does not hold the device.
func (h *Hand) Robot() *client.Client { return h.robot }

// Drive drives at a speed in mm/s forward and a turn rate in deg/s counterclockwise, until
// silence has passed since the command was heard. 0, 0 stops the robot if the visitor
// drives it, and so does a command that is too old because it waited for the setup of the
// wheels. The visitor must hold the wheels.
func (h *Hand) Drive(speed, turnRate int, heard time.Time) error {
	left := h.silence - time.Since(heard)
	if left <= 0 || speed == 0 && turnRate == 0 {
		h.rest()
		return h.robot.SetSpeed(0, 0)
	}
	h.moving = true
	h.timer.Reset(left)
	return h.robot.SetSpeed(speed, turnRate)
}

// Overrule stops the robot whoever drives it. The visitor must hold the wheels.
func (h *Hand) Overrule() error {
	h.rest()
	return errors.Join(h.robot.SetCommandLifetime(0), h.robot.SetSpeed(0, 0), h.robot.SetCommandLifetime(h.silence))
}

// Due delivers when Lapse is to be called.
func (h *Hand) Due() <-chan time.Time { return h.timer.C }

// Lapse stops the robot if the visitor drives it and was silent for too long, and otherwise
// lets go. It reports whether the visitor drove.
func (h *Hand) Lapse() (drove bool, err error) {
	if !h.moving {
		h.LetGo()
		return false, nil
	}
	h.rest()
	return true, h.robot.SetSpeed(0, 0)
}

// LetGo gives the device up: it closes the connection, and the robot's server stops the
// robot if the visitor drives it. The next Hold connects again.
func (h *Hand) LetGo() {
	h.timer.Stop()
	h.moving = false
	if h.robot != nil {
		h.robot.Close()
		h.closed()
		h.robot = nil
	}
}
