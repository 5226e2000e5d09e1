package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"player/client"
	"player/codec"
	"player/fleet/bridge"
)

const (
	// listPeriod is the time between two questions which devices a robot has (PROTOCOL 8.9.5), while no other connection asks
	// it. Each takes a connection for a moment. A device that a reload has added appears within this time.
	listPeriod = 10 * time.Minute
	// unlistedPause is the time before the next question if the robot could not be reached.
	unlistedPause = 5 * time.Second
)

// lister finds out which further devices a robot has, and gives the lease of each that takes commands.
type lister struct {
	hub     *hub
	robot   Robot
	state   *state
	serving int // of the further devices that were listed
}

func (l *lister) run(ctx context.Context) error {
	var controllers sync.WaitGroup
	defer controllers.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			timer.Reset(l.ask(ctx))
		case <-l.state.more:
			l.serve(ctx, &controllers)
		}
	}
}

// ask asks the robot for its devices, and returns the time until it is to be asked again.
func (l *lister) ask(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	conn, err := l.hub.dial(ctx, l.robot)
	if err != nil {
		return unlistedPause
	}
	defer conn.Close()
	if _, err := list(ctx, conn, l.state); err != nil {
		return unlistedPause
	}
	return listPeriod
}

// list asks for the devices of the robot on a connection, which the state then has. An older server lists none.
func list(ctx context.Context, conn *client.Client, s *state) ([]codec.Entry, error) {
	entries, err := conn.Devices(ctx)
	if errors.Is(err, client.ErrUnknownQuestion) {
		entries, err = nil, nil
	}
	if err == nil {
		s.list(entries)
	}
	return entries, err
}

// serve starts a controller for each device that was listed since and takes commands.
func (l *lister) serve(ctx context.Context, all *sync.WaitGroup) {
	for _, spec := range l.state.furtherFrom(l.serving) {
		l.serving++
		if spec.CommandSize == 0 {
			continue
		}
		all.Go(func() {
			if err := newController(l.hub, l.robot, spec, l.state).run(ctx); err != nil && ctx.Err() == nil {
				l.hub.Log.Error("a robot is not served", zap.String("robot", l.robot.Name), zap.String("part", bridge.NameOf(spec)), zap.Error(err))
			}
		})
	}
}
