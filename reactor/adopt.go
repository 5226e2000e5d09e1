package reactor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/pool/goroutine"
	"github.com/panjf2000/gnet/v2/pkg/socket"
	"golang.org/x/sys/unix"
)

// selfLimit bounds the time to connect to ourselves. It takes microseconds, unless something on this
// computer prevents it.
const selfLimit = 5 * time.Second

// adoption gives gnet descriptors that it has neither dialled nor accepted: serial lines, pipes,
// timers. Each takes the place of one end of a socket pair by dup3, and gnet polls, reads and
// writes whatever the descriptor is.
//
// gnet's loop cannot be entered from outside before it has a connection. So the engine connects to
// itself when gnet listens and does not loop yet. The first connection of any kind gives it the
// loop.
//
// gnet and ants start pools of goroutines whose housekeeping wakes the process for ever. They
// are released. gnet gets a pool of ours while a descriptor is adopted.
type adoption struct {
	self     net.Conn   // our connection to ourselves, until it is accepted
	adopting int        // adoptions under way
	workers  *ants.Pool // the pool of ours; nil while no descriptor is adopted
}

// ReleasePools stops the pools that gnet and ants start for every program.
func ReleasePools() {
	ants.Release()
	goroutine.DefaultWorkerPool.Release()
}

// connectToSelf connects to ourselves. That does not block, because gnet listens already.
func (e *engine) connectToSelf() error {
	// An address that stands for all interfaces stands for the loopback here.
	_, family, address, _, err := socket.GetTCPSockAddr("tcp", e.loop.config.Addresses[0])
	if err != nil {
		return err
	}
	network := "tcp4"
	if family == unix.AF_INET6 && len(address.IP) > 0 {
		network = "tcp6"
	}
	if e.self, err = net.DialTimeout(network, address.String(), selfLimit); err != nil {
		return fmt.Errorf("cannot connect to ourselves: %w", err)
	}
	return nil
}

// isSelf reports whether a new connection is our own.
func (e *engine) isSelf(c gnet.Conn) bool {
	if e.self == nil {
		return false
	}
	ours, theirs := e.self.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	return ours.Port == theirs.Port && ours.IP.Equal(theirs.IP)
}

// adopt has gnet poll a descriptor, and takes it over.
func (e *engine) adopt(fd int, d *Descriptor) error {
	c, err := behindSocket(fd)
	unix.Close(fd) // c has a duplicate
	if c == nil {
		return err
	}
	if err == nil {
		err = e.startWorkers()
	}
	if err == nil {
		_, err = e.events.Enroll(gnet.NewContext(context.Background(), d), c)
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	e.adopting++
	return nil
}

// behindSocket returns a connection whose descriptor is a duplicate of fd.
func behindSocket(fd int) (net.Conn, error) {
	if err := pollable(fd); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	unix.Close(pair[1])
	file := os.NewFile(uintptr(pair[0]), "adopted")
	defer file.Close()
	c, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err == nil {
		var dupErr error
		err = raw.Control(func(socket uintptr) { dupErr = unix.Dup3(fd, int(socket), unix.O_CLOEXEC) })
		err = errors.Join(err, dupErr)
	}
	return c, err
}

// pollable returns an error if a descriptor cannot be polled. gnet would not report it.
func pollable(fd int) error {
	e, err := newEpoll()
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.add(fd, unix.EPOLLIN); err != nil {
		return fmt.Errorf("it cannot be polled: %w", err)
	}
	return nil
}

// adoptClock has gnet poll the clock's timer. Nothing can run without it.
func (e *engine) adoptClock() {
	fd, err := unix.FcntlInt(uintptr(e.loop.clock.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = e.adopt(fd, &Descriptor{loop: e.loop, handler: e.loop, opened: e.loop.start})
	}
	if err != nil {
		e.err = fmt.Errorf("cannot poll the timer: %w", err)
	}
}

// startWorkers gives gnet a pool of goroutines that register descriptors, unless it has one. It is a
// new pool each time, because restarting a pool races with the last of its workers.
func (e *engine) startWorkers() (err error) {
	if e.workers == nil {
		if e.workers, err = ants.NewPool(-1, ants.WithDisablePurge(true)); err == nil {
			goroutine.DefaultWorkerPool = e.workers
		}
	}
	return err
}

// adopted counts one adoption as done, and stops the workers after the last one. It stops them by
// post, because the worker waits until OnOpen returns.
func (e *engine) adopted() {
	e.adopting--
	e.post(func() {
		if e.adopting == 0 && e.workers != nil {
			e.workers.Release()
			e.workers = nil
		}
	})
}
