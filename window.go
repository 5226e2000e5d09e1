package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/devices/stage"
	"player/web"
)

// defaultWindow is where the page of a simulated robot is. Only this computer
// can reach it.
const defaultWindow = "localhost:8080"

// window is the page and where it listens; nil stands for none.
type window struct {
	listener net.Listener
	config   web.Config
}

// openWindow listens where the flags say. That the default address is taken, by
// another simulation or anything else, is no reason not to start.
func openWindow(o options, server *config.Server, log *zap.Logger) (*window, error) {
	w := window{config: web.Config{Access: server.Access, Log: log}}
	host := cmp.Or(o.bind, "localhost")
	for _, robot := range server.Robots {
		offered := web.Robot{Name: "robot", Address: net.JoinHostPort(host, strconv.Itoa(robot.Port))}
		for _, d := range robot.Drivers {
			if simulated, is := d.Driver.(*stage.Driver); is {
				offered.Name, offered.Simulated = simulated.Robot().Name, simulated.Robot()
				w.config.World = simulated.World()
			}
		}
		w.config.Robots = append(w.config.Robots, offered)
	}
	address := o.http
	switch {
	case o.http == "off", o.http == "" && w.config.World == nil:
		return nil, nil
	case o.http == "":
		address = defaultWindow
	}
	var err error
	w.listener, err = net.Listen("tcp", address)
	if err != nil && o.http == "" {
		log.Warn("no window: choose another address with -http HOST:PORT, or -http off", zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	w.config.Name, _, _ = net.SplitHostPort(address)
	return &w, nil
}

// descriptors is how many the window may open.
func (w *window) descriptors() int {
	if w == nil {
		return 0
	}
	return web.Descriptors
}

// serve shows the page until ctx ends. It is called on the loop, and does not
// stay there.
func (w *window) serve(ctx context.Context, post func(func(now time.Duration)) bool) {
	if w == nil {
		return
	}
	w.config.Post = post
	w.config.Log.Info("window", zap.String("url", "http://"+w.address()))
	go func() {
		if err := web.Serve(ctx, w.listener, w.config); err != nil {
			w.config.Log.Error("the window failed", zap.Error(err))
		}
	}()
}

// address is where a browser finds the page: under the name that was given.
func (w *window) address() string {
	_, port, err := net.SplitHostPort(w.listener.Addr().String())
	if err != nil || w.config.Name == "" {
		return w.listener.Addr().String()
	}
	return net.JoinHostPort(w.config.Name, port)
}
