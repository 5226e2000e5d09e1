package reactor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/panjf2000/gnet/v2/pkg/socket"
	"golang.org/x/sys/unix"
)

// AddressError is an address that cannot be listened on.
type AddressError struct {
	Address string
	Err     error
}

func (e *AddressError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("%s: address already in use: another server runs there; stop it, or choose a port with -gp", e.Address)
	case errors.Is(e.Err, syscall.EAFNOSUPPORT):
		return fmt.Sprintf("cannot listen on %s: this kernel has no IPv6; choose an IPv4 address, -bind 0.0.0.0 for all of them", e.Address)
	}
	return fmt.Sprintf("cannot listen on %s: %v", e.Address, e.Err)
}

func (e *AddressError) Unwrap() error { return e.Err }

// probeAll probes all addresses. It returns the number of the listener at each port.
func probeAll(addresses []string) (map[int]int, error) {
	listeners := map[int]int{}
	for i, address := range addresses {
		port, err := probe(address)
		if _, twice := listeners[port]; err == nil && twice {
			err = errors.New("two robots are to be served on this port")
		}
		if err != nil {
			return nil, &AddressError{address, err}
		}
		listeners[port] = i
	}
	return listeners, nil
}

// probe returns the port of an address, or an error if another program listens there. gnet would not
// notice, because it uses SO_REUSEPORT. probe binds and does not listen: a client that waits for the
// server would be accepted, and then reset.
func probe(address string) (port int, err error) {
	to, family, resolved, onlyIPv6, err := socket.GetTCPSockAddr("tcp", address) // as gnet does
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	err = socket.SetReuseAddr(fd, 1) // connections of an earlier server may linger
	if err == nil && onlyIPv6 {
		err = socket.SetIPv6Only(fd, 1)
	}
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, to))
	}
	return resolved.Port, err
}

// LocalPort returns the port that a TCP socket is bound to.
func LocalPort(fd int) (int, error) {
	local, err := unix.Getsockname(fd)
	switch local := local.(type) {
	case *unix.SockaddrInet4:
		return local.Port, err
	case *unix.SockaddrInet6:
		return local.Port, err
	}
	return 0, err
}

// Listen accepts connections to one more address. It returns the number of the listener, with which
// Config.Accept is called; the listeners of Config.Addresses are numbered from 0. The error is an
// *AddressError. A listener is not taken from a share of the descriptors (descriptors.Budget.Fix).
func (l *Loop) Listen(address string) (listener int, err error) {
	if listener, err = l.engine.listen(address); err != nil {
		return 0, &AddressError{address, err}
	}
	return listener, nil
}

// Unlisten closes a listener. Its connections stay.
func (l *Loop) Unlisten(listener int) { l.engine.unlisten(listener) }

// listen has gnet accept connections to one more address. Without SO_REUSEPORT, which
// gnet's own listeners have, no other program can listen there.
func (e *engine) listen(address string) (listener int, err error) {
	options := []socket.Option[int]{{SetSockOpt: socket.SetReuseAddr, Opt: 1}, {SetSockOpt: socket.SetNoDelay, Opt: 1}}
	fd, local, err := socket.TCPSocket("tcp", address, true, options, nil)
	if err != nil {
		return 0, err
	}
	err = socket.SetKeepAlive(fd, true, int(keepAliveIdle/time.Second), int(keepAliveInterval/time.Second), keepAliveCount)
	if err == nil {
		err = os.NewSyscallError("epoll_ctl", e.epoll.add(fd, e.acceptEvents()))
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	e.inside.add(fd, local)
	listener = e.listenerCount
	e.listenerCount++
	e.ports[local.(*net.TCPAddr).Port] = listener
	return listener, nil
}

// unlisten closes a listener.
func (e *engine) unlisten(listener int) {
	for _, fd := range e.listening() {
		port, err := LocalPort(fd)
		if opened, ok := e.ports[port]; err == nil && ok && opened == listener {
			delete(e.ports, port)
			e.inside.remove(fd)
			_ = unix.Close(fd) // a listener has nothing to lose
		}
	}
}
