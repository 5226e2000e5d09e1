package hub

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"player/codec"
)

// simRobot is the server of a robot that obeys the newest command to its wheels, until the connection that
// has sent it closes, or the lifetime of its commands ends (PROTOCOL 5.4, 5.5).
type simRobot struct {
	sim    *sim
	down   bool
	links  []*link
	cuts   map[*process]int
	driver *link // whose command is obeyed; nil: it stands
	value  int
	setup  time.Duration // of its hardware, at least
}

// link is a connection of a bridge to the robot.
type link struct {
	robot    *simRobot
	owner    *process
	gone     bool // the robot's end is closed
	closed   bool // the bridge's end is
	failed   bool // the bridge knows that the robot's end is closed
	up, down way
	waiting  []func(error)
	lifetime time.Duration
	heard    time.Duration // when the newest command was sent or begun anew
	beats    int           // counts that
}

var errNoRobot = errors.New("the robot does not answer")

func newSimRobot(s *sim) *simRobot { return &simRobot{sim: s, cuts: map[*process]int{}} }

func (p *process) drive(ctx context.Context, _ Robot) (driving, error) {
	r := p.sim.robot
	l := &link{robot: r, owner: p}
	err := p.await(ctx, "dial", func(end func(error)) error {
		if r.down {
			return errNoRobot
		}
		p.later("dial", dialLimit, func() { end(context.DeadlineExceeded) })
		r.links = append(r.links, l)
		l.round(0, func() {}, end)
		return nil
	})
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// pass carries something to the robot, in order.
func (l *link) pass(do func()) {
	l.carry(&l.up, func() {
		if !l.gone {
			do()
		}
	})
}

// back carries something to the bridge, in order.
func (l *link) back(do func()) {
	l.carry(&l.down, func() { l.robot.sim.take(l.owner, do) })
}

func (l *link) carry(w *way, do func()) {
	s := l.robot.sim
	delay := s.delay(l.owner.name+"robot", 100*time.Microsecond, 3*time.Millisecond)
	w.last = max(w.last, s.now+delay)
	s.at(w.last, nil, func() {
		if l.robot.cuts[l.owner] > 0 {
			w.stuck = append(w.stuck, do)
		} else {
			do()
		}
	})
}

// round has the robot do something, and the bridge hear of it.
func (l *link) round(setup time.Duration, do func(), end func(error)) {
	l.waiting = append(l.waiting, end)
	l.pass(func() {
		l.robot.sim.after(setup, nil, func() {
			if !l.gone {
				do()
				l.back(func() { end(nil) })
			}
		})
	})
}

// cutOff holds all between a bridge and the robot.
func (r *simRobot) cutOff(p *process, d time.Duration) {
	s := r.sim
	s.say("%s is cut off from the robot for %v", p.name, d)
	r.cuts[p]++
	s.after(d, nil, func() {
		if r.cuts[p]--; r.cuts[p] > 0 {
			return
		}
		s.say("%s reaches the robot again", p.name)
		p.disturbed = s.now
		for _, l := range r.links {
			if l.owner != p {
				continue
			}
			for _, w := range []*way{&l.up, &l.down} {
				stuck := w.stuck
				w.stuck = nil
				for _, do := range stuck {
					l.carry(w, do)
				}
			}
		}
	})
}

// restart ends the robot's server, and starts it again.
func (r *simRobot) restart(d time.Duration) {
	s := r.sim
	if r.down {
		return
	}
	s.say("the robot's server ends, for %v", d)
	r.down = true
	for _, l := range r.links {
		if !l.gone {
			l.fin()
			l.back(l.fail)
		}
	}
	s.after(d, nil, func() { r.down = false })
}

// leave closes the connections of a process that has ended.
func (r *simRobot) leave(p *process) {
	for _, l := range r.links {
		if l.owner == p {
			l.pass(l.fin)
		}
	}
}

// fin is the end of a connection at the robot.
func (l *link) fin() {
	l.gone = true
	if l.robot.driver == l {
		l.robot.stand("its connection has ended")
	}
}

// fail is when the bridge hears of that.
func (l *link) fail() {
	l.failed = true
	for _, end := range l.waiting {
		end(io.EOF)
	}
}

func (r *simRobot) stand(why string) {
	r.sim.say("the robot stands: %s", why)
	r.driver, r.value = nil, 0
	r.sim.summary.Stops++
}

// live begins the lifetime of the newest command anew.
func (l *link) live() {
	l.beats++
	beat, s := l.beats, l.robot.sim
	l.heard = s.now
	if l.lifetime > 0 {
		s.after(l.lifetime, nil, func() {
			if l.robot.driver == l && l.beats == beat {
				l.robot.stand("the lifetime of the command has ended")
			}
		})
	}
}

func (l *link) Request(ctx context.Context, _ string) error {
	s := l.robot.sim
	return l.owner.await(ctx, "request", func(end func(error)) error {
		setup := s.delay(l.owner.name+"setup", 0, 300*time.Millisecond)
		if !s.calm && s.chance(l.owner.name+"slow") < 0.05 {
			setup *= 10
		}
		l.round(max(setup, l.robot.setup), func() {}, end)
		return nil
	})
}

// Open is Request: the simulated robot has one device.
func (l *link) Open(ctx context.Context, name string, _ byte, _ interface{ Decode([]byte) error }) (byte, error) {
	return codec.Position, l.Request(ctx, name)
}

func (l *link) SetCommandLifetime(d time.Duration) (err error) {
	l.robot.sim.lock(func() {
		if err = l.broken(); err == nil {
			l.pass(func() {
				l.lifetime = d
				l.live()
			})
		}
	})
	return err
}

// broken returns the kernel's error for a process that writes.
func (l *link) broken() error {
	switch {
	case l.owner.zombie:
		return errZombie
	case l.failed || l.closed:
		return io.ErrClosedPipe
	}
	return nil
}

func (l *link) Command(_ byte, payload []byte) (err error) {
	l.robot.sim.lock(func() {
		if err = l.broken(); err != nil {
			return
		}
		value := int(binary.BigEndian.Uint32(payload))
		l.robot.sim.judge.wrote(l, value)
		l.pass(func() {
			l.robot.driver, l.robot.value = l, value
			l.live()
			l.robot.sim.judge.obeyed(l, value)
		})
	})
	return err
}

func (l *link) Ask(ctx context.Context, _ byte) ([]string, error) {
	return nil, l.owner.await(ctx, "question", func(end func(error)) error {
		if err := l.broken(); err != nil {
			return err
		}
		l.round(0, func() {}, end)
		return nil
	})
}

func (l *link) Close() error {
	l.robot.sim.lock(func() {
		if !l.closed {
			l.closed = true
			l.pass(l.fin)
		}
	})
	return nil
}
