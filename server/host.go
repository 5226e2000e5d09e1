package server

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/process/lastwords"
	"player/reactor"
	"player/timers"
)

// host is the outside world of the drivers.
type host struct {
	loop    loop
	timers  *timers.Queue
	log     *zap.Logger
	wakes   map[*devices.Link]*timers.Timer
	holders holders

	identify  func(ctx context.Context, path string) devices.Finding // see Config
	lastWords *lastwords.Book
	searches  map[string]context.CancelFunc // for hardware, by the path of the line

	operations map[string]*operations // by the path of a device file
	onOperate  func(path string)      // tests hold operations here
	guard      *guard
}

func newHost(loop loop, queue *timers.Queue, config Config) host {
	return host{
		loop: loop, timers: queue, log: config.Log, wakes: map[*devices.Link]*timers.Timer{}, holders: holders{found: map[string]finding{}},
		identify: config.Identify, lastWords: config.LastWords, searches: map[string]context.CancelFunc{},
		operations: map[string]*operations{},
	}
}

// WakeAt implements devices.Host.
func (h *host) WakeAt(l *devices.Link, at time.Duration) {
	t := h.wakes[l]
	if at == 0 {
		if t != nil {
			h.timers.Stop(t)
		}
		return
	}
	if t == nil {
		t = timers.NewTimer(l.Wake)
		h.wakes[l] = t
	}
	h.timers.Set(t, at)
}

func (h *host) open(fd int, handler devices.PortHandler) (devices.Port, error) {
	d, err := h.loop.Open(fd, handler)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dial implements devices.Host. The address is numeric, so nothing blocks.
func (h *host) Dial(address string, handler devices.PortHandler) (devices.Port, error) {
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
	// What is written leaves at once. Otherwise last words wait for an acknowledgement, and
	// are dropped if the connection is closed before.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	if toItself(fd, to) {
		unix.Close(fd)
		return nil, fmt.Errorf("dial %s: %w", address, unix.ECONNREFUSED)
	}
	return h.open(fd, handler)
}

// toItself reports whether a socket is being connected to itself. That happens
// when nobody listens and the kernel gives the socket the very port that it is
// to reach; it would hear its own words, and keep a server from listening there.
func toItself(fd int, to netip.AddrPort) bool {
	port, err := reactor.LocalPort(fd)
	return err == nil && to.Addr().IsLoopback() && port == int(to.Port())
}
