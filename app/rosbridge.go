package app

import (
	"context"
	"fmt"
	"net"
	"slices"

	"go.uber.org/zap"

	"player/config"
	"player/visitors"
	"player/visitors/rosbridge"
)

// openRosbridge listens for programs of ROS on the address that the flags ask for, nil if they
// ask for none.
func openRosbridge(o options, conf *config.Server, sim *simulation, log *zap.Logger) (*frontend, error) {
	if o.rosbridge == "" {
		return nil, nil
	}
	f, err := listen(o, o.rosbridge, log)
	if err != nil {
		return nil, fmt.Errorf("-rosbridge: %w", err)
	}
	f.what, f.name = "rosbridge", "the server for programs of ROS"
	if o.rosOrigin != "" {
		f.Origins = []string{o.rosOrigin}
	}
	var robots []visitors.Robot
	f.show = func(conf *config.Server, sim *simulation) bool {
		before, access := robots, f.Access
		f.Access, robots = conf.Access, nil
		for _, r := range robotsOf(conf, sim, f.bind) {
			robots = append(robots, r.Robot)
		}
		return !f.Access.Equal(access) || !slices.EqualFunc(robots, before, visitors.Robot.Equal)
	}
	f.serving = func() func(context.Context, net.Listener) error {
		config := rosbridge.Config{Common: f.Common, Robots: robots}
		return func(ctx context.Context, l net.Listener) error { return rosbridge.Serve(ctx, l, config) }
	}
	f.show(conf, sim)
	return f, nil
}
