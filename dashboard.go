package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/descriptors"
	"player/devices/p2os"
	"player/devices/stage"
	"player/web"
)

// defaultDashboard is the address of the dashboard of a simulated robot. Only
// this computer can reach it.
const defaultDashboard = "localhost:8080"

// dashboard is the web server of the dashboard; nil: there is none.
type dashboard struct {
	listener net.Listener
	config   web.Config
}

// openDashboard listens on the address that the flags ask for. The server starts
// without a dashboard if the default address is taken, for example by another
// simulation; any other address is an error then.
func openDashboard(o options, conf *config.Server, sim *simulation, log *zap.Logger) (*dashboard, error) {
	address := o.http
	switch {
	case o.http == "off", o.http == "" && sim.world == nil:
		return nil, nil
	case o.http == "":
		address = defaultDashboard
	}
	listener, err := net.Listen("tcp", address)
	if err != nil && o.http == "" {
		log.Warn("no dashboard: choose another address with -http HOST:PORT, or -http off", zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	host, _, _ := net.SplitHostPort(address) // Listen has accepted it
	d := &dashboard{listener, web.Config{Shapes: map[string]func() web.Shape{}, World: sim.world, Access: conf.Access, Name: host, Version: version(), Log: log}}
	for _, robot := range conf.Robots {
		offered := web.Robot{Name: sim.nameOf(robot.Port), Address: net.JoinHostPort(cmp.Or(o.bind, "localhost"), strconv.Itoa(robot.Port)),
			Simulated: sim.robots[robot.Port]}
		d.config.Robots = append(d.config.Robots, offered)
		for _, driver := range robot.Drivers {
			if pioneer, ok := driver.Driver.(*p2os.Driver); ok {
				d.config.Shapes[offered.Address] = func() web.Shape { return shapeOf(pioneer.Body()) }
			}
		}
	}
	for _, address := range conf.Dashboard {
		d.config.Robots = append(d.config.Robots, web.Robot{Name: address, Address: address})
	}
	return d, nil
}

// shapeOf returns a robot's body in metres and radians: an octagon, and its sonars.
func shapeOf(b *p2os.Body) (s web.Shape) {
	const mm, degree, bevel = 0.001, math.Pi / 180, 0.25 // the share of the width that a corner lacks
	front, rear, side := b.Front*mm, (b.Front-b.Length)*mm, b.Width/2*mm
	cut := b.Width * bevel * mm
	s.Outline = []stage.Vec{
		{X: front, Y: side - cut}, {X: front - cut, Y: side}, {X: rear + cut, Y: side}, {X: rear, Y: side - cut},
		{X: rear, Y: cut - side}, {X: rear + cut, Y: -side}, {X: front - cut, Y: -side}, {X: front, Y: cut - side},
	}
	for _, m := range b.Sonars {
		s.Sonars = append(s.Sonars, stage.Pose{X: m.X * mm, Y: m.Y * mm, Heading: m.Heading * degree})
	}
	return s
}

// connectionCost is how many descriptors a connection of a browser takes: its own,
// and those of the three devices that it may command.
const connectionCost = 4

// serve starts to serve the dashboard, until ctx ends, with the descriptors of a
// share. s is the server of the robots, and post calls a function on its loop; onPanic is deferred.
func (d *dashboard) serve(ctx context.Context, share *descriptors.Share, s web.Server, post func(func(now time.Duration)) bool, onPanic func()) {
	if d == nil {
		return
	}
	d.config.Post, d.config.Server = post, s
	d.config.Log.Info("dashboard", zap.String("url", d.url()))
	go func() {
		defer onPanic()
		if err := web.Serve(ctx, descriptors.Listener(d.listener, share, connectionCost), d.config); err != nil {
			d.config.Log.Error("the dashboard failed", zap.Error(err))
		}
	}()
}

// url returns the address for a browser, with the host of -http.
func (d *dashboard) url() string {
	address := d.listener.Addr().String()
	if _, port, err := net.SplitHostPort(address); err == nil && d.config.Name != "" {
		address = net.JoinHostPort(d.config.Name, port)
	}
	return "http://" + address
}
