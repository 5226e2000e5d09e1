package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"player/codec"
)

// takeLimit is how long GoTo waits for data of its goal. The server answers no command, so a goal that it drops, because
// another client has control or the emergency stop holds, is only seen by its absence. A network that needs longer is lost.
const takeLimit = 3 * time.Second

// ErrNotTaken is wrapped by the error of GoTo if the server has dropped the goal. Obstacles says why.
var ErrNotTaken = errors.New("the server has not taken the goal")

// ErrReplaced is wrapped by the error of GoTo if another client has given another goal.
var ErrReplaced = errors.New("another goal has replaced this one")

// GotoError is the error of GoTo if the robot has given the goal up.
type GotoError struct{ Data codec.GotoData }

// reasons has sentences for a GotoError.
var reasons = [...]string{
	codec.GotoByCommand: "it was commanded to stop",
	codec.GotoByOther:   "the wheels got another command",
	codec.GotoEmergency: "the emergency stop is active",
	codec.GotoBlind:     "its sensors give no ranges",
	codec.GotoLost:      "its wheels give no odometry",
	codec.GotoNoWay:     "it has found no way",
	codec.GotoRefused:   "the goal is too far, or the robot too wide",
	codec.GotoMotors:    "its motors are off",
}

func (e *GotoError) Error() string {
	why := "reason " + e.Data.Reason.String()
	if int(e.Data.Reason) < len(reasons) && reasons[e.Data.Reason] != "" {
		why = reasons[e.Data.Reason]
	}
	return fmt.Sprintf("the robot has not arrived at (%d, %d) mm: %s", e.Data.X, e.Data.Y, why)
}

// SetGoal has a goto device, of which Open has returned the byte, drive to a goal. Its data say how far it has come. A goal
// that has ended needs another Tag to be given again.
func (c *Client) SetGoal(code byte, goal codec.GotoCommand) error {
	c.payload = goal.Append(c.payload[:0])
	return c.Command(code, c.payload)
}

// StopGoal has a goto device give its goal up and stop the wheels.
func (c *Client) StopGoal(code byte) error { return c.SetGoal(code, codec.StopGoto()) }

// GoTo drives to a goal by a goto device, which was opened with codec.AccessAll, and returns when the robot has arrived. It
// reads rounds meanwhile, and asks for them in request/reply mode; each is called after each of them, unless it is nil, and its
// error ends the drive. GoTo chooses the Tag, and repeats its command, so that a lifetime (SetCommandLifetime) may be as
// short as some rounds. If the robot gives the goal up the error is a *GotoError. After any error but that the robot
// stops if it drives to this goal.
func (c *Client) GoTo(ctx context.Context, code byte, goal codec.GotoCommand, each func() error) error {
	if d := c.devices[code]; !d.readable() || !d.writable() {
		return fmt.Errorf(`goto needs its device open for reading and writing: Open(ctx, "goto", codec.AccessAll, nil)`)
	}
	goal.Tag = uint16(rand.N(1 << 16))
	err := c.drive(ctx, code, goal, each)
	if _, ended := errors.AsType[*GotoError](err); err != nil && !ended && !errors.Is(err, ErrReplaced) {
		err = errors.Join(err, c.StopGoal(code))
	}
	return err
}

// drive is GoTo, without the stop after an error.
func (c *Client) drive(ctx context.Context, code byte, goal codec.GotoCommand, each func() error) error {
	taken, begun := false, time.Now()
	for {
		if err := c.SetGoal(code, goal); err != nil {
			return err
		}
		if c.settings[codec.ConfigMode].Arg != 0 {
			if err := c.RequestData(); err != nil {
				return err
			}
		}
		if err := c.Read(ctx); err != nil {
			return err
		}
		if each != nil {
			if err := each(); err != nil {
				return err
			}
		}
		var data codec.GotoData
		switch err := data.Decode(c.Raw(code)); {
		case c.Has(code) && err != nil:
			return err
		case data.Tag == goal.Tag && data.X == goal.X && data.Y == goal.Y && data.State != codec.GotoIdle:
			taken = true
			switch data.State {
			case codec.GotoArrived:
				return nil
			case codec.GotoStopped:
				return &GotoError{data}
			}
		case taken:
			return ErrReplaced
		case time.Since(begun) > takeLimit:
			return ErrNotTaken
		}
	}
}
