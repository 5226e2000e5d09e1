package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices/readlog"
	"player/foxglove"
	"player/live"
	"player/logging"
	"player/reactor/descriptors"
	"player/visitors"
)

// foxgloveApp is the origin of Foxglove in a browser.
const foxgloveApp = "https://app.foxglove.dev"

// viewers is the server for viewers of Foxglove; nil: there is none.
type viewers struct {
	frontend[live.Config]
	cameras *cameras
}

// openFoxglove listens on the address that the flags ask for.
func openFoxglove(o options, conf *config.Server, sim *simulation, cameras *cameras, log *zap.Logger) (*viewers, error) {
	if o.foxglove == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", o.foxglove)
	if err != nil {
		return nil, fmt.Errorf("-foxglove: %w", err)
	}
	host, _, _ := net.SplitHostPort(o.foxglove) // Listen has accepted it
	v := &viewers{cameras: cameras, frontend: frontend[live.Config]{
		listener: listener.(*net.TCPListener), bind: cmp.Or(o.bind, "localhost"),
		config: live.Config{Recent: logging.TailOf(log).After, Name: host, Version: version(), Log: log},
	}}
	if o.origin != "off" {
		v.config.Origins = []string{cmp.Or(o.origin, foxgloveApp)}
	}
	v.show(conf, sim)
	return v, nil
}

// show offers the robots of a configuration.
func (v *viewers) show(conf *config.Server, sim *simulation) {
	v.config.Access, v.config.Robots, v.config.Cameras = conf.Access, robotsOf(conf, sim, v.bind), v.cameras.of(conf, sim)
}

// robotsOf returns the robots of a configuration as viewers and programs see them.
func robotsOf(conf *config.Server, sim *simulation, bind string) (robots []live.Robot) {
	names := map[string]int{}
	for _, robot := range conf.Robots {
		names[sim.robots.nameOf(robot.Port)]++
	}
	for _, robot := range conf.Robots {
		name := sim.robots.nameOf(robot.Port)
		if names[name] > 1 {
			name += strconv.Itoa(robot.Port)
		}
		offered := live.Robot{Name: strings.ReplaceAll(name, "/", "_"), Address: net.JoinHostPort(bind, strconv.Itoa(robot.Port)), Port: robot.Port}
		for _, driver := range robot.Drivers {
			if replay, ok := driver.Driver.(*readlog.Driver); ok {
				offered.Replay = replay
			}
		}
		for _, link := range robot.Table.Links() {
			for _, device := range link.Devices() {
				if spec := device.Spec(); spec.Index == 0 {
					offered.Devices = append(offered.Devices, live.Device{
						Device: foxglove.Device{Interface: spec.Name, Geometry: foxglove.Geometry(link.Geometry())},
						Letter: spec.Letter,
					})
				}
			}
		}
		robots = append(robots, offered)
	}
	return robots
}

// change serves the robots of a reloaded configuration, unless they are as before.
func (v *viewers) change(conf *config.Server, sim *simulation) {
	if v == nil {
		return
	}
	before := v.config
	v.show(conf, sim)
	if !v.config.Access.Equal(before.Access) || !slices.EqualFunc(v.config.Robots, before.Robots, live.Robot.Equal) || !slices.Equal(v.config.Cameras, before.Cameras) {
		v.restart()
	}
}

// serve starts to serve viewers, until ctx ends, with the descriptors of a share. s is
// the server of the robots, tls the configuration of a new connection, and post calls a function on its loop; onPanic is deferred.
func (v *viewers) serve(ctx context.Context, share *descriptors.Share, tls func() *tls.Config, s visitors.Server, post func(func(now time.Duration)) bool, onPanic func()) {
	if v == nil {
		return
	}
	v.config.TLS, v.config.Post, v.config.Server, v.config.Descriptors = tls, post, s, share
	v.config.Log.Info("foxglove", zap.Stringer("address", v.listener.Addr()))
	v.frontend.serve(ctx, share, 1, onPanic, func(ctx context.Context, l net.Listener, config live.Config) {
		if err := live.Serve(ctx, l, config); err != nil {
			config.Log.Error("the server for viewers failed", zap.Error(err))
		}
	})
}
