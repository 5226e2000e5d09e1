package acts

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
)

const ms = time.Millisecond

// world is a computer in simulated time: the driver, its host, programs and
// servers. What the driver does to it is written down in story.
type world struct {
	devices.Host // what it does not implement, nobody calls

	t      testing.TB
	now    time.Duration
	wake   time.Duration // of the driver's link
	events []event       // in order of time
	story  []string      // "0.100 > 30"
	quiet  bool          // no story
	logs   *observer.ObservedLogs

	driver *Driver
	link   *devices.Link
	vision *devices.Device
	setup  []error // how subscriptions have ended

	servers   map[string]server // by address; without one a connection is refused
	late      bool              // a refusal is a Hangup, not an error of Dial
	conn      *conn             // the open connection
	installed bool              // the program acts is in PATH
	programs  []*program
}

type event struct {
	at time.Duration
	do func()
}

// server answers a byte of the driver.
type server func(c *conn, request byte)

type conn struct {
	w       *world
	handler devices.PortHandler
	server  server
	reset   bool // a write makes it hang up
	closed  bool
}

type program struct {
	w       *world
	exited  func(now time.Duration, err error)
	signals []syscall.Signal
	stays   bool // it does not end by SIGTERM
	ended   bool
}

func newWorld(t testing.TB) *world {
	core, logs := observer.New(zapcore.DebugLevel)
	w := &world{t: t, now: 1, logs: logs, servers: map[string]server{}, driver: New(5001, "/etc/colours")}
	table := devices.NewTable(zap.New(core))
	if _, err := table.Attach(Kind().Instance(w.driver)); err != nil {
		t.Fatal(err)
	}
	table.Connect(w)
	w.vision = table.Device(codec.Vision)
	w.link = w.vision.Link()
	return w
}

func (w *world) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%.3f ", w.now.Seconds())+fmt.Sprintf(format, args...))
}

// SetupDone implements devices.Subscriber.
func (w *world) SetupDone(_ time.Duration, _ *devices.Device, err error) {
	w.setup = append(w.setup, err)
}

// subscribe opens the device, as a client does.
func (w *world) subscribe() {
	if pending, err := w.vision.Subscribe(w.now, w); !pending {
		w.setup = append(w.setup, err)
	}
}

func (w *world) unsubscribe() { w.vision.Unsubscribe(w.now, w) }

// WakeAt implements devices.Host.
func (w *world) WakeAt(_ *devices.Link, at time.Duration) { w.wake = at }

// after has something happen later.
func (w *world) after(d time.Duration, do func()) {
	w.events = append(w.events, event{w.now + d, do})
	slices.SortStableFunc(w.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
}

// step goes to what happens next, if that is until end.
func (w *world) step(end time.Duration) bool {
	switch {
	case len(w.events) > 0 && w.events[0].at <= end && (w.wake == 0 || w.events[0].at <= w.wake):
		e := w.events[0]
		w.events = slices.Delete(w.events, 0, 1)
		w.now = max(w.now, e.at)
		e.do()
	case w.wake != 0 && w.wake <= end:
		w.now = max(w.now, w.wake)
		w.wake = 0
		if next := w.link.Wake(w.now); next != 0 && w.wake == 0 {
			w.wake = next
		}
	default:
		return false
	}
	return true
}

// run lets d pass.
func (w *world) run(d time.Duration) {
	end := w.now + d
	for steps := 0; w.step(end); steps++ {
		if steps > 100000 {
			w.t.Fatal("the driver spins")
		}
	}
	w.now = end
}

// Dial implements devices.Host.
func (w *world) Dial(address string, h devices.PortHandler) (devices.Port, error) {
	w.note("dial %s", address)
	s := w.servers[address]
	refused := fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	if s == nil && !w.late {
		return nil, refused
	}
	c := &conn{w: w, handler: h, server: s}
	w.conn = c
	if s == nil {
		w.after(0, func() { c.hangup(syscall.ECONNREFUSED) })
	}
	return c, nil
}

// StartProgram implements devices.Host.
func (w *world) StartProgram(exited func(time.Duration, error), name string, args ...string) (devices.Program, error) {
	w.note("start %s %s", name, strings.Join(args, " "))
	if !w.installed {
		return nil, fmt.Errorf("program %s: %w", name, &exec.Error{Name: name, Err: exec.ErrNotFound})
	}
	p := &program{w: w, exited: exited}
	w.programs = append(w.programs, p)
	return p, nil
}

func (c *conn) Write(p []byte) {
	if c.closed {
		return
	}
	if !c.w.quiet { // the arguments would be allocated
		c.w.note("> % X", p)
	}
	if c.reset {
		c.hangup(syscall.ECONNRESET)
		return
	}
	if c.server != nil {
		for _, b := range p {
			c.server(c, b)
		}
	}
}

func (c *conn) Buffered() int      { return 0 }
func (c *conn) LastWords([]byte)   {}
func (c *conn) SetSpeed(int) error { return errors.New("not a serial line") }
func (c *conn) Discard()           {}
func (c *conn) Close() {
	if !c.closed {
		c.w.note("close")
	}
	c.closed = true
}

// hangup is the other end closing.
func (c *conn) hangup(err error) {
	if !c.closed {
		c.closed = true
		c.handler.Hangup(c.w.now, err)
	}
}

// send is the server sending.
func (c *conn) send(b []byte) {
	if !c.closed {
		c.handler.Receive(c.w.now, b)
	}
}

func (p *program) Signal(s syscall.Signal) {
	if p.ended {
		return
	}
	p.w.note("signal %v", s)
	p.signals = append(p.signals, s)
	if s == syscall.SIGKILL || !p.stays {
		p.w.after(0, func() { p.exit(fmt.Errorf("signal: %v", s)) })
	}
}

func (p *program) exit(err error) {
	if !p.ended {
		p.ended = true
		p.exited(p.w.now, err)
	}
}

// answers is a server that answers every request after a delay, in pieces.
func answers(delay time.Duration, pieces ...[]byte) server {
	return func(c *conn, request byte) {
		if request != Request {
			return
		}
		for i, piece := range pieces {
			c.w.after(delay+time.Duration(i)*ms, func() { c.send(piece) })
		}
	}
}

// silent is a server that listens and says nothing.
func silent(*conn, byte) {}

// closes is a server that closes every connection.
func closes(c *conn, _ byte) { c.w.after(0, func() { c.hangup(io.EOF) }) }

// messages are what was logged at a level, with the error, if there is one.
func (w *world) messages(level zapcore.Level) (all []string) {
	for _, e := range w.logs.FilterLevelExact(level).All() {
		m := e.Message
		if err, ok := e.ContextMap()["error"]; ok {
			m += ": " + fmt.Sprint(err)
		}
		all = append(all, m)
	}
	return all
}

// count is how often the story has a line that ends so.
func (w *world) count(end string) (n int) {
	for _, line := range w.story {
		if strings.HasSuffix(line, " "+end) {
			n++
		}
	}
	return n
}
