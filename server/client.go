package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/config/rights"
	"player/reactor"
	"player/server/fair"
	"player/server/liveness"
	"player/server/pacing"
	"player/server/session"
	"player/server/tlsconn"
	"player/timers"
)

// Messages of the log, by which tests find lines.
const (
	LogConnected    = "client connected"
	LogDisconnected = "client disconnected"
	LogCut          = "client disconnected by us"
	LogRefused      = "client refused"
	LogFloods       = "client floods: its input waits while others are served"
)

const (
	// maxReplies is how many bytes of replies may wait for a client that asks but does
	// not read. With more, the client is disconnected.
	maxReplies = 64 << 10
)

var errNotReading = errors.New("it asks but does not read the replies")

// client is one connection, its session and its pacing.
type client struct {
	server    *Server
	robot     *robotState
	conn      connection
	tls       *tlsconn.Conn // nil: it has no TLS
	remote    net.Addr
	connected time.Duration
	session   *session.Session
	log       *zap.Logger // made when it is first used: most clients are never logged
	rights    rights.Set

	unsettled  bool          // it is in Server.unsettled
	closed     bool          // its connection is closed
	lapseTimer *timers.Timer // ends the client's command unless it is repeated; nil before the first time

	place
	inputState
	frameState
	liveState
}

// inputState is the input of a client that has not been carried out.
type inputState struct {
	fair  fair.Client[*client] // while it waits in the queue, its connection is paused
	input []byte
	more  bool // the session or TLS has input left
}

// frameState is the frames of a client.
type frameState struct {
	network    *network
	pace       pacing.Client
	retryTimer *timers.Timer         // checks again a client that pacing has set aside; nil before the first time
	period     time.Duration         // of tick
	tick       *timers.Tick[*client] // nil while it has no rate
	frames     timers.Rate           // frames sent
	bytes      uint64                // of these frames
	skipped    uint64                // frames not sent because the network was full
}

// liveState is whether a client is still there.
type liveState struct {
	live     liveness.Client
	mover    bool          // it is in Server.movers
	silent   bool          // its motors were stopped because it is silent
	watchdog *timers.Timer // checks a client until it has acknowledged everything; nil before the first time
}

// accept makes a client of a new connection. It returns nil if the client is refused.
func (s *Server) accept(now time.Duration, conn connection, listener int) reactor.Handler {
	i := slices.IndexFunc(s.robots, func(r *robotState) bool { return r.listener == listener })
	if i < 0 { // a reload has closed the listener just now
		return nil
	}
	c := &client{conn: conn, robot: s.robots[i]}
	if !s.admit(now, c) {
		return nil
	}
	return c
}

// admit completes a client that has a robot and a connection. It reports false, and logs the
// reason, if the client is refused.
func (s *Server) admit(now time.Duration, c *client) bool {
	c.server, c.remote, c.connected = s, c.conn.RemoteAddr(), now
	from := addressOf(c.remote).Addr()
	c.rights = s.config.Access.Of(from, c.certificate())
	var err error
	if c.place, err = s.takePlace(from, c.rights); err != nil {
		s.refusals.Warn(now, s.log, LogRefused, zap.Stringer("client", c), zap.NamedError("reason", err),
			zap.Int("clients", len(s.clients)))
		return false
	}
	c.fair.Join(&c.place.address.waiting, c)
	c.session = session.New(c, c.robot.Table, s.config.MaxRate)
	c.session.Restrict(c.rights)
	c.session.Limit(c.robot.CommandLifetime)
	c.session.SetControl(&c.robot.control)
	c.network = s.networks.of(addressOf(c.conn.LocalAddr()).Addr(), from)
	c.network.pacing.Join(&c.pace, c)
	s.clients[c] = struct{}{}
	if line := s.log.Check(zap.InfoLevel, LogConnected); line != nil { // within the log's budget
		line.Write(zap.Stringer("client", c), zap.Int("clients", len(s.clients)))
	}
	return true
}

// inOrder returns the clients by the time at which they connected. The order of a map would
// make each run of the simulation another one.
func (s *Server) inOrder() []*client {
	return slices.SortedFunc(maps.Keys(s.clients), func(a, b *client) int {
		return cmp.Or(cmp.Compare(a.connected, b.connected), cmp.Compare(a.remote.String(), b.remote.String()))
	})
}

// certificate returns the name in the client's certificate, empty if it has no certificate.
func (c *client) certificate() string {
	if c.tls == nil {
		return ""
	}
	return c.tls.Name
}

// String names the client for the log.
func (c *client) String() string {
	if name := c.certificate(); name != "" {
		return fmt.Sprintf("%v (%s)", c.remote, name)
	}
	return c.remote.String()
}

// Receive implements reactor.Handler: bytes from the client. Input of at most a slice is carried
// out within the call, and more waits in the queue. settle sends the replies.
func (c *client) Receive(now time.Duration, p []byte) {
	c.live.Heard(now)
	if c.server.cutOffAt == 0 { // during a shutdown nothing is carried out any more
		c.processOrQueue(now, p)
	}
}

// Hangup implements reactor.Handler.
func (c *client) Hangup(now time.Duration, err error) {
	s := c.server
	c.closed = true
	delete(s.clients, c)
	s.schedule(now, c, 0)
	c.pace.Leave()
	s.dropInput(c)
	s.leavePlace(c.place)
	for _, t := range []*timers.Timer{c.retryTimer, c.watchdog, c.lapseTimer} {
		if t != nil {
			s.timers.Stop(t)
		}
	}
	c.session.Close(now)
	c.robot.past.Add(c.counts())
	s.watchMover(now, c)
	if line := s.log.Check(zap.InfoLevel, LogDisconnected); line != nil {
		line.Write(zap.Stringer("client", c), zap.NamedError("reason", err), zap.Int("clients", len(s.clients)))
	}
}

// disconnect closes a client's connection, and logs the reason.
func (s *Server) disconnect(now time.Duration, c *client, why error) {
	c.Log().Warn(LogCut, zap.Error(why))
	s.closeClient(now, c, why)
}

// closeClient closes a client's connection. Closing TLS writes a last record. If that write
// fails, Hangup is called within Close.
func (s *Server) closeClient(now time.Duration, c *client, why error) {
	c.conn.Close()
	if !c.closed {
		c.Hangup(now, why)
	}
}

// SessionChanged implements session.Owner.
func (c *client) SessionChanged() {
	if !c.unsettled {
		c.unsettled = true
		c.server.unsettled = append(c.server.unsettled, c)
	}
}

// WatchEnd implements session.Owner.
func (c *client) WatchEnd(now time.Duration) { c.conn.WatchEnd(now, c.session.Leave) }

// Silent implements session.Owner.
func (c *client) Silent(now time.Duration) bool { return c.silence(now, true) > liveness.MoverSilence }

// Log implements session.Owner.
func (c *client) Log() *zap.Logger {
	if c.log == nil {
		c.log = c.server.log.With(zap.Stringer("client", c))
	}
	return c.log
}
