package foxglove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/coder/websocket"

	"player/formats/foxglove"
	"player/visitors"
)

const (
	// messageLimit is the largest message that a viewer may send, in bytes. The
	// longest real ones subscribe to all topics of many robots, or have a schema.
	messageLimit = 64 << 10
	// logLines is how many lines of the log may wait for a viewer.
	logLines = 100
	// maxChannels is how many topics a viewer may advertise. It uses one for a robot.
	maxChannels = 256
)

// viewer is a connection of a viewer. Its maps are used by the reader only.
type viewer struct {
	*visitors.Guest
	server *server

	replay replay // that the viewer may control; nil: none

	subscriptions map[uint32]int                // by id: index in server.channels
	advertised    map[uint32]int                // by id: the robot that it drives, -1: none
	publishers    map[uint32]context.CancelFunc // by subscription: ends channel.publish
	parameters    parameters
	warnings      visitors.Limiter
}

func newViewer(s *server, guest *visitors.Guest) *viewer {
	v := &viewer{Guest: guest, server: s, subscriptions: map[uint32]int{}, publishers: map[uint32]context.CancelFunc{},
		advertised: map[uint32]int{}, parameters: newParameters(s)}
	v.Report = v.status
	if v.WS.Subprotocol() == foxglove.Subprotocols()[0] { // other subprotocols have no playback
		for _, robot := range s.config.Robots {
			if v.replay == nil {
				v.replay = robot.replay
			}
		}
	}
	return v
}

func (v *viewer) serve() error {
	if v.WS.Subprotocol() == "" {
		err := errors.New("the viewer has to ask for the subprotocol foxglove.sdk.v1")
		_ = v.WS.Close(websocket.StatusPolicyViolation, err.Error())
		return err
	}
	if err := v.greet(); err != nil {
		return err
	}
	if v.replay != nil {
		v.Start(v.follow)
	}
	return v.Serve(v.take, v.write)
}

func (v *viewer) send(op string, content any) error {
	text, err := foxglove.Text(op, content)
	if err != nil {
		return err
	}
	return v.Outbox.Reply(true, text)
}

// warn shows an error to the person at the viewer. Only the reader calls it.
func (v *viewer) warn(err error) error {
	if !v.warnings.Allow(err.Error()) {
		return nil
	}
	return v.status(err)
}

// status shows an error to the person at the viewer, each time.
func (v *viewer) status(err error) error {
	return v.send("status", foxglove.Status{Level: foxglove.StatusError, Message: err.Error()})
}

