package reactor

import "golang.org/x/sys/unix"

// Pause stops Receive until Resume. Receive may still be called once after output has waited.
// If the connection is reset meanwhile, Hangup is called at once. If its peer closes it, Hangup is
// called after Resume, behind the last input.
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

// setEvents sets the events of the descriptor that gnet's epoll reports.
func (d *Descriptor) setEvents() {
	_ = d.loop.engine.epoll.set(d.conn.Fd(), d.events()) // it fails only if the descriptor is detached
}

// events returns the events that gnet's epoll has to report: input unless the descriptor is paused,
// and room for output if output waits. An epoll always reports a connection that was reset.
func (d *Descriptor) events() (events uint32) {
	if !d.paused {
		events = inputEvents
	}
	if d.conn.OutboundBuffered() > 0 {
		events |= unix.EPOLLOUT
	}
	return events
}

// Detach keeps the loop from touching the descriptor until Attach. It takes effect at the end of the
// epoll's current round; until then Receive may still be called. A function of Post runs after that
// end. Bytes that are written meanwhile are kept. The loop must poll the descriptor already.
//
// Some devices block a thread that polls, reads or writes them while another thread sets them. A
// serial line does, for seconds if its adapter does not answer.
func (d *Descriptor) Detach() {
	if d.conn != nil && !d.detached {
		d.detached = true
		d.unregister()
	}
}

// Attach ends Detach and writes the bytes that were kept, which may call Hangup within Attach.
func (d *Descriptor) Attach() {
	if d.conn == nil || !d.detached {
		return
	}
	d.detached = false
	// It fails only without memory. Then no input comes, and the owner closes the descriptor.
	_ = d.loop.engine.epoll.add(d.conn.Fd(), d.events())
	pending := d.pending
	d.pending = nil
	d.Write(pending)
}

// unregister removes the descriptor from gnet's epoll.
func (d *Descriptor) unregister() {
	_ = d.loop.engine.epoll.remove(d.conn.Fd()) // it fails only if the descriptor is not there
}

// discardOutput keeps gnet from writing the output that waits when it closes the descriptor. Nothing
// may be written after the last words, and a write to a detached descriptor would block the loop.
// The number of the descriptor becomes a duplicate of the clock's timer, to which nothing can be
// written.
func (d *Descriptor) discardOutput() {
	d.unregister()
	fd := d.conn.Fd()
	_ = unix.Dup3(d.loop.clock.fd, fd, unix.O_CLOEXEC) // both are open
	// gnet removes the number from its epoll when it closes the descriptor. If that failed, gnet
	// would close nothing more in this round.
	_ = d.loop.engine.epoll.add(fd, 0)
}
