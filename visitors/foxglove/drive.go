package foxglove

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"player/codec"
	"player/config/rights"
	"player/formats/foxglove"
	"player/formats/telemetry"
	"player/visitors"
)

const (
	// velocityTopic is the topic of each robot that drives it.
	velocityTopic = "/cmd_vel"
	// silenceLimit is how long a robot drives without a message: panels repeat theirs
	// once a second.
	silenceLimit = 1500 * time.Millisecond
)

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
		return fmt.Errorf("there is no listener for %.60q: publish on /ROBOT%s", c.Topic, velocityTopic)
	}
	return visitors.Need(v.May, rights.Write)
}

func (v *viewer) unadvertise(id uint32) error {
	robot, known := v.advertised[id]
	if !known {
		return fmt.Errorf("channel %d is not advertised", id)
	}
	delete(v.advertised, id)
	v.Stand(robot)
	return nil
}

// velocityTopic is the topic that drives the robot.
func (r Robot) velocityTopic() string { return "/" + r.Name + velocityTopic }

// driven returns the robot that a topic drives, -1 if there is none.
func (v *viewer) driven(topic string) int {
	return slices.IndexFunc(v.server.config.Robots, func(r Robot) bool {
		return topic == r.velocityTopic() && r.Device(codec.Position) >= 0
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
	if err := visitors.Need(v.May, rights.Write); err != nil {
		return err
	}
	speed, turnRate, err := telemetry.ParseVelocity(m.Payload)
	if err != nil {
		return err
	}
	v.Wheels(robot, v.server.config.Robots[robot].Robot).Drive(speed, turnRate)
	return nil
}
