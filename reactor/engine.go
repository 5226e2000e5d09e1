package reactor

// Only this file uses gnet, except for its functions of addresses (listen.go, descriptor.go).
// gnet serves TCP connections on one epoll. This file adds the rest that the loop needs,
// unknown to gnet:
//
//   - Adoption: gnet polls only sockets that it has dialled or accepted. A serial
//     line, a pipe or a timer takes the place of one end of a socket pair by
//     dup3, and gnet polls, reads and writes whatever the descriptor is.
//   - The first connection: gnet's loop cannot be entered from outside before it
//     has a connection. So the engine connects to itself while gnet listens and
//     does not loop yet. The first connection of any kind gives it the loop.
//   - Worker pools: gnet and ants start pools of goroutines whose housekeeping
//     wakes the process for ever. They are released; gnet gets a pool of ours
//     while a descriptor is adopted.
//   - Pausing: gnet polls the input of every connection, always. Its epoll is found
//     by reflection, and a connection is taken off it for input and put back.
//   - Failing accepts: an accept that fails, as without a free descriptor, ends
//     gnet's engine. The error by which gnet's loop notices is replaced by one that
//     it does not recognise, and the connection is accepted with a descriptor that
//     is kept for this, and closed.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/panjf2000/gnet/v2"
	gneterrors "github.com/panjf2000/gnet/v2/pkg/errors"
	"github.com/panjf2000/gnet/v2/pkg/pool/goroutine"
	"github.com/panjf2000/gnet/v2/pkg/socket"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"player/timers"
	"player/timers/limited"
)

const (
	// The kernel probes an idle connection: after 5 s, then three times in 3 s
	// each, so that a connection without a peer is closed after 14 s.
	keepAliveIdle     = 5 * time.Second
	keepAliveInterval = 3 * time.Second
	keepAliveCount    = 3
	// knockLimit is for a connection to ourselves. It takes microseconds, if
	// nothing on this computer keeps it from being made.
	knockLimit = 5 * time.Second
	// readSize is how many bytes gnet reads from a descriptor before it looks at
	// the next one. It holds hundreds of messages of a client, or four scans of a
	// laser; with more, a client that floods the server could fill more memory.
	readSize = 4 << 10
	// acceptPause is how long no connection is accepted after one could be neither
	// served nor closed: the loop would try again at once, and for ever.
	acceptPause = 100 * time.Millisecond
	// inputEvents are what gnet polls for input.
	inputEvents = unix.EPOLLIN | unix.EPOLLPRI
)

// KeepAlive is how the kernel probes the connections of clients.
func KeepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount}
}

// engine adapts gnet to the loop.
type engine struct {
	gnet.BuiltinEventEngine
	loop      *Loop
	listeners map[int]int // by port
	opened    int         // listeners so far
	events    gnet.EventLoop
	knocking  net.Conn   // our own connection to us, until it is accepted
	adopting  int        // registrations under way
	workers   *ants.Pool // what gnet registers descriptors on, nil while there is nothing to do
	err       error      // why the engine was shut down

	epoll    int           // gnet's
	sockets  reflect.Value // gnet's listeners by descriptor, a map
	spare    int           // a descriptor for connections that there is none for; -1: none
	retry    *timers.Timer // accepts again after acceptPause
	pauses   [pauses]bool  // those that hold
	failures limited.Line
}

func (e *engine) run(listeners map[int]int) error {
	addresses := e.loop.config.Addresses
	e.listeners, e.opened = listeners, len(addresses)
	e.retry = timers.NewTimer(e.acceptAgain)
	if _, replaced := gneterrors.ErrAcceptSocket.(acceptError); !replaced {
		gneterrors.ErrAcceptSocket = acceptError{}
	}
	e.openSpare()
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
		gnet.WithLogger(engineLog{e.loop.config.Log, e}),
	)
	if e.knocking != nil {
		_ = e.knocking.Close()
	}
	return errors.Join(err, e.err)
}

