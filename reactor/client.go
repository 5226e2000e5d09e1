package reactor

import (
	"net"
	"time"
	"unsafe"

	"github.com/panjf2000/gnet/v2"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/session"
	"player/timers"
)

const (
	// askedInFlight is how many bytes of frames that a client asked for may be
	// unacknowledged: a burst of requests is answered one by one, a client that
	// asks faster than its link carries is not queued for (PROTOCOL 4.3).
	askedInFlight = 16 << 10
	// askedInTurn is how many of them a client gets before the others have their
	// turn: 64 take the loop half a millisecond, and one read may ask for 13,000.
	askedInTurn = 64
	// maxReplies bounds the replies in bytes that wait for a client that asks
	// but does not read. Beyond it the client is disconnected.
	maxReplies = 64 << 10
	// retryFirst and retryLast bound how soon a stalled client is looked at
	// again; in between it is a quarter of the time it has been stalled.
	// The first bounds the delay after a short pause, the last the cost of a
	// client that does not read for hours: four looks a second.
	retryFirst = time.Millisecond
	retryLast  = 250 * time.Millisecond
	// watchPeriod is how often a client is looked at that owes us an
	// acknowledgement while there is nothing to send to it.
	watchPeriod = time.Second
)

// client is one connection and its session.
type client struct {
	reactor *Reactor
	conn    gnet.Conn
	session *session.Session

	changed bool                  // it is in reactor.changed
	gone    bool                  // its connection is closed
	period  time.Duration         // of tick
	tick    *timers.Tick[*client] // nil while it has no rate
	drives  bool                  // it is in reactor.drivers
	silent  bool                  // its motors were stopped because it went silent

	route    *route
	place    place
	frame    int           // bytes of the frame sent last
	unseen   int           // frames sent since the last look at what is unacknowledged
	room     int           // the largest window in bytes that it was seen to have
	credit   int           // bytes of frames asked for that may go out unseen
	sentAt   time.Duration // when
	inFlight bool          // it is in route.flight
	owed     bool          // another frame became due while it was queued
	stalled  time.Duration // since when, if place is stalled
	owes     bool          // the last frame may be unacknowledged
	later    *timers.Timer // goes on with a client: stalled, asking for many frames, or owing
}

// place is where a client is when its frame is due.
type place uint8

const (
	nowhere place = iota
	queued        // in the queue of its route
	stalled       // alone: it takes nothing any more
)

// SessionChanged implements session.Owner.
func (c *client) SessionChanged() {
	if !c.changed {
		c.changed = true
		c.reactor.changed = append(c.reactor.changed, c)
	}
}

// Log implements session.Owner.
func (c *client) Log() *zap.Logger {
	return c.reactor.log.With(zap.Stringer("client", c.conn.RemoteAddr()))
}

// openClient makes a session for a new connection. It reports false if there
// are too many.
func (r *Reactor) openClient(now time.Duration, conn gnet.Conn) bool {
	table := r.tables[conn.LocalAddr().(*net.TCPAddr).Port]
	if len(r.clients) >= r.config.MaxClients || r.stopAt != 0 || table == nil {
		if repeats, ok := r.refusals.Allow(now); ok {
			r.log.Warn("client refused: too many", zap.Stringer("client", conn.RemoteAddr()),
				zap.Int("clients", len(r.clients)), zap.Int("refused since the last line", repeats))
		}
		return false
	}
	c := &client{reactor: r, conn: conn}
	c.session = session.New(c, table, r.config.MaxRate)
	c.session.Restrict(r.config.Access.Of(conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()))
	r.join(c)
	c.later = timers.NewTimer(func(now time.Duration) time.Duration { return r.goOn(now, c) })
	conn.SetContext(c)
	r.clients[c] = struct{}{}
	if repeats, ok := r.arrivals.Allow(now); ok {
		c.Log().Info("client connected", zap.Int("clients", len(r.clients)), zap.Int("others since the last line", repeats))
	}
	return true
}

// closeClient ends the session of a connection that is closed.
func (r *Reactor) closeClient(now time.Duration, c *client, err error) {
	c.gone = true
	delete(r.clients, c)
	r.schedule(now, c, 0)
	c.route.leave(c)
	r.queue.Stop(c.later)
	c.session.Close(now)
	r.watchDriver(now, c)
	r.log.Debug("client disconnected", zap.Stringer("client", c.conn.RemoteAddr()), zap.NamedError("reason", err), zap.Int("clients", len(r.clients)))
}

// end closes a connection from our side.
func (r *Reactor) end(c *client, why error) {
	c.Log().Warn("client disconnected by us", zap.Error(why))
	_ = r.loop.Close(c.conn) // OnClose runs within
}

// settle carries out what sessions have decided since the last time. A write
// that fails closes its connection within, which comes back here.
func (r *Reactor) settle(now time.Duration) {
	for i := 0; i < len(r.changed); i++ { // closing one client may change others
		c := r.changed[i]
		c.changed = false
		if !c.gone {
			r.settleClient(now, c)
		}
	}
	clear(r.changed)
	r.changed = r.changed[:0]
}

