package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startLimit bounds the start of the server: it reads its streams.
const startLimit = 30 * time.Second

// startServer starts a NATS server with JetStream in this program, for clients that have
// the token.
func startServer(listen, dir, token string) (*server.Server, error) {
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-listen: port %q is not a number from 0 to 65535", text)
	}
	// With a port that is taken, the server of NATS ends the program without a message.
	probe, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w (-nats connects to a server that is there)", err)
	}
	probe.Close()
	// Nor does it say that it cannot write there, and waits in vain.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("-dir: %w", err)
	}
	o := &server.Options{
		Host:       host,
		Port:       int(port),
		ServerName: "player-fleet",
		JetStream:  true,
		StoreDir:   dir,
		NoSigs:     true, // this program handles them
		NoLog:      true,

		Authorization: token,
	}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(startLimit) {
		s.Shutdown()
		return nil, errors.New("the server of NATS does not start")
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("JetStream does not start in %s: is the folder writable, and of this program alone?", dir)
	}
	return s, nil
}
