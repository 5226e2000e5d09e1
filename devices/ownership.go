package devices

import (
	"slices"
	"syscall"
	"time"
)

// A link remembers the property of its driver: ports, programs, and open devices of other drivers. It reclaims
// them from a driver that has panicked or does not stop.

// dependency is devices of other drivers that a driver has open: its Required or its Optional.
type dependency interface {
	abandon(now time.Duration) // closes the devices in place of the driver
	isSwitchedOff() bool       // the driver needs a device whose driver is switched off
}

// belongings is the property of a driver, and its record of panics.
type belongings struct {
	run          int // counts panics: callbacks of earlier runs are ignored
	ports        []*isolatedPort
	programs     []*isolatedProgram
	dependencies []dependency
	reclaimAt    time.Duration // when reclaim is due, zero: there is nothing to reclaim
	panics       []time.Duration
	switchedOff  bool // it has panicked too often
}

// disown ends the run of a driver that has panicked or does not stop. The driver is not called any more,
// and reclaim takes its belongings after the last words were sent.
func (l *Link) disown(now time.Duration) {
	l.run++
	switch {
	case len(l.dependencies) > 0:
		l.reclaimAt = now
	case len(l.ports)+len(l.programs) > 0:
		l.reclaimAt = now + parting
	}
	for _, p := range slices.Clone(l.ports) {
		if len(p.lastWords) == 0 {
			p.Close()
		} else {
			p.Port.Write(p.lastWords)
		}
	}
	for _, p := range l.programs {
		p.Signal(syscall.SIGTERM)
	}
}

// reclaim takes the property that the driver had when it panicked. The first call closes the devices of other
// drivers. The next one, later by parting, closes the ports and kills the programs.
func (l *Link) reclaim(now time.Duration) {
	if len(l.dependencies) > 0 {
		l.reclaimAt = now + parting
		for _, h := range slices.Clone(l.dependencies) {
			h.abandon(now)
		}
	} else {
		l.reclaimAt = 0
		for _, p := range slices.Clone(l.ports) {
			if p.run != l.run {
				p.Close()
			}
		}
		for _, p := range l.programs {
			if p.run != l.run {
				p.Signal(syscall.SIGKILL)
			}
		}
	}
}

// reclaimAll reclaims everything at once: the driver is about to be set up again.
func (l *Link) reclaimAll(now time.Duration) {
	for l.reclaimAt != 0 {
		l.reclaim(now)
	}
}

func (l *Link) addDependency(h dependency) { l.dependencies = append(l.dependencies, h) }

func (l *Link) removeDependency(h dependency) {
	l.dependencies = slices.DeleteFunc(l.dependencies, func(o dependency) bool { return o == h })
}

// isolatedHost is the Host that a driver gets. It remembers the ports and programs that the driver opens.
type isolatedHost struct{ link *Link }

func (o isolatedHost) WakeAt(l *Link, at time.Duration) { o.link.host.WakeAt(l, at) }

func (o isolatedHost) OpenSerial(path string, baud int, h PortHandler, opened func(now time.Duration, l Line, err error)) {
	l := &isolatedLine{isolatedPort: o.link.port(h)}
	l.openedBy(func(answer func(time.Duration, Port, error)) {
		o.link.host.OpenSerial(path, baud, l, func(now time.Duration, line Line, err error) {
			l.line = line
			answer(now, line, err)
		})
	}, func(now time.Duration, err error) { opened(now, l, err) })
}

func (o isolatedHost) Identify(path string, done func(now time.Duration, f Finding)) {
	l, run := o.link, o.link.run
	l.host.Identify(path, func(now time.Duration, f Finding) {
		l.call(now, run, func() { done(now, f) })
	})
}

func (o isolatedHost) OpenInput(path string, h PortHandler, opened func(now time.Duration, p Port, err error)) {
	p := o.link.port(h)
	p.openedBy(func(answer func(time.Duration, Port, error)) {
		o.link.host.OpenInput(path, p, answer)
	}, func(now time.Duration, err error) { opened(now, p, err) })
}