// ReleasePools stops the pools that gnet and ants start for every program.
func ReleasePools() {
	ants.Release()
	goroutine.DefaultWorkerPool.Release()
}

// OnBoot implements gnet.EventHandler. It runs before the loop.
func (e *engine) OnBoot(gnet.Engine) gnet.Action {
	ReleasePools()
	if e.err = e.loop.clock.open(); e.err == nil {
		e.err = e.loop.ends.open()
	}
	if e.err == nil {
		e.err = e.knock()
	}
	if e.err != nil {
		return gnet.Shutdown
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
		if e.err = e.findEpoll(); e.err == nil {
			e.adoptClock()
		}
	}
	if d, adopted := c.Context().(*Descriptor); adopted {
		e.adopted()
		d.polled(now, c)
	} else if e.isKnock(c) {
		_ = e.knocking.Close() // nothing was said
		e.knocking = nil
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
			e.poll(c, false) // gnet polls for input again when output has waited
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
		d.gone(now, err)
	}
	return e.leave(now, gnet.None)
}

// leave ends a callback of gnet with the given action, or ends the engine.
func (e *engine) leave(now time.Duration, action gnet.Action) gnet.Action {
	e.loop.leave(now)
	if e.loop.depth == 0 && (e.loop.stopped || e.err != nil) {
		return gnet.Shutdown
	}
	return action
}

func (e *engine) accept(now time.Duration, c gnet.Conn) bool {
	listener, known := e.listeners[c.LocalAddr().(*net.TCPAddr).Port]
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

// post has fn called on the loop and reports whether it will be.
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

// hasEvents reports whether gnet has something to serve. It asks gnet's epoll whether it
// is readable, and does not wait on it: that would take events from gnet.
func (e *engine) hasEvents() bool { return readable(e.epoll) }

func (e *engine) close(c conn) { _ = e.events.Close(c.(gnet.Conn)) }

// knock connects to ourselves. gnet listens already, so it does not wait.
func (e *engine) knock() error {
	// An address that stands for all interfaces stands for the loopback here.
	_, family, address, _, err := socket.GetTCPSockAddr("tcp", e.loop.config.Addresses[0])
	if err != nil {
		return err
	}
	network := "tcp4"
	if family == unix.AF_INET6 && len(address.IP) > 0 {
		network = "tcp6"
	}
	if e.knocking, err = net.DialTimeout(network, address.String(), knockLimit); err != nil {
		return fmt.Errorf("cannot connect to ourselves: %w", err)
	}
	return nil
}

// isKnock reports whether a new connection is ours.
func (e *engine) isKnock(c gnet.Conn) bool {
	if e.knocking == nil {
		return false
	}
	ours, theirs := e.knocking.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	return ours.Port == theirs.Port && ours.IP.Equal(theirs.IP)
}

// adopt has gnet poll a descriptor, and takes it over.
func (e *engine) adopt(fd int, d *Descriptor) error {
	if err := pollable(fd); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("socketpair: %w", err), unix.Close(fd))
	}
	unix.Close(pair[1])
	file := os.NewFile(uintptr(pair[0]), "adopted")
	c, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err == nil {
		var dupErr error
		err = raw.Control(func(socket uintptr) { dupErr = unix.Dup3(fd, int(socket), unix.O_CLOEXEC) })
		err = errors.Join(err, dupErr)
	}
	unix.Close(fd)
	if err == nil {
		err = e.startWorkers()
	}
	if err == nil {
		_, err = e.events.Enroll(gnet.NewContext(context.Background(), d), c)
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	e.adopting++
	return nil
}

// pollable returns why a descriptor cannot be polled: gnet would not.
func pollable(fd int) error {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	defer unix.Close(epoll)
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
		return fmt.Errorf("it cannot be polled: %w", err)
	}
	return nil
}

