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
	"player/server/tlsconn"
)

// tlsPorts are the ports on which robots accept clients by TLS. There are none without the flag
// -tls or a block tls.
type tlsPorts struct {
	robots     map[int]tlsPort // by the robot's own port
	handshakes *tlsconn.Handshakes

	server *server.Server
	spawn  func(fn func()) // lastwords.Book.Go
	log    *zap.Logger
}

type tlsPort struct {
	address  string // as it is configured
	listener net.Listener
}

// loadTLS reads the certificates of a configuration. It returns nil if clients cannot
// connect by TLS.
func loadTLS(conf *config.Server) (*tls.Config, error) {
	if conf.TLS.Listen == "" {
		return nil, nil
	}
	loaded, err := tlsconn.Load(conf.TLS.Cert, conf.TLS.Key, conf.TLS.Clients)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return loaded, nil
}

// openTLS listens for clients of all robots by TLS. Descriptors of their connections are taken
// from share.
func openTLS(conf *config.Server, share *descriptors.Share, log *zap.Logger) (*tlsPorts, error) {
	loaded, err := loadTLS(conf)
	if err != nil {
		return nil, err
	}
	t := &tlsPorts{robots: map[int]tlsPort{}, handshakes: tlsconn.New(loaded, share, log), log: log}
	if loaded == nil {
		return t, nil
	}
	for _, robot := range conf.Robots {
		if err := t.listen(robot); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// listen listens for a robot's clients by TLS.
func (t *tlsPorts) listen(robot config.Robot) error {
	listen := net.ListenConfig{KeepAliveConfig: reactor.KeepAlive()}
	l, err := listen.Listen(context.Background(), "tcp", robot.TLS)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	t.robots[robot.Port] = tlsPort{robot.TLS, l}
	return nil
}

// serve accepts clients by TLS, until ctx ends.
func (t *tlsPorts) serve(ctx context.Context, s *server.Server, spawn func(fn func())) {
	t.server, t.spawn = s, spawn
	for port := range t.robots {
		t.accept(ctx, port)
	}
}

// accept begins to accept a robot's clients by TLS, until ctx ends.
func (t *tlsPorts) accept(ctx context.Context, port int) {
	l := t.robots[port].listener
	context.AfterFunc(ctx, func() { _ = l.Close() }) // a listener has nothing to lose
	t.log.Info("serving by TLS", zap.Stringer("address", l.Addr()), zap.Int("robot", port))
	t.spawn(func() {
		t.handshakes.Serve(l, func(c *tlsconn.Conn) {
			if !t.server.Post(func(now time.Duration) { t.server.AcceptTLS(now, c, port) }) {
				_ = c.Close() // the server has ended
			}
		})
	})
}

// change serves the robots of another configuration, with certificates that were just
// read. Clients that are connected stay. A robot that cannot be served is logged.
func (t *tlsPorts) change(ctx context.Context, conf *config.Server, loaded *tls.Config) {
	for port, r := range t.robots {
		if !slices.ContainsFunc(conf.Robots, func(o config.Robot) bool { return o.Port == port && o.TLS == r.address }) {
			_ = r.listener.Close() // its connections stay
			delete(t.robots, port)
		}
	}
	t.handshakes.Renew(loaded)
	if loaded == nil {
		return
	}
	for _, robot := range conf.Robots {
		if _, ok := t.robots[robot.Port]; ok {
			continue
		}
		if err := t.listen(robot); err != nil {
			t.log.Error("robot is not served by TLS", zap.Int("robot", robot.Port), zap.Error(err))
			continue
		}
		t.accept(ctx, robot.Port)
	}
}
