package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"

	"player/config"
	"player/descriptors"
	"player/reactor"
	"player/secure"
	"player/server"
)

// encryption is where clients connect by TLS; nil: nowhere.
type encryption struct {
	config *tls.Config
	robots map[int]net.Listener // by the port of the robot
}

// openTLS listens for the clients that encrypt, of all robots.
func openTLS(conf *config.Server) (*encryption, error) {
	if conf.TLS.Listen == "" {
		return nil, nil
	}
	loaded, err := secure.Load(conf.TLS.Cert, conf.TLS.Key, conf.TLS.Clients)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	e := &encryption{loaded, map[int]net.Listener{}}
	listen := net.ListenConfig{KeepAliveConfig: reactor.KeepAlive()}
	for _, robot := range conf.Robots {
		l, err := listen.Listen(context.Background(), "tcp", robot.TLS)
		if err != nil {
			e.close()
			return nil, fmt.Errorf("tls: %w", err)
		}
		e.robots[robot.Port] = l
	}
	return e, nil
}

// close ends listening. Clients that are connected stay.
func (e *encryption) close() {
	if e == nil {
		return
	}
	for _, l := range e.robots {
		_ = l.Close() // nobody is in it
	}
}

// serve serves the clients that encrypt, until close, with descriptors of the share.
func (e *encryption) serve(share *descriptors.Share, s *server.Server, log *zap.Logger) {
	if e == nil {
		return
	}
	handshakes := secure.New(e.config, share, log)
	for port, l := range e.robots {
		log.Info("serving by TLS", zap.Stringer("address", l.Addr()), zap.Int("robot", port), zap.Bool("certificates", e.config.ClientCAs != nil))
		go handshakes.Serve(l, func(c *secure.Conn) {
			if !s.Post(func(now time.Duration) { s.AcceptTLS(now, c, port) }) {
				_ = c.Close() // the server has ended
			}
		})
	}
}