// adoptClock has gnet poll the clock's timer. Nothing can run without it.
func (e *engine) adoptClock() {
	fd, err := unix.FcntlInt(uintptr(e.loop.clock.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = e.adopt(fd, &Descriptor{loop: e.loop, handler: e.loop, opened: e.loop.start})
	}
	if err != nil {
		e.err = fmt.Errorf("cannot poll the timer: %w", err)
	}
}

// startWorkers gives gnet a pool of goroutines to register descriptors on,
// unless it has one. It is a new one each time: starting a stopped one again
// races with the last of its workers.
func (e *engine) startWorkers() (err error) {
	if e.workers == nil {
		if e.workers, err = ants.NewPool(-1, ants.WithDisablePurge(true)); err == nil {
			goroutine.DefaultWorkerPool = e.workers
		}
	}
	return err
}

// adopted counts one registration as done and stops the workers when none is
// left. It does not stop them at once: the worker waits for OnOpen to return.
func (e *engine) adopted() {
	e.adopting--
	e.post(func() {
		if e.adopting == 0 && e.workers != nil {
			e.workers.Release()
			e.workers = nil
		}
	})
}

// findEpoll finds gnet's epoll and listeners.
func (e *engine) findEpoll() error {
	events := reflect.ValueOf(e.events)
	if events.Kind() == reflect.Pointer {
		poller, listeners := events.Elem().FieldByName("poller"), events.Elem().FieldByName("listeners")
		if poller.IsValid() && listeners.IsValid() {
			if fd := poller.Elem().FieldByName("fd"); fd.IsValid() {
				e.epoll, e.sockets = int(fd.Int()), settable(listeners)
				return nil
			}
		}
	}
	return errors.New("the epoll of this version of gnet is not found")
}

// settable returns an unexported field of a struct of gnet as one that can be set.
func settable(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem()
}

// listening returns the descriptors of gnet's listeners.
func (e *engine) listening() (all []int) {
	for _, fd := range e.sockets.MapKeys() {
		all = append(all, int(fd.Int()))
	}
	return all
}

// listen has gnet accept connections to one more address. Without SO_REUSEPORT, which
// gnet's own listeners have, nobody else can listen there.
func (e *engine) listen(address string) (listener int, err error) {
	fd, local, err := socket.TCPSocket("tcp", address, true, []socket.Option[int]{{SetSockOpt: socket.SetReuseAddr, Opt: 1}, {SetSockOpt: socket.SetNoDelay, Opt: 1}}, nil)
	if err != nil {
		return 0, err
	}
	err = socket.SetKeepAlive(fd, true, int(keepAliveIdle/time.Second), int(keepAliveInterval/time.Second), keepAliveCount)
	if err == nil {
		err = os.NewSyscallError("epoll_ctl", unix.EpollCtl(e.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Fd: int32(fd), Events: e.acceptEvents()}))
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	added := reflect.New(e.sockets.Type().Elem().Elem()) // a listener of gnet, which gnet closes at its end
	settable(added.Elem().FieldByName("fd")).SetInt(int64(fd))
	settable(added.Elem().FieldByName("network")).SetString("tcp")
	settable(added.Elem().FieldByName("addr")).Set(reflect.ValueOf(local))
	e.sockets.SetMapIndex(reflect.ValueOf(fd), added)
	listener = e.opened
	e.opened++
	e.listeners[local.(*net.TCPAddr).Port] = listener
	return listener, nil
}

// unlisten closes a listener.
func (e *engine) unlisten(listener int) {
	for _, fd := range e.listening() {
		port, err := LocalPort(fd)
		if opened, ok := e.listeners[port]; err == nil && ok && opened == listener {
			delete(e.listeners, port)
			key := reflect.ValueOf(fd)
			settable(e.sockets.MapIndex(key).Elem().FieldByName("fd")).SetInt(0) // or gnet closes what has this number by then
			e.sockets.SetMapIndex(key, reflect.Value{})
			_ = unix.Close(fd) // a listener has nothing to lose
		}
	}
}

// poll has gnet's epoll report input of a connection, or not. Output that waits is
// reported in both cases, and so is a connection that was reset.
func (e *engine) poll(c conn, input bool) {
	var events uint32
	if input {
		events = inputEvents
	}
	if c.OutboundBuffered() > 0 {
		events |= unix.EPOLLOUT
	}
	e.setEvents(c.Fd(), events)
}

// setEvents sets what gnet's epoll reports of a descriptor that it polls.
func (e *engine) setEvents(fd int, events uint32) {
	// It fails only for a descriptor that is not polled: gnet would have closed it.
	_ = unix.EpollCtl(e.epoll, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Fd: int32(fd), Events: events})
}

