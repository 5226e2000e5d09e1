package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/process/descriptors"
	"player/reactor"
	"player/server"
	"player/server/secure"
)

// encryption is where clients connect by TLS: nowhere, if it has no robots.
type encryption struct {
	robots     map[int]encryptedRobot // by port
	handshakes *secure.Handshakes

	server *server.Server
	spawn  func(fn func()) // lastwords.Book.Go
	log    *zap.Logger
}

type encryptedRobot struct {
	address  string // as it is configured
	listener net.Listener
}

// loadTLS reads the certificates of a configuration. It returns nil if clients cannot
// connect by TLS.
func loadTLS(conf *config.Server) (*tls.Config, error) {
	if conf.TLS.Listen == "" {
		return nil, nil
	}
	loaded, err := secure.Load(conf.TLS.Cert, conf.TLS.Key, conf.TLS.Clients)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return loaded, nil
}

// openTLS listens for the clients that encrypt, of all robots. Descriptors of their
// connections are taken from share.
func openTLS(conf *config.Server, share *descriptors.Share, log *zap.Logger) (*encryption, error) {
	loaded, err := loadTLS(conf)
	if err != nil {
		return nil, err
	}
	e := &encryption{robots: map[int]encryptedRobot{}, handshakes: secure.New(loaded, share, log), log: log}
	if loaded == nil {
		return e, nil
	}
	for _, robot := range conf.Robots {
		if err := e.listen(robot); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// listen listens for a robot's clients that encrypt.
func (e *encryption) listen(robot config.Robot) error {
	listen := net.ListenConfig{KeepAliveConfig: reactor.KeepAlive()}
	l, err := listen.Listen(context.Background(), "tcp", robot.TLS)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	e.robots[robot.Port] = encryptedRobot{robot.TLS, l}
	return nil
}

// serve serves the clients that encrypt, until ctx ends.
func (e *encryption) serve(ctx context.Context, s *server.Server, spawn func(fn func())) {
	e.server, e.spawn = s, spawn
	for port := range e.robots {
		e.accept(ctx, port)
	}
}

// accept begins to serve a robot's clients that encrypt, until ctx ends.
func (e *encryption) accept(ctx context.Context, port int) {
	l := e.robots[port].listener
	context.AfterFunc(ctx, func() { _ = l.Close() }) // a listener has nothing to lose
	e.log.Info("serving by TLS", zap.Stringer("address", l.Addr()), zap.Int("robot", port))
	e.spawn(func() {
		e.handshakes.Serve(l, func(c *secure.Conn) {
			if !e.server.Post(func(now time.Duration) { e.server.AcceptTLS(now, c, port) }) {
				_ = c.Close() // the server has ended
			}
		})
	})
}

// change serves the robots of another configuration, with certificates that were just
// read. Clients that are connected stay. A robot that cannot be served is logged.
func (e *encryption) change(ctx context.Context, conf *config.Server, loaded *tls.Config) {
	for port, r := range e.robots {
		if !slices.ContainsFunc(conf.Robots, func(o config.Robot) bool { return o.Port == port && o.TLS == r.address }) {
			_ = r.listener.Close() // its connections stay
			delete(e.robots, port)
		}
	}
	e.handshakes.Renew(loaded)
	if loaded == nil {
		return
	}
	for _, robot := range conf.Robots {
		if _, ok := e.robots[robot.Port]; ok {
			continue
		}
		if err := e.listen(robot); err != nil {
			e.log.Error("robot is not served by TLS", zap.Int("robot", robot.Port), zap.Error(err))
			continue
		}
		e.accept(ctx, robot.Port)
	}
}
