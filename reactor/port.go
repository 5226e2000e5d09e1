package reactor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"player/devices"
)

// port is a descriptor of a driver in the loop: a serial line or a socket.
type port struct {
	reactor *Reactor
	handler devices.PortHandler
	conn    gnet.Conn // nil until the loop polls it, and after it is gone
	queued  []byte    // written before that
	closed  bool
}

// adopt puts any pollable descriptor into the loop's epoll, and takes it over.
// gnet knows only sockets, so the descriptor takes the place of one: gnet
// dups it and from then on reads, writes and polls whatever it is.
func (r *Reactor) adopt(fd int, owner any) error {
	if err := pollable(fd); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("socketpair: %w", err), unix.Close(fd))
	}
	unix.Close(pair[1])
	file := os.NewFile(uintptr(pair[0]), "adopted")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err == nil {
		var dupErr error
		err = raw.Control(func(socket uintptr) { dupErr = unix.Dup3(fd, int(socket), unix.O_CLOEXEC) })
		err = errors.Join(err, dupErr)
	}
	unix.Close(fd)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := r.startWorkers(); err != nil {
		return errors.Join(err, conn.Close())
	}
	if _, err = r.loop.Enroll(gnet.NewContext(context.Background(), owner), conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	r.adopting++
	return nil
}

// pollable says why a descriptor cannot be polled: gnet would not.
func pollable(fd int) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	defer unix.Close(epoll)
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		return fmt.Errorf("it cannot be waited for: %w", err)
	}
	return nil
}

func (r *Reactor) adoptClock() {
	fd, err := unix.FcntlInt(uintptr(r.clock.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = r.adopt(fd, &r.clock)
	}
	if err != nil { // nothing can run without it
		r.bootError = fmt.Errorf("cannot poll the timer: %w", err)
		r.finished = true
	}
}

// Dial implements devices.Host. The address is numeric, so nothing blocks.
func (r *Reactor) Dial(address string, h devices.PortHandler) (devices.Port, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	family, sockaddr := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
	if to.Addr().Is4() {
		family, sockaddr = unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	} else if zone := to.Addr().Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
		sockaddr.(*unix.SockaddrInet6).ZoneId = uint32(link.Index)
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	if err := unix.Connect(fd, sockaddr); err != nil && err != unix.EINPROGRESS {
		unix.Close(fd)
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	if toItself(fd, to) {
		unix.Close(fd)
		return nil, fmt.Errorf("dial %s: %w", address, unix.ECONNREFUSED)
	}
	return r.newPort(fd, h)
}

// toItself says whether a socket is being connected to itself. That happens
// when nobody listens and the kernel gives the socket the very port that it is
// to reach; it would hear its own words, and keep a server from listening there.
func toItself(fd int, to netip.AddrPort) bool {
	local, err := unix.Getsockname(fd)
	if err != nil || !to.Addr().IsLoopback() {
		return false
	}
	switch local := local.(type) {
	case *unix.SockaddrInet4:
		return local.Port == int(to.Port())
	case *unix.SockaddrInet6:
		return local.Port == int(to.Port())
	}
	return false
}

func (r *Reactor) newPort(fd int, h devices.PortHandler) (devices.Port, error) {
	p := &port{reactor: r, handler: h}
	if err := r.adopt(fd, p); err != nil {
		return nil, err
	}
	return p, nil
}

// opened says that the loop polls the descriptor.
func (p *port) opened(conn gnet.Conn) {
	p.conn = conn
	if p.closed {
		p.disconnect()
		return
	}
	if len(p.queued) > 0 {
		p.Write(p.queued)
		p.queued = nil
	}
}

// gone says that the descriptor is closed, by us or by the other end.
func (p *port) gone(now time.Duration, err error) {
	p.conn = nil
	if p.closed {
		return
	}
	p.closed = true
	if err == nil {
		err = io.EOF
	}
	p.handler.Hangup(now, err)
}

// Write implements devices.Port.
func (p *port) Write(b []byte) {
	switch {
	case p.closed:
	case p.conn == nil:
		p.queued = append(p.queued, b...)
	default:
		_, _ = p.conn.Write(b) // an error is a Hangup
	}
}

// Buffered implements devices.Port.
func (p *port) Buffered() int {
	if p.conn == nil {
		return len(p.queued)
	}
	return p.conn.OutboundBuffered()
}

// Close implements devices.Port.
func (p *port) Close() {
	if !p.closed {
		p.closed = true
		p.disconnect()
	}
}

func (p *port) disconnect() {
	if p.conn != nil {
		_ = p.reactor.loop.Close(p.conn) // gone runs within
	}
}
