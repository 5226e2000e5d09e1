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
	"player/web"
)

// defaultPage is the address of the web page of a simulated robot. Only this
// computer can reach it.
const defaultPage = "localhost:8080"

// webPage is the web page and its listener; nil: there is none.
type webPage struct {
	listener net.Listener
	config   web.Config
}

// openWebPage listens on the address that the flags ask for. The server starts
// without a page if the default address is taken, for example by another
// simulation; any other address is an error then.
func openWebPage(o options, conf *config.Server, sim *simulation, log *zap.Logger) (*webPage, error) {
	address := o.http
	switch {
	case o.http == "off", o.http == "" && sim.world == nil:
		return nil, nil
	case o.http == "":
		address = defaultPage
	}
	listener, err := net.Listen("tcp", address)
	if err != nil && o.http == "" {
		log.Warn("no window: choose another address with -http HOST:PORT, or -http off", zap.Error(err))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-http: %w", err)
	}
	host, _, _ := net.SplitHostPort(address) // Listen has accepted it
	p := &webPage{listener, web.Config{World: sim.world, Access: conf.Access, Name: host, Log: log}}
	for _, robot := range conf.Robots {
		offered := web.Robot{Name: "robot", Address: net.JoinHostPort(cmp.Or(o.bind, "localhost"), strconv.Itoa(robot.Port))}
		if simulated := sim.robots[robot.Port]; simulated != nil {
			offered.Name, offered.Simulated = simulated.Name, simulated
		}
		p.config.Robots = append(p.config.Robots, offered)
	}
	return p, nil
}

// descriptors returns how many file descriptors the page may open.
func (p *webPage) descriptors() int {
	if p == nil {
		return 0
	}
	return web.Descriptors
}

// serve starts to serve the page, until ctx ends. post calls a function on the
// loop.
func (p *webPage) serve(ctx context.Context, post func(func(now time.Duration)) bool) {
	if p == nil {
		return
	}
	p.config.Post = post
	p.config.Log.Info("window", zap.String("url", p.url()))
	go func() {
		if err := web.Serve(ctx, p.listener, p.config); err != nil {
			p.config.Log.Error("the web page failed", zap.Error(err))
		}
	}()
}

// url returns the page's address for a browser, with the host of -http.
func (p *webPage) url() string {
	address := p.listener.Addr().String()
	if _, port, err := net.SplitHostPort(address); err == nil && p.config.Name != "" {
		address = net.JoinHostPort(p.config.Name, port)
	}
	return "http://" + address
}