func (o isolatedHost) Dial(address string, h PortHandler) (Port, error) {
	p := o.link.port(h)
	port, err := o.link.host.Dial(address, p)
	return p.opened(port, err)
}

func (o isolatedHost) StartProgram(exited func(now time.Duration, err error), name string, args ...string) (Program, error) {
	p := &isolatedProgram{link: o.link, run: o.link.run, exited: exited}
	program, err := o.link.host.StartProgram(p.ended, name, args...)
	if err != nil {
		return nil, err
	}
	return p.started(program), nil
}

func (o isolatedHost) StartPlugin(stdout, stderr PortHandler, exited func(now time.Duration, err error), name string, args ...string) (Program, Port, error) {
	p, stdin := &isolatedProgram{link: o.link, run: o.link.run, exited: exited}, o.link.port(nil)
	program, port, err := o.link.host.StartPlugin(o.link.port(stdout), o.link.port(stderr), p.ended, name, args...)
	if err != nil {
		return nil, nil, err
	}
	in, _ := stdin.opened(port, nil)
	return p.started(program), in, nil
}

// isolatedPort is a port of a driver, with the driver's handler.
type isolatedPort struct {
	Port
	link      *Link
	run       int
	handler   PortHandler
	lastWords []byte // words
}

func (l *Link) port(h PortHandler) *isolatedPort {
	return &isolatedPort{link: l, run: l.run, handler: h}
}

func (p *isolatedPort) opened(port Port, err error) (Port, error) {
	if err != nil {
		return nil, err
	}
	p.Port = port
	p.link.ports = append(p.link.ports, p)
	return p, nil
}

// openedBy opens the port by open, and gives the answer to the driver by opened. If the link has stopped
// or begun anew by then, or its driver has panicked, the port is closed, and opened is not called.
func (p *isolatedPort) openedBy(open func(answer func(time.Duration, Port, error)), opened func(now time.Duration, err error)) {
	l, setup := p.link, p.link.Counts.Setups
	open(func(now time.Duration, port Port, err error) {
		wanted := p.run == l.run && setup == l.Counts.Setups && l.state != Idle && l.state != Lost
		switch {
		case err == nil && !wanted:
			port.Close()
			return
		case err == nil:
			_, _ = p.opened(port, nil)
		}
		if wanted {
			l.call(now, p.run, func() { opened(now, err) })
		}
	})
}

func (p *isolatedPort) forget() {
	p.link.ports = slices.DeleteFunc(p.link.ports, func(o *isolatedPort) bool { return o == p })
}

func (p *isolatedPort) Receive(now time.Duration, b []byte) {
	p.link.call(now, p.run, func() { p.handler.Receive(now, b) })
}

func (p *isolatedPort) Hangup(now time.Duration, err error) {
	p.forget()
	p.link.call(now, p.run, func() { p.handler.Hangup(now, err) })
}

func (p *isolatedPort) LastWords(b []byte) {
	p.lastWords = slices.Clone(b)
	p.Port.LastWords(b)
}

func (p *isolatedPort) Close() {
	p.forget()
	p.Port.Close()
}

// isolatedLine is a serial line of a driver, with the driver's handler.
type isolatedLine struct {
	*isolatedPort
	line Line
}

func (l *isolatedLine) SetSpeed(baud int, done func(now time.Duration, err error)) {
	l.line.SetSpeed(baud, func(now time.Duration, err error) {
		l.link.call(now, l.run, func() { done(now, err) })
	})
}

func (l *isolatedLine) SetModemLines(dtr, rts bool) { l.line.SetModemLines(dtr, rts) }

func (l *isolatedLine) Discard() { l.line.Discard() }

// isolatedProgram is a program that a driver has started.
type isolatedProgram struct {
	Program
	link   *Link
	run    int
	exited func(now time.Duration, err error)
}

func (p *isolatedProgram) started(program Program) Program {
	p.Program = program
	p.link.programs = append(p.link.programs, p)
	return p
}

func (p *isolatedProgram) ended(now time.Duration, err error) {
	p.link.programs = slices.DeleteFunc(p.link.programs, func(o *isolatedProgram) bool { return o == p })
	p.link.call(now, p.run, func() { p.exited(now, err) })
}
