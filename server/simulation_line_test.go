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
	robot   *simRobot
	handler devices.PortHandler
	baud    int
	opened  time.Duration
	stuck   []byte // taken by the driver's end and not by the line
	free    time.Duration
	gone    bool // it was unplugged
	closed  bool
	inbox   []piece
	waits   int    // bytes in inbox
	setting int    // changes of speed that are under way
	dead    bool   // its driver has panicked
	words   []byte // the last ones that the driver has handed over
	said    []byte // the newest packets
	parted  bool   // with the last words
	moves   bool   // the newest command is to move
	newest  *op    // the newest velocities
}

// mostInput is how many bytes of a serial line the kernel keeps.
const mostInput = 4095

// piece is some bytes of the robot, and the packet that they end.
type piece struct {
	bytes  []byte
	report *simReport
}

func (p *simPort) Write(b []byte) {
	r := p.robot
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
	if slices.Equal(b, p.words) { // the line is given up
		r.history.end(s, s.now)
		p.parted = true
	} else if p.parted {
		s.fail("%s is sent %x after its last words", r.path, b)
	}
	for rest := b; len(rest) > 0; {
		body, size := p2Packet(rest)
		if body == nil {
			s.fail("%s is sent %x, which is no packet", r.path, rest)
		}
		if o := velocities(body, rest[size:]); o != nil {
			o.call, o.ret = s.now, s.now
			p.newest = o
			p.moves = o.left != 0 || o.right != 0
			r.checkMotion(o)
		}
		if body[0] == 4 {
			r.powered = s.now
		}
		if body[0] == 2 || body[0] == 29 { // CLOSE, STOP
			p.moves = false
		}
		r.history.observe(s, p, body, rest[size:])
		rest = rest[size:]
	}
	if r.jammed || p.setting > 0 {
		p.stuck = append(p.stuck, b...)
		return
	}
	p.travel(slices.Clone(b))
}

func (p *simPort) travel(b []byte) {
	s := p.robot.sim
	p.free = max(p.free, s.now) + time.Duration(len(b)*10)*time.Second/time.Duration(p.baud)
	baud := p.baud
	s.at(p.free, func() {
		if r := p.robot; !p.gone && !r.deaf && r.baud == baud {
			r.receive(b)
		}
	})
}

func (p *simPort) flush() {
	b := p.stuck
	if p.setting > 0 || p.robot.jammed {
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
	p.robot.answer(func(now time.Duration) {
		p.setting--
		switch {
		case p.closed:
		case p.gone:
			done(now, unix.EIO)
		default:
			p.baud = baud
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
			p.robot.sim.fail("%s is given up, and its newest command is to move", p.robot.path)
		}
		p.closed = true
		p.robot.port = nil
		p.robot.history.end(p.robot.sim, p.robot.sim.now)
		p.robot.sim.note("%s is closed", p.robot.path)
	}
}

// hangup has the loop hang up a line that was unplugged.
func (p *simPort) hangup() {
	s := p.robot.sim
	if s.depth == 0 {
		s.onLoop(func(time.Duration) { p.hangup() })
		return
	}
	if p.closed {
		return
	}
	p.closed = true
	p.robot.port = nil
	p.robot.history.end(s, s.now)
	s.depth++
	p.handler.Hangup(s.now, io.ErrUnexpectedEOF)
	s.depth--
}

// bring takes bytes to the driver, in pieces.
func (p *simPort) bring(b []byte, report *simReport) {
	s := p.robot.sim
	if p.baud != p.robot.baud {
		b = s.junk(len(b))
		if report != nil {
			report.damaged = true
		}
	}
	at := s.now
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
		lost := p.robot.lost != 0 && s.chance(p.robot.lost)
		if lost {
			p.robot.garbled = at
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
				p.robot.garbled = max(s.now, s.busy)
				if report != nil {
					report.damaged = true
				}
				return
			}
			p.inbox = append(p.inbox, in)
			s.onLoop(p.read)
		})
	}
}

func (p *simPort) read(now time.Duration) {
	if p.setting > 0 { // the loop leaves the line alone
		p.Discard()
	}
	if p.closed || len(p.inbox) == 0 {
		return
	}
	var b []byte
	var read []*simReport
	for _, in := range p.inbox {
		b = append(b, in.bytes...)
		if rep := in.report; rep != nil && !rep.damaged && !p.dead {
			read = append(read, rep)
			rep.at, rep.session = now, p.robot.sessions
			p.robot.reports = append(p.robot.reports, rep)
		}
	}
	p.inbox, p.waits = nil, 0
	p.handler.Receive(now, b)
	for _, rep := range read {
		rep.unsure = p.dead || p.closed || p.parted
	}
}
