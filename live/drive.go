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
	"player/visitors"
)

const (
	// velocityTopic is the topic of each robot that drives it.
	velocityTopic = "/cmd_vel"
	// silenceLimit is how long a robot drives without a message: panels repeat theirs
	// once a second.
	silenceLimit = 1500 * time.Millisecond
	// maxCalls is how many calls of services may wait for the wheels to start.
	maxCalls = 16
)

// driver commands the wheels of a robot for a viewer.
type driver struct {
	viewer     *viewer
	robot      Robot
	hand       *visitors.Hand
	velocities chan velocity // buffers one: the newest
	calls      chan motion
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
		d = &driver{viewer: v, robot: v.server.config.Robots[robot], velocities: make(chan velocity, 1), calls: make(chan motion, maxCalls)}
		d.hand = visitors.NewHand(codec.Position, "wheels", v.server.silence, func(ctx context.Context) (*client.Client, func(), error) {
			r, err := v.dial(ctx, d.robot)
			return r.Client, r.release, err
		})
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
	return visitors.Need(v.may, rights.Write)
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
	if d := v.drivers[robot]; d != nil {
		d.put(velocity{heard: time.Now()}) // which lets go of what the viewer drives
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
	if err := visitors.Need(v.may, rights.Write); err != nil {
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

// run executes commands until ctx ends. Then it lets go.
func (d *driver) run(ctx context.Context) error {
	defer d.hand.LetGo()
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
		case <-d.hand.Due():
			_, err = d.hand.Lapse()
		}
		if err != nil && ctx.Err() == nil {
			d.hand.LetGo() // the next command connects again
			if err := d.viewer.status(fmt.Errorf("%s: %w", d.robot.Name, err)); err != nil {
				return err
			}
		}
	}
}

// drive drives. A viewer that drives nothing does not connect to the robot in order to
// stop it.
func (d *driver) drive(ctx context.Context, v velocity) error {
	if v.stops() && d.hand.Robot() == nil || d.hand.Refused() != nil { // the viewer has been shown the refusal
		return nil
	}
	if err := d.hand.Hold(ctx); err != nil {
		return err
	}
	select {
	case v = <-d.velocities: // came meanwhile
	default:
	}
	return d.hand.Drive(v.speed, v.turnRate, v.heard)
}

func (v velocity) stops() bool { return v.speed == 0 && v.turnRate == 0 }

// configure calls a service. Configurations have no effect while the device is closed
// (PROTOCOL 6.6).
func (d *driver) configure(ctx context.Context, m motion) error {
	if err := d.hand.Hold(ctx); err != nil {
		return err
	}
	if err := m.run(d.hand.Robot()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	return d.hand.Robot().Request(ctx, "") // the reply comes after the effect
}
