package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/reactor/descriptors"
	"player/rosbridge"
	"player/visitors"
)

// programs is the server for programs of ROS; nil: there is none.
type programs struct{ frontend[rosbridge.Config] }

// openRosbridge listens on the address that the flags ask for.
func openRosbridge(o options, conf *config.Server, sim *simulation, log *zap.Logger) (*programs, error) {
	if o.rosbridge == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", o.rosbridge)
	if err != nil {
		return nil, fmt.Errorf("-rosbridge: %w", err)
	}
	host, _, _ := net.SplitHostPort(o.rosbridge) // Listen has accepted it
	p := &programs{frontend[rosbridge.Config]{
		listener: listener.(*net.TCPListener), bind: cmp.Or(o.bind, "localhost"),
		config: rosbridge.Config{Name: host, Log: log},
	}}
	if o.rosOrigin != "" {
		p.config.Origins = []string{o.rosOrigin}
	}
	p.show(conf, sim)
	return p, nil
}

// show offers the robots of a configuration.
func (p *programs) show(conf *config.Server, sim *simulation) {
	p.config.Access, p.config.Robots = conf.Access, nil
	for _, r := range robotsOf(conf, sim, p.bind) {
		robot := rosbridge.Robot{Name: r.Name, Address: r.Address, Port: r.Port}
		for _, d := range r.Devices {
			robot.Devices = append(robot.Devices, rosbridge.Device(d))
		}
		p.config.Robots = append(p.config.Robots, robot)
	}
}

// change serves the robots of a reloaded configuration, unless they are as before.
func (p *programs) change(conf *config.Server, sim *simulation) {
	if p == nil {
		return
	}
	before := p.config
	p.show(conf, sim)
	if !p.config.Access.Equal(before.Access) || !slices.EqualFunc(p.config.Robots, before.Robots, rosbridge.Robot.Equal) {
		p.restart()
	}
}

// serve starts to serve programs, as viewers.serve does.
func (p *programs) serve(ctx context.Context, share *descriptors.Share, tls func() *tls.Config, s visitors.Server, post func(func(now time.Duration)) bool, onPanic func()) {
	if p == nil {
		return
	}
	p.config.TLS, p.config.Post, p.config.Server, p.config.Descriptors = tls, post, s, share
	p.config.Log.Info("rosbridge", zap.Stringer("address", p.listener.Addr()))
	p.frontend.serve(ctx, share, 1, onPanic, func(ctx context.Context, l net.Listener, config rosbridge.Config) {
		if err := rosbridge.Serve(ctx, l, config); err != nil {
			config.Log.Error("the server for programs of ROS failed", zap.Error(err))
		}
	})
}
