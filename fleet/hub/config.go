package hub

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"player/client"
	"player/codec"
	"player/fleet/bridge"
)

const (
	// dialLimit bounds the wait for a robot that does not answer.
	dialLimit = 3 * time.Second
	// setupLimit bounds the wait for hardware: some takes 10 s (PROTOCOL 2.7).
	setupLimit = 30 * time.Second
	// backlog is how many messages of one kind wait for a robot. More are dropped.
	backlog = 256
)

// dial connects to a robot, under a name that its owner recognises.
func (h *hub) dial(ctx context.Context, r Robot) (*client.Client, error) {
	c, err := client.DialAs(ctx, r.Address, h.clientName(), dialLimit)
	return c, inWords(r.Address, err)
}

// clientName is the name of the fleet's connections at a robot.
func (h *hub) clientName() string { return "fleet " + h.Fleet }

// receive handles the messages of some subjects, one after the other, until ctx ends.
func (h *hub) receive(ctx context.Context, handle func(context.Context, *nats.Msg), subjects ...string) error {
	messages := make(chan *nats.Msg, backlog)
	var all []subscription
	defer func() { h.refuseRest(messages, all...) }()
	for _, subject := range subjects {
		sub, err := h.bus.ChanSubscribe(subject, messages)
		if err != nil {
			return err
		}
		all = append(all, sub)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-messages:
			handle(ctx, m)
		}
	}
}

// drainLimit bounds the wait for the server of NATS, which may send requests until it has heard
// that a subscription ends. With more, a handover would take longer than a beat.
const drainLimit = bridge.BeatPeriod

// refuseRest ends subscriptions, and refuses the requests that come until the server knows of
// the end: they reach no other bridge.
func (h *hub) refuseRest(messages <-chan *nats.Msg, all ...subscription) {
	for _, sub := range all {
		if sub.Drain() != nil {
			_ = sub.Unsubscribe() // the connection is lost, or closed
		}
	}
	limit := h.After(drainLimit)
	for {
		select {
		case m := <-messages:
			h.answer(m, refusal{Error: "this bridge serves the robot no more: ask again"})
			continue
		default:
		}
		if !slices.ContainsFunc(all, subscription.IsValid) {
			return
		}
		select {
		case <-h.After(time.Millisecond):
		case <-limit:
			return
		}
	}
}

// configurer passes on configurations of a robot, in order.
type configurer struct {
	hub   *hub
	robot Robot
}

func (c *configurer) run(ctx context.Context) error {
	return c.hub.receive(ctx, func(ctx context.Context, m *nats.Msg) {
		body, _, err := c.hub.read(c.robot, m)
		var payload []byte
		if err == nil {
			payload, err = body.Config()
		}
		if err == nil {
			err = inWords(c.robot.Address, c.configure(ctx, bridge.Device(m.Subject), payload))
		}
		if err != nil {
			c.hub.answer(m, refusal{Error: err.Error()})
			return
		}
		c.hub.answer(m, done{OK: true})
	}, bridge.Subject(c.hub.Fleet, c.robot.Name, bridge.Every, bridge.Config))
}

// configure sends one configuration and waits until the robot's server has seen it.
func (c *configurer) configure(ctx context.Context, device string, payload []byte) error {
	spec, ok := bridge.Named(device)
	if !ok {
		return fmt.Errorf("there is no device %q", device)
	}
	conn, err := c.hub.dial(ctx, c.robot)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, setupLimit)
	defer cancel()
	// Without an open device it has no effect (PROTOCOL 6.6).
	code := spec.Letter
	if bridge.HasLetter(spec) {
		err = conn.Request(ctx, string([]byte{code, codec.AccessRead}))
	} else {
		code, err = conn.Open(ctx, device, codec.AccessRead, nil)
	}
	if err != nil {
		return err
	}
	if err := conn.Config(code, payload); err != nil {
		return err
	}
	return conn.Request(ctx, "") // its reply comes after everything before it was obeyed
}
