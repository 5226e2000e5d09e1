// Package rig sets up the place of a benchmark: networks of a given rate, control
// groups with a share of a processor, and the meters on both.
package rig

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

const (
	// burst is the bucket of the rate limiters in bytes: two full packets, as
	// little as lets a packet through at once. A larger one would let the
	// start of each queue through faster than the network is.
	burst = 3000
	// queueTime bounds the queue of a limiter by the bytes that the network sends in
	// this many ms, a usual size for the buffer of an interface.
	queueTime = 400
	// Header is the size of the headers of TCP, IP and Ethernet in bytes: 20 and 12
	// of options, 20, 14.
	Header = 66
)

// The ends of both networks. They are private to the wire, so the addresses cannot
// conflict with others.
const (
	ServerAddress     = "10.77.0.1"
	FastServerAddress = "10.78.0.1"

	clientAddress     = "10.77.0.2"
	fastClientAddress = "10.78.0.2"
	prefix            = "/24"
	device            = "wire"
	fastDevice        = "fast"
)

// Wire is a network of a given rate in both directions between two network
// namespaces, one for the server and one for the clients, and a second network
// next to it that is as fast as this computer. The namespaces have
// no name: the kernel removes them with the last process that uses them.
type Wire struct {
	Rate   int // bit/s
	Server netns.NsHandle
	Client netns.NsHandle
	meter  *netlink.Handle // in the server's namespace
	index  int             // of its device
}

// NewWire makes a wire. It needs the right to administer networks; the error
// names the missing part.
func NewWire(rate int) (*Wire, error) {
	w := &Wire{Rate: rate, Server: netns.None(), Client: netns.None()}
	if err := onThread(w.make); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// onThread runs f on a thread whose network namespace f may change.
func onThread(f func() error) error {
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("network namespaces: %w", err)
	}
	defer home.Close()
	err = f()
	if here, other := netns.Get(); other == nil {
		defer here.Close()
		if here.Equal(home) { // f failed before it changed anything
			runtime.UnlockOSThread()
			return err
		}
	}
	if back := netns.Set(home); back != nil {
		return errors.Join(err, back) // the thread stays locked, and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

func (w *Wire) make() (err error) {
	if w.Client, err = newNamespace(); err != nil {
		return err
	}
	if w.Server, err = newNamespace(); err != nil {
		return err
	}
	// The thread is in the server's namespace now.
	for _, name := range []string{device, fastDevice} {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		veth := netlink.NewVeth(attrs)
		veth.PeerName, veth.PeerNamespace = name, netlink.NsFd(w.Client)
		if err := netlink.LinkAdd(veth); err != nil {
			return fmt.Errorf("make a veth pair: %w", err)
		}
	}
	if w.meter, err = netlink.NewHandle(); err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	if w.index, err = w.setUpEnd(ServerAddress, FastServerAddress); err != nil {
		return err
	}
	if err := netns.Set(w.Client); err != nil {
		return err
	}
	_, err = w.setUpEnd(clientAddress, fastClientAddress)
	return err
}

// setUpEnd configures one end of both networks and limits the rate of the first, whose index
// it returns.
func (w *Wire) setUpEnd(address, fast string) (index int, err error) {
	if _, err := setUp(fastDevice, fast); err != nil {
		return 0, err
	}
	link, err := setUp(device, address)
	if err != nil {
		return 0, err
	}
	return link.Attrs().Index, w.limit(link)
}

func newNamespace() (netns.NsHandle, error) {
	ns, err := netns.New()
	if errors.Is(err, os.ErrPermission) {
		return ns, errors.New("network namespaces need root")
	}
	if err != nil {
		return ns, fmt.Errorf("make a network namespace: %w", err)
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return ns, fmt.Errorf("loopback: %w", err)
	}
	return ns, netlink.LinkSetUp(lo)
}

// setUp configures this end of a pair.
func setUp(name, address string) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, err
	}
	addr, err := netlink.ParseAddr(address + prefix)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(netlink.AddrAdd(link, addr), netlink.LinkSetUp(link)); err != nil {
		return nil, fmt.Errorf("address %s: %w", address, err)
	}
	return link, nil
}

// limit gives a device the rate of the wire.
func (w *Wire) limit(link netlink.Link) error {
	if err := disableOffload(device); err != nil {
		return fmt.Errorf("segmentation offload: %w", err)
	}
	bytes := uint64(w.Rate) / 8
	err := netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytes,
		Buffer:     netlink.Xmittime(bytes, burst),
		Limit:      uint32(bytes*queueTime/1000) + burst,
	})
	if err != nil {
		return fmt.Errorf("rate limiter (tbf): %w", err)
	}
	return nil
}

// disableOffload makes the device send segments as they would appear on a
// network: with offload the limiter sees chunks of up to 64 KiB.
func disableOffload(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, command := range []uint32{unix.ETHTOOL_STSO, unix.ETHTOOL_SGSO, unix.ETHTOOL_SGRO} {
		value := struct{ command, on uint32 }{command, 0}
		request := struct {
			name  [unix.IFNAMSIZ]byte
			value unsafe.Pointer
			_     [16]byte
		}{value: unsafe.Pointer(&value)}
		copy(request.name[:], name)
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
	}
	return nil
}

// AtServer calls f on a thread in the server's namespace. Without a wire it calls f.
func (w *Wire) AtServer(f func() error) error {
	if w == nil {
		return f()
	}
	return in(w.Server, f)
}

// AtClients calls f on a thread in the clients' namespace. Without a wire it calls f.
func (w *Wire) AtClients(f func() error) error {
	if w == nil {
		return f()
	}
	return in(w.Client, f)
}

func in(namespace netns.NsHandle, f func() error) error {
	return onThread(func() error {
		if err := netns.Set(namespace); err != nil {
			return err
		}
		return f()
	})
}

// ClientFile returns the clients' namespace for a process that connects from it.
func (w *Wire) ClientFile() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(w.Client), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "client namespace"), nil
}

// Traffic is the counts of the limiter on the server's side since the start.
type Traffic struct {
	Bytes   uint64 `json:"bytes"` // sent, with all headers
	Packets uint64 `json:"packets"`
	Drops   uint64 `json:"drops"`
}

// Sub is the traffic since an earlier moment.
func (t Traffic) Sub(o Traffic) Traffic {
	return Traffic{t.Bytes - o.Bytes, t.Packets - o.Packets, t.Drops - o.Drops}
}

// Traffic reads the meters.
func (w *Wire) Traffic() (Traffic, error) {
	link, err := w.meter.LinkByIndex(w.index)
	if err != nil {
		return Traffic{}, err
	}
	qdiscs, err := w.meter.QdiscList(link)
	if err != nil {
		return Traffic{}, err
	}
	for _, q := range qdiscs {
		if s := q.Attrs().Statistics; q.Type() == "tbf" && s != nil && s.Basic != nil && s.Queue != nil {
			return Traffic{s.Basic.Bytes, uint64(s.Basic.Packets), uint64(s.Queue.Drops)}, nil
		}
	}
	return Traffic{}, errors.New("the limiter has no statistics")
}

// Close releases the namespaces.
func (w *Wire) Close() {
	if w.meter != nil {
		w.meter.Close()
	}
	for _, ns := range []*netns.NsHandle{&w.Server, &w.Client} {
		if ns.IsOpen() {
			ns.Close()
		}
	}
}
