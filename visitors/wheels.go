package visitors

import (
	"context"
	"errors"
	"time"

	"player/client"
	"player/codec"
)

// maxCalls is how many configurations may wait for the wheels to start.
const maxCalls = 16

// Wheels are the wheels of a robot as a visitor commands them, by a hand in a goroutine of
// its own (Run): data never delays a command.
type Wheels struct {
	hand       *Hand
	report     func(error) error
	velocities chan velocity // buffers one: the newest
	calls      chan call
}

// velocity is a command to the wheels.
type velocity struct {
	speed, turnRate int // mm/s, deg/s
	heard           time.Time
}

// call configures the wheels.
type call struct {
	run    func(*client.Client) error
	answer func(error) error
}

// NewWheels returns the wheels of the robot that dial connects to. A command is good for
// silence. report tells the visitor an error; its own error ends Run.
func NewWheels(silence time.Duration, dial Dial, report func(error) error) *Wheels {
	return &Wheels{NewHand(codec.Position, "wheels", silence, dial), report, make(chan velocity, 1), make(chan call, maxCalls)}
}

// Drive hands a command to Run, in mm/s and deg/s. It replaces a command that Run has not
// taken yet. 0, 0 stops the robot if the visitor drives it. Drive does not block; one
// goroutine calls it.
func (w *Wheels) Drive(speed, turnRate int) {
	select {
	case <-w.velocities:
	default:
	}
	w.velocities <- velocity{speed, turnRate, time.Now()} // does not block: the buffer is empty
}

// Configure lets Run call run when the visitor holds the wheels, and then answer: after
// the effect, or with the error. It returns an error if too many wait.
func (w *Wheels) Configure(run func(*client.Client) error, answer func(error) error) error {
	select {
	case w.calls <- call{run, answer}:
		return nil
	default:
		return errors.New("too many calls wait for the wheels to start")
	}
}

// Run executes commands until ctx ends. Then it lets go.
func (w *Wheels) Run(ctx context.Context) error {
	defer w.hand.LetGo()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case v := <-w.velocities:
			err = w.drive(ctx, v)
		case c := <-w.calls:
			if err := c.answer(w.configure(ctx, c)); err != nil {
				return err
			}
		case <-w.hand.Due():
			_, err = w.hand.Lapse()
		}
		if err != nil && ctx.Err() == nil {
			w.hand.LetGo() // the next command connects again
			if err := w.report(err); err != nil {
				return err
			}
		}
	}
}

// drive passes a command on. A visitor that drives nothing does not connect to the robot
// only to stop it.
func (w *Wheels) drive(ctx context.Context, v velocity) error {
	if v.stops() && w.hand.Robot() == nil || w.hand.Refused() != nil { // the visitor has been shown the refusal
		return nil
	}
	if err := w.hand.Hold(ctx); err != nil {
		return err
	}
	select {
	case v = <-w.velocities: // came meanwhile
	default:
	}
	return w.hand.Drive(v.speed, v.turnRate, v.heard)
}

func (v velocity) stops() bool { return v.speed == 0 && v.turnRate == 0 }

// configure executes a call. Configurations have no effect while the device is closed
// (PROTOCOL 6.6).
func (w *Wheels) configure(ctx context.Context, c call) error {
	if err := w.hand.Hold(ctx); err != nil {
		return err
	}
	if err := c.run(w.hand.Robot()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	return w.hand.Robot().Request(ctx, "") // the reply comes after the effect
}
