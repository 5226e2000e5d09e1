package web

import (
	"context"
	"fmt"
	"strings"
	"time"

	"player/client"
	"player/codec"
	"player/rights"
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
)

// driveOrder is what a page says on a drive socket: one of these.
type driveOrder struct {
	Drive  *[2]int   `json:"drive"`  // mm/s forward, deg/s counterclockwise
	Look   *[3]int   `json:"look"`   // pan, tilt in deg, zoom (PROTOCOL 5.1)
	Grip   *[2]uint8 `json:"grip"`   // gripper command and argument (PROTOCOL 5.1)
	Motors *bool     `json:"motors"` // power of the motors
	Reset  bool      `json:"reset"`  // of the odometry
}

// driveReport is what a page is told on a drive socket.
type driveReport struct {
	Held  string `json:"held"`            // devices that it has write access to
	Error string `json:"error,omitempty"` // what an order came to
}

// commander commands one robot for one page.
type commander struct {
	page   *page
	robot  *client.Client
	orders chan driveOrder
	held   string
	moving bool
	timer  *time.Timer // of the dead man while moving, else of giving up the wheels
}

// drive serves one drive socket. When it ends, so does the Player connection,
// and the robot's server stops the wheels.
func (s *server) drive(ctx context.Context, p *page) error {
	robot, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer robot.Close()
	c := commander{page: p, robot: robot, orders: make(chan driveOrder), timer: time.NewTimer(holdLimit)}
	defer c.timer.Stop()
	return converse(ctx, p, c.order, c.run)
}

func (c *commander) order(ctx context.Context, o driveOrder) error {
	select {
	case c.orders <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *commander) run(ctx context.Context) error {
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
		if refused(err) {
			err = c.page.tell(ctx, driveReport{c.held, err.Error()})
		}
		if err != nil {
			return err
		}
	}
}

// obey carries out one order, with write access to the device that it is for.
// What concerns all clients of the microcontroller has no effect while nothing
// of it is open (PROTOCOL 6.6), so that, too, opens the wheels.
func (c *commander) obey(ctx context.Context, o driveOrder) error {
	if !c.moving {
		c.timer.Reset(holdLimit)
	}
	device, need := codec.Position, rights.Write
	switch {
	case o.Look != nil:
		device = codec.PTZ
	case o.Grip != nil:
		device = codec.Gripper
	case o.Motors != nil, o.Reset:
		need |= rights.Config
	}
	if err := c.page.need(need); err != nil {
		return err
	}
	if err := c.hold(ctx, device); err != nil {
		return err
	}
	switch {
	case o.Drive != nil:
		return c.setSpeed(o.Drive[0], o.Drive[1])
	case o.Look != nil:
		return c.robot.SetPTZ(o.Look[0], o.Look[1], o.Look[2])
	case o.Grip != nil:
		return c.robot.SetGripper(o.Grip[0], o.Grip[1])
	case o.Motors != nil:
		return c.robot.ChangeMotorState(*o.Motors)
	case o.Reset:
		return c.robot.ResetPosition()
	}
	return nil
}

// setSpeed drives, and from then on expects to hear from the page.
func (c *commander) setSpeed(speed, turnRate int) error {
	c.moving = speed != 0 || turnRate != 0
	if c.moving {
		c.timer.Reset(deadMan)
	} else {
		c.timer.Reset(holdLimit)
	}
	return c.robot.SetSpeed(speed, turnRate)
}

// lapse stops the robot of a page that is silent, and later gives up its
// wheels.
func (c *commander) lapse(ctx context.Context) error {
	switch {
	case c.moving:
		if err := c.setSpeed(0, 0); err != nil {
			return err
		}
		return c.page.tell(ctx, driveReport{c.held, fmt.Sprintf("stopped: nothing heard from the page for %v", deadMan)})
	case strings.IndexByte(c.held, codec.Position) >= 0:
		return c.request(ctx, codec.Position, codec.AccessClose)
	}
	return nil
}

// hold gets write access to a device.
func (c *commander) hold(ctx context.Context, device byte) error {
	if strings.IndexByte(c.held, device) >= 0 {
		return nil
	}
	return c.request(ctx, device, codec.AccessWrite)
}

// request asks for an access and tells the page what it holds then.
func (c *commander) request(ctx context.Context, device, access byte) error {
	limited, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	if err := c.robot.Request(limited, string([]byte{device, access})); err != nil {
		return err
	}
	c.held = strings.ReplaceAll(c.held, string(device), "")
	if access == codec.AccessWrite {
		c.held += string(device)
	}
	return c.page.tell(ctx, driveReport{Held: c.held})
}
