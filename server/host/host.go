// Package host is the outside world of the drivers: the devices.Host of a loop. It opens
// serial lines, inputs and connections, and starts programs and the guard. It knows no clients.
package host

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/devices"
	"player/process/descriptors"
	"player/process/lastwords"
	"player/reactor"
	"player/timers"
)

// Config is the configuration of a host.
type Config struct {
	LastWords *lastwords.Book // last words of the devices
	Log       *zap.Logger
	// Identify finds out which hardware answers on a serial line that is not open, until the
	// end of ctx. It may block: a goroutine calls it. It may be nil.
	Identify func(ctx context.Context, path string) devices.Finding
	// Guard is the path of this program, which is a guard if lastwords.GuardName is its name.
	// Empty: there is no guard.
	Guard string
}

// Loop has the methods of the loop that the host uses.
type Loop interface {
	Now() time.Duration
	Post(fn func(now time.Duration)) bool
	Open(fd int, h reactor.Handler) (*reactor.Descriptor, error)
	// Adopt is Open for a descriptor that the caller has taken from a share.
	Adopt(fd int, h reactor.Handler, opened func(now time.Duration)) (*reactor.Descriptor, error)
	// Descriptors returns the share from which Open takes descriptors.
	Descriptors() *descriptors.Share
}

// Host is the outside world of the drivers: their devices.Host. Its methods may be called on
// the loop only.
type Host struct {
	loop    Loop
	timers  *timers.Queue
	log     *zap.Logger
	wakes   map[*devices.Link]*timers.Timer // of WakeAt
	holders holders

	identify  func(ctx context.Context, path string) devices.Finding // see Config
	lastWords *lastwords.Book
	searches  map[string]context.CancelFunc // for hardware, by the path of the line

	operations map[string]*operations // by the path of a device file
	onOperate  func(path string)      // tests delay operations here
	guard      *guard
}

// New returns the host of drivers on a loop with the given timers.
func New(loop Loop, queue *timers.Queue, config Config) *Host {
	h := &Host{
		loop: loop, timers: queue, log: config.Log, wakes: map[*devices.Link]*timers.Timer{}, holders: holders{found: map[string]finding{}},
		identify: config.Identify, lastWords: config.LastWords, searches: map[string]context.CancelFunc{},
		operations: map[string]*operations{},
	}
	h.guard = newGuard(h, config.LastWords, config.Guard)
	return h
}

// Forget drops the timer of a link that is off for good.
func (h *Host) Forget(l *devices.Link) { delete(h.wakes, l) }

// EndSearches ends the searches for hardware. Each is an operation, for which Idle waits.
func (h *Host) EndSearches() {
	for _, end := range h.searches {
		end()
	}
}

// Idle reports whether no operation on a device file is under way or waits.
func (h *Host) Idle() bool { return len(h.operations) == 0 }

// Guard returns the state of the guard.
func (h *Host) Guard() GuardState { return h.guard.state }

// WakeAt implements devices.Host.
func (h *Host) WakeAt(l *devices.Link, at time.Duration) {
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

func (h *Host) open(fd int, handler devices.PortHandler) (devices.Port, error) {
	d, err := h.loop.Open(fd, handler)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Dial implements devices.Host. The address is numeric, so nothing blocks.
func (h *Host) Dial(address string, handler devices.PortHandler) (devices.Port, error) {
	fd, err := connect(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	return h.open(fd, handler)
}

// connect begins a connection, and returns its socket.
func connect(address string) (fd int, err error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1, err
	}
	family, sockaddr := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()})
	if to.Addr().Is4() {
		family, sockaddr = unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	} else if zone := to.Addr().Zone(); zone != "" {
		link, err := net.InterfaceByName(zone)
		if err != nil {
			return -1, err
		}
		sockaddr.(*unix.SockaddrInet6).ZoneId = uint32(link.Index)
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Connect(fd, sockaddr); err == nil || err == unix.EINPROGRESS {
		// Bytes leave when they are written. Otherwise last words wait for an acknowledgement, and
		// are dropped if the connection is closed before.
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil && toItself(fd, to) {
		err = unix.ECONNREFUSED
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// toItself reports whether a socket is being connected to itself. That happens when nothing listens
// on the port of the peer, and the kernel gives that port to the socket itself. The socket would
// receive its own bytes, and keep a server from listening on the port.
func toItself(fd int, to netip.AddrPort) bool {
	port, err := reactor.LocalPort(fd)
	return err == nil && to.Addr().IsLoopback() && port == int(to.Port())
}