func (r *Reactor) settleClient(now time.Duration, c *client) {
	if out := c.session.Output(); len(out) > 0 {
		_, _ = c.conn.Write(out) // an error closes the connection
		c.session.Flushed()
		if !c.gone && c.conn.OutboundBuffered() > maxReplies {
			r.end(c, errNotReading)
		}
	}
	if err := c.session.Err(); err != nil && !c.gone {
		r.end(c, err)
	}
	for n := 0; !c.gone && c.place == nowhere && c.session.Asked() > 0; n++ {
		if n == askedInTurn {
			r.queue.Set(c.later, now)
			break
		}
		before := c.session.Asked()
		r.offer(now, c)
		if c.session.Asked() == before { // held, or congested
			break
		}
	}
	if c.gone {
		return
	}
	if c.place != nowhere {
		c.session.Collapse()
	}
	r.schedule(now, c, c.session.Period())
	r.watchDriver(now, c)
}

// schedule puts a client on a tick of the given period, zero for none.
func (r *Reactor) schedule(now time.Duration, c *client, period time.Duration) {
	if c.period == period {
		return
	}
	if c.tick != nil {
		r.ticks.Leave(c, c.tick)
		c.tick = nil
	}
	if c.period = period; period != 0 {
		c.tick = r.ticks.Join(c, period, now)
	}
}

// offer is called when a frame is due.
func (r *Reactor) offer(now time.Duration, c *client) { c.route.due(now, c) }

// send makes the frame of this moment and writes it.
func (r *Reactor) send(now time.Duration, c *client) {
	asked := c.session.Asked()
	r.scratch = c.session.AppendFrame(r.scratch[:0], now)
	if len(r.scratch) > 0 {
		c.frame = len(r.scratch)
		c.credit -= c.frame
		c.owes = true
		c.write(r.scratch) // whole, in one write (PROTOCOL 1.6)
	}
	if c.owes && (c.period == 0 || len(r.scratch) == 0) && !c.later.Armed() && !c.gone {
		r.queue.Set(c.later, now+watchPeriod) // no frame will be due that would tell
	}
	if asked != 0 && c.session.Asked() == 0 {
		c.SessionChanged() // its period is another one
	}
}

// write hands bytes to the kernel, and what it does not take to gnet, which
// closes the connection on an error. The write is one that the Go scheduler is
// not told of: it cannot block, and a scheduler that is told takes the
// processor away from a write that is longer than 20 us and gives it back. On
// a full machine that is a fifth of a frame's cost (DECISIONS).
func (c *client) write(b []byte) {
	if c.conn.OutboundBuffered() == 0 {
		if n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(c.conn.Fd()), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b))); errno == 0 {
			b = b[n:]
		}
	}
	if len(b) > 0 {
		_, _ = c.conn.Write(b)
	}
}

// unacknowledged is how many bytes the client's kernel has not confirmed.
func (c *client) unacknowledged() int {
	n, err := unix.IoctlGetInt(c.conn.Fd(), unix.SIOCOUTQ)
	if err != nil {
		n = 0 // the next write will tell
	}
	return n + c.conn.OutboundBuffered()
}

// free says whether a frame may go out at once: everything before it is
// acknowledged, or the client has asked for it and few bytes are not. For
// frames asked for the kernel is only looked at when that many were sent.
func (c *client) free() bool {
	if c.shut() {
		return false
	}
	if c.session.Asked() == 0 {
		return c.unacknowledged() == 0
	}
	if c.credit <= 0 {
		c.credit = askedInFlight - c.unacknowledged()
	}
	return c.credit > 0
}

// stuck says whether the client has no room, or has not even taken the frame
// before the last one. The last one may be out: a receiver that is about to
// answer delays its acknowledgement up to 40 ms, but acknowledges a second frame
// at once.
func (c *client) stuck() bool { return c.shut() || !c.free() && c.unacknowledged() > c.frame }

// stall sets a client aside that takes nothing any more.
func (r *Reactor) stall(now time.Duration, c *client) {
	c.place, c.stalled = stalled, now
	r.queue.Set(c.later, now+retryFirst)
}

// goOn is called by the timer of a client.
func (r *Reactor) goOn(now time.Duration, c *client) time.Duration {
	if c.place == stalled {
		return r.unstall(now, c)
	}
	if c.session.Asked() > 0 {
		c.SessionChanged()
	}
	if c.owes = c.owes && c.unacknowledged() > 0; !c.owes {
		return 0
	}
	if c.silence() > silenceLimit {
		r.end(c, errSilent)
		return 0
	}
	return now + watchPeriod
}

// unstall looks whether a stalled client takes frames again.
func (r *Reactor) unstall(now time.Duration, c *client) time.Duration {
	if !c.stuck() {
		c.place = nowhere
		c.route.due(now, c)
		return 0
	}
	waited := now - c.stalled
	if waited > watchPeriod && c.silence() > silenceLimit {
		r.end(c, errSilent)
		return 0
	}
	return now + min(max(waited/4, retryFirst), retryLast)
}
