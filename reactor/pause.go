package reactor

import "golang.org/x/sys/unix"

// Pause stops Receive until Resume, but for input of a descriptor whose output has
// waited. A connection that is reset meanwhile is a Hangup at once; one that its
// peer has closed is a Hangup after Resume, behind its last input.
func (d *Descriptor) Pause() { d.pause(true) }

// Resume ends a pause.
func (d *Descriptor) Resume() { d.pause(false) }

func (d *Descriptor) pause(on bool) {
	if d.paused == on {
		return
	}
	d.paused = on
	if d.conn != nil {
		d.setEvents()
	}
}

// poll sets what gnet's epoll reports of the descriptor.
func (d *Descriptor) setEvents() {
	_ = d.loop.engine.epoll.set(d.conn.Fd(), d.events()) // at worst it is detached
}

// events returns what gnet's epoll has to report: input unless the descriptor is paused, and room
// for output that waits. It always reports a connection that was reset.
func (d *Descriptor) events() (events uint32) {
	if !d.paused {
		events = inputEvents
	}
	if d.conn.OutboundBuffered() > 0 {
		events |= unix.EPOLLOUT
	}
	return events
}

// Detach has the loop leave the descriptor alone from the end of this round, in which it may
// still be received from, until Attach. Some devices block a thread that polls, reads or writes
// them while another thread sets them: a serial line does, for seconds if its adapter does not
// answer. Bytes that are written meanwhile are kept. A function of Post runs after the end of the
// round. The loop must poll the descriptor already.
func (d *Descriptor) Detach() {
	if d.conn != nil && !d.detached {
		d.detached = true
		d.unregister()
	}
}

// Attach ends Detach. Writing what was kept may call Hangup within.
func (d *Descriptor) Attach() {
	if d.conn == nil || !d.detached {
		return
	}
	d.detached = false
	// It fails only without memory. Then the descriptor is silent, and its owner gives it up.
	_ = d.loop.engine.epoll.add(d.conn.Fd(), d.events())
	pending := d.pending
	d.pending = nil
	d.Write(pending)
}

// unpoll takes the descriptor off gnet's epoll.
func (d *Descriptor) unregister() {
	_ = d.loop.engine.epoll.remove(d.conn.Fd()) // at worst it is not there
}

// silence keeps gnet from writing what still waits when it closes the descriptor: the last words
// are the last, and a write to a descriptor that is detached would block the loop. The number
// becomes one of the clock's timer, which takes no bytes.
func (d *Descriptor) discardOutput() {
	d.unregister()
	fd := d.conn.Fd()
	_ = unix.Dup3(d.loop.clock.fd, fd, unix.O_CLOEXEC) // both are open
	// gnet ends nothing more in this round when it cannot take the number off its epoll.
	_ = d.loop.engine.epoll.add(fd, 0)
}
