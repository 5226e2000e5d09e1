package reactor

// gnet serves TCP connections on one epoll. The loop needs more than gnet offers: other descriptors
// (adopt.go), listeners that come and go (listen.go, inside.go), failures of accept (accept.go), and
// connections that are not read (pause.go).

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/panjf2000/gnet/v2"
	gneterrors "github.com/panjf2000/gnet/v2/pkg/errors"
)

const (
	// The kernel probes an idle connection: after 5 s, then three times in 3 s
	// each, so that a connection without a peer is closed after 14 s.
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 3 * time.Second
	keepAliveCount    = 3
	// readSize is how many bytes gnet reads from a descriptor before it serves
	// the next one. It holds hundreds of messages of a client, or four scans of a
	// laser; with more, a client that floods the server could fill more memory.
	readSize = 4 << 10
)

// KeepAlive returns how the kernel probes the connections of clients: one without a peer is closed after 5 s of silence and
// three probes of 3 s each.
func KeepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount}
}

// engine adapts gnet to the loop.
type engine struct {
	gnet.BuiltinEventEngine
	loop          *Loop
	events        gnet.EventLoop // nil until the first connection
	err           error          // why the engine was shut down
	ports         map[int]int    // the number of the listener at each port
	listenerCount int            // how many listeners there were so far

	inside
	adoption
	acceptance
}

func (e *engine) run(ports map[int]int) error {
	addresses := e.loop.config.Addresses
	e.ports, e.listenerCount = ports, len(addresses)
	e.prepareAccepting()
	defer e.closeSpare()
	urls := make([]string, len(addresses))
	for i, address := range addresses {
		urls[i] = "tcp://" + address
	}
	err := gnet.Rotate(e, urls,
		gnet.WithNumEventLoop(1),
		gnet.WithReusePort(true), // with one loop: one epoll for listeners and connections
		gnet.WithReuseAddr(true),
		gnet.WithTCPKeepAlive(keepAliveIdle),
		gnet.WithTCPKeepInterval(keepAliveInterval),
		gnet.WithTCPKeepCount(keepAliveCount),
		gnet.WithReadBufferCap(readSize),
		gnet.WithLogger(engineLog{e.loop.config.Log, e.acceptFailed}),
	)
	if e.self != nil {
		_ = e.self.Close()
	}
	return errors.Join(err, e.err)
}

// OnBoot implements gnet.EventHandler. It runs before the loop.
func (e *engine) OnBoot(gnet.Engine) gnet.Action {
	ReleasePools()
	for _, step := range []func() error{e.loop.clock.open, e.loop.ends.open, e.connectToSelf} {
		if e.err = step(); e.err != nil {
			return gnet.Shutdown
		}
	}
	return gnet.None
}

// OnOpen implements gnet.EventHandler: a client's connection, an adopted
// descriptor or our own connection.
func (e *engine) OnOpen(c gnet.Conn) ([]byte, gnet.Action) {
	defer e.loop.config.LastWords.OnPanic()
	now := e.loop.enter()
	action := gnet.None
	if e.events == nil {
		e.events = c.EventLoop()
		if e.inside, e.err = insideOf(e.events); e.err == nil {
			e.adoptClock()
		}
	}
	if d, adopted := c.Context().(*Descriptor); adopted {
		e.adopted()
		d.onOpen(now, c)
	} else if e.isSelf(c) {
		_ = e.self.Close() // nothing was sent
		e.self = nil
	} else if !e.accept(now, c) {
		action = gnet.Close
	}
	return nil, e.leave(now, action)
}

// OnTraffic implements gnet.EventHandler: a descriptor has bytes.
func (e *engine) OnTraffic(c gnet.Conn) gnet.Action {
	defer e.loop.config.LastWords.OnPanic()
	now := e.loop.enter()
	in, _ := c.Next(-1)
	if d, ok := c.Context().(*Descriptor); ok && !d.closed {
		if d.paused {
			d.setEvents() // after output that has waited, gnet polls for input again
		}
		d.handler.Receive(now, in)
	}
	return e.leave(now, gnet.None)
}

// OnClose implements gnet.EventHandler. It may be called from within a write.
func (e *engine) OnClose(c gnet.Conn, err error) gnet.Action {
	defer e.loop.config.LastWords.OnPanic()
	now := e.loop.enter()
	if err == nil {
		err = io.EOF
	}
	if d, ok := c.Context().(*Descriptor); ok {
		d.onClose(now, err)
	}
	return e.leave(now, gnet.None)
}

// leave ends a callback of gnet. It returns the given action, or gnet.Shutdown to end the engine.
func (e *engine) leave(now time.Duration, action gnet.Action) gnet.Action {
	e.loop.leave(now)
	if e.loop.depth == 0 && (e.loop.stopped || e.err != nil) {
		return gnet.Shutdown
	}
	return action
}

// accept gives a client's connection to its handler. It reports false if the connection is
// refused.
func (e *engine) accept(now time.Duration, c gnet.Conn) bool {
	listener, known := e.ports[c.LocalAddr().(*net.TCPAddr).Port]
	if !known {
		return false
	}
	d := &Descriptor{loop: e.loop, conn: c}
	if d.handler = e.loop.config.Accept(now, d, listener); d.handler == nil {
		return false
	}
	c.SetContext(d)
	return true
}

// post has fn called on the loop, and reports false if the loop has ended.
func (e *engine) post(fn func()) bool {
	return e.events.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		defer e.loop.config.LastWords.OnPanic()
		fn()
		if e.loop.stopped {
			return gneterrors.ErrEngineShutdown
		}
		return nil
	})) == nil
}

func (e *engine) close(c gnet.Conn) { _ = e.events.Close(c) }
