// Floor is the least that a frame server can do: a bare epoll and timerfd loop
// that writes the same bytes to every connection, at a rate or whenever it says
// something, and nothing else. No protocol, no devices, no memory of what was
// sent. It shares ticks on the
// grid that the server uses, so that the two differ in what they do at a wake,
// not in how often they wake. What it costs is the floor that the server is
// measured against.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"player/bench/load"
	"player/timers"
)

func main() {
	port := flag.Int("port", 6665, "TCP port")
	rate := flag.Int("rate", 10, "frames a second and client; 0: one for whatever it says")
	size := flag.Int("size", 807, "bytes of a frame")
	flag.Parse()
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	fmt.Fprintln(os.Stderr, "floor:", serve(*port, *rate, load.Frame(*size)))
	os.Exit(1)
}

// slot is the connections that share a tick.
type slot struct {
	due     time.Duration // CLOCK_MONOTONIC
	clients []int32
}

type loop struct {
	listener, timer, epoll int
	period                 time.Duration // zero: frames are asked for
	frame                  []byte
	slots                  []slot
	home                   map[int32]int // the slot of a connection
	cut                    map[int32]int // bytes that are left of a frame
	scratch                [64 << 10]byte
}

// serve returns only with an error.
func serve(port, rate int, frame []byte) error {
	l := &loop{frame: frame, home: map[int32]int{}, cut: map[int32]int{}}
	if rate > 0 {
		l.period = time.Second / time.Duration(rate)
	}
	var err error
	if l.listener, err = listen(port); err != nil {
		return err
	}
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return err
	}
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	for _, fd := range []int{l.listener, l.timer} {
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
				l.tick()
			default:
				l.read(ev.Fd)
			}
		}
	}
}

func listen(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port}); err != nil {
		return 0, err
	}
	return fd, unix.Listen(fd, 4096)
}

func (l *loop) watch(fd int) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// accept lets in all that wait: a loop that is busy with its ticks comes here
// seldom.
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
		if l.period > 0 {
			l.join(int32(fd))
		}
	}
}

// join finds a place as the server does: a slot with room, else a new one on
// the next step of the grid, else the emptiest.
func (l *loop) join(fd int32) {
	best := 0
	for i := range l.slots {
		if len(l.slots[i].clients) < len(l.slots[best].clients) || len(l.slots[best].clients) >= timers.TickFill && len(l.slots[i].clients) < timers.TickFill {
			best = i
		}
	}
	steps := min(int(max(1, l.period/timers.Grid)), 64)
	if len(l.slots) == 0 || len(l.slots[best].clients) >= timers.TickFill && len(l.slots) < steps {
		best = len(l.slots)
		phase := time.Duration(best) * timers.Grid
		l.slots = append(l.slots, slot{due: now()/l.period*l.period + l.period + phase})
	}
	l.slots[best].clients = append(l.slots[best].clients, fd)
	l.home[fd] = best
	l.arm()
}

func (l *loop) arm() {
	next := l.slots[0].due
	for i := range l.slots {
		next = min(next, l.slots[i].due)
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(next))}
	_ = unix.TimerfdSettime(l.timer, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

func (l *loop) tick() {
	var count [8]byte
	_, _ = unix.Read(l.timer, count[:])
	t := now()
	for i := range l.slots {
		s := &l.slots[i]
		if s.due > t {
			continue
		}
		for _, fd := range s.clients {
			l.write(fd)
		}
		s.due = timers.Skip(s.due, l.period, t)
	}
	l.arm()
}

// write sends the frame, or what is left of the one before. What the connection
// does not take now it takes the next time; a dead one is noticed when it is
// read.
func (l *loop) write(fd int32) {
	b := l.frame
	if left := l.cut[fd]; left > 0 {
		b = b[len(b)-left:]
	}
	n, _, err := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	switch {
	case err != 0:
	case int(n) < len(b):
		l.cut[fd] = len(b) - int(n)
	case len(b) < len(l.frame):
		delete(l.cut, fd)
	}
}

// read throws away what a client says, or takes it for a request: a client
// waits for the frame before it says more. It drops a client that is gone.
func (l *loop) read(fd int32) {
	n, _, err := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&l.scratch[0])), uintptr(len(l.scratch)))
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
	case err != 0 || n == 0:
		l.drop(fd)
	case l.period == 0:
		l.write(fd)
	}
}

func (l *loop) drop(fd int32) {
	if i, ok := l.home[fd]; ok {
		s := &l.slots[i]
		at := slices.Index(s.clients, fd)
		s.clients[at] = s.clients[len(s.clients)-1]
		s.clients = s.clients[:len(s.clients)-1]
		delete(l.home, fd)
	}
	delete(l.cut, fd)
	unix.Close(int(fd))
}

func now() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // it always has this clock
	return time.Duration(ts.Nano())
}
