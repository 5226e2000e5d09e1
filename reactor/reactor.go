// Package reactor is the one event loop: the only room with file descriptors
// and a clock. It moves bytes between sockets, serial lines, sessions and
// drivers, and everything it does happens on one goroutine, the gnet loop's.
package reactor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/panjf2000/gnet/v2"
	gneterrors "github.com/panjf2000/gnet/v2/pkg/errors"
	"github.com/panjf2000/gnet/v2/pkg/pool/goroutine"
	"github.com/panjf2000/gnet/v2/pkg/socket"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"player/config/rights"
	"player/devices"
	"player/timers"
)

const (
	// coalesce is how early a timer may be served when the loop is awake anyway.
	// It saves the wake-ups of deadlines that lie close together; frames may
	// come this much early, so it stays far below the 2 ms that clients see as
	// jitter.
	coalesce = 500 * time.Microsecond
	// turn is how long timers may keep the loop to themselves. On a server that
	// is asked for more than it can do, frames are always due; without a limit
	// new clients, commands and device data would wait for all of them.
	turn = 2 * time.Millisecond
	// reserve is how many descriptors are kept from clients, for serial lines,
	// listeners, epoll, and what the rest of the program opens. Without it a
	// flood of clients would make accept fail, which ends the gnet engine.
	reserve = 32
	// shutdownLimit ends the wait for devices that do not stop, so that the
	// server is gone within two seconds of the signal.
	shutdownLimit = 1700 * time.Millisecond
	// knockLimit is for a connection to ourselves. It takes microseconds, if
	// nothing on this computer keeps it from being made.
	knockLimit = 5 * time.Second
	// scratchSize is the frame buffer's first size in bytes: all seven devices
	// with a full vision packet.
	scratchSize = 8 << 10
)

// Robot is one Player: an address and the devices behind it.
type Robot struct {
	Address string // host:port to listen on; empty host: all interfaces
	Table   *devices.Table
}

// Config is what Run needs.
type Config struct {
	Robots     []Robot
	MaxRate    int // Hz, the highest frame rate served
	MaxClients int // zero: as many as descriptors allow
	Reserve    int // descriptors that the rest of the program may open
	Access     rights.Rules
	Log        *zap.Logger
	// Ready is called on the loop once clients are served. It may be nil.
	Ready func(*Reactor)
}

// AddressError says that a robot's address cannot be listened on.
type AddressError struct {
	Address string
	Err     error
}

func (e *AddressError) Error() string {
	switch {
	case errors.Is(e.Err, syscall.EADDRINUSE):
		return fmt.Sprintf("%s: address already in use: another server runs there; stop it, or choose a port with -gp", e.Address)
	case errors.Is(e.Err, syscall.EAFNOSUPPORT):
		return fmt.Sprintf("cannot listen on %s: this kernel has no IPv6; choose an IPv4 address, -bind 0.0.0.0 for all of them", e.Address)
	}
	return fmt.Sprintf("cannot listen on %s: %v", e.Address, e.Err)
}

func (e *AddressError) Unwrap() error { return e.Err }

// Reactor is the loop's state. Its methods may be called on the loop only,
// except Post.
type Reactor struct {
	gnet.BuiltinEventEngine
	config Config
	log    *zap.Logger
	tables map[int]*devices.Table // by listening port

	loop     gnet.EventLoop
	knocking net.Conn      // our own connection to us, until it is let in
	booted   chan struct{} // closed when loop is set and has its clock
	ended    chan struct{} // closed when the loop has ended
	clock    clock
	queue    timers.Queue
	ticks    *timers.Ticks[*client]
	wakes    map[*devices.Link]*timers.Timer
	holders  holders    // of serial lines
	adopting int        // registrations under way
	workers  *ants.Pool // what gnet registers descriptors on, nil while there is nothing to do

	clients  map[*client]struct{}
	routes   map[netip.Addr]*route
	changed  []*client // sessions that have something for their connection
	depth    int       // of callbacks: a write that fails closes its connection within
	drivers  []*client // clients that could leave motors running
	liveness *timers.Timer
	scratch  []byte

	arrivals  timers.Limiter
	refusals  timers.Limiter
	stopAt    time.Duration // when the devices are cut off, zero while serving
	shutdown  *timers.Timer
	finished  bool
	onEnter   func() // tests look at the goroutine here
	bootError error
}

// Run serves until ctx ends, then stops motors and devices, closes the clients
// and returns nil.
func Run(ctx context.Context, config Config) error { return newReactor(config).run(ctx) }

