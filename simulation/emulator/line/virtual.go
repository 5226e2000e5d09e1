package line

import (
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"
)

// Virtual is a clock that a test advances, for cables whose ports are pipes in memory (Options.Clock).
// All that their devices do happens in Advance, in the order of the deadlines, and so do the calls of their
// hosts; the same test has the same bytes at the same times. One goroutine uses the clock, the cables and the
// devices. Line.Wait and its like wait for ever, because only Advance brings changes.
type Virtual struct {
	// Due is called when Advance has something to do at a time, unless an earlier one was given that has not
	// come. It may be nil. It must not use the clock or a cable, which are in use.
	Due func(at time.Duration)
	// Now is the time of a simulation that calls Advance at Due. Nil: time passes in Advance only.
	Now func() time.Duration

	time   time.Duration
	given  time.Duration // to Due, 0: none
	cables []*virtualCable
}

// A Host has opened a port of a Virtual clock. It may use its Pipe in the calls.
type Host interface {
	Receive(b []byte) // must not keep b
	HangUp()          // the cable was unplugged; the Pipe is closed
}

// NewVirtual returns a clock at a time, which is not 0, because no deadline is.
func NewVirtual(now time.Duration) *Virtual { return &Virtual{time: now} }

// Advance lets time pass, until the given one.
func (v *Virtual) Advance(until time.Duration) {
	const tooOften = 100000
	for times := 0; ; times++ {
		c := v.first()
		if c == nil || c.due > until {
			break
		}
		if c.due > v.time {
			v.time, times = c.due, 0
		} else if times > tooOften {
			panic("line: time stands still")
		}
		c.turn()
	}
	v.time = max(v.time, until)
	if v.given <= v.time {
		v.given = 0
	}
	if c := v.first(); c != nil {
		v.tell(c.due)
	}
}

func (v *Virtual) now() time.Duration {
	if v.Now != nil {
		v.time = max(v.time, v.Now())
	}
	return v.time
}

// first returns the cable with the next deadline, the one opened first if several have it. Nil: there is none.
func (v *Virtual) first() (next *virtualCable) {
	for _, c := range v.cables {
		if c.due != 0 && (next == nil || c.due < next.due) {
			next = c
		}
	}
	return next
}

// tell calls Due.
func (v *Virtual) tell(at time.Duration) {
	if v.Due != nil && (v.given == 0 || at < v.given) {
		v.given = at
		v.Due(at)
	}
}

