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
	// deadMan is how long a robot drives on without hearing from the page, which
	// repeats its command ten times a second. Shorter, and a moment's noise on
	// the air would stop it; longer, and a robot whose page hangs goes farther
	// than half a metre at full speed.
	deadMan = 400 * time.Millisecond
	// holdLimit is how long a page that does not drive keeps write access to the
	// wheels. As it is given up, the server stops them (PROTOCOL 5.4): a page
	// that is merely open must not do so to another program later, when it is
	// closed.
	holdLimit = 3 * time.Second
	// refusalLimit is how long a device that was refused is not asked for again.
	// Each time the server tries to start it, which takes seconds, and a page
	// repeats its orders ten times a second.
	refusalLimit = 5 * time.Second
)

// commander commands one device for one page, on a Player connection of its
// own: while a device is set up, the server holds back whatever is sent behind
// the request (PROTOCOL 2.7), and a camera's setup must not hold back the
// wheels' stop.
type commander struct {
	page   *page
	device byte
	report *report
	orders chan driveOrder // room for one
	robot  *client.Client  // nil before the first order

	held       bool      // write access
	refusal    error     // what the last request came to
	askAgainAt time.Time // after a refusal

	moving bool
	timer  *time.Timer // of the dead man while moving, else of giving up the wheels
}

func newCommander(p *page, device byte, r *report) *commander {
	return &commander{page: p, device: device, report: r, orders: make(chan driveOrder, 1), timer: time.NewTimer(holdLimit)}
}

// put leaves an order for the commander and waits for nothing. It is for one
// goroutine.
func (c *commander) put(o driveOrder) {
	o.heard = time.Now()
	select {
	case waiting := <-c.orders:
		o = waiting.with(o)
	default:
	}
	c.orders <- o // there is room: nobody else puts
}

// run obeys until ctx ends or the connection fails. Then the connection is
// closed, with which the server stops the wheels.
func (c *commander) run(ctx context.Context) error {
	defer c.close()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case o := <-c.orders:
			err = c.obey(ctx, o)
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

// obey carries out an order, with write access to the device, or what has come
// instead of it while that was being got.
func (c *commander) obey(ctx context.Context, o driveOrder) error {
	if err := c.hold(ctx); err != nil {
		return err
	}
	select {
	case newer := <-c.orders:
		o = o.with(newer)
	default:
	}
	if !c.moving {
		c.timer.Reset(holdLimit)
	}
	var err error
	if o.Motors != nil {
		err = c.robot.ChangeMotorState(*o.Motors)
	}
	if o.Reset {
		err = errors.Join(err, c.robot.ResetPosition())
	}
	if o.Drive != nil {
		err = errors.Join(err, c.drive(o.Drive[0], o.Drive[1], deadMan-time.Since(o.heard)))
	}
	if o.Look != nil {
		err = errors.Join(err, c.robot.SetPTZ(o.Look[0], o.Look[1], o.Look[2]))
	}
	if o.Grip != nil {
		err = errors.Join(err, c.robot.SetGripper(o.Grip[0], o.Grip[1]))
	}
	return err
}

// drive drives for as long as the page may be silent from now on. If that time
// is over it stops: an order that waited for the wheels' setup says nothing of
// what the page wants now.
func (c *commander) drive(speed, turnRate int, silence time.Duration) error {
	c.moving = silence > 0 && (speed != 0 || turnRate != 0)
	if !c.moving {
		c.timer.Reset(holdLimit)
		return c.robot.SetSpeed(0, 0)
	}
	c.timer.Reset(silence)
	return c.robot.SetSpeed(speed, turnRate)
}

// lapse stops the robot of a page that is silent, and later gives up its
// wheels.
func (c *commander) lapse(ctx context.Context) error {
	switch {
	case c.moving:
		c.report.failed(fmt.Errorf("stopped: nothing heard from the page for %v", deadMan))
		return c.drive(0, 0, 0)
	case c.held && c.device == codec.Position:
		return c.request(ctx, codec.AccessClose)
	}
	return nil
}

// hold gets write access to the device, and a connection.
func (c *commander) hold(ctx context.Context) (err error) {
	switch {
	case c.held:
		return nil
	case time.Now().Before(c.askAgainAt):
		return c.refusal
	case c.robot == nil:
		if c.robot, err = c.page.dial(ctx); err != nil {
			return err
		}
	}
	return c.request(ctx, codec.AccessWrite)
}

// request asks for an access and reports what came of it.
func (c *commander) request(ctx context.Context, access byte) error {
	limited, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err := c.robot.Request(limited, string([]byte{c.device, access}))
	c.held = err == nil && access == codec.AccessWrite
	if refused(err) {
		c.refusal, c.askAgainAt = err, time.Now().Add(refusalLimit)
	}
	c.report.holds(c.device, c.held)
	return err
}
