package dashboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"player/visitors"
)

// deadMan is how long a robot keeps driving without a command from the dashboard, which
// repeats it ten times a second. With less, a short disturbance of a wireless network would
// stop the robot; with more, the robot of a page that hangs would drive more than half a
// metre at full speed.
const deadMan = 400 * time.Millisecond

// executor executes the commands of one page to one device.
type executor struct {
	device   byte
	hand     *visitors.Hand
	report   *report
	commands chan driveCommand // buffers one
}

// newExecutor returns an executor. silence is that of the hand.
func newExecutor(dial visitors.Dial, device byte, name string, silence time.Duration, r *report) *executor {
	return &executor{device: device, hand: visitors.NewHand(device, name, silence, dial), report: r, commands: make(chan driveCommand, 1)}
}

// put hands a command to run, merged with one that waits. It does not block. Only
// one goroutine may call it.
func (e *executor) put(command driveCommand) {
	command.heard = time.Now()
	select {
	case waiting := <-e.commands:
		command = waiting.with(command)
	default:
	}
	e.commands <- command // does not block: the buffer is empty
}

// run executes commands until ctx ends or the connection fails. Then it lets go.
func (e *executor) run(ctx context.Context) error {
	defer e.hand.LetGo()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case command := <-e.commands:
			err = e.execute(ctx, command)
		case <-e.hand.Due():
			err = e.lapse()
		}
		e.report.holds(e.device, e.hand.Robot() != nil)
		if _, refused := errors.AsType[*visitors.Refusal](err); refused {
			e.report.failed(err)
		} else if err != nil {
			return err
		}
	}
}

// execute executes a command. It takes hold of the device first, and merges a command
// that arrives meanwhile.
func (e *executor) execute(ctx context.Context, command driveCommand) error {
	if err := e.hand.Hold(ctx); err != nil {
		return err
	}
	select {
	case newer := <-e.commands:
		command = command.with(newer)
	default:
	}
	robot := e.hand.Robot()
	var err error
	if command.Motors != nil {
		err = robot.ChangeMotorState(*command.Motors)
	}
	if command.Reset {
		err = errors.Join(err, robot.ResetPosition())
	}
	if d := command.Drive; d != nil && command.Take && *d == [2]int{} {
		err = errors.Join(err, e.hand.Overrule())
	} else if d != nil {
		err = errors.Join(err, e.hand.Drive(d[0], d[1], command.heard))
	}
	if l := command.Look; l != nil {
		err = errors.Join(err, robot.SetPTZ(l[0], l[1], l[2]))
	}
	if g := command.Grip; g != nil {
		err = errors.Join(err, robot.SetGripper(g[0], g[1]))
	}
	return err
}

// lapse stops the robot when the dashboard has sent no command for too long, and later
// lets go of the wheels.
func (e *executor) lapse() error {
	drove, err := e.hand.Lapse()
	if drove {
		e.report.failed(visitors.Notice{Text: fmt.Sprintf("stopped: nothing heard from this page for %v s", deadMan.Seconds())})
	}
	return err
}
