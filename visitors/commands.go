package visitors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxCalls is how many commands that do not replace each other may wait for a device to start.
const maxCalls = 16

// Commands carries out the commands of a visitor to one device of a robot, by a Controller in a goroutine
// of its own (Run): neither data nor another device that starts delays them.
type Commands struct {
	controller *Controller
	result     Result
	changed    chan struct{} // buffers one
	mu         sync.Mutex
	waiting    []command
}

// Result gets the result of a command, nil or an error, and whether the visitor has the device by now. Its own error
// ends Run.
type Result func(err error, has bool) error

// ErrSilent is the result when the robot was stopped because the visitor was silent.
var ErrSilent = errors.New("the visitor was silent")

type command struct {
	kind   string // a newer command of the kind replaces it; empty: none does
	stops  bool   // it has no effect unless the visitor has the device
	run    func(context.Context, *Controller) error
	answer func(error) error // gets its error, or nil after the effect, in place of Result; may be nil
}

// NewCommands returns the commands to a device of the robot that dial connects to. See NewController for
// the other parameters.
func NewCommands(device byte, name string, silence time.Duration, dial Dial, result Result) *Commands {
	controller := NewController(device, name, silence, dial)
	return &Commands{controller: controller, result: result, changed: make(chan struct{}, 1)}
}

// NewNamedCommands returns the commands to a device by its name on the robot. See NewNamedController.
func NewNamedCommands(address string, silence time.Duration, dial Dial, result Result) *Commands {
	return &Commands{controller: NewNamedController(address, silence, dial), result: result, changed: make(chan struct{}, 1)}
}

// Put has Run acquire the device and carry run out. It replaces a command of the kind that waits.
func (c *Commands) Put(kind string, run func(*Controller) error) {
	carryOut := func(_ context.Context, c *Controller) error { return run(c) }
	_ = c.put(command{kind: kind, run: carryOut}) // it fails for calls only
}

// Queue has Run acquire the device and carry run out, after the commands that wait. It returns an error if too many wait.
func (c *Commands) Queue(run func(context.Context, *Controller) error) error {
	return c.put(command{run: run})
}

// release is the kind of a command to give the device up.
const release = "release"

// Release has Run give the device up, after the commands that wait.
func (c *Commands) Release() {
	letGo := func(_ context.Context, c *Controller) error { c.Release(); return nil }
	_ = c.put(command{kind: release, stops: true, run: letGo}) // as in Put
}

// Drive has Run drive, in mm/s and deg/s. It replaces a command to drive that waits. 0, 0 stops the robot if the
// visitor drives it: a visitor that drives nothing does not connect to the robot only to stop it.
func (c *Commands) Drive(speed, turnRate int) {
	heard := time.Now()
	drive := func(_ context.Context, c *Controller) error { return c.Drive(speed, turnRate, heard) }
	_ = c.put(command{kind: "drive", stops: speed == 0 && turnRate == 0, run: drive}) // as in Put
}

// configure has Run carry run out when the visitor has the wheels, and then call answer: after
// the effect, or with the error. It returns an error if too many wait.
func (c *Commands) configure(run func(*Controller) error, answer func(error) error) error {
	return c.put(command{answer: answer, run: func(ctx context.Context, c *Controller) error {
		// Configurations have no effect while the device is closed (PROTOCOL 6.6).
		if err := run(c); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, dialLimit)
		defer cancel()
		return c.Robot().Request(ctx, "") // the reply comes after the effect
	}})
}

func (c *Commands) put(newer command) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls, same := 0, -1
	for i, w := range c.waiting {
		if w.kind == "" {
			calls++
		} else if w.kind == newer.kind {
			same = i
		}
	}
	if same >= 0 && newer.kind == release { // it also ends the commands that came after the one before
		c.waiting, same = slices.Delete(c.waiting, same, same+1), -1
	}
	switch {
	case same >= 0:
		c.waiting[same] = newer
	case newer.kind == "" && calls == maxCalls:
		return errors.New("too many calls wait for the device to start")
	default:
		c.waiting = append(c.waiting, newer)
	}
	wake(c.changed)
	return nil
}

// Run carries out commands until ctx ends. Then it releases the device.
func (c *Commands) Run(ctx context.Context) error {
	defer c.controller.Release()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-c.changed:
			err = c.carryOut(ctx)
		case <-c.controller.Due():
			var drove bool
			if drove, err = c.controller.Expire(); drove && err == nil {
				err = ErrSilent
			}
			err = c.report(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

// carryOut carries out the commands that wait. A command that comes while the device starts replaces
// the one for which it starts.
func (c *Commands) carryOut(ctx context.Context) error {
	for c.pending() {
		err := c.controller.Acquire(ctx)
		next := c.next()
		if err == nil {
			err = next.run(ctx, c.controller)
		}
		if next.answer != nil {
			if err != nil {
				c.controller.Release() // as after an error that is reported
			}
			if err := next.answer(err); err != nil {
				return err
			}
			err = nil
		}
		if err := c.report(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

// report reports a result. After an error the next command connects again.
func (c *Commands) report(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	has := c.controller.Robot() != nil
	if err != nil && err != ErrSilent {
		c.controller.Release()
	}
	return c.result(err, has)
}

// pending reports whether a command waits. It drops commands that have no effect.
func (c *Commands) pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 && c.waiting[0].stops && c.controller.Robot() == nil {
		c.waiting = c.waiting[1:]
	}
	return len(c.waiting) > 0
}

func (c *Commands) next() command {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.waiting[0]
	c.waiting = c.waiting[1:]
	return next
}

// wake sends to a channel that buffers one.
func wake(changed chan struct{}) {
	select {
	case changed <- struct{}{}:
	default: // not noticed yet
	}
}