// greet sends the viewer the lists of topics, parameters and services that the server offers.
func (v *viewer) greet() error {
	s := v.server
	info := foxglove.ServerInfo{
		Name:               s.config.Version,
		Capabilities:       []string{"clientPublish", "parameters", "parametersSubscribe", "services"},
		SupportedEncodings: []string{foxglove.Encoding}, SessionID: s.session,
	}
	if v.replay != nil {
		p, err := v.playback(v.replay)
		if err != nil {
			return err
		}
		info.Capabilities = append(info.Capabilities, "playbackControl")
		info.DataStart, info.DataEnd = p.Start, p.End
	}
	channels := make([]foxglove.Channel, len(s.channels))
	for i, c := range s.channels {
		channels[i] = foxglove.Channel{ID: uint32(i + 1), Topic: c.name, Messages: c.schema.Messages()}
	}
	services := make([]foxglove.Service, len(s.services))
	for i, c := range s.services {
		services[i] = c.describe(uint32(i + 1))
	}
	for _, m := range []struct {
		op      string
		content any
	}{{"serverInfo", info}, {"advertise", map[string]any{"channels": channels}}, {"advertiseServices", map[string]any{"services": services}}} {
		text, err := foxglove.Text(m.op, m.content)
		if err == nil {
			v.Visitor.OweReply(len(text))
			err = visitors.WriteMessage(v.Ctx, v.WS, websocket.MessageText, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (v *viewer) write(ctx context.Context) error {
	return v.Write(ctx, websocket.MessageBinary, func(dst []byte, m visitors.Message) ([]byte, error) {
		payload, err := payloadOf(m.Content)
		return foxglove.AppendMessageData(dst, m.Subscription, m.Taken, payload), err
	})
}

// take takes a message of the viewer. If a request fails, the viewer shows the error; the
// connection stays.
func (v *viewer) take(kind websocket.MessageType, message []byte) (err error) {
	if kind == websocket.MessageText {
		err = v.takeText(message)
	} else {
		err = v.takeBinary(message)
	}
	if err != nil && !errors.Is(err, visitors.ErrDeaf) {
		err = v.warn(err)
	}
	return err
}

func (v *viewer) takeText(message []byte) error {
	var r foxglove.Request
	if err := json.Unmarshal(message, &r); err != nil {
		return fmt.Errorf("the message is not understood: %w", err)
	}
	switch r.Op {
	case "subscribe":
		return each(r.Subscriptions, v.subscribe)
	case "unsubscribe":
		return each(r.SubscriptionIDs, v.unsubscribe)
	case "advertise":
		return each(r.Channels, v.advertise)
	case "unadvertise":
		return each(r.ChannelIDs, v.unadvertise)
	case "getParameters":
		return v.getParameters(r)
	case "setParameters":
		return v.setParameters(r)
	case "subscribeParameterUpdates":
		v.parameters.subscribe(r.ParameterNames)
		return nil
	case "unsubscribeParameterUpdates":
		v.parameters.unsubscribe(r.ParameterNames)
		return nil
	}
	return fmt.Errorf("there is no operation %.60q", r.Op)
}

// each calls fn for all, and returns its first error.
func each[T any](list []T, fn func(T) error) (first error) {
	for _, v := range list {
		if err := fn(v); first == nil {
			first = err
		}
	}
	return first
}

func (v *viewer) takeBinary(message []byte) error {
	m, err := foxglove.ParseBinary(message)
	switch m := m.(type) {
	case foxglove.MessageData:
		return v.publish(m)
	case foxglove.ServiceCall:
		return v.call(m)
	case foxglove.PlaybackControl:
		return v.control(m)
	}
	return err
}

func (v *viewer) subscribe(s foxglove.Subscription) error {
	i := int(s.ChannelID) - 1
	if i < 0 || i >= len(v.server.channels) {
		return fmt.Errorf("there is no channel %d", s.ChannelID)
	}
	if _, used := v.subscriptions[s.ID]; used {
		return fmt.Errorf("subscription %d is in use", s.ID)
	}
	for _, subscribed := range v.subscriptions {
		if subscribed == i {
			return fmt.Errorf("%s is subscribed to already", v.server.channels[i].name)
		}
	}
	c := v.server.channels[i]
	v.subscriptions[s.ID] = i
	v.Outbox.Subscribe(s.ChannelID, s.ID, c.keep, v.parameters.period(c.name))
	if c.publish == nil {
		v.watch(c.robot)
		return nil
	}
	ctx, stop := context.WithCancel(v.Ctx)
	v.publishers[s.ID] = stop
	v.Start(func(context.Context) error { return c.publish(ctx, v, s.ChannelID) })
	return nil
}

func (v *viewer) unsubscribe(id uint32) error {
	i, known := v.subscriptions[id]
	if !known {
		return fmt.Errorf("there is no subscription %d", id)
	}
	delete(v.subscriptions, id)
	c := v.server.channels[i]
	v.Outbox.Unsubscribe(uint32(i + 1))
	if stop := v.publishers[id]; stop != nil {
		stop()
		delete(v.publishers, id)
		return nil
	}
	v.watch(c.robot)
	return nil
}

// watch adapts the subscriptions at a robot to the viewer's subscriptions.
func (v *viewer) watch(robot int) {
	var codes []byte
	r := v.server.config.Robots[robot]
	for i, d := range r.Devices {
		for _, subscribed := range v.subscriptions {
			if c := v.server.channels[subscribed]; c.robot == robot && slices.Contains(c.devices, i) {
				codes = append(codes, d.Code)
				break
			}
		}
	}
	v.Watch(robot, string(codes), v.parameters.rate(r.Name), func() *visitors.Feed { return v.newFeed(r) })
}
