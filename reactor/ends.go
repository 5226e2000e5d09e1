package reactor

import (
	"time"

	"golang.org/x/sys/unix"
)

// checkPeriod is the shortest time between two checks for ended connections. It bounds the cost of the
// checks in a busy loop. After the loop has slept or was paused, the first callback checks.
const checkPeriod = time.Millisecond

// endWatch finds the connections that their peers have ended. gnet notices an end only after it has
// read all input before it, and it serves other connections meanwhile. So the commands of a client
// that has ended its connection would still move a robot. Therefore the loop takes the events of a
// second epoll before it serves anything. That epoll reports only a FIN, a reset or a failure. The
// loop does not wait on it, because each of these events also wakes gnet's epoll.
type endWatch struct {
	epoll   epoll
	watched map[int]*Descriptor
	checked time.Duration // when it has checked last
	found   [16]unix.EpollEvent
}

func (e *endWatch) open() (err error) {
	e.watched = map[int]*Descriptor{}
	e.epoll, err = newEpoll()
	return err
}

func (e *endWatch) close() {
	if e.epoll > 0 {
		e.epoll.close()
	}
}

func (e *endWatch) watch(d *Descriptor) {
	fd := d.conn.Fd()
	e.watched[fd] = d
	// It fails without memory, or if the descriptor is closed in this callback. Then only gnet
	// notices the end, after the input.
	_ = e.epoll.add(fd, unix.EPOLLRDHUP)
}

func (e *endWatch) forget(fd int) {
	if _, ok := e.watched[fd]; ok {
		delete(e.watched, fd)
		_ = e.epoll.remove(fd) // it fails only if the descriptor is not there
	}
}

// checkOften is check once in checkPeriod.
func (e *endWatch) checkOften(now time.Duration) {
	if len(e.watched) > 0 && now-e.checked >= checkPeriod {
		e.check(now)
	}
}

// check calls the functions of WatchEnd for connections that have ended.
func (e *endWatch) check(now time.Duration) {
	e.checked = now
	for n := len(e.found); n == len(e.found); {
		n = e.epoll.take(e.found[:])
		for _, event := range e.found[:n] {
			if d := e.watched[int(event.Fd)]; d != nil {
				e.forget(int(event.Fd))
				d.onEnd(now)
			}
		}
	}
}