// acceptError takes the place of gnet's ErrAcceptSocket. Its values cannot be
// compared, so that errors.Is, with which gnet looks for it, is never true.
type acceptError struct{ _ []byte }

func (acceptError) Error() string { return "accept failed" }

// acceptFailed is called when gnet could not accept a connection. The connection
// still waits at its listener, and its client for an answer.
func (e *engine) acceptFailed(reason any) {
	now := e.loop.enter()
	closed := 0
	e.closeSpare()
	for _, listener := range e.listening() {
		if fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC); err == nil {
			unix.Close(fd)
			closed++
		}
	}
	e.openSpare()
	e.failures.Log(now, e.loop.config.Log, zap.ErrorLevel, "clients cannot be accepted and are disconnected", zap.Any("reason", reason))
	if closed == 0 {
		e.accepting(afterFailure, false)
		e.loop.Timers.Set(e.retry, now+acceptPause)
	}
	e.loop.leave(now)
}

// acceptAgain accepts connections after a pause.
func (e *engine) acceptAgain(time.Duration) time.Duration {
	e.accepting(afterFailure, true)
	return 0
}

// pause is a reason not to accept connections.
type pause int

const (
	ordered      pause = iota // by Loop.Accepting
	afterFailure              // until acceptAgain
	pauses
)

// accepting begins a pause, or ends it. gnet accepts connections while there is none.
func (e *engine) accepting(why pause, on bool) {
	e.pauses[why] = !on
	for _, listener := range e.listening() {
		e.setEvents(listener, e.acceptEvents())
	}
}

// acceptEvents returns what gnet polls a listener for.
func (e *engine) acceptEvents() uint32 {
	if e.pauses != [pauses]bool{} {
		return 0
	}
	return inputEvents
}

func (e *engine) openSpare() {
	var err error
	if e.spare, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		e.spare = -1
	}
}

func (e *engine) closeSpare() {
	if e.spare >= 0 {
		unix.Close(e.spare)
	}
}

// engineLog passes on gnet's log. Its greeting is for debugging, and so is its only warning: an
// event of a connection that the loop has closed in the same round. From the log the engine learns
// of an accept that failed.
type engineLog struct {
	log    *zap.Logger
	engine *engine
}

func (l engineLog) Debugf(format string, args ...any) { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Infof(format string, args ...any)  { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Warnf(format string, args ...any)  { l.write(zap.DebugLevel, format, args) }
func (l engineLog) Fatalf(format string, args ...any) { l.write(zap.ErrorLevel, format, args) }

func (l engineLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, "Accept() failed") && len(args) == 1 {
		l.engine.acceptFailed(args[0])
		return
	}
	l.write(zap.ErrorLevel, format, args)
}

// write logs a line whose message has no values: the log counts lines of one message
// against their budget, and a descriptor's number would make each a message of its own.
func (l engineLog) write(level zapcore.Level, format string, args []any) {
	values := make([]string, len(args))
	for i, arg := range args {
		values[i] = fmt.Sprint(arg)
	}
	fixed := strings.NewReplacer("%v", "*", "%d", "*", "%s", "*").Replace(format) // gnet uses these verbs
	l.log.Log(level, "gnet: "+fixed, zap.Strings("values", values))
}
