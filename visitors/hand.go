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
	// holdLimit is how long a visitor who does not drive holds the wheels. Hardware that
	// only he uses is switched off then; with less, it would be started again at each
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
// commands, and lets go when he does. It has a Player connection of its own: while a
// device is set up, the server executes nothing that follows the request (PROTOCOL 2.7),
// and a camera's setup must not delay the stop of the wheels.
//
// Who drives is decided by the robot's server: commands of a Hand have a lifetime, and
// yield (PROTOCOL 5.5). So a visitor who drives is stopped in whatever way he ends, this
// process included, and stops nobody who has taken over. One goroutine uses a Hand.
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
// for how long a command of Drive is good, from 1 ms to a minute; zero if the device is
// not the wheels: it is held until LetGo then, and nothing lapses.
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

// rest begins the time after which a visitor who does not drive lets go.
func (h *Hand) rest() {
	h.moving = false
	if h.silence != 0 {
		h.timer.Reset(holdLimit)
	}
}

// Robot returns the connection that holds the device, for other commands than Drive; nil:
// the visitor does not hold it.
func (h *Hand) Robot() *client.Client { return h.robot }

// Drive drives by a command that was heard then, until the time of silence has passed
// without another one: mm/s forward, deg/s counterclockwise. 0, 0 stops what the visitor
// drives, and so does a command that is too old: it waited for the setup of the wheels.
// The visitor must hold the wheels.
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

// Lapse stops what the visitor drives when nothing has been heard for too long, and lets
// go later. It reports whether he drove.
func (h *Hand) Lapse() (drove bool, err error) {
	if !h.moving {
		h.LetGo()
		return false, nil
	}
	h.rest()
	return true, h.robot.SetSpeed(0, 0)
}

// LetGo gives the device up: it closes the connection, upon which the robot's server
// stops what the visitor drives. The next Hold connects again.
func (h *Hand) LetGo() {
	h.timer.Stop()
	h.moving = false
	if h.robot != nil {
		h.robot.Close()
		h.closed()
		h.robot = nil
	}
}
