package reactor

import (
	"net"
	"time"

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
	// maxReplies bounds the replies in bytes that wait for a client that asks
	// but does not read. Beyond it the client is disconnected.
	maxReplies = 64 << 10
	// retryFirst and retryLast bound how soon a client whose link is congested
	// is looked at again; in between it is a quarter of the time it has waited.
	// Acknowledgements raise no event, so somebody has to look. The first bounds
	// the delay on a link that is briefly full, the last the cost of a client
	// that does not read for hours: four looks a second.
	retryFirst = time.Millisecond
	retryLast  = 250 * time.Millisecond
)

// client is one connection and its session.
type client struct {
	reactor *Reactor
	conn    gnet.Conn
	session *session.Session
	log     *zap.Logger

	changed bool                  // it is in reactor.changed
	gone    bool                  // its connection is closed
	period  time.Duration         // of tick
	tick    *timers.Tick[*client] // nil while it has no rate
	frame   int                   // bytes of the frame sent last
	waiting time.Duration         // since when its link is congested, zero if not
	retry   *timers.Timer         // looks whether it still is
	drives  bool                  // it is in reactor.drivers
	silent  bool                  // its motors were stopped because it went silent
}

// SessionChanged implements session.Owner.
func (c *client) SessionChanged() {
	if !c.changed {
		c.changed = true
		c.reactor.changed = append(c.reactor.changed, c)
	}
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
	c := &client{reactor: r, conn: conn, log: r.log.With(zap.Stringer("client", conn.RemoteAddr()))}
	c.session = session.New(c, table, c.log, r.config.MaxRate)
	c.retry = timers.NewTimer(func(now time.Duration) time.Duration { return r.retry(now, c) })
	conn.SetContext(c)
	r.clients[c] = struct{}{}
	if repeats, ok := r.arrivals.Allow(now); ok {
		c.log.Info("client connected", zap.Int("clients", len(r.clients)), zap.Int("others since the last line", repeats))
	}
	return true
}

// closeClient ends the session of a connection that is closed.
func (r *Reactor) closeClient(now time.Duration, c *client, err error) {
	c.gone = true
	delete(r.clients, c)
	r.schedule(now, c, 0)
	r.queue.Stop(c.retry)
	c.session.Close(now)
	r.watchDriver(now, c)
	c.log.Debug("client disconnected", zap.NamedError("reason", err), zap.Int("clients", len(r.clients)))
	// The callback that led here brings the timer up to date.
}

// end closes a connection from our side.
func (r *Reactor) end(c *client, why error) {
	c.log.Warn("client disconnected by us", zap.Error(why))
	_ = r.loop.Close(c.conn) // OnClose runs within
}

// settle carries out what sessions have decided since the last time.
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
	for !c.gone && c.waiting == 0 && c.session.Asked() > 0 {
		before := c.session.Asked()
		r.offer(now, c)
		if c.session.Asked() == before { // held, or congested
			break
		}
	}
	if c.gone {
		return
	}
	if c.waiting != 0 {
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

// offer sends the client the frame of this moment, unless its link is
// congested: then the frame is made when the link has taken what it has
// (PROTOCOL 3.6).
func (r *Reactor) offer(now time.Duration, c *client) {
	if c.waiting != 0 || c.gone {
		return
	}
	if c.congested() {
		c.waiting = now
		r.queue.Set(c.retry, now+retryFirst)
		return
	}
	r.send(now, c)
}

func (r *Reactor) send(now time.Duration, c *client) {
	asked := c.session.Asked()
	r.scratch = c.session.AppendFrame(r.scratch[:0], now)
	if len(r.scratch) > 0 {
		c.frame = len(r.scratch)
		_, _ = c.conn.Write(r.scratch) // whole, in one write (PROTOCOL 1.6); an error closes the connection
	}
	if asked != 0 && c.session.Asked() == 0 {
		c.SessionChanged() // its period is another one
	}
}

// retry looks again whether the link of a waiting client is free.
func (r *Reactor) retry(now time.Duration, c *client) time.Duration {
	if !c.congested() {
		c.waiting = 0
		r.send(now, c)
		return 0
	}
	waited := now - c.waiting
	if waited > silenceLimit && c.silence() > silenceLimit {
		r.end(c, errSilent)
		return 0
	}
	return now + min(max(waited/4, retryFirst), retryLast)
}

// congested says whether the client's link has not taken what was sent: more
// than one frame is unacknowledged. One may be: a receiver delays its
// acknowledgement up to 40 ms when it expects to answer.
func (c *client) congested() bool {
	if c.conn.OutboundBuffered() > 0 {
		return true
	}
	limit := c.frame
	if c.session.Asked() > 0 {
		limit = max(limit, askedInFlight)
	}
	unacknowledged, err := unix.IoctlGetInt(c.conn.Fd(), unix.SIOCOUTQ)
	return err == nil && unacknowledged > limit
}
