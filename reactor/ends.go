package reactor

import (
	"time"

	"golang.org/x/sys/unix"
)

// lookPeriod is how long the loop serves what has come before it looks for ends again.
// It bounds what looking costs while the loop is busy, and a loop that was away, asleep
// or not, looks at once.
const lookPeriod = time.Millisecond

// endWatch finds the connections that their peers have ended. gnet learns of an end when it
// has read everything before it, and meanwhile others are served: a client that has gone
// could tell a robot to go on. So the loop looks at a second epoll, which reports ends only,
// before it serves anything. That epoll reports a FIN, a reset and a failure. It never wakes
// the loop, because each of them wakes it anyway.
type endWatch struct {
	epoll   epoll
	watched map[int]*Descriptor
	looked  time.Duration // when it was looked at last
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
	// It fails without memory, or for a descriptor that is closed within this callback.
	// Then gnet finds the end behind the input.
	_ = e.epoll.add(fd, unix.EPOLLRDHUP)
}

func (e *endWatch) forget(fd int) {
	if _, ok := e.watched[fd]; ok {
		delete(e.watched, fd)
		_ = e.epoll.remove(fd) // at worst it is not there
	}
}

// lookAfterAbsence looks for ends unless that was done just now.
func (e *endWatch) lookAfterAbsence(now time.Duration) {
	if len(e.watched) > 0 && now-e.looked >= lookPeriod {
		e.look(now)
	}
}

// look calls those who watch connections that have ended.
func (e *endWatch) look(now time.Duration) {
	e.looked = now
	for n := len(e.found); n == len(e.found); {
		n = e.epoll.happened(e.found[:])
		for _, event := range e.found[:n] {
			if d := e.watched[int(event.Fd)]; d != nil {
				e.forget(int(event.Fd))
				d.ended(now)
			}
		}
	}
}
