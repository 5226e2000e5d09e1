package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/reactor"
	"player/timers"
)

// wire is the network behind one interface. Frames wait in its transmit queue.
type wire struct {
	name      string        // of the interface
	addresses []string      // of this computer to which its clients connect
	rate      float64       // bytes a second; zero: as fast as it is written
	trip      time.Duration // one way
	loss      int           // one packet in that many is lost; zero: none
	free      time.Duration // when the transmit queue has run empty
	queue     queueLength
	transits  []transit // in the transmit queue
}

// queueLength is how many frames wait in the transmit queue of a wire, when a frame is added.
type queueLength struct {
	leave      []time.Duration // when those that wait have left
	second     time.Duration   // the current one
	frames     int             // added in it
	sum        int             // of the lengths that they found
	resentFrom time.Duration   // when frames of an outage were sent again last
}

// slow reports whether the wire is a radio that some clients fill.
func (w *wire) slow() bool { return w.rate != 0 && w.rate < 50_000 }

// mostQueued is how many frames may wait in the transmit queue, in the mean of a second with many frames: a
// network gets no more than keep it busy (3.6), but for the first frames after a pause.
const mostQueued = 48

// add is called when a frame enters the transmit queue. It reports how many frames waited in the mean of
// the second before if they were too many, otherwise zero.
func (q *queueLength) add(now, leaves time.Duration) (mean int) {
	if second := now.Truncate(time.Second); second != q.second {
		if q.frames >= 10 && q.second > q.resentFrom+5*time.Second {
			mean = q.sum / q.frames
		}
		q.second, q.frames, q.sum = second, 0, 0
	}
	q.leave = append(slices.DeleteFunc(q.leave, func(at time.Duration) bool { return at <= now }), leaves)
	q.frames++
	q.sum += len(q.leave)
	if mean <= mostQueued {
		return 0
	}
	return mean
}

const headers = 66 // of Ethernet, IP and TCP

// send returns when bytes that are sent now have left.
func (w *wire) send(now time.Duration, bytes int) time.Duration {
	if w.rate == 0 {
		return now
	}
	w.free = max(w.free, now) + time.Duration(float64(bytes+headers)/w.rate*float64(time.Second))
	return w.free
}

const never = time.Duration(math.MaxInt64)

// packet is the bytes that one Write of the server has passed to the kernel.
type packet struct {
	bytes   []byte
	plain   []byte // inside TLS
	written time.Duration
	delayed time.Duration // how long the loop had been delayed by then
	leaves  time.Duration
	oldest  time.Duration // how old it may be when it comes
	arrives time.Duration // never: it is lost, and sent again when the network is back
	arrived bool
	acked   time.Duration
}

// simConn is a TCP connection as the server's kernel and the network treat it. It
// implements connection.
type simConn struct {
	sim     *sim
	client  *simClient
	wire    *wire
	handler reactor.Handler
	local   string // the address that the client has connected to
	remote  *net.TCPAddr

	unsent []*packet // for want of room in the client's window
	flight []*packet // not acknowledged
	sndbuf int
	info   unix.TCPInfo // that it was asked for last

	largest int // bytes of its largest frame

	closed bool  // nothing is called for it any more
	reset  error // a reset has come, and the loop has not seen it

	heard  time.Duration // when the server's kernel last heard the client's
	probes int           // that were not answered
	probe  *timers.Timer
	idle   time.Duration           // before the first probe
	pause  time.Duration           // between probes
	count  int                     // of probes
	window time.Duration           // between probes of a closed window
	in     []byte                  // bytes that the kernel has received and the loop has not read
	last   time.Duration           // when the newest bytes of the client come
	full   *op                     // while its client's window is full
	paused bool                    // the loop does not read
	ends   func(now time.Duration) // of WatchEnd, nil: none, or it was called
	fin    bool                    // the kernel has the client's end, or a reset
	ended  bool                    // the client has closed, behind its bytes
}

// Pause implements connection.
func (c *simConn) Pause() {
	c.paused = true
	c.sim.summary.Waits++
}

// Resume implements connection.
func (c *simConn) Resume() {
	c.paused = false
	c.sim.onLoop(c.read)
}

func (c *simConn) LocalAddr() *net.TCPAddr { return tcpAddr(c.local, 6665+c.client.robot.index) }
func (c *simConn) RemoteAddr() net.Addr    { return c.remote }
func (c *simConn) WireSize(n int) int      { return n }

func (c *simConn) String() string {
	return fmt.Sprintf("%d packets in flight, %d not sent, last heard at %v, %d probes, another to come: %v, room for %d bytes",
		len(c.flight), len(c.unsent), c.heard, c.probes, c.probe.Armed(), c.client.rcvbuf-c.client.unreadBytes)
}

