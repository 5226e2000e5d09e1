// Package transporttest is the outside world of a driver under test: simulated time,
// and ports whose far end is the test.
package transporttest

import (
	"errors"
	"io"
	"slices"
	"time"

	"player/devices"
	"player/timers"
)

// World implements devices.Host in simulated time, which starts at one second.
// It has deadlines and ports; the other methods of Host panic. Ports are opened and set
// within the call, unless Slow.
type World struct {
	devices.Host
	// Refuse is the error of OpenSerial and Dial, nil while ports open.
	Refuse error
	// Slow queues the requests to serial lines until the test calls Answer.
	Slow bool
	// MaxSpeed is the highest speed that SetSpeed accepts, in baud; zero: any.
	MaxSpeed int
	// Ports are all that were opened, in order; the last is the current one.
	Ports []*Port
	// Searches are all that were begun by Identify, in order.
	Searches []Search
	// Break, if not nil, makes the next Write fail: the port hangs up and Break is
	// called, both before Write returns.
	Break func()
	// Heard is called with the bytes that a driver writes, as soon as the driver has
	// returned from the call that wrote them. It may be nil.
	Heard func(p *Port, b []byte)
	// Connect has the far end of a port that is opened, for example emulated hardware in place
	// of the test, or an error. It may be nil.
	Connect func(p *Port) (Far, error)
	// Wakes counts the times at which something has happened: a loop wakes once for all of
	// the same time.
	Wakes int

	slow   []func()
	now    time.Duration
	queue  timers.Queue
	wakes  map[*devices.Link]*wake
	events []event // in order
	next   *timers.Timer
}

// Far is the far end of a port. It calls Port.Say and HangUp, but never from within its methods.
type Far interface {
	Write(b []byte)
	SetSpeed(baud int)
	Close()
}

// Search is a search for hardware on a serial line. The test ends it with Done.
type Search struct {
	Path string
	Done func(now time.Duration, f devices.Finding)
}

// wake is the deadline of a link.
type wake struct {
	timer *timers.Timer
	at    time.Duration // zero: none
}

type event struct {
	at time.Duration
	fn func()
}

// NewWorld returns a world without ports.
func NewWorld() *World {
	w := &World{now: time.Second, wakes: map[*devices.Link]*wake{}}
	w.next = timers.NewTimer(w.happen)
	return w
}

// Now is the time.
func (w *World) Now() time.Duration { return w.now }

// Pass lets time pass; each event happens at its time. It panics if an event is always due
// again at once.
func (w *World) Pass(d time.Duration) {
	const tooOften = 100000
	until := w.now + d
	for times := 0; ; times++ {
		at, armed := w.queue.Next()
		if !armed || at > until {
			break
		}
		if at > w.now {
			w.now, times = at, 0
			w.Wakes++
		} else if times > tooOften {
			panic("transporttest: time stands still")
		}
		w.queue.Run(w.now, 0)
	}
	w.now = until
}

// Skip lets time pass without events, as in a paused server.
func (w *World) Skip(d time.Duration) { w.now += d }

// Until lets time pass until cond holds; cond is checked after each event. It reports
// whether cond became true within limit.
func (w *World) Until(cond func() bool, limit time.Duration) bool {
	until := w.now + limit
	for !cond() {
		at, armed := w.queue.Next()
		if !armed || at > until {
			w.now = until
			return cond()
		}
		w.Pass(max(at-w.now, 0))
	}
	return true
}

// After has fn called when d has passed, after the functions that are already due then.
func (w *World) After(d time.Duration, fn func()) {
	at, i := w.now+d, len(w.events)
	for i > 0 && w.events[i-1].at > at {
		i--
	}
	w.events = slices.Insert(w.events, i, event{at, fn})
	w.queue.Set(w.next, w.events[0].at)
}

// happen calls the first event.
func (w *World) happen(time.Duration) time.Duration {
	fn := w.events[0].fn
	w.events = slices.Delete(w.events, 0, 1)
	fn()
	if len(w.events) == 0 {
		return 0
	}
	return w.events[0].at
}

// Port is the port opened last.
func (w *World) Port() *Port { return w.Ports[len(w.Ports)-1] }

func (w *World) WakeAt(l *devices.Link, at time.Duration) {
	d := w.wakes[l]
	if d == nil {
		d = &wake{}
		d.timer = timers.NewTimer(func(now time.Duration) time.Duration {
			d.at = 0
			d.at = l.Wake(now)
			return d.at
		})
		w.wakes[l] = d
	}
	w.queue.Stop(d.timer)
	if d.at = at; at != 0 {
		w.queue.Set(d.timer, at)
	}
}

