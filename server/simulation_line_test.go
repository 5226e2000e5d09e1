package server

import (
	"io"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
)

// simPort is the open line. It implements devices.Port.
type simPort struct {
	rig     *rig
	handler devices.PortHandler
	far     far
	baud    int
	opened  time.Duration
	stuck   []byte // taken by the driver's end and not by the line
	free    time.Duration
	gone    bool // it was unplugged
	closed  bool
	inbox   []piece
	waits   int           // bytes in inbox
	setting int           // changes of speed that are under way
	dead    bool          // its driver has panicked
	words   []byte        // the last ones that the driver has handed over
	said    []byte        // the newest packets
	parted  bool          // with the last words
	moves   bool          // the newest command is to move
	newest  *op           // the newest velocities
	greets  bool          // no handshake of a Pioneer has begun
	comes   time.Duration // when the newest bytes of the hardware come
	bytes   []byte        // scratch of read, the driver may not keep them
	brought []*simReport  // scratch of read
}

// mostInput is how many bytes of a serial line the kernel keeps.
const mostInput = 4095

// piece is some bytes of the robot, and the packet that they end.
type piece struct {
	bytes  []byte
	report *simReport
	came   time.Duration
}

func (p *simPort) Write(b []byte) {
	r := p.rig
	s := r.sim
	switch {
	case p.closed:
		return
	case p.gone:
		if s.chance(2) {
			p.hangup()
		}
		return
	}
	r.mayPanic(p)
	p.said = slices.Clone(b)
	if len(p.words) > 0 && slices.Equal(b, p.words) { // the line is given up
		r.endSession()
		p.parted = true
	} else if p.parted {
		s.fail("%s is sent %x after its last words", r.path, b)
	}
	if r.robot != nil {
		r.robot.sent(p, b)
	}
	if r.jammed || p.setting > 0 {
		p.stuck = append(p.stuck, b...)
		return
	}
	p.travel(slices.Clone(b))
}

func (p *simPort) travel(b []byte) {
	s := p.rig.sim
	p.free = max(p.free, s.now) + time.Duration(len(b)*10)*time.Second/time.Duration(p.baud)
	baud := p.baud
	s.at(p.free, func() {
		if !p.gone && !p.rig.deaf && p.baud == baud {
			p.far.Write(b)
		}
	})
}

func (p *simPort) flush() {
	b := p.stuck
	if p.setting > 0 || p.rig.jammed {
		return
	}
	p.stuck = nil
	if len(b) > 0 && !p.closed {
		p.travel(b)
	}
}

// LastWords implements devices.Port. The simulation does not end the process.
func (p *simPort) LastWords(words []byte) { p.words = words }

func (p *simPort) Buffered() int { return len(p.stuck) }
func (p *simPort) SetSpeed(baud int, done func(now time.Duration, err error)) {
	p.setting++
	p.rig.answer(func(now time.Duration) {
		p.setting--
		switch {
		case p.closed:
		case p.gone:
			done(now, unix.EIO)
		default:
			p.baud = baud
			p.far.SetSpeed(baud)
			p.flush()
			done(now, nil)
		}
	})
}
func (p *simPort) SetModemLines(bool, bool) {}
func (p *simPort) Discard() {
	for _, in := range p.inbox {
		if in.report != nil {
			in.report.damaged = true
		}
	}
	p.inbox, p.waits = nil, 0
}
func (p *simPort) Close() {
	if !p.closed {
		if p.moves && !p.gone && !p.dead {
			p.rig.sim.fail("%s is given up, and its newest command is to move", p.rig.path)
		}
		p.end()
		p.rig.sim.note("%s is closed", p.rig.path)
	}
}

// end ends the session.
func (p *simPort) end() {
	p.closed = true
	p.rig.port = nil
	p.rig.endSession()
	if p.rig.robot != nil {
		p.rig.robot.closed()
	}
	// Bytes that were written before the close still leave.
	p.rig.sim.at(p.free, p.far.Close)
}

// hangup has the loop hang up a line that was unplugged.
func (p *simPort) hangup() {
	s := p.rig.sim
	if s.depth == 0 {
		s.onLoop(func(time.Duration) { p.hangup() })
		return
	}
	if p.closed {
		return
	}
	p.end()
	s.depth++
	p.handler.Hangup(s.now, io.ErrUnexpectedEOF)
	s.depth--
}

// bring takes bytes to the driver, in pieces.
func (p *simPort) bring(b []byte, report *simReport) {
	s := p.rig.sim
	at := max(s.now, p.comes)
	for len(b) > 0 {
		n := len(b)
		if s.chance(2) {
			n = 1 + s.random.IntN(n)
		}
		in := piece{bytes: b[:n]}
		b = b[n:]
		if len(b) == 0 {
			in.report = report
		}
		at += time.Duration(n*10)*time.Second/time.Duration(p.baud) + 1
		lost := p.rig.lost != 0 && s.chance(p.rig.lost)
		if lost {
			p.rig.garbled = at
			if report != nil {
				report.damaged = true
			}
		}
		s.at(at, func() {
			if p.closed || p.gone || lost {
				return
			}
			if p.waits += len(in.bytes); p.waits > mostInput { // it is not read, and lost
				p.waits -= len(in.bytes)
				p.rig.garbled = max(s.now, s.busy)
				if report != nil {
					report.damaged = true
				}
				return
			}
			in.came = s.now
			p.inbox = append(p.inbox, in)
			s.onLoop(p.read)
		})
	}
	p.comes = at
}

func (p *simPort) read(now time.Duration) {
	if p.setting > 0 { // the loop leaves the line alone
		p.Discard()
	}
	if p.closed || len(p.inbox) == 0 {
		return
	}
	b := p.bytes[:0]
	read := p.brought[:0]
	for _, in := range p.inbox {
		b = append(b, in.bytes...)
		if rep := in.report; rep != nil && !rep.damaged && !p.dead {
			read = append(read, rep)
			rep.at, rep.session = now, p.rig.sessions
			p.rig.robot.reports = append(p.rig.robot.reports, rep)
		}
	}
	if w, ok := p.rig.hardware.(waited); ok {
		w.read(now, p.inbox[0].came)
	}
	clear(p.inbox)
	p.inbox, p.waits, p.bytes, p.brought = p.inbox[:0], 0, b, read
	p.handler.Receive(now, b)
	for _, rep := range read {
		rep.unsure = p.dead || p.closed || p.parted
	}
}

// waited is hardware that wants to know when the driver is given bytes, and since when they wait.
type waited interface {
	read(now, came time.Duration)
}
