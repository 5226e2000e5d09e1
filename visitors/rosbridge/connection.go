package rosbridge

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"player/client"
	"player/formats/ros"
	"player/formats/telemetry"
	"player/visitors"
)

const (
	// messageLimit is the largest message that a program may send, in bytes.
	messageLimit = 64 << 10
	// rate is the rate of a robot's data in Hz: the default of the Player protocol.
	rate = 10
	// silenceLimit is how long a robot drives without a message: most bases of ROS have the same limit.
	silenceLimit = 500 * time.Millisecond
	// answerLimit is how long a robot of this server may take to describe its devices.
	answerLimit = 5 * time.Second
)

// connection is a program at a WebSocket: the guest that carries out the decisions of the rules.
type connection struct {
	*visitors.Guest
	server *server
	rules  *program
	again  []atomic.Bool         // by robot: a topic was subscribed to, and latched ones are sent again
	driven []atomic.Uint32       // by robot: commands to the wheels
	asked  map[string]*described // by the topic of commands; only the reader uses the map
}

func newConnection(s *server, g *visitors.Guest) *connection {
	c := &connection{Guest: g, server: s, again: make([]atomic.Bool, len(s.config.Robots)), driven: make([]atomic.Uint32, len(s.config.Robots)), asked: map[string]*described{}}
	c.rules = newProgram(s, c, g.May)
	c.Report = func(err error) error { return c.rules.status("", err) } // no message has caused it
	return c
}

func (c *connection) serve() error {
	take := func(kind websocket.MessageType, message []byte) error {
		return c.rules.take(kind == websocket.MessageBinary, message)
	}
	return c.Serve(take, c.write)
}

func (c *connection) write(ctx context.Context) error {
	return c.Write(ctx, websocket.MessageText, func(dst []byte, m visitors.Message) ([]byte, error) {
		dst = append(dst, c.server.topics[m.Subscription].head...)
		return append(ros.AppendJSON(dst, m.Content), '}'), nil
	})
}

func (c *connection) reply(text []byte) error { return c.Outbox.Reply(true, text) }

func (c *connection) flow(topic int, wanted pace) {
	if wanted.queue == 0 {
		c.Outbox.Unsubscribe(uint32(topic))
		return
	}
	c.Outbox.Subscribe(uint32(topic), uint32(topic), wanted.queue, wanted.period)
}

func (c *connection) watch(robot int, devices string) {
	c.again[robot].Store(true)
	c.Watch(robot, devices, rate, func() *visitors.Feed { return c.newFeed(robot) })
}

func (c *connection) drive(robot, speed, turnRate int) {
	c.driven[robot].Add(1)
	c.Wheels(robot, c.server.config.Robots[robot]).Drive(speed, turnRate)
}

func (c *connection) stand(robot int) { c.Stand(robot) }

func (c *connection) release(t target) { c.Release(t.robot, t.device.Code) }

// command queues a message to a device. Its names are understood when the device is open: the driver may have learnt them
// then.
func (c *connection) command(t target, message []byte) error {
	robot := c.server.config.Robots[t.robot]
	about := c.asked[t.topic]
	if about == nil {
		about = &described{Device: t.device.Device}
		c.asked[t.topic] = about
	}
	driven := &c.driven[t.robot]
	before := driven.Load()
	return c.Commands(t.robot, robot, t.device.Code).Queue(func(ctx context.Context, control *visitors.Controller) error {
		if t.device.Interface == "goto" && driven.Load() != before {
			return nil // a command to the wheels has come while the device started, and ends a goal
		}
		if err := about.ask(ctx, control.Robot(), t.device.Code); err != nil {
			return err
		}
		send, err := t.parse(message, about.Device)
		if err != nil {
			return c.Report(fmt.Errorf("%s: %w", t.topic, err)) // the device stays open: its joints move on
		}
		return send(control.Robot(), t.device.Code)
	})
}

// described is a device with its description as the robot has given it. Only the goroutine of its commands uses it.
type described struct {
	telemetry.Device
	asked bool
}

// ask asks the robot once.
func (d *described) ask(ctx context.Context, robot *client.Client, code byte) error {
	if d.asked {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if _, err := robot.Devices(ctx); err != nil { // the answer about channels has names that this explains
		return err
	}
	channels, err := robot.Channels(ctx)
	if err != nil {
		return err
	}
	d.asked, d.Channels = true, nil
	for _, c := range channels {
		if c.Device == code {
			d.Channels = append(d.Channels, c)
		}
	}
	return nil
}

func (c *connection) call(v service, on bool, answer func(error) error) error {
	return c.Call(v.of, on, v.robot, c.server.config.Robots[v.robot], answer)
}

// newFeed returns the feed of a robot, which passes new data to the outbox.
func (c *connection) newFeed(robot int) *visitors.Feed {
	var converter *ros.Converter
	r := c.server.config.Robots[robot]
	descriptions := map[int]telemetry.Description{} // of devices that were opened
	describe := func(device int, d telemetry.Description) {
		if descriptions[device] = d; converter != nil {
			converter.Describe(device, d)
		}
	}
	return c.Feed(r, describe, func(news []visitors.News) error {
		if c.again[robot].Swap(false) || converter == nil {
			converter = c.server.converter(robot)
			for device, d := range descriptions {
				converter.Describe(device, d)
			}
		}
		now := time.Now().UnixNano()
		for _, n := range news {
			if !n.Known {
				continue // the device has no data
			}
			at := now - int64(n.Age)
			for _, m := range converter.Data(r.Device(n.Device), at, n.Payload) {
				if i, offered := c.server.index[converter.Topics()[m.Topic].Name]; offered {
					c.Outbox.Put(uint32(i), frameOf(m.Content), at, m.Content)
				}
			}
		}
		return nil
	})
}

// frameOf returns the frame of a message of /tf, or the first joint of one of /joint_states: messages of other frames and
// joints do not replace it. The robot's first frame represents all frames in /tf_static.
func frameOf(content any) string {
	switch m := content.(type) {
	case ros.TFMessage:
		if len(m.Transforms) > 0 {
			return m.Transforms[0].ChildFrameID
		}
	case ros.JointState:
		if len(m.Name) > 0 {
			return m.Name[0]
		}
	}
	return ""
}
