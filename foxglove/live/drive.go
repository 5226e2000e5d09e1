package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"player/client"
	"player/codec"
	"player/config/rights"
	"player/foxglove"
	"player/web"
)

const (
	// velocityTopic is the topic of each robot that drives it.
	velocityTopic = "/cmd_vel"
	// silenceLimit is how long a robot drives without a message: panels repeat theirs
	// once a second.
	silenceLimit = 1500 * time.Millisecond
	// holdLimit is how long a viewer that does not drive keeps the wheels. The server
	// stops them when it lets go (PROTOCOL 5.4).
	holdLimit = 3 * time.Second
	// refusalLimit is how long refused wheels are not requested again: the server
	// tries to start them at each request, which takes seconds.
	refusalLimit = 5 * time.Second
	// maxCalls is how many calls of services may wait for the wheels to start.
	maxCalls = 16
)

// driver commands the wheels of a robot for a viewer.
type driver struct {
	viewer     *viewer
	robot      Robot
	velocities chan velocity // buffers one: the newest
	calls      chan motion

	wheels  robotClient // Client is nil while they are not held
	moving  bool
	timer   *time.Timer // while moving, for silenceLimit, otherwise for holdLimit
	refusal error
	retryAt time.Time // after a refusal
}

// velocity is a command to the wheels.
type velocity struct {
	speed, turnRate int // mm/s, deg/s
	heard           time.Time
}

// motion is a call of a service that configures the wheels.
type motion struct {
	run    func(*client.Client) error
	answer func(error) error
}

// driver returns the driver of a robot, and starts it if necessary.
func (v *viewer) driver(robot int) *driver {
	d := v.drivers[robot]
	if d == nil {
		d = &driver{viewer: v, robot: v.server.config.Robots[robot], velocities: make(chan velocity, 1), calls: make(chan motion, maxCalls), timer: time.NewTimer(holdLimit)}
		v.drivers[robot] = d
		v.start(d.run)
	}
	return d
}

// advertise notes a topic that the viewer publishes on.
func (v *viewer) advertise(c foxglove.Channel) error {
	if len(v.advertised) == maxChannels {
		return errors.New("too many topics are advertised")
	}
	if _, used := v.advertised[c.ID]; used {
		return fmt.Errorf("channel %d is in use", c.ID)
	}
	robot := v.driven(c.Topic)
	if robot >= 0 && c.Encoding != foxglove.Encoding {
		return fmt.Errorf("messages on %s are %s, not %.60q", c.Topic, foxglove.Encoding, c.Encoding)
	}
	v.advertised[c.ID] = robot
	if robot < 0 {
		return fmt.Errorf("nobody here listens to %.60q: publish on /ROBOT%s", c.Topic, velocityTopic)
	}
	v.server.link(func() { v.publishes[c.Topic] = true })
	return web.Need(v.may, rights.Write)
}

func (v *viewer) unadvertise(id uint32) error {
	robot, known := v.advertised[id]
	if !known {
		return fmt.Errorf("channel %d is not advertised", id)
	}
	delete(v.advertised, id)
	if robot < 0 {
		return nil
	}
	v.server.link(func() { delete(v.publishes, v.server.config.Robots[robot].velocityTopic()) })
	if d := v.drivers[robot]; d != nil {
		d.put(velocity{heard: time.Now()}) // stops
	}
	return nil
}

// velocityTopic is the topic that drives the robot.
func (r Robot) velocityTopic() string { return "/" + r.Name + velocityTopic }

// driven returns the robot that a topic drives, -1 if there is none.
func (v *viewer) driven(topic string) int {
	return slices.IndexFunc(v.server.config.Robots, func(r Robot) bool {
		return topic == r.velocityTopic() && r.device(codec.Position) >= 0
	})
}

// publish takes a message of the viewer.
func (v *viewer) publish(m foxglove.MessageData) error {
	robot, known := v.advertised[m.Channel]
	if !known {
		return fmt.Errorf("channel %d is not advertised", m.Channel)
	}
	if robot < 0 {
		return nil // advertise has returned the error
	}
	if err := web.Need(v.may, rights.Write); err != nil {
		return err
	}
	speed, turnRate, err := foxglove.ParseVelocity(m.Payload)
	if err != nil {
		return err
	}
	v.driver(robot).put(velocity{speed, turnRate, time.Now()})
	return nil
}

// put hands the newest command to run. It does not block; only the reader calls it.
func (d *driver) put(v velocity) {
	select {
	case <-d.velocities:
	default:
	}
	d.velocities <- v // does not block: the buffer is empty
}

// run executes commands until ctx ends. Then the connection is closed, and the server
// stops the wheels.
func (d *driver) run(ctx context.Context) error {
	defer d.timer.Stop()
	defer d.release()
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case v := <-d.velocities:
			err = d.drive(ctx, v)
		case c := <-d.calls:
			if err := c.answer(d.configure(ctx, c)); err != nil {
				return err
			}
		case <-d.timer.C:
			err = d.lapse()
		}
		if err != nil && ctx.Err() == nil {
			d.release() // which stops; the next command connects again
			if err := d.viewer.status(fmt.Errorf("%s: %w", d.robot.Name, err)); err != nil {
				return err
			}
		}
	}
}

// release gives up the wheels.
func (d *driver) release() {
	if d.wheels.Client != nil {
		d.wheels.Close()
		d.wheels, d.moving = robotClient{}, false
	}
}

// drive drives until silenceLimit after the command was heard. One that has waited
// longer for the wheels to start stops them.
func (d *driver) drive(ctx context.Context, v velocity) error {
	if d.wheels.Client == nil && time.Now().Before(d.retryAt) {
		return nil // the viewer has been shown the refusal
	}
	if err := d.acquire(ctx); err != nil {
		return err
	}
	select {
	case v = <-d.velocities: // came meanwhile
	default:
	}
	left := d.viewer.server.silence - time.Since(v.heard)
	if left <= 0 || v.speed == 0 && v.turnRate == 0 {
		return d.stop()
	}
	d.moving = true
	d.timer.Reset(left)
	return d.wheels.SetSpeed(v.speed, v.turnRate)
}

func (d *driver) stop() error {
	d.moving = false
	d.timer.Reset(holdLimit)
	return d.wheels.SetSpeed(0, 0)
}

// lapse stops the robot when nothing has been heard for too long, and later gives up
// the wheels.
func (d *driver) lapse() error {
	if d.moving {
		return d.stop()
	}
	d.release()
	return nil
}

// configure calls a service. Configurations have no effect while the device is closed
// (PROTOCOL 6.6).
func (d *driver) configure(ctx context.Context, m motion) error {
	if d.wheels.Client == nil && time.Now().Before(d.retryAt) {
		return d.refusal
	}
	if err := d.acquire(ctx); err != nil {
		return err
	}
	if !d.moving {
		d.timer.Reset(holdLimit)
	}
	if err := m.run(d.wheels.Client); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	return d.wheels.Request(ctx, "") // the reply comes after the effect
}

// acquire gets the wheels.
func (d *driver) acquire(ctx context.Context) (err error) {
	if d.wheels.Client != nil {
		return nil
	}
	if d.wheels, err = d.viewer.dial(ctx, d.robot); err != nil {
		d.wheels = robotClient{}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	err = d.wheels.Request(ctx, "pw")
	if err != nil {
		d.release()
		d.retryAt = time.Now().Add(refusalLimit)
		if _, refused := errors.AsType[*client.AccessError](err); refused {
			err = errors.New("the wheels are refused: the server's log has the reason")
		}
		d.refusal = err
	}
	return err
}
