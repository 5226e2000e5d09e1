package load

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"player/bench/stats"
	"player/codec"
)

const (
	// batch is how many events are taken from epoll at once.
	batch = 512
	// commandPeriod is the time between two commands of a client: the default
	// rate of Player 0.7.4a, at which most robot programs run.
	commandPeriod = 100 * time.Millisecond
	// slowPeriod is the time between two reads of a Slow client: 15 frames at
	// 50 Hz, which its receive buffer takes easily.
	slowPeriod = 300 * time.Millisecond
	// floodChunk is how many commands a Flood client writes at once.
	floodChunk = 512
	// replyLimit ends the wait for the replies.
	replyLimit = 30 * time.Second
)

type group struct {
	Group
	period   time.Duration
	commands int
	round    stats.Histogram
}

// engine is all clients of a run.
type engine struct {
	spec     Spec
	base     time.Duration // CLOCK_MONOTONIC at start
	epoch    time.Duration // from 1970 to the zero of CLOCK_MONOTONIC
	start    time.Time
	epoll    int
	groups   []group
	clients  []client
	counting bool
	waiting  int // clients that are not served yet
	refused  int // clients that did not get all devices
	events   [batch]unix.EpollEvent
	buffer   [64 << 10]byte
	plain    [64 << 10]byte // the content of records in buffer
	command  []byte         // one position command: stand still
	flood    []byte
	ask      []byte // one request for data
	commands pacer
	reads    pacer // of Slow clients
	rates    pacer // of clients of NATS that ask for a rate
}

// pacer calls do for each of its clients once a period, spread evenly over it.
type pacer struct {
	period  time.Duration
	do      func(c *client)
	clients []*client
	first   time.Duration // when the first call was due
	calls   int
}

// next returns when the next call is due. The pacer has clients.
func (p *pacer) next() time.Duration {
	return p.first + time.Duration(p.calls)*p.period/time.Duration(len(p.clients))
}

// run makes all calls that are due and returns the time until the next, at most
// wait.
func (p *pacer) run(now, wait time.Duration) time.Duration {
	if len(p.clients) == 0 {
		return wait
	}
	if p.first == 0 {
		p.first = now
	}
	for p.next() <= now {
		if c := p.clients[p.calls%len(p.clients)]; !c.closed {
			p.do(c)
		}
		p.calls++
	}
	return min(wait, p.next()-now)
}

// Run carries out a spec. begin and end are called at the edges of the window.
func Run(spec Spec, begin, end func()) (Result, error) {
	runtime.LockOSThread() // namespaces belong to threads
	defer runtime.UnlockOSThread()
	e := &engine{spec: spec, start: time.Now()}
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return Result{}, err
	}
	e.base = time.Duration(ts.Nano())
	e.epoch = time.Duration(e.start.UnixNano()) - e.base
	e.command = codec.AppendMessage(nil, codec.KindCommand, codec.Position, make([]byte, codec.PositionCommandSize))
	for range floodChunk {
		e.flood = append(e.flood, e.command...)
	}
	e.ask = codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigData})
	e.commands = pacer{period: commandPeriod, do: e.drive}
	e.reads = pacer{period: slowPeriod, do: e.receive}
	e.rates = pacer{period: ratePeriod, do: e.askRate}
	var err error
	if e.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return Result{}, err
	}
	defer e.close()
	if err := e.connect(); err != nil {
		return Result{}, err
	}
	for limit := e.now() + replyLimit; e.waiting > 0; {
		if e.now() > limit {
			return Result{}, fmt.Errorf("%d of %d clients had no reply within %v", e.waiting, len(e.clients), replyLimit)
		}
		e.poll(100 * time.Millisecond)
	}
	if e.refused > 0 {
		return Result{}, fmt.Errorf("%d of %d clients were refused a device", e.refused, len(e.clients))
	}
	e.serve(e.now() + spec.Warmup)

	from, cpu := e.now(), e.cpu()
	e.counting = true
	for i := range e.clients {
		e.clients[i].begin(from)
	}
	begin()
	e.serve(from + spec.Window)
	to := e.now()
	e.counting = false
	end()
	r := Result{Window: to - from, CPU: e.cpu() - cpu}
	first := 0
	for i := range e.groups {
		g := &e.groups[i]
		clients := e.clients[first : first+g.Clients]
		for j := range clients {
			clients[j].tooth(to)
		}
		r.Groups = append(r.Groups, sum(g, clients))
		first += g.Clients
	}
	return r, nil
}

func (e *engine) now() time.Duration { return e.base + time.Since(e.start) }

// cpu returns the CPU time that this process has used.
func (e *engine) cpu() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (e *engine) close() {
	for i := range e.clients {
		if fd := e.clients[i].fd; fd >= 0 {
			unix.Close(fd)
		}
	}
	unix.Close(e.epoll)
}

// serve takes events until the given time.
func (e *engine) serve(until time.Duration) {
	for now := e.now(); now < until; now = e.now() {
		e.poll(e.rates.run(now, e.reads.run(now, e.commands.run(now, until-now))))
	}
}

