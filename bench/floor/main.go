// Floor is the least that a frame server can do: a bare loop on epoll and
// timerfd. It reads the clients' messages as the server does, and writes frames at
// the rate or on the request of each client. It has no devices, no rights and
// no idea of a network's capacity. Its ticks are the server's, so the two
// differ in their work at a wake, not in how often they wake.
//
// With -serial it is the least that a driver can do: when a packet has come from the
// serial line, every client that has asked gets a frame.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"player/bench/baseline"
	"player/codec"
	"player/timers"
)

func main() {
	port := flag.Int("port", 6665, "TCP port")
	size := flag.Int("size", 807, "bytes of a frame")
	serial := flag.String("serial", "", "send frames when packets come from this serial port")
	packet := flag.Int("packet", 43, "bytes of a packet of the serial line")
	letter := flag.String("letter", "p", "with -serial, the device of the frame's only block; -size is the size of its data")
	flag.Parse()
	frame := baseline.Frame{Bytes: codec.AppendBlock(nil, (*letter)[0], make([]byte, *size))}
	if *serial == "" {
		frame = baseline.NewFrame(*size)
	}
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	log.Fatalln("floor:", serve(*port, frame, *serial, *packet))
}

// client is one connection.
type client struct {
	baseline.Client
	tick   *tick  // nil while it has none
	unsent []byte // the rest of a frame that the connection did not take
}

// tick is the connections that are due together.
type tick struct {
	due, period time.Duration // due is on CLOCK_MONOTONIC
	clients     []int32
}

type loop struct {
	listener, timer, epoll int
	frame                  baseline.Frame
	ticks                  []*tick
	clients                []*client // by descriptor
	serial                 int       // descriptor, -1 if there is none
	packet, heard          int       // bytes: of a packet, of one that has begun
	asking                 []int32   // clients that get a frame when a packet is whole
	scratch                [64 << 10]byte
}

// serve returns only with an error.
func serve(port int, frame baseline.Frame, serial string, packet int) error {
	l := &loop{frame: frame, serial: -1, packet: packet}
	var err error
	if serial != "" {
		if l.serial, err = unix.Open(serial, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("%s: %w", serial, err)
		}
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	_ = listener.Close() // Go's poller has it, and file is a duplicate
	l.listener = int(file.Fd())
	if err := unix.SetNonblock(l.listener, true); err != nil {
		return err
	}
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for _, fd := range []int{l.listener, l.timer, l.serial} {
		if fd < 0 {
			continue
		}
		if err := l.watch(fd); err != nil {
			return err
		}
	}
	var events [512]unix.EpollEvent
	for {
		n, err := unix.EpollWait(l.epoll, events[:], -1)
		if err != nil && err != unix.EINTR {
			return err
		}
		for _, ev := range events[:max(n, 0)] {
			switch int(ev.Fd) {
			case l.listener:
				l.accept()
			case l.timer:
				l.fire()
			case l.serial:
				l.hear()
			default:
				l.read(ev.Fd)
			}
		}
	}
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// accept takes all connections that wait: a loop that is busy with frames comes
// here rarely.
func (l *loop) accept() {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		if unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) != nil || l.watch(fd) != nil {
			unix.Close(fd)
			continue
		}
		for len(l.clients) <= fd {
			l.clients = append(l.clients, nil)
		}
		l.clients[fd] = &client{}
	}
}

// join puts a client into a tick of its period as the server does: one with
// room, else a new one on the next step of the grid, else the emptiest.
func (l *loop) join(fd int32, period time.Duration) {
	c := l.clients[fd]
	n := 0
	for _, t := range l.ticks {
		if t.period == period {
			n++
			if c.tick == nil || len(t.clients) < len(c.tick.clients) {
				c.tick = t
			}
		}
	}
	if n == 0 || len(c.tick.clients) >= timers.TickFill && n < int(max(1, period/timers.Grid)) {
		due := baseline.Now()/period*period + period + time.Duration(n)*timers.Grid
		c.tick = &tick{due: due, period: period}
		l.ticks = append(l.ticks, c.tick)
	}
	c.tick.clients = append(c.tick.clients, fd)
	l.arm()
}

func (l *loop) arm() {
	if len(l.ticks) == 0 {
		return
	}
	next := l.ticks[0].due
	for _, t := range l.ticks {
		next = min(next, t.due)
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(next))}
	_ = unix.TimerfdSettime(l.timer, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

// fire serves the ticks that are due.
func (l *loop) fire() {
	var count [8]byte
	_, _ = unix.Read(l.timer, count[:])
	now := baseline.Now()
	l.frame.Stamp(now)
	for _, t := range l.ticks {
		if t.due > now {
			continue
		}
		for _, fd := range t.clients {
			l.send(fd)
		}
		t.due = timers.Skip(t.due, t.period, now)
	}
	l.arm()
}

// send writes the frame, or the rest of the one before. Bytes that the connection
// does not take are kept for the next time; a dead connection is noticed when it
// is read.
func (l *loop) send(fd int32) {
	c := l.clients[fd]
	b := l.frame.Bytes
	if len(c.unsent) > 0 {
		b = c.unsent
	}
	n, _, err := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	switch {
	case err != 0:
	case int(n) < len(b):
		c.unsent = append(c.unsent[:0], b[n:]...)
	default:
		c.unsent = c.unsent[:0]
	}
}

// read takes a client's messages and carries them out. It drops a client that has
// left.
func (l *loop) read(fd int32) {
	n, _, err := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&l.scratch[0])), uintptr(len(l.scratch)))
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if err != 0 || n == 0 {
		l.drop(fd)
		return
	}
	c := l.clients[fd]
	reply, frames := c.Receive(l.scratch[:n])
	if len(reply) > 0 {
		_, _ = unix.Write(int(fd), reply) // a client that is gone is noticed when it is read
		if c.tick == nil && !c.Asks && c.Rate > 0 {
			l.join(fd, time.Second/time.Duration(c.Rate))
		}
	}
	for range frames {
		if l.serial >= 0 {
			l.asking = append(l.asking, fd)
			continue
		}
		l.frame.Stamp(baseline.Now())
		l.send(fd)
	}
}

// hear takes the input of the serial line, and sends frames when a packet is whole.
func (l *loop) hear() {
	n, _ := unix.Read(l.serial, l.scratch[:])
	if l.heard += max(n, 0); l.heard < l.packet {
		return
	}
	l.heard %= l.packet
	for _, fd := range l.asking {
		l.send(fd)
	}
	l.asking = l.asking[:0]
}

func (l *loop) drop(fd int32) {
	if t := l.clients[fd].tick; t != nil {
		at := slices.Index(t.clients, fd)
		t.clients[at] = t.clients[len(t.clients)-1]
		if t.clients = t.clients[:len(t.clients)-1]; len(t.clients) == 0 {
			l.ticks = slices.DeleteFunc(l.ticks, func(o *tick) bool { return o == t })
		}
	}
	l.asking = slices.DeleteFunc(l.asking, func(o int32) bool { return o == fd })
	l.clients[fd] = nil
	unix.Close(int(fd))
}
