package app

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"player/config"
	"player/devices/plugin"
	"player/devices/readlog"
	"player/devices/writelog"
	"player/process/logging"
	"player/visitors/dashboard"
)

// LogNoDashboard is a message of the log, by which tests find lines.
const LogNoDashboard = "no dashboard: choose another address with -http HOST:PORT, or -http off"

// defaultDashboard is the address of the dashboard of a simulated robot. Only this computer can
// reach it.
const defaultDashboard = "localhost:8080"

// openDashboard listens on the address that the flags ask for, nil if they ask for none. The
// server starts without a dashboard if the default address is taken, for example by another
// simulation; any other address is an error then.
func openDashboard(o options, conf *config.Server, sim *simulation, cameras *cameras, log *zap.Logger) (*frontend, error) {
	asked := o
	switch {
	case o.http == "off", o.http == "" && sim.world == nil:
		return nil, nil
	case o.http == "":
		asked.http = defaultDashboard
	}
	err := asked.checkAddresses(conf)
	var f *frontend
	if err == nil {
		f, err = listen(o, asked.http, log)
	}
	if err != nil && o.http == "" {
		log.Warn(LogNoDashboard, zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	f.what, f.name = "dashboard", "the dashboard"
	shown := dashboard.Config{Recent: logging.TailOf(log).After, Drafting: dashboard.NewDrafting(), Version: version()}
	f.show = func(conf *config.Server, sim *simulation) bool {
		before, access := shown, f.Access
		f.Access, shown.World, shown.Cameras = conf.Access, sim.world, cameras.of(conf, sim)
		shown.Robots, shown.Runs = pagesOf(conf, sim, f.bind)
		return shown.World != before.World || !slices.EqualFunc(shown.Robots, before.Robots, dashboard.Robot.Equal) ||
			!f.Access.Equal(access) || !slices.Equal(shown.Cameras, before.Cameras) || !maps.Equal(shown.Runs, before.Runs)
	}
	f.serving = func() func(context.Context, net.Listener) error {
		config := shown
		config.Common = f.Common
		return func(ctx context.Context, l net.Listener) error { return dashboard.Serve(ctx, l, config) }
	}
	f.show(conf, sim)
	return f, nil
}

// pagesOf returns the robots of a configuration as the dashboard shows them, and the drivers
// that replay and record them.
func pagesOf(conf *config.Server, sim *simulation, bind string) (robots []dashboard.Robot, runs map[string]dashboard.Run) {
	runs = map[string]dashboard.Run{}
	for _, robot := range conf.Robots {
		offered := dashboard.Robot{Name: sim.robots.nameOf(robot.Port), Address: net.JoinHostPort(bind, strconv.Itoa(robot.Port)),
			Simulated: sim.robots[robot.Port].robot, Port: robot.Port}
		var run dashboard.Run
		for _, attached := range robot.Drivers {
			switch driver := attached.Driver.(type) {
			case *plugin.Driver:
				if page := driver.Page(); page != "" {
					offered.Pages = append(offered.Pages, dashboard.Page{Letter: string(attached.Link.Devices()[0].Letter()), Name: attached.Link.Name(), URL: page})
				}
			case *readlog.Driver:
				run.Replay = driver
			case *writelog.Driver:
				if run.Record == nil || driver.Manual() { // of several, the one that can be controlled
					run.Record = driver
				}
			}
		}
		robots = append(robots, offered)
		if run != (dashboard.Run{}) {
			runs[offered.Address] = run
		}
	}
	for _, address := range conf.Dashboard {
		robots = append(robots, dashboard.Robot{Name: address, Address: address})
	}
	return robots, runs
}