// Write implements connection.
func (c *simConn) Write(p []byte) {
	if c.closed {
		return
	}
	if c.reset != nil { // it fails, and the loop hangs up within
		c.hangup(c.reset)
		return
	}
	p = slices.Clone(p)
	plain := c.client.opens(p)
	c.unsent = append(c.unsent, &packet{bytes: p, plain: plain, written: c.sim.now, delayed: c.sim.delayed, leaves: never, arrives: never, acked: never})
	c.client.wasWritten(plain)
	c.checkUnread(c.unsent[len(c.unsent)-1])
	c.pump()
	if n := c.Buffered(); n > maxReplies+1<<16 {
		c.sim.fail("%v: %d bytes are buffered", c.client, n)
	}
}

// pump sends as much as the client's window takes.
func (c *simConn) pump() {
	s := c.sim
	for len(c.unsent) > 0 && !c.closed {
		p := c.unsent[0]
		room := c.client.rcvbuf - c.client.unreadBytes
		for _, f := range c.flight {
			if !f.arrived {
				room -= len(f.bytes)
			}
		}
		if len(p.bytes) > room && room < c.client.rcvbuf { // what is larger than the window goes in pieces
			if c.reap(); len(c.flight) == 0 && !c.probe.Armed() {
				c.schedule()
			}
			return
		}
		c.unsent = c.unsent[1:]
		p.leaves = c.wire.send(s.now, len(p.bytes))
		c.wire.enter(s, p)
		// A fast network takes hundreds at a time. Frames that the kernel has kept for a client that did not read do not
		// count, as for their age (enter): there may be 190 of 3 bytes, which a real kernel joins.
		if p.isFrame() && p.written == s.now && c.wire.slow() {
			s.summary.Queued++
			if mean := c.wire.queue.add(s.now, p.leaves); mean > 0 {
				s.fail("%s: %d frames waited in its transmit queue, in the mean of a second", c.wire.name, mean)
			}
		}
		// Behind a packet that was lost it waits until that is sent again.
		waits := slices.ContainsFunc(c.flight, func(f *packet) bool { return f.acked == never })
		if c.flight = append(c.flight, p); !waits && !c.client.down {
			c.travel(p, p.leaves)
		}
	}
	c.schedule()
}

// travel brings a packet to the client.
func (c *simConn) travel(p *packet, leaves time.Duration) {
	s := c.sim
	p.arrives = leaves + c.wire.trip + time.Duration(s.random.IntN(100_000)) + c.wire.resent(s)
	if i := slices.Index(c.flight, p); i > 0 {
		p.arrives = max(p.arrives, c.flight[i-1].arrives+1)
	}
	p.acked = p.arrives + c.wire.trip
	if c.client.delays {
		p.acked += s.between(0, 40*time.Millisecond)
	}
	at := p.arrives
	s.at(at, func() {
		if p.arrives == at && !p.arrived {
			p.arrived = true
			c.client.checkAge(p)
			c.client.arrive(p)
			if len(c.unsent) > 0 { // the acknowledgement reports how much room there is
				s.at(p.acked, func() {
					if !c.client.down {
						c.pump()
					}
				})
			}
		}
	})
}

// reap removes acknowledged packets from flight. Acknowledgements count for all
// before them.
func (c *simConn) reap() {
	for i := len(c.flight) - 1; i >= 0; i-- {
		if p := c.flight[i]; p.acked <= c.sim.now {
			c.hear(p.acked)
			c.flight = c.flight[i+1:]
			return
		}
	}
}

// hear is called when a segment of the client comes.
func (c *simConn) hear(at time.Duration) { c.heard, c.probes = max(c.heard, at), 0 }

// cut is called when the network is cut: packets that are under way are lost.
func (c *simConn) cut() {
	for _, p := range c.flight {
		if p.acked > c.sim.now {
			p.acked = never
			if !p.arrived {
				p.arrives = never
			}
		}
	}
}

// mend is called when the network is back. The kernel sends lost packets again,
// the sooner the shorter the outage was.
func (c *simConn) mend(outage time.Duration) {
	s := c.sim
	s.after(s.between(0, min(outage, 2*time.Second)), func() {
		if c.client.down || c.closed {
			return
		}
		for _, p := range c.flight {
			if p.acked == never {
				if !p.arrived {
					c.wire.queue.resentFrom = s.now
					p.leaves = c.wire.send(s.now, len(p.bytes))
					c.wire.enter(s, p)
					c.travel(p, p.leaves)
				}
				p.acked = max(s.now, p.arrives) + 2*c.wire.trip
			}
		}
		c.pump()
	})
}

// Buffered implements connection.
func (c *simConn) Buffered() int { return max(0, c.Unacknowledged()-c.sndbuf) }

// Unacknowledged implements connection.
func (c *simConn) Unacknowledged() int {
	c.reap()
	return size(c.flight) + size(c.unsent)
}

func size(packets []*packet) (bytes int) {
	for _, p := range packets {
		bytes += len(p.bytes)
	}
	return bytes
}

// Queued implements connection.
func (c *simConn) Queued() bool {
	return slices.ContainsFunc(c.flight, func(p *packet) bool { return p.leaves > c.sim.now })
}

