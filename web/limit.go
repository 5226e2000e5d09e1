package web

import (
	"net"
	"sync"
)

// maxConnections is how many connections of browsers are served at a time; the
// next ones wait. Each may hold Player connections, whose two ends are in this
// process if the robot is. It keeps pages from using up the descriptors that
// the robot's own clients need; a page that watches ten robots has some fifteen.
const maxConnections = 128

// Descriptors is how many descriptors Serve uses at the most: four for each
// connection, whose socket may drive three devices, and the listener.
const Descriptors = 4*maxConnections + 1

// limited is a listener with a limited number of open connections.
type limited struct {
	net.Listener
	taken chan struct{}
	done  chan struct{}
	close func()
}

func limit(l net.Listener, most int) *limited {
	done := make(chan struct{})
	return &limited{l, make(chan struct{}, most), done, sync.OnceFunc(func() { close(done) })}
}

// Accept waits until a place is free and a browser comes.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.taken <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.taken
		return nil, err
	}
	return &counted{conn, sync.OnceFunc(func() { <-l.taken })}, nil
}

func (l *limited) Close() error {
	l.close()
	return l.Listener.Close()
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	release func()
}

func (c *counted) Close() error {
	defer c.release()
	return c.Conn.Close()
}
