package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"player/config/rights"
	"player/devices/stage"
)

const (
	// worldPeriod is how often a page is told where everything is: 20 Hz look
	// smooth, and cost the loop some microseconds each.
	worldPeriod = 50 * time.Millisecond
	// maxSteps bounds the steps that a page may ask for at once: ten seconds.
	maxSteps = 1000
	// maxSpeed bounds the speed that a page may ask for. Beyond it is 0, as fast
	// as possible.
	maxSpeed = 1000
)

// errEnded says that there is no loop any more.
var errEnded = errors.New("the server has been stopped")

// worldOrder is what a page says to the world: one of these.
type worldOrder struct {
	Move *struct {
		Mover         int
		X, Y, Heading float64 // metres, radians
	} `json:"move"`
	Pause *bool    `json:"pause"`
	Step  int      `json:"step"`  // of stage.StepTime
	Speed *float64 `json:"speed"` // simulated seconds a second; 0: as fast as possible
}

// worldReport is what a page is told besides poses: what a move came to.
type worldReport struct {
	Mover int    `json:"mover"`
	Error string `json:"error"` // empty: it is there
}

// observer shows the world to one page.
type observer struct {
	server *server
	page   *page
	orders chan worldOrder
	// A snapshot, written on the loop.
	poses            []stage.Pose
	time             time.Duration
	speed            float64
	paused, finished bool

	last, out []byte
}

// world serves one world socket.
func (s *server) world(ctx context.Context, p *page) error {
	if err := p.need(rights.Read); err != nil {
		return err
	}
	o := observer{server: s, page: p, orders: make(chan worldOrder)}
	return converse(ctx, p, o.order, o.run)
}

func (o *observer) order(ctx context.Context, order worldOrder) error {
	select {
	case o.orders <- order:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run shows the world until ctx ends.
func (o *observer) run(ctx context.Context) error {
	var static scene
	if err := o.server.onLoop(ctx, func(time.Duration) { static = newScene(o.server.config.World) }); err != nil {
		return err
	}
	if err := o.page.tell(ctx, static); err != nil {
		return err
	}
	ticker := time.NewTicker(worldPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case order := <-o.orders:
			if err := o.obey(ctx, order); err != nil {
				return err
			}
		case <-ticker.C:
		}
		if err := o.show(ctx); err != nil {
			return err
		}
	}
}

// onLoop has the loop call fn and waits for it.
func (s *server) onLoop(ctx context.Context, fn func(now time.Duration)) error {
	done := make(chan struct{})
	if !s.config.Post(func(now time.Duration) {
		fn(now)
		close(done)
	}) {
		return errEnded
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *observer) obey(ctx context.Context, order worldOrder) error {
	if err := o.page.need(rights.Write); err != nil {
		return o.page.tell(ctx, worldReport{Mover: -1, Error: err.Error()})
	}
	world := o.server.config.World
	switch {
	case order.Move != nil:
		m, report := order.Move, worldReport{Mover: order.Move.Mover}
		if err := o.server.onLoop(ctx, func(time.Duration) {
			if err := world.SetPose(m.Mover, stage.Pose{X: m.X, Y: m.Y, Heading: m.Heading}); err != nil {
				report.Error = err.Error()
			}
		}); err != nil {
			return err
		}
		return o.page.tell(ctx, report)
	case order.Pause != nil:
		return o.server.onLoop(ctx, func(now time.Duration) { world.Pause(now, *order.Pause) })
	case order.Speed != nil:
		return o.server.onLoop(ctx, func(now time.Duration) { world.SetSpeed(now, min(*order.Speed, maxSpeed)) })
	}
	for range min(order.Step, maxSteps) { // one by one, not to hold the loop
		if err := o.server.onLoop(ctx, func(time.Duration) { world.Step(1) }); err != nil {
			return err
		}
	}
	return nil
}

// show sends where everything is, if that has changed and the page keeps up.
func (o *observer) show(ctx context.Context) error {
	if o.page.full() {
		return nil
	}
	if err := o.server.onLoop(ctx, o.look); err != nil {
		return err
	}
	o.out = o.appendPoses(o.out[:0])
	if bytes.Equal(o.out, o.last) {
		return nil
	}
	o.page.sent++
	o.out, o.last = o.last, o.out
	binary.BigEndian.PutUint32(o.last, o.page.sent)
	err := o.page.data(ctx, o.last)
	binary.BigEndian.PutUint32(o.last, 0)
	return err
}

// look takes a snapshot. It is called on the loop.
func (o *observer) look(time.Duration) {
	world := o.server.config.World
	o.poses = world.AppendPoses(o.poses[:0])
	o.time = world.Time()
	o.speed, o.paused = world.Speed()
	o.finished = world.Finished()
}

// appendPoses appends a message with the snapshot, all big-endian:
//
//	u32 number of the message, filled in when it is sent
//	f64 simulated time, seconds
//	f32 speed
//	u8  1: paused, 2: finished
//	for each mover: f32 x, y, metres; f32 heading, radians
func (o *observer) appendPoses(dst []byte) []byte {
	f32 := func(v float64) { dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v))) }
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(o.time.Seconds()))
	f32(o.speed)
	var flags byte
	if o.paused {
		flags |= 1
	}
	if o.finished {
		flags |= 2
	}
	dst = append(dst, flags)
	for _, p := range o.poses {
		f32(p.X)
		f32(p.Y)
		f32(p.Heading)
	}
	return dst
}
