package reactor

import (
	"time"

	"golang.org/x/sys/unix"
)

// checkPeriod is the shortest time between two checks for ends. It bounds their cost in a busy
// loop. The first callback after a longer time, in which the loop slept or was paused, checks.
const checkPeriod = time.Millisecond

// endWatch finds the connections that their peers have ended. gnet learns of an end only when it
// has read all input before it, and serves other connections meanwhile. The commands of a client
// that is gone would still move a robot. So before the loop serves anything it takes the events of
// a second epoll, which reports only a FIN, a reset or a failure. The loop does not wait on that
// epoll: each of these events wakes it through gnet's.
type endWatch struct {
	epoll   epoll
	watched map[int]*Descriptor
	checked time.Duration // last
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
	// It fails without memory, or if the descriptor is closed within this callback. Then only gnet
	// finds the end, behind the input.
	_ = e.epoll.add(fd, unix.EPOLLRDHUP)
}

func (e *endWatch) forget(fd int) {
	if _, ok := e.watched[fd]; ok {
		delete(e.watched, fd)
		_ = e.epoll.remove(fd) // at worst it is not there
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
