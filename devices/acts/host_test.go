package acts

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"player/devices"
	"player/devices/transport/transporttest"
)

const ms = time.Millisecond

// world is a computer in simulated time: the driver, its client, programs and servers. The
// driver's actions on it are written to story.
type world struct {
	*transporttest.Bench
	story []string // "0.100 > 30"
	quiet bool     // no story

	driver *Driver
	vision *devices.Device

	servers   map[string]server // by address; without one a connection is refused
	late      bool              // a refusal is a Hangup, not an error of Dial
	conn      *conn             // the open connection
	installed bool              // the program acts is in PATH
	programs  []*program
}

// server answers a byte of the driver.
type server func(c *conn, request byte)

type conn struct {
	*transporttest.Port
	w     *world
	reset bool // a write makes it hang up
}

type program struct {
	w       *world
	exited  func(now time.Duration, err error)
	signals []syscall.Signal
	stays   bool // it does not end by SIGTERM
	ended   bool
}

func newWorld(t testing.TB) *world {
	driver := New(5001, "/etc/colours")
	w := &world{Bench: transporttest.NewBench(t, Kind().Instance(driver)), servers: map[string]server{}, driver: driver}
	w.Table.Connect(w)
	w.vision = w.Client
	return w
}

func (w *world) note(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%.3f ", (w.Now()-time.Second).Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) Dial(address string, h devices.PortHandler) (devices.Port, error) {
	w.note("dial %s", address)
	listens := w.servers[address] != nil
	if !listens && !w.late {
		return nil, fmt.Errorf("dial %s: %w", address, syscall.ECONNREFUSED)
	}
	if _, err := w.World.Dial(address, h); err != nil {
		return nil, err
	}
	c := &conn{Port: w.Port(), w: w}
	w.conn = c
	if !listens {
		w.After(0, func() { c.Fail(syscall.ECONNREFUSED) })
	}
	return c, nil
}

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
	if c.Closed {
		return
	}
	if !c.w.quiet { // the arguments would be allocated
		c.w.note("> % X", p)
	}
	if c.reset {
		c.Fail(syscall.ECONNRESET)
		return
	}
	if s := c.w.servers[c.Name]; s != nil {
		for _, b := range p {
			s(c, b)
		}
	}
}

func (c *conn) Close() {
	if !c.Closed {
		c.w.note("close")
	}
	c.Port.Close()
}

func (p *program) Signal(s syscall.Signal) {
	if p.ended {
		return
	}
	p.w.note("signal %v", s)
	p.signals = append(p.signals, s)
	if s == syscall.SIGKILL || !p.stays {
		p.w.After(0, func() { p.exit(fmt.Errorf("signal: %v", s)) })
	}
}

func (p *program) exit(err error) {
	if !p.ended {
		p.ended = true
		p.exited(p.w.Now(), err)
	}
}

// answers is a server that answers every request after a delay, in pieces.
func answers(delay time.Duration, pieces ...[]byte) server {
	return func(c *conn, request byte) {
		if request != Request {
			return
		}
		for i, piece := range pieces {
			c.w.After(delay+time.Duration(i)*ms, func() { c.Say(piece) })
		}
	}
}

// silent is a server that listens and sends nothing.
func silent(*conn, byte) {}

// closes is a server that closes every connection.
func closes(c *conn, _ byte) { c.w.After(0, func() { c.Fail(io.EOF) }) }

// messages are the lines logged at a level, with the error, if there is one.
func (w *world) messages(level zapcore.Level) (all []string) {
	for _, e := range w.Log.FilterLevelExact(level).All() {
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
