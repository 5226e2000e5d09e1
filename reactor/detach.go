package reactor

import "golang.org/x/sys/unix"

// Some devices hold a thread that polls, reads or writes them while another thread sets them: a
// serial line does, for seconds if its adapter does not answer. So the loop leaves such a
// descriptor alone meanwhile.

// Detach has the loop leave the descriptor alone from the end of this round, in which it may
// still be received from, until Attach. Bytes that are written meanwhile are kept. A function
// of Post runs after the end of the round. The loop must poll the descriptor already.
func (d *Descriptor) Detach() {
	if d.conn != nil && !d.detached {
		d.detached = true
		d.unpoll()
	}
}

// Attach ends Detach. Writing what was kept may call Hangup within.
func (d *Descriptor) Attach() {
	if d.conn == nil || !d.detached {
		return
	}
	d.detached = false
	events := uint32(0)
	if !d.paused {
		events = inputEvents
	}
	if d.conn.OutboundBuffered() > 0 {
		events |= unix.EPOLLOUT
	}
	fd := d.conn.Fd()
	// It fails only without memory. Then the descriptor is silent, and its owner gives it up.
	_ = unix.EpollCtl(d.loop.engine.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Fd: int32(fd), Events: events})
	pending := d.pending
	d.pending = nil
	d.Write(pending)
}

// unpoll takes the descriptor off gnet's epoll.
func (d *Descriptor) unpoll() {
	// At worst it is not there.
	_ = unix.EpollCtl(d.loop.engine.epoll, unix.EPOLL_CTL_DEL, d.conn.Fd(), nil)
}

// silence keeps gnet from writing what still waits when it closes the descriptor: the last words
// are the last, and a write to a descriptor that is detached would hold the loop. The number
// becomes one of the clock's timer, which takes no bytes.
func (d *Descriptor) silence() {
	d.unpoll()
	fd := d.conn.Fd()
	_ = unix.Dup3(d.loop.clock.fd, fd, unix.O_CLOEXEC) // both are open
	// gnet ends nothing more in this round when it cannot take the number off its epoll.
	_ = unix.EpollCtl(d.loop.engine.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Fd: int32(fd)})
}