func newReactor(config Config) *Reactor {
	r := &Reactor{
		config:   config,
		log:      config.Log,
		tables:   map[int]*devices.Table{},
		booted:   make(chan struct{}),
		ended:    make(chan struct{}),
		wakes:    map[*devices.Link]*timers.Timer{},
		holders:  holders{},
		clients:  map[*client]struct{}{},
		routes:   map[netip.Addr]*route{},
		scratch:  make([]byte, 0, scratchSize),
		arrivals: timers.Limiter{Period: time.Second},
		refusals: timers.Limiter{Period: time.Second},
	}
	r.ticks = timers.NewTicks(&r.queue, r.offer)
	r.liveness = timers.NewTimer(r.checkDrivers)
	r.shutdown = timers.NewTimer(r.finish)
	return r
}

func (r *Reactor) run(ctx context.Context) error {
	var addresses []string
	for _, robot := range r.config.Robots {
		port, err := probe(robot.Address)
		if err == nil && r.tables[port] != nil {
			err = errors.New("two robots are to be served on this port")
		}
		if err != nil {
			return &AddressError{robot.Address, err}
		}
		r.tables[port] = robot.Table
		robot.Table.Connect(r)
		addresses = append(addresses, "tcp://"+robot.Address)
	}
	r.limitClients()
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ctx.Done():
			r.Post(r.stop)
		case <-r.ended:
		}
	})
	err := gnet.Rotate(r, addresses,
		gnet.WithNumEventLoop(1),
		gnet.WithReusePort(true), // with one loop: one epoll for listeners and connections
		gnet.WithReuseAddr(true),
		gnet.WithTCPKeepAlive(keepAliveIdle),
		gnet.WithTCPKeepInterval(keepAliveInterval),
		gnet.WithTCPKeepCount(keepAliveCount),
		gnet.WithLogger(engineLog{r.log.Sugar()}),
	)
	close(r.ended)
	wg.Wait()
	r.clock.close()
	if r.knocking != nil {
		_ = r.knocking.Close()
	}
	if err == nil && r.bootError == nil && !r.finished {
		err = errors.New("the event loop has ended by itself; it said why above")
	}
	return errors.Join(err, r.bootError)
}

// probe makes sure that nobody listens on address, which SO_REUSEPORT would
// hide, and returns its port. It does not listen itself: a client that waits for
// us would get in, and be reset.
func probe(address string) (port int, err error) {
	to, family, resolved, onlyIPv6, err := socket.GetTCPSockAddr("tcp", address) // as gnet does
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	err = socket.SetReuseAddr(fd, 1) // connections of an earlier server may linger
	if err == nil && onlyIPv6 {
		err = socket.SetIPv6Only(fd, 1)
	}
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, to))
	}
	return resolved.Port, err
}

// limitClients raises the soft limit of descriptors and keeps the number of
// clients below it.
func (r *Reactor) limitClients() {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		limit.Cur = 1024 // the usual soft limit
	} else if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	all := int(min(limit.Cur, 1<<20))
	// Where descriptors are few, clients come before the rest of the program.
	most := all - reserve - len(r.config.Robots) - min(r.config.Reserve, all/4)
	if r.config.MaxClients <= 0 || r.config.MaxClients > most {
		r.config.MaxClients = max(most, 1)
	}
}

// knock connects to ourselves. gnet has no way into its loop from outside before
// it has a connection, so we see to it that there is one. It listens already, so
// this does not wait for it.
func (r *Reactor) knock() error {
	// An address that stands for all of them stands for the loopback's here.
	_, family, address, _, err := socket.GetTCPSockAddr("tcp", r.config.Robots[0].Address)
	if err != nil {
		return err
	}
	network := "tcp4"
	if family == unix.AF_INET6 && len(address.IP) > 0 {
		network = "tcp6"
	}
	if r.knocking, err = net.DialTimeout(network, address.String(), knockLimit); err != nil {
		return fmt.Errorf("cannot connect to ourselves: %w", err)
	}
	return nil
}

// knocked says whether a new connection is ours.
func (r *Reactor) knocked(conn gnet.Conn) bool {
	if r.knocking == nil {
		return false
	}
	ours, theirs := r.knocking.LocalAddr().(*net.TCPAddr), conn.RemoteAddr().(*net.TCPAddr)
	return ours.Port == theirs.Port && ours.IP.Equal(theirs.IP)
}

// enter is called first in every callback of the loop; it returns the time of
// the callback.
func (r *Reactor) enter() time.Duration {
	r.depth++
	if r.onEnter != nil {
		r.onEnter()
	}
	return r.clock.now()
}

// leave is called last in every callback: it brings connections and timerfd up
// to what sessions and drivers have decided. Within another callback it leaves
// that to it: a session or a driver may be in the middle of something there.
func (r *Reactor) leave(now time.Duration) gnet.Action {
	if r.depth > 1 {
		r.depth--
		return gnet.None
	}
	r.settle(now)
	at, armed := r.queue.Next()
	r.clock.arm(at, armed)
	r.depth--
	if r.finished {
		return gnet.Shutdown
	}
	return gnet.None
}

