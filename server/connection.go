package server

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"player/reactor"
)

// connection is the connection of a client: a socket, or one of the simulation.
type connection interface {
	Write(p []byte)
	// WireSize returns how many bytes the socket gets for one Write of n bytes: TLS adds to them.
	WireSize(n int) int
	Buffered() int
	Unacknowledged() int
	Queued() bool
	// LocalAddr returns the address of this computer that the client has connected to. It is
	// not the listener's, which may stand for all addresses.
	LocalAddr() *net.TCPAddr
	RemoteAddr() net.Addr
	Close()

	// Pause stops Receive until Resume.
	Pause()
	Resume()

	// WatchEnd has fn called once, when the client has ended the connection. fn is called
	// before any input that waits is served.
	WatchEnd(now time.Duration, fn func(now time.Duration))

	// TCPInfo returns the kernel's facts about the connection, an error if it is closed.
	TCPInfo() (*unix.TCPInfo, error)
	// Probe has the kernel probe the connection while it is idle, after every
	// period of whole seconds, and close it when count probes in a row are not
	// answered.
	Probe(period time.Duration, count int)
	// ProbeSlowly undoes Probe.
	ProbeSlowly()
}

// socket is a descriptor of a client. It adds the calls that only TCP sockets have.
type socket struct{ *reactor.Descriptor }

func (s socket) TCPInfo() (*unix.TCPInfo, error) {
	fd, err := s.Fd()
	if err != nil {
		return nil, err
	}
	return unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
}

// WireSize implements connection.
func (s socket) WireSize(n int) int { return n }

// Probe implements connection.
func (s socket) Probe(period time.Duration, count int) {
	s.probe(net.KeepAliveConfig{Idle: period, Interval: period, Count: count})
}

// ProbeSlowly implements connection.
func (s socket) ProbeSlowly() { s.probe(reactor.KeepAlive()) }

// probe sets how the kernel probes. After an error it probes as before.
func (s socket) probe(how net.KeepAliveConfig) {
	fd, err := s.Fd()
	if err != nil {
		return
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, int(how.Idle/time.Second))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, int(how.Interval/time.Second))
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, how.Count)
}
