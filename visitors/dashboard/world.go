package dashboard

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/coder/websocket"

	"player/config/rights"
	"player/devices/stage"
	"player/visitors"
)

const (
	// worldPeriod is how often a page gets the poses: motion at 20 Hz appears smooth, and
	// each message takes some microseconds of the loop.
	worldPeriod = 50 * time.Millisecond
	// maxSteps is the most steps that a page may request at once: ten seconds of
	// simulated time.
	maxSteps = 1000
	// maxSpeed is the highest speed that a page may request, in simulated seconds a
	// second. Zero is faster: as fast as possible.
	maxSpeed = 1000
)

// worldCommand is a command of a page to the world: one of these.
type worldCommand struct {
	Move *struct {
		Mover         int
		X, Y, Heading float64 // metres, radians
	} `json:"move"`
	Pause *bool    `json:"pause"`
	Step  int      `json:"step"`  // how many, of stage.StepTime each
	Speed *float64 `json:"speed"` // simulated seconds a second; 0: as fast as possible
	Edit  *edit    `json:"edit"`  // of the world file, not of the world that runs
}

// worldReport is sent to a page after a move, and when a command is refused.
type worldReport struct {
	Mover int    `json:"mover"` // -1: none
	Error string `json:"error"` // empty: the mover is where it was moved
}

// observer sends the world to one page.
type observer struct {
	server   *server
	socket   *socket
	commands chan worldCommand
	shown    snapshot

	last, out []byte // the last message with number 0, and a buffer for the next
}

// snapshot is how the world is at a moment.
type snapshot struct {
	poses            []stage.Pose
	time             time.Duration
	speed            float64
	paused, finished bool
}

func (s *server) watchWorld(sock *socket) error {
	o := observer{server: s, socket: sock, commands: make(chan worldCommand)}
	return converse(sock, o.take, o.run)
}

// take hands a command to run.
func (o *observer) take(c worldCommand) error {
	select {
	case o.commands <- c:
		return nil
	case <-o.socket.Ctx.Done():
		return o.socket.Ctx.Err()
	}
}

// run sends the scene, then poses, until ctx ends.
func (o *observer) run(ctx context.Context) error {
	static, err := visitors.OnLoop(ctx, o.server.world, sceneOf)
	if err != nil {
		return err
	}
	if err := o.socket.SendJSON(ctx, static); err != nil {
		return err
	}
	ticker := time.NewTicker(worldPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c := <-o.commands:
			if err := o.execute(ctx, c); err != nil {
				return err
			}
		case <-ticker.C:
		}
		if err := o.sendPoses(ctx); err != nil {
			return err
		}
	}
}

func (o *observer) execute(ctx context.Context, c worldCommand) error {
	if err := visitors.Need(o.socket.May, rights.Write); err != nil {
		return o.socket.SendJSON(ctx, worldReport{Mover: -1, Error: explain(err)})
	}
	switch {
	case c.Move != nil:
		m, report := c.Move, worldReport{Mover: c.Move.Mover}
		refused, err := visitors.OnLoop(ctx, o.server.world, func(world *stage.World, _ time.Duration) error {
			return world.SetPose(m.Mover, stage.Pose{X: m.X, Y: m.Y, Heading: m.Heading})
		})
		if err != nil {
			return err
		}
		if refused != nil {
			report.Error = refused.Error()
		}
		return o.socket.SendJSON(ctx, report)
	case c.Edit != nil:
		return o.edit(ctx, *c.Edit)
	case c.Pause != nil:
		return visitors.Do(ctx, o.server.world, func(world *stage.World, now time.Duration) { world.Pause(now, *c.Pause) })
	case c.Speed != nil:
		return visitors.Do(ctx, o.server.world, func(world *stage.World, now time.Duration) {
			world.SetSpeed(now, min(*c.Speed, maxSpeed))
		})
	}
	return o.server.commands.do(ctx, func() error { return o.server.step(ctx, min(c.Step, maxSteps)) })
}

// sendPoses sends a snapshot if it has changed and the dashboard is not congested.
func (o *observer) sendPoses(ctx context.Context) error {
	if o.socket.Outbox.Congested() {
		return nil
	}
	poses := o.shown.poses[:0]
	o.shown = snapshot{} // the loop may write the poses until it has answered
	shown, err := visitors.OnLoop(ctx, o.server.world, func(world *stage.World, _ time.Duration) *snapshot {
		return new(takeSnapshot(world, poses))
	})
	if err != nil {
		return err
	}
	o.shown = *shown
	o.out = shown.appendTo(o.out[:0])
	if bytes.Equal(o.out, o.last) {
		return nil
	}
	o.out, o.last = o.last, o.out
	binary.BigEndian.PutUint32(o.last, o.socket.Outbox.Next())
	err = o.socket.WS.Write(ctx, websocket.MessageBinary, o.last)
	binary.BigEndian.PutUint32(o.last, 0)
	return err
}

// takeSnapshot returns how a world is. It appends the poses to a buffer.
func takeSnapshot(world *stage.World, poses []stage.Pose) snapshot {
	s := snapshot{poses: world.AppendPoses(poses), time: world.Time(), finished: world.Finished()}
	s.speed, s.paused = world.Speed()
	return s
}

// appendTo appends the message of a snapshot, all big-endian:
//
//	u32 number of the message, 0 until it is sent
//	f64 simulated time, seconds
//	f32 speed, simulated seconds a second; 0: as fast as possible
//	u8  bits, 1: paused, 2: finished
//	for each mover: f32 x, y, metres; f32 heading, radians
func (s snapshot) appendTo(dst []byte) []byte {
	f32 := func(v float64) { dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v))) }
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(s.time.Seconds()))
	f32(s.speed)
	var flags byte
	if s.paused {
		flags |= 1
	}
	if s.finished {
		flags |= 2
	}
	dst = append(dst, flags)
	for _, p := range s.poses {
		f32(p.X)
		f32(p.Y)
		f32(p.Heading)
	}
	return dst
}