// OnBoot implements gnet.EventHandler. It runs before the loop.
func (r *Reactor) OnBoot(gnet.Engine) gnet.Action {
	// Two pools that nobody uses yet, and that would wake us for ever.
	ants.Release()
	goroutine.DefaultWorkerPool.Release()
	if r.bootError = r.clock.open(); r.bootError == nil {
		r.bootError = r.knock()
	}
	if r.bootError != nil {
		return gnet.Shutdown
	}
	return gnet.None
}

// OnOpen implements gnet.EventHandler: a client or an adopted descriptor.
func (r *Reactor) OnOpen(conn gnet.Conn) ([]byte, gnet.Action) {
	now := r.enter()
	action := gnet.None
	if r.loop == nil {
		r.loop = conn.EventLoop()
		r.adoptClock()
	}
	switch owner := conn.Context().(type) {
	case *clock:
		r.adopted()
		owner.ready()
		close(r.booted)
		for _, robot := range r.config.Robots {
			robot.Table.Start(now)
		}
		if r.config.Ready != nil {
			r.config.Ready(r)
		}
	case *port:
		r.adopted()
		owner.opened(conn)
	default:
		if r.knocked(conn) {
			_ = r.knocking.Close() // nothing was said
			r.knocking = nil
		} else if !r.openClient(now, conn) {
			action = gnet.Close
		}
	}
	return nil, max(action, r.leave(now))
}

// OnTraffic implements gnet.EventHandler: a descriptor has bytes.
func (r *Reactor) OnTraffic(conn gnet.Conn) gnet.Action {
	now := r.enter()
	in, _ := conn.Next(-1)
	switch owner := conn.Context().(type) {
	case *clock:
		owner.fired()
		r.queue.RunWhile(now, coalesce, func() bool { return r.clock.now() < now+turn })
	case *port:
		owner.handler.Receive(now, in)
	case *client:
		if r.stopAt == 0 { // nothing is started any more
			owner.session.Receive(now, in)
		}
	}
	return r.leave(now)
}

// OnClose implements gnet.EventHandler. It may be called from within a write.
func (r *Reactor) OnClose(conn gnet.Conn, err error) gnet.Action {
	now := r.enter()
	switch owner := conn.Context().(type) {
	case *port:
		owner.gone(now, err)
	case *client:
		r.closeClient(now, owner, err)
	}
	return r.leave(now)
}

// Post has fn called on the loop. It is the one door into the loop from other
// goroutines. It waits for the loop to begin, and reports false when it has
// ended.
func (r *Reactor) Post(fn func(now time.Duration)) bool {
	select {
	case <-r.booted:
	case <-r.ended:
		return false
	}
	return r.loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		now := r.enter()
		fn(now)
		if r.leave(now) == gnet.Shutdown {
			return gneterrors.ErrEngineShutdown
		}
		return nil
	})) == nil
}

// Start has fn called on the loop now, and then at the deadlines that it
// returns. It may be called on the loop only.
func (r *Reactor) Start(fn timers.Func) { r.queue.Set(timers.NewTimer(fn), r.clock.now()) }

// WakeAt implements devices.Host.
func (r *Reactor) WakeAt(l *devices.Link, at time.Duration) {
	t := r.wakes[l]
	if at == 0 {
		if t != nil {
			r.queue.Stop(t)
		}
		return
	}
	if t == nil {
		t = timers.NewTimer(l.Wake)
		r.wakes[l] = t
	}
	r.queue.Set(t, at)
}

// stop begins the shutdown: motors first, then devices, then clients.
func (r *Reactor) stop(now time.Duration) {
	if r.stopAt != 0 {
		return
	}
	r.stopAt = now + shutdownLimit
	r.log.Info("shutting down")
	for c := range r.clients {
		c.session.Halt(now)
	}
	for _, robot := range r.config.Robots {
		robot.Table.Shutdown(now)
	}
	r.queue.Set(r.shutdown, now)
}

// finish ends the loop when the devices are off.
func (r *Reactor) finish(now time.Duration) time.Duration {
	off := true
	for _, robot := range r.config.Robots {
		off = off && robot.Table.Done()
	}
	if off || now >= r.stopAt {
		r.finished = true
		return 0
	}
	return now + 10*time.Millisecond
}

// startWorkers gives gnet a pool of goroutines to register descriptors on,
// unless it has one. A new one each time: starting a stopped one again races
// with the last of its workers.
func (r *Reactor) startWorkers() (err error) {
	if r.workers == nil {
		if r.workers, err = ants.NewPool(-1, ants.WithDisablePurge(true)); err == nil {
			goroutine.DefaultWorkerPool = r.workers
		}
	}
	return err
}

// adopted counts one registration as done and stops the workers when none is
// left: their pool's housekeeping would wake an idle server for ever. Not at
// once, for the worker still waits for us to return.
func (r *Reactor) adopted() {
	r.adopting--
	_ = r.loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		if r.adopting == 0 && r.workers != nil {
			r.workers.Release()
			r.workers = nil
		}
		return nil
	}))
}
