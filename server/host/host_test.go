package host

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/reactor"
	"player/server/looptest"
)

// inbox is the handler of a port. It keeps the bytes that the port receives.
type inbox struct {
	bytes chan []byte
	gone  chan error
}

func newInbox() *inbox {
	return &inbox{make(chan []byte, 1000), make(chan error, 1)}
}

func (i *inbox) Receive(_ time.Duration, p []byte) { i.bytes <- bytes.Clone(p) }
func (i *inbox) Hangup(_ time.Duration, err error) { i.gone <- err }

// expect waits for bytes and reports any others.
func (i *inbox) expect(t *testing.T, want string) {
	t.Helper()
	got := ""
	for len(got) < len(want) {
		got += string(looptest.Receive(t, i.bytes, fmt.Sprintf("%q after %q", want, got)))
	}
	if got != want {
		t.Errorf("received %q, want %q", got, want)
	}
}

// open opens a port on the loop.
func open(t *testing.T, s *running, fn func(h *Host) (devices.Port, error)) (p devices.Port, err error) {
	t.Helper()
	s.Do(func(time.Duration) { p, err = fn(s.host) })
	return p, err
}

func TestDial(t *testing.T) {
	s := serve(t, nil)
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			if strings.HasPrefix(address, "[") {
				continue // this computer has no IPv6
			}
			t.Fatal(err)
		}
		defer l.Close()
		in := newInbox()
		p, err := open(t, s, func(h *Host) (devices.Port, error) {
			p, err := h.Dial(l.Addr().String(), in)
			if err == nil {
				p.Write([]byte("early"))
			}
			return p, err
		})
		looptest.Must(t, err)
		c, err := l.Accept()
		looptest.Must(t, err)
		defer c.Close()
		if got := looptest.Read(t, c, len("early")); string(got) != "early" {
			t.Errorf("%s: read %q", address, got)
		}
		looptest.Send(t, c, []byte("answer"))
		in.expect(t, "answer")
		s.Do(func(time.Duration) {
			fd, err := p.(*reactor.Descriptor).Fd()
			looptest.Must(t, err)
			if on, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || on == 0 {
				t.Errorf("last words may wait: TCP_NODELAY is %d, %v", on, err)
			}
		})
		c.Close()
		looptest.Receive(t, in.gone, "hangup")
	}
}

func TestDialRefused(t *testing.T) {
	s := serve(t, nil)
	address := looptest.FreeAddress(t)
	in := newInbox()
	_, err := open(t, s, func(h *Host) (devices.Port, error) { return h.Dial(address, in) })
	if err == nil {
		err = looptest.Receive(t, in.gone, "hangup")
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("it ends with %v, want a refusal", err)
	}
}

func TestDialErrors(t *testing.T) {
	s := serve(t, nil)
	for address, want := range map[string]string{
		"localhost:1":              "dial localhost:1: ",
		"127.0.0.1":                "dial 127.0.0.1: ",
		"[fe80::1%no-such-link]:1": "no such network interface",
		"255.255.255.255:1":        "dial 255.255.255.255:1: ", // TCP has no broadcast
	} {
		_, err := open(t, s, func(h *Host) (devices.Port, error) { return h.Dial(address, newInbox()) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
	}
}

// A socket that is connected to its own port is noticed.
func TestDialNeverReachesItself(t *testing.T) {
	for address, any := range map[netip.Addr]unix.Sockaddr{
		netip.MustParseAddr("127.0.0.1"): &unix.SockaddrInet4{Addr: netip.MustParseAddr("127.0.0.1").As4()},
		netip.IPv6Loopback():             &unix.SockaddrInet6{Addr: netip.IPv6Loopback().As16()},
	} {
		family := unix.AF_INET
		if address.Is6() {
			family = unix.AF_INET6
		}
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			defer unix.Close(fd)
			err = unix.Bind(fd, any)
		}
		if err != nil && address.Is6() {
			continue // this computer has no IPv6
		}
		looptest.Must(t, err)
		local, err := unix.Getsockname(fd)
		looptest.Must(t, err)
		looptest.Must(t, unix.Connect(fd, local)) // both ends of TCP's simultaneous open
		port, err := reactor.LocalPort(fd)
		looptest.Must(t, err)
		itself := netip.AddrPortFrom(address, uint16(port))
		if !toItself(fd, itself) {
			t.Errorf("%v: a connection to itself is not noticed", itself)
		}
		if other := netip.AddrPortFrom(itself.Addr(), itself.Port()^1); toItself(fd, other) {
			t.Errorf("a connection to %v is taken for one to itself", other)
		}
		if far := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), itself.Port()); toItself(fd, far) {
			t.Errorf("a connection to %v is taken for one to itself", far)
		}
	}
}

// Ports may be opened from within any callback, also while others are being
// adopted.
func TestPortsOpenAnywhere(t *testing.T) {
	h := &echoer{t: t, address: serve(t, nil).Address, left: 20, done: make(chan struct{})}
	serve(t, func(with *setup) {
		with.started = func(host *Host) {
			h.host = host
			h.open()
			h.open()
		}
	})
	looptest.Receive(t, h.done, "echo on the last port")
}

// echoer opens a port, waits for its greeting to come back, and opens the
// next. It is the handler of all ports.
type echoer struct {
	t       *testing.T
	host    *Host
	address string
	left    int
	done    chan struct{}
}

func (h *echoer) open() {
	port, err := h.host.Dial(h.address, h)
	if err != nil {
		h.t.Error(err)
		return
	}
	port.Write([]byte("hello"))
}

func (h *echoer) Receive(time.Duration, []byte) {
	switch h.left--; {
	case h.left > 0:
		h.open()
	case h.left == 0:
		close(h.done)
	}
}

func (h *echoer) Hangup(time.Duration, error) {}
