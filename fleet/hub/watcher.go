package hub

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/fleet/bridge"
)

// questionLimit bounds the wait for a robot that is asked for its status, and for a
// connection to it. With more, the status of a robot that cannot be reached would be late.
const questionLimit = statusPeriod / 2

// listRounds is after how many questions about the status the robot is asked again for its devices: a reload may have
// changed them.
const listRounds = 10

// statusPeriod is the time between two messages of a status.
const statusPeriod = time.Second

// watcher publishes the status of a robot. While it has a listener, it asks the
// robot's server for the obstacles to commands.
type watcher struct {
	hub   *hub
	robot Robot
	state *state
	conn  *client.Client // nil: there is none
	round int            // questions on conn so far
}

func (w *watcher) run(ctx context.Context) error {
	inbox, replies := nats.NewInbox(), make(chan *nats.Msg, backlog)
	sub, err := w.hub.nats.ChanSubscribe(inbox, replies)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	defer w.disconnect()
	tick := time.NewTicker(statusPeriod)
	defer tick.Stop()
	for listened := false; ; {
		if listened {
			w.ask(ctx)
		} else {
			w.disconnect()
		}
		m := &nats.Msg{Subject: bridge.Prefix(w.hub.Fleet, w.robot.Name) + "." + bridge.Status, Reply: inbox, Data: w.state.json(w.hub.peers.Self)}
		_ = w.hub.nats.PublishMsg(m) // a message that is lost with the connection is followed by another
		listened = w.hub.nats.IsConnected()
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case r := <-replies:
				if r.Header.Get("Status") == noResponders {
					listened = false
				}
			case <-w.state.changed:
				waiting = false
			case <-tick.C:
				waiting = false
			}
		}
	}
}

// ask notes the obstacles to commands, or that they are unknown.
func (w *watcher) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, questionLimit)
	defer cancel()
	var err error
	if w.conn == nil {
		if w.conn, err = w.hub.dial(ctx, w.robot); err != nil {
			w.state.obstacles(obstacles{}, false)
			return
		}
	}
	if w.round%listRounds == 0 { // before the question below, whose lines then have devices without letters
		_, err = list(ctx, w.conn, w.state)
	}
	w.round++
	if err != nil {
		w.disconnect()
		return
	}
	lines, err := w.conn.Ask(ctx, codec.QuestionObstacles)
	if err != nil {
		w.disconnect()
		return
	}
	o := readObstacles(lines)
	if strings.HasSuffix(o.control, " "+w.hub.clientName()) {
		o.control = "" // the holder of the lease
	}
	w.state.obstacles(o, true)
}

func (w *watcher) disconnect() {
	w.state.obstacles(obstacles{}, false)
	if w.conn != nil {
		_ = w.conn.Close() // nothing was written
		w.conn, w.round = nil, 0
	}
}
