package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices/plugin"
	"player/devices/readlog"
	"player/devices/writelog"
	"player/logging"
	"player/reactor/descriptors"
	"player/visitors"
	"player/web"
)

// defaultDashboard is the address of the dashboard of a simulated robot. Only
// this computer can reach it.
const defaultDashboard = "localhost:8080"

// dashboard is the web server of the dashboard; nil: there is none.
type dashboard struct {
	address string // that the flags ask for
	cameras *cameras
	frontend[web.Config]
}

// openDashboard listens on the address that the flags ask for. The server starts
// without a dashboard if the default address is taken, for example by another
// simulation; any other address is an error then.
func openDashboard(o options, conf *config.Server, sim *simulation, cameras *cameras, log *zap.Logger) (*dashboard, error) {
	address := o.http
	switch {
	case o.http == "off", o.http == "" && sim.world == nil:
		return nil, nil
	case o.http == "":
		address = defaultDashboard
	}
	asked := o
	asked.http = address
	err := asked.checkAddresses(conf)
	var listener net.Listener
	if err == nil {
		listener, err = net.Listen("tcp", address)
	}
	if err != nil && o.http == "" {
		log.Warn("no dashboard: choose another address with -http HOST:PORT, or -http off", zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	host, _, _ := net.SplitHostPort(address) // Listen has accepted it
	d := &dashboard{address: address, cameras: cameras, frontend: frontend[web.Config]{
		listener: listener.(*net.TCPListener), bind: cmp.Or(o.bind, "localhost"),
		config: web.Config{Recent: logging.TailOf(log).After, Drafting: web.NewDrafting(), Name: host, Version: version(), Log: log},
	}}
	d.show(conf, sim)
	return d, nil
}

// show makes the dashboard show the robots of a configuration. It reports whether they
// are others than before.
func (d *dashboard) show(conf *config.Server, sim *simulation) (changed bool) {
	before := d.config
	d.config.Cameras = d.cameras.of(conf, sim)
	d.config.World, d.config.Access, d.config.Robots = sim.world, conf.Access, nil
	d.config.Runs = map[string]web.Run{}
	for _, robot := range conf.Robots {
		offered := web.Robot{Name: sim.robots.nameOf(robot.Port), Address: net.JoinHostPort(d.bind, strconv.Itoa(robot.Port)),
			Simulated: sim.robots[robot.Port].robot, Port: robot.Port}
		var run web.Run
		for _, attached := range robot.Drivers {
			switch driver := attached.Driver.(type) {
			case *plugin.Driver:
				if page := driver.Page(); page != "" {
					offered.Pages = append(offered.Pages, web.Page{Letter: string(attached.Link.Devices()[0].Letter()), Name: attached.Link.Name(), URL: page})
				}
			case *readlog.Driver:
				run.Replay = driver
			case *writelog.Driver:
				if run.Record == nil || driver.Manual() { // of several, the one that can be controlled
					run.Record = driver
				}
			}
		}
		d.config.Robots = append(d.config.Robots, offered)
		if run != (web.Run{}) {
			d.config.Runs[offered.Address] = run
		}
	}
	for _, address := range conf.Dashboard {
		d.config.Robots = append(d.config.Robots, web.Robot{Name: address, Address: address})
	}
	return d.config.World != before.World || !slices.EqualFunc(d.config.Robots, before.Robots, web.Robot.Equal) ||
		!d.config.Access.Equal(before.Access) || !slices.Equal(d.config.Cameras, before.Cameras) || !maps.Equal(d.config.Runs, before.Runs)
}

// change starts the dashboard anew after a reload, unless it shows the same.
func (d *dashboard) change(conf *config.Server, sim *simulation) {
	if d != nil && d.show(conf, sim) {
		d.restart()
	}
}

// connectionCost is how many descriptors a connection of a browser takes: its own,
// and those of the three devices that it may command.
const connectionCost = 4

// serve starts to serve the dashboard, until ctx ends, with the descriptors of a
// share. s is the server of the robots, tls the configuration of a new connection, and
// post calls a function on the loop; onPanic is deferred.
func (d *dashboard) serve(ctx context.Context, share *descriptors.Share, tls func() *tls.Config, s visitors.Server, post func(func(now time.Duration)) bool, onPanic func()) {
	if d == nil {
		return
	}
	d.config.TLS, d.config.Post, d.config.Server = tls, post, s
	d.config.Log.Info("dashboard", zap.String("url", d.url(tls)))
	d.frontend.serve(ctx, share, connectionCost, onPanic, func(ctx context.Context, l net.Listener, config web.Config) {
		if err := web.Serve(ctx, l, config); err != nil {
			config.Log.Error("the dashboard failed", zap.Error(err))
		}
	})
}

// url returns an address that a browser on this computer can open: with the host of -http,
// or localhost if that is every address of the computer. It is empty without a dashboard.
// tls is the configuration of a new connection.
func (d *dashboard) url(tls func() *tls.Config) string {
	if d == nil {
		return ""
	}
	at := d.listener.Addr().(*net.TCPAddr)
	host := d.config.Name
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if !at.IP.IsLoopback() && tls() != nil {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(at.Port))
}
