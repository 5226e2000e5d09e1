package web

import (
	"net"
	"sync"
)

// maxConnections is how many connections of browsers are served at a time;
// others wait. A connection may cause Player connections, both ends of which are
// in this process if it serves the robot. The limit leaves descriptors for the
// robot's other clients. A page that watches ten robots has about fifteen.
const maxConnections = 128

// Descriptors is the largest number of descriptors that Serve opens: four for each
// connection, whose socket may command three devices, and the listener.
const Descriptors = 4*maxConnections + 1

// limited is a listener that limits the number of open connections.
type limited struct {
	net.Listener
	taken chan struct{} // has an element for each open connection
	done  chan struct{}
	close func()
}

func limit(l net.Listener, most int) *limited {
	done := make(chan struct{})
	return &limited{l, make(chan struct{}, most), done, sync.OnceFunc(func() { close(done) })}
}

// Accept waits until fewer than the limit are open, and for a connection.
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

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	release func()
}

func (c *counted) Close() error {
	defer c.release()
	return c.Conn.Close()
}