// drive sends a command.
func (e *engine) drive(c *client) {
	e.send(c, e.command)
	c.group.commands++
}

// poll waits for events at most that long, and handles them.
func (e *engine) poll(wait time.Duration) {
	// Rounded up: woken too early it would spin.
	n, err := unix.EpollWait(e.epoll, e.events[:], int((wait+time.Millisecond-1)/time.Millisecond))
	if err != nil { // EINTR
		return
	}
	for i := range n {
		ev := &e.events[i]
		c := &e.clients[ev.Fd]
		if ev.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			e.receive(c)
		} else if ev.Events&unix.EPOLLRDHUP != 0 { // all that a Deaf or Slow one waits for
			e.lose(c)
		}
		if ev.Events&unix.EPOLLOUT != 0 && !c.closed {
			n := e.send(c, e.flood[c.phase:])
			c.group.commands += (c.phase + n) / len(e.command) // a command may be cut
			c.phase = (c.phase + n) % len(e.command)
		}
	}
}

func (e *engine) receive(c *client) {
	n, errno := read(c.fd, e.buffer[:])
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return
	}
	if errno != 0 || n == 0 {
		e.lose(c)
		return
	}
	if e.counting {
		c.bytes += n
	}
	now := e.now()
	if c.topic != nil {
		e.published(c, now, e.buffer[:n])
		return
	}
	if c.nats != nil {
		e.messages(c, now, e.buffer[:n])
		return
	}
	if c.tls == nil {
		e.parse(c, now, e.buffer[:n])
		return
	}
	for records, more := e.buffer[:n], true; more; records = nil {
		n, err := c.tls.Read(records, e.plain[:])
		if err != nil {
			e.lose(c)
			return
		}
		e.parse(c, now, e.plain[:n])
		more = n == len(e.plain)
	}
}

// parse takes bytes that came at now.
func (e *engine) parse(c *client, now time.Duration, b []byte) {
	for len(b) > 0 {
		var what event
		what, b = c.parser.next(b, e.spec.Stamp)
		switch what {
		case refusal:
			e.refused++
			e.replied(c)
		case reply:
			e.replied(c)
		case frame:
			e.frame(c, now)
		}
	}
}

// read calls read(2) past the Go scheduler: it does not block, and at 100,000
// frames a second the scheduler's share of a call would matter.
func read(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), errno
}

func (e *engine) frame(c *client, now time.Duration) {
	if c.parser.size != e.spec.FrameSize {
		c.bad++
		return
	}
	c.arrived(now, time.Duration(c.parser.time()), c.group.period, e.counting)
	switch c.group.Task {
	case Answer:
		if c.answers += c.group.period; c.answers >= commandPeriod {
			c.answers = 0
			e.drive(c)
		}
	case Request:
		if e.counting {
			c.group.round.Add(now - c.asked)
		}
		e.request(c)
	}
}

// request asks for a frame.
func (e *engine) request(c *client) {
	c.asked = e.now()
	e.send(c, e.ask)
}

// replied starts the task of a client whose request was answered.
func (e *engine) replied(c *client) {
	if c.ready {
		return
	}
	c.ready = true
	e.waiting--
	events := uint32(0)
	switch c.group.Task {
	case Request:
		e.request(c)
		return
	case Answer:
		// Clients of one tick do not all answer the same frame.
		c.answers = time.Duration(c.index) * c.group.period % commandPeriod
		return
	case Command:
		e.commands.clients = append(e.commands.clients, c)
		return
	case Slow:
		e.reads.clients = append(e.reads.clients, c)
		events = unix.EPOLLRDHUP
	case Deaf:
		events = unix.EPOLLRDHUP
	case Flood:
		events = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLOUT
	default:
		return
	}
	ev := unix.EpollEvent{Events: events, Fd: c.index}
	_ = unix.EpollCtl(e.epoll, unix.EPOLL_CTL_MOD, c.fd, &ev) // it is registered
}

// send writes as much of b as the connection takes and returns how much. By TLS b is
// small, and there is room for it.
func (e *engine) send(c *client, b []byte) int {
	if c.tls != nil {
		b = c.tls.Seal(nil, b)
	}
	if c.nats != nil && c.nats.web != nil {
		b = c.nats.web.frame(binaryFrame, b)
	}
	n, err := unix.Write(c.fd, b)
	if err != nil && err != unix.EAGAIN {
		e.lose(c)
	}
	return max(n, 0)
}

// lose notes that the server has closed a connection.
func (e *engine) lose(c *client) {
	if c.closed {
		return
	}
	lost := e.clients[c.index : c.index+1]
	if c.nats != nil {
		lost = e.clients[c.index:][:c.nats.subscriptions]
	}
	for i := range lost {
		lost[i].closed = true
		if !lost[i].ready {
			lost[i].ready = true
			e.waiting--
		}
	}
	_ = unix.EpollCtl(e.epoll, unix.EPOLL_CTL_DEL, c.fd, nil)
}
