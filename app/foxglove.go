package app

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"player/config"
	"player/devices/readlog"
	"player/formats/telemetry"
	"player/process/logging"
	"player/visitors"
	"player/visitors/foxglove"
)

// foxgloveApp is the origin of Foxglove in a browser.
const foxgloveApp = "https://app.foxglove.dev"

// openFoxglove listens for viewers of Foxglove on the address that the flags ask for, nil if
// they ask for none.
func openFoxglove(o options, conf *config.Server, sim *simulation, cameras *cameras, log *zap.Logger) (*frontend, error) {
	if o.foxglove == "" {
		return nil, nil
	}
	f, err := listen(o, o.foxglove, log)
	if err != nil {
		return nil, fmt.Errorf("-foxglove: %w", err)
	}
	f.what, f.name = "foxglove", "the server for viewers"
	if o.origin != "off" {
		f.Origins = []string{cmp.Or(o.origin, foxgloveApp)}
	}
	shown := foxglove.Config{Recent: logging.TailOf(log).After, Version: version()}
	f.show = func(conf *config.Server, sim *simulation) bool {
		before, access := shown, f.Access
		f.Access, shown.Robots, shown.Cameras = conf.Access, robotsOf(conf, sim, f.bind), cameras.of(conf, sim)
		return !f.Access.Equal(access) || !slices.EqualFunc(shown.Robots, before.Robots, foxglove.Robot.Equal) || !slices.Equal(shown.Cameras, before.Cameras)
	}
	f.serving = func() func(context.Context, net.Listener) error {
		config := shown
		config.Common = f.Common
		return func(ctx context.Context, l net.Listener) error { return foxglove.Serve(ctx, l, config) }
	}
	f.show(conf, sim)
	return f, nil
}

// robotsOf returns the robots of a configuration as viewers and programs see them.
func robotsOf(conf *config.Server, sim *simulation, bind string) (robots []foxglove.Robot) {
	nameOf := func(r config.Robot) string { return strings.ReplaceAll(sim.robots.nameOf(r.Port), "/", "_") }
	names := map[string]int{}
	for _, robot := range conf.Robots {
		names[nameOf(robot)]++
	}
	for _, robot := range conf.Robots {
		name := nameOf(robot)
		if names[name] > 1 {
			for name += strconv.Itoa(robot.Port); names[name] > 0; name += "_" {
			}
		}
		offered := foxglove.Robot{Robot: visitors.Robot{Name: name, Address: net.JoinHostPort(bind, strconv.Itoa(robot.Port)), Port: robot.Port}}
		for _, driver := range robot.Drivers {
			if replay, ok := driver.Driver.(*readlog.Driver); ok {
				offered.Replay = replay
			}
		}
		for _, link := range robot.Table.Links() {
			for _, device := range link.Devices() {
				if spec := device.Spec(); device.Code() != 0 {
					about := telemetry.Description{Rays: device.AppendRays(nil), Channels: device.AppendChannels(nil)} // as far as it is known now
					offered.Devices = append(offered.Devices, visitors.Device{
						Device: telemetry.Device{Interface: spec.Name, Index: spec.Index, Geometry: telemetry.Geometry(link.Geometry()), Description: about},
						Code:   device.Code(),
					})
				}
			}
		}
		robots = append(robots, offered)
	}
	return robots
}
