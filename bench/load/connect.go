package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"player/codec"
	"player/codec/compact"
	"player/server/tlsconn"
)

const (
	// burst is how many connections are opened before frames are read again:
	// while thousands connect, the first already stream.
	burst = 32
	// startLimit bounds the wait for the server to listen.
	startLimit = 10 * time.Second
)

// The requests of clients that only read, and of clients that may also drive: the
// server treats them differently.
const (
	readers = "lrsrprgrmrvrzr"
	drivers = "lrsrpagrmrvrzr"
)

// firstFurther is the byte that a server hands out to its first device without a letter (PROTOCOL 2.11).
const firstFurther = 128

// connect opens the connections of all groups and sends their requests.
func (e *engine) connect() error {
	total := 0
	for _, g := range e.spec.Groups {
		total += g.Clients
		period := time.Duration(0)
		if g.Rate > 0 {
			period = time.Second / time.Duration(g.Rate)
		}
		e.groups = append(e.groups, group{Group: g, period: period})
	}
	if err := allow(total); err != nil {
		return err
	}
	e.clients = make([]client, 0, total)
	home, err := netns.Get()
	if err != nil {
		return err
	}
	defer home.Close()
	for i := range e.groups {
		g := &e.groups[i]
		if g.Namespace != 0 {
			if err := netns.Set(netns.NsHandle(g.Namespace)); err != nil {
				return fmt.Errorf("enter the clients' network: %w", err)
			}
		}
		err := e.open(g)
		if g.Namespace != 0 {
			err = errors.Join(err, netns.Set(home))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allow checks that this process may hold n connections. Go has raised its limit of
// descriptors as far as it goes.
func allow(n int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if need := uint64(n) + 64; limit.Cur < need {
		return fmt.Errorf("%d clients need %d descriptors, the limit is %d (ulimit -Hn)", n, need, limit.Cur)
	}
	return nil
}

func (e *engine) open(g *group) error {
	address, err := netip.ParseAddrPort(g.Address)
	if err != nil {
		return err
	}
	if g.NATS != nil {
		return e.subscribe(g)
	}
	if g.Topic != "" {
		return e.subscribeTo(g)
	}
	request := g.request()
	if err := e.await(g.Address, request); err != nil {
		return fmt.Errorf("%s does not serve: %w", g.Address, err)
	}
	for n := range g.Clients {
		to := netip.AddrPortFrom(address.Addr(), address.Port()+uint16(n%max(g.Ports, 1))).String()
		fd, sealed, err := g.dial(to)
		if err != nil {
			return fmt.Errorf("client %d of %s cannot connect to %s: %w", n+1, g.Name, to, err)
		}
		if g.Task == Answer {
			// The kernel's interactive mode, from the first frame on.
			if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 0); err != nil {
				return fmt.Errorf("delay acknowledgements: %w", err)
			}
		}
		index := int32(len(e.clients))
		e.clients = append(e.clients, client{group: g, index: index, fd: fd, tls: sealed, parser: g.parser()})
		e.waiting++
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: index}
		if err := unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return err
		}
		sent := request
		if sealed != nil {
			sent = sealed.Seal(nil, request)
		}
		if _, err := unix.Write(fd, sent); err != nil {
			return fmt.Errorf("client %d of %s cannot send its request: %w", n+1, g.Name, err)
		}
		if n%burst == burst-1 {
			e.poll(0)
		}
	}
	return nil
}

// blocks is how many blocks a frame for a client of the group has, unless it is compact.
func (g *group) blocks() int {
	if g.Devices == "" && g.Further == "" {
		return blocks
	}
	return len(g.Devices)/2 + len(g.Further) // each letter has its access
}

// parser is the parser of a client of the group.
func (g *group) parser() parser {
	interfaces := g.Further
	return parser{blocks: g.blocks(), items: compact.Reader{Interface: func(code byte) byte {
		if i := int(code) - firstFurther; i >= 0 && i < len(interfaces) {
			return interfaces[i]
		}
		return code
	}}}
}

// dial connects a client of the group, by TLS if the group does so.
func (g *group) dial(address string) (fd int, sealed *tlsconn.Conn, err error) {
	if g.TLS == "" {
		fd, err = dial(address)
		return fd, nil, err
	}
	tcp, err := net.DialTimeout("tcp", g.TLS, startLimit)
	if err != nil {
		return 0, nil, err
	}
	if sealed, err = tlsconn.Client(tcp, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}); err != nil { // our own server
		return 0, nil, err
	}
	fd, err = sealed.Detach()
	return fd, sealed, err
}

// await waits until the server answers a request.
func (e *engine) await(address string, request []byte) (err error) {
	for limit := e.now() + startLimit; e.now() < limit; time.Sleep(time.Millisecond) {
		if err = Answered(address, request); err == nil {
			return nil
		}
	}
	return err
}

// Answered sends a request and waits for the first byte of the answer.
func Answered(address string, request []byte) error {
	conn, err := net.DialTimeout("tcp", address, startLimit)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write(request)
	if err = errors.Join(err, conn.SetReadDeadline(time.Now().Add(startLimit))); err == nil {
		_, err = conn.Read(make([]byte, 1))
	}
	return err
}

// request is a client's first message: its mode, and the devices it wants.
func (g *group) request() []byte {
	config := codec.Config{Code: codec.ConfigFrequency, Arg: uint16(g.Rate)}
	if g.Task == Request {
		config = codec.Config{Code: codec.ConfigMode, Arg: 1}
	}
	pairs := readers
	if g.Task.drives() {
		pairs = drivers
	}
	if g.Devices != "" || g.Further != "" {
		pairs = g.Devices
	}
	for i := range len(g.Further) {
		pairs += string([]byte{firstFurther + byte(i), codec.AccessRead})
	}
	b := codec.AppendMessage(nil, codec.KindConfig, codec.Server, config.Append(nil))
	if len(g.Form) > 0 {
		b = codec.AppendMessage(b, codec.KindConfig, codec.Server, g.Form)
	}
	return codec.AppendRequest(b, []byte(pairs))
}

// dial connects, in the network namespace of this thread. The descriptor is the caller's.
func dial(address string) (fd int, err error) {
	d := net.Dialer{Timeout: startLimit, KeepAlive: -1} // no probes
	conn, err := d.Dial("tcp", address)
	if err != nil {
		return 0, err
	}
	defer conn.Close() // fd keeps the connection
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err == nil {
		controlErr := raw.Control(func(of uintptr) { fd, err = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0) })
		err = errors.Join(controlErr, err)
	}
	return fd, err
}