// Deadline returns a link's deadline; zero: it has none.
func (w *World) Deadline(l *devices.Link) time.Duration {
	if d := w.wakes[l]; d != nil {
		return d.at
	}
	return 0
}

func (w *World) OpenSerial(path string, baud int, h devices.PortHandler, opened func(now time.Duration, l devices.Line, err error)) {
	w.answer(func() {
		p := &Port{Name: path, Baud: baud, DTR: true, handler: h}
		if err := w.open(p); err != nil {
			opened(w.now, nil, err)
			return
		}
		opened(w.now, p, nil)
	})
}

func (w *World) answer(fn func()) {
	if w.Slow {
		w.slow = append(w.slow, fn)
		return
	}
	fn()
}

// Answer carries out the first queued request to a serial line.
func (w *World) Answer() {
	fn := w.slow[0]
	w.slow = w.slow[1:]
	fn()
}

func (w *World) Identify(path string, done func(now time.Duration, f devices.Finding)) {
	w.Searches = append(w.Searches, Search{path, done})
}

func (w *World) OpenInput(path string, h devices.PortHandler, opened func(now time.Duration, p devices.Port, err error)) {
	p := &Port{Name: path, handler: h}
	if err := w.open(p); err != nil {
		opened(w.now, nil, err)
		return
	}
	opened(w.now, p, nil)
}

func (w *World) Dial(address string, h devices.PortHandler) (devices.Port, error) {
	p := &Port{Name: address, handler: h}
	if err := w.open(p); err != nil {
		return nil, err
	}
	return p, nil
}

func (w *World) open(p *Port) error {
	if w.Refuse != nil {
		return w.Refuse
	}
	p.world = w
	if w.Connect != nil {
		far, err := w.Connect(p)
		if err != nil {
			return err
		}
		p.far = far
	}
	w.Ports = append(w.Ports, p)
	return nil
}

// Port is one opened port.
type Port struct {
	Name   string // path or address
	Baud   int    // zero for a connection
	Closed bool   // by either side
	Stuck  bool   // it takes no bytes: written bytes stay in Buffered
	Wrote  []byte // all that the driver has written
	Last   []byte // its last words
	DTR    bool   // the line is asserted, as it is when a serial line is opened

	world   *World
	far     Far // nil: the test
	handler devices.PortHandler
	stuck   int
}

// Say brings the driver bytes.
func (p *Port) Say(b []byte) {
	if !p.Closed {
		p.handler.Receive(p.world.now, b)
	}
}

// HangUp unplugs the port.
func (p *Port) HangUp() { p.Fail(io.ErrUnexpectedEOF) }

// Fail ends the port with an error.
func (p *Port) Fail(err error) {
	if !p.Closed {
		p.Closed = true
		p.handler.Hangup(p.world.now, err)
	}
}

func (p *Port) Write(b []byte) {
	switch {
	case p.Closed:
	case p.world.Break != nil:
		broke := p.world.Break
		p.world.Break = nil
		p.HangUp()
		broke()
	case p.Stuck:
		p.stuck += len(b)
	default:
		start := len(p.Wrote)
		p.Wrote = append(p.Wrote, b...)
		if p.far != nil {
			p.far.Write(b)
		}
		if heard := p.world.Heard; heard != nil {
			b = p.Wrote[start:len(p.Wrote):len(p.Wrote)]
			p.world.After(0, func() { heard(p, b) })
		}
	}
}

func (p *Port) LastWords(b []byte) { p.Last = slices.Clone(b) }

func (p *Port) Buffered() int { return p.stuck }

func (p *Port) SetSpeed(baud int, done func(now time.Duration, err error)) {
	p.world.answer(func() {
		if p.Closed {
			return
		}
		if m := p.world.MaxSpeed; m != 0 && baud > m {
			done(p.world.now, errors.New("the line is slower"))
			return
		}
		p.Baud = baud
		if p.far != nil {
			p.far.SetSpeed(baud)
		}
		done(p.world.now, nil)
	})
}

func (p *Port) SetModemLines(dtr, _ bool) { p.DTR = dtr }

func (p *Port) Discard() {}

func (p *Port) Close() {
	p.Closed = true
	if p.far != nil {
		p.far.Close()
	}
}