// Open opens the port of a cable, at a speed in bit/s, or connects to a device on the network.
func (v *Virtual) Open(link string, baud int, h Host) (*Pipe, error) {
	why := error(fs.ErrNotExist)
	for _, c := range v.cables {
		network := c.line.opts.TCP != ""
		switch p := c.plugged; {
		case c.line.opts.Link != link:
		case p == nil && network:
			why = syscall.ECONNREFUSED
		case p == nil:
		case p.host != nil:
			return nil, &fs.PathError{Op: "open", Path: link, Err: syscall.EBUSY}
		default:
			if network {
				baud = c.line.opts.Baud
			}
			c.line.hosts.Add(1)
			p.host = &Pipe{end: p, host: h, baud: baud}
			c.wake()
			return p.host, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: link, Err: why}
}

// virtualCable is the clock of one cable.
type virtualCable struct {
	clock   *Virtual
	line    *Line
	dev     Device        // nil before serve and after stop
	plugged *pipeEnd      // nil while unplugged
	due     time.Duration // 0: nothing is
	turning bool
	heard   []heard
	waiting []*Pipe // that have something for their hosts
	waited  []*Pipe // the array of those before
}

func (v *Virtual) add(l *Line) *virtualCable {
	v.cables = slices.DeleteFunc(v.cables, func(c *virtualCable) bool {
		return c.plugged == nil && c.due == 0 && c.line.closed
	})
	c := &virtualCable{clock: v, line: l}
	v.cables = append(v.cables, c)
	return c
}

func (c *virtualCable) now() time.Duration { return c.clock.now() }

func (c *virtualCable) serve(dev Device) {
	c.dev = dev
	c.wake()
}

// wake has no effect in a turn, which ends with all that is due.
func (c *virtualCable) wake() {
	if !c.turning {
		c.due = c.clock.now()
		c.clock.tell(c.due)
	}
}

func (c *virtualCable) stop() { c.dev, c.heard, c.due = nil, nil, 0 }

func (c *virtualCable) plug() (port, error) {
	c.plugged = &pipeEnd{cable: c}
	return c.plugged, nil
}

func (c *virtualCable) unplug() { c.plugged = nil }

// turn is a turn of the device, and then of the host.
func (c *virtualCable) turn() {
	c.due = 0
	if c.dev != nil {
		c.turning = true
		heard := c.heard
		c.heard = nil
		for i := range heard {
			c.line.turn(c.dev, &heard[i])
		}
		next := c.line.turn(c.dev, nil)
		c.turning = false
		if next != 0 {
			c.due = max(next, c.clock.now())
		}
	}
	waiting := c.waiting
	c.waiting = c.waited[:0]
	for _, p := range waiting {
		p.deliver()
	}
	clear(waiting)
	c.waited = waiting
}

// pipeEnd is the device's end of a port in memory.
type pipeEnd struct {
	cable *virtualCable
	host  *Pipe // nil: no host has it open
}

// freshSpeed is the speed of a port that no host has set, as of a pseudo-terminal.
const freshSpeed = 38400

func (p *pipeEnd) name() string  { return fmt.Sprint("pipe ", p.cable.line.opts.Link) }
func (p *pipeEnd) present() bool { return p.host != nil }

func (p *pipeEnd) speed() int {
	if p.host == nil {
		return freshSpeed
	}
	return p.host.baud
}

func (p *pipeEnd) write(b []byte) int {
	p.host.wait()
	p.host.unread = append(p.host.unread, b...)
	return len(b)
}

func (p *pipeEnd) dropUnread() error { return nil } // a closed Pipe has nothing

// close also drops the host's bytes that are still in the adapter.
func (p *pipeEnd) close() {
	p.hangUp()
	p.cable.heard = nil
}

// hangUp ends the connection, but not the port.
func (p *pipeEnd) hangUp() {
	if p.host != nil {
		p.cable.heard = []heard{{from: p, closed: true}}
		p.host.hungUp = true
		p.host.wait()
		p.host = nil
	}
}

// A Pipe is the host's end of a port in memory.
type Pipe struct {
	end     *pipeEnd
	host    Host
	baud    int
	unread  []byte
	waiting bool // to be delivered
	hungUp  bool
	closed  bool
}

// wait has the host called at the end of a turn: this one or, for bytes that are sent between turns, the next.
func (p *Pipe) wait() {
	if !p.waiting {
		p.waiting = true
		p.end.cable.waiting = append(p.end.cable.waiting, p)
		p.end.cable.wake()
	}
}

// deliver calls the host.
func (p *Pipe) deliver() {
	p.waiting = false
	unread := p.unread
	p.unread = nil
	if len(unread) > 0 && !p.closed {
		p.host.Receive(unread)
	}
	if p.unread == nil {
		p.unread = unread[:0]
	}
	if p.hungUp && !p.closed {
		p.closed = true
		p.host.HangUp()
	}
}

// Write sends bytes, which the device has in the next Advance.
func (p *Pipe) Write(b []byte) {
	if !p.closed && !p.hungUp {
		p.tell(heard{from: p.end, data: slices.Clone(b), baud: p.baud})
	}
}

func (p *Pipe) tell(h heard) {
	p.end.cable.heard = append(p.end.cable.heard, h)
	p.end.cable.wake()
}

// SetSpeed sets the speed, bit/s, of bytes sent and received from now on.
func (p *Pipe) SetSpeed(baud int) { p.baud = baud }

// Close closes the port. No call of the host comes later.
func (p *Pipe) Close() {
	if p.closed {
		return
	}
	p.closed = true
	if !p.hungUp {
		p.end.host = nil
		p.tell(heard{from: p.end, baud: p.baud, closed: true})
	}
}
