package rosbridge

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"player/formats/ros"
	"player/visitors"
)

const (
	// messageLimit is the largest message that a program may send, in bytes.
	messageLimit = 64 << 10
	// rate is the rate of a robot's data in Hz: the default of the Player protocol.
	rate = 10
	// silenceLimit is how long a robot drives without a message: most bases of ROS have the same limit.
	silenceLimit = 500 * time.Millisecond
)

// connection is a program at a WebSocket: the guest that carries out what the rules decide.
type connection struct {
	*visitors.Guest
	server *server
	rules  *program
	again  []atomic.Bool // by robot: a topic was subscribed to, and latched ones are sent again
}

func newConnection(s *server, g *visitors.Guest) *connection {
	c := &connection{Guest: g, server: s, again: make([]atomic.Bool, len(s.config.Robots))}
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
	c.Wheels(robot, c.server.config.Robots[robot]).Drive(speed, turnRate)
}

func (c *connection) stand(robot int) { c.Stand(robot) }

func (c *connection) call(v service, on bool, answer func(error) error) error {
	return c.Call(v.of, on, v.robot, c.server.config.Robots[v.robot], answer)
}

// newFeed returns the feed of a robot, which passes new data to the outbox.
func (c *connection) newFeed(robot int) *visitors.Feed {
	var converter *ros.Converter
	r := c.server.config.Robots[robot]
	return c.Feed(r, func(news []visitors.News) error {
		if c.again[robot].Swap(false) || converter == nil {
			converter = c.server.converter(robot)
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

// frameOf returns the frame of a message of /tf: messages for other frames do not replace
// it. The robot's first frame stands for all frames in /tf_static.
func frameOf(content any) string {
	if tf, ok := content.(ros.TFMessage); ok && len(tf.Transforms) > 0 {
		return tf.Transforms[0].ChildFrameID
	}
	return ""
}