// TCPInfo implements connection.
func (c *simConn) TCPInfo() (*unix.TCPInfo, error) {
	if c.closed {
		return nil, unix.EBADF
	}
	c.reap()
	c.info = unix.TCPInfo{
		Notsent_bytes: uint32(size(c.unsent)),
		Unacked:       uint32(len(c.flight)),
		Probes:        uint8(c.probes),
		Last_ack_recv: uint32((c.sim.now - c.heard).Milliseconds()),
		Snd_wnd:       uint32(max(0, c.client.rcvbuf-c.client.unreadBytes)),
	}
	return &c.info, nil
}

// WatchEnd implements connection.
func (c *simConn) WatchEnd(now time.Duration, fn func(now time.Duration)) {
	c.ends = fn
	c.lookForEnd(now)
}

// lookForEnd is the check of the loop before it serves anything.
func (c *simConn) lookForEnd(now time.Duration) {
	if fn := c.ends; fn != nil && c.fin && !c.closed {
		c.ends = nil
		fn(now)
	}
}

// Probe implements connection.
func (c *simConn) Probe(period time.Duration, count int) {
	c.idle, c.pause, c.count = period, period, count
	c.schedule()
}

// schedule sets the timer of the kernel's probes: of an idle connection, or of a
// window that is closed.
func (c *simConn) schedule() {
	s := c.sim
	c.reap()
	switch {
	case c.closed:
		s.outside.Stop(c.probe)
	case c.stuck():
		if c.full == nil { // its motors may be stopped meanwhile (9.1)
			c.full = c.client.robot.history.stop(s.now, c.client, true)
		}
		s.outside.Set(c.probe, s.now+c.window)
	default:
		if c.full != nil {
			c.full.end(s.now)
			c.full = nil
		}
		c.window = 200 * time.Millisecond
		s.outside.Set(c.probe, max(s.now+time.Millisecond, c.heard+c.idle))
	}
}

// tick is the kernel's timer.
func (c *simConn) tick(time.Duration) time.Duration {
	s := c.sim
	c.reap()
	switch {
	case c.closed:
		return 0
	case c.stuck():
		// Asks whether the window is open, ever more seldom.
		c.ask()
		c.window = min(2*c.window, 2*time.Minute)
		return s.now + c.window
	case len(c.flight) > 0: // its acknowledgement will show
		return s.now + c.idle
	case c.probes == 0 && s.now < c.heard+c.idle:
		return c.heard + c.idle
	case c.probes >= c.count:
		c.reset = errors.New("connection timed out")
		s.onLoop(func(time.Duration) { c.hangup(c.reset) })
		return 0
	}
	c.ask()
	return s.now + c.pause
}

// ask sends a probe.
func (c *simConn) ask() {
	s := c.sim
	c.probes++
	if c.client.down {
		return
	}
	s.after(2*c.wire.trip, func() {
		if !c.closed && !c.client.down {
			c.hear(s.now)
			c.pump()
		}
	})
}

// hangup has the loop hang up the connection.
func (c *simConn) hangup(err error) {
	if c.closed {
		return
	}
	c.closed = true
	s := c.sim
	s.depth++ // within a callback
	c.handler.Hangup(s.now, err)
	s.depth--
	c.over()
}

// Close implements connection.
func (c *simConn) Close() {
	if c.closed {
		return
	}
	c.closed = true
	c.client.wasClosed()
	c.over()
}

func (c *simConn) over() {
	c.sim.outside.Stop(c.probe)
	if c.full != nil {
		c.full.end(c.sim.now)
	}
	c.client.lost()
}

// stuck reports whether the kernel waits for the client's window to open. It asks
// up to two minutes apart whether it has, and notices only then that the client has vanished.
func (c *simConn) stuck() bool { return len(c.unsent) > 0 && len(c.flight) == 0 }

// receive brings bytes of the client to the server's kernel.
func (c *simConn) receive(p []byte) {
	if c.closed || c.reset != nil {
		return
	}
	c.hear(c.sim.now)
	c.in = append(c.in, p...)
	c.sim.onLoop(c.read)
}

// read has the loop read and serve the connection.
func (c *simConn) read(now time.Duration) {
	if c.closed || c.paused && (c.Unacknowledged() == 0 || !c.sim.chance(4)) { // reactor.Descriptor.Pause
		return
	}
	if in := c.in; len(in) > 0 {
		in = in[:min(len(in), mostRead)]
		c.in = c.in[len(in):]
		c.handler.Receive(now, in)
	}
	c.client.carriedOut()
	switch {
	case c.paused || c.closed:
	case len(c.in) > 0:
		c.sim.onLoop(c.read)
	case c.ended:
		c.hangup(io.EOF)
	}
}

// mostRead is how many bytes the loop reads at once.
const mostRead = 4 << 10

// finish brings the end of the client's stream, or a reset.
func (c *simConn) finish(err error) {
	if c.closed || c.reset != nil {
		return
	}
	c.fin = true
	c.client.robot.expectStop()
	if err != io.EOF {
		c.reset = err
	}
	c.sim.after(c.sim.between(0, time.Millisecond), func() {
		c.sim.onLoop(func(now time.Duration) {
			if err == io.EOF {
				c.ended = true
			}
			c.read(now)
			if err != io.EOF {
				c.hangup(err)
			}
		})
	})
}
