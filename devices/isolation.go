package devices

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// This file keeps the panic of a driver from ending the server. Every call into a
// driver is made under Link.caught. After a panic the driver's state is unknown, so the
// link takes back all that the driver holds: ports, programs, other devices. Then the
// link is like one whose hardware was unplugged: clients keep their subscriptions, data
// grows old, commands are dropped, and Setup is tried again.

const (
	// mostPanics within panicPeriod switch a driver off: its next try would be as
	// useless, and each one stops the motors.
	mostPanics  = 3
	panicPeriod = time.Minute
	// parting is the time for last words to leave, and for programs to end, after a
	// panic or a shutdown that took too long. It is shorter than retry.First.
	parting = 500 * time.Millisecond
	// longestTrace bounds the stack in the log, in bytes.
	longestTrace = 1000
)

var (
	errPanicked = errors.New("its driver has panicked")
	// ErrSwitchedOff refuses a subscription. Only the caller logs it.
	ErrSwitchedOff = errors.New("its driver has panicked three times in a minute: it is off until the server is restarted")
)

// holder is what a driver holds of other drivers.
type holder interface {
	abandon(now time.Duration)
	isOff() bool // the driver cannot work any more
}

// belongings is what a driver holds, to be taken from it after a panic.
type belongings struct {
	run      int // counts panics: callbacks of earlier runs are ignored
	ports    []*heldPort
	programs []*heldProgram
	holders  []holder
	takeAt   time.Duration // when the rest is taken, zero: nothing is left
	panics   []time.Duration
	off      bool // it has panicked too often
}

// caught is deferred around every call into the driver.
func (l *Link) caught(now time.Duration) {
	if r := recover(); r != nil {
		l.crash(now, r)
	}
}

func (l *Link) callSetup(now time.Duration) {
	defer l.caught(now)
	l.driver.Setup(now, l)
}

func (l *Link) callShutdown(now time.Duration) {
	defer l.caught(now)
	l.driver.Shutdown(now)
}

func (l *Link) callTick(now time.Duration) (next time.Duration) {
	defer l.caught(now)
	return l.ticker.Tick(now)
}

func (l *Link) callAsked(now time.Duration) {
	defer l.caught(now)
	l.stepper.Asked(now)
}

func (l *Link) callCommand(now time.Duration, d *Device) {
	defer l.caught(now)
	l.commanded.Command(now, d)
}

func (l *Link) callConfigure(now time.Duration, d *Device, payload []byte) (err error) {
	err = errPanicked
	defer l.caught(now)
	err = l.configurer.Configure(now, d, payload)
	return err
}

// crash is called when the driver has panicked. It may be in the middle of a call of
// another driver, whose device it observes; so that device is given back later.
func (l *Link) crash(now time.Duration, value any) {
	l.log.Error("driver has panicked", zap.String("panic", fmt.Sprintf("%.200v", value)), zap.String("stack", trace()))
	err := errPanicked
	l.panics = slices.DeleteFunc(append(l.panics, now), func(at time.Duration) bool { return at+panicPeriod <= now })
	if len(l.panics) >= mostPanics {
		l.off, err = true, ErrSwitchedOff
	}
	l.disown(now)
	for _, d := range l.devices {
		d.ForgetCommand()
	}
	switch {
	case l.state == Stopping:
		l.Stopped(now)
	case l.state == Ready || l.lost:
		l.lose(now, err)
	case l.state == Starting:
		l.failed(now, l.log, err)
		l.idle(now)
		l.settle(now, err)
	}
	l.arm()
}

// disown ends the run of a driver that has panicked or does not stop: it is called no
// more, and what it holds is taken from it when last words have left.
func (l *Link) disown(now time.Duration) {
	l.run++
	switch {
	case len(l.holders) > 0:
		l.takeAt = now
	case len(l.ports)+len(l.programs) > 0:
		l.takeAt = now + parting
	}
	for _, p := range slices.Clone(l.ports) {
		if len(p.last) == 0 {
			p.Close()
		} else {
			p.Port.Write(p.last)
		}
	}
	for _, p := range l.programs {
		p.Signal(syscall.SIGTERM)
	}
}

// lose is called when the driver has failed while there are subscribers, who stay.
// It is set up again.
func (l *Link) lose(now time.Duration, err error) {
	l.Counts.Errors++
	l.state, l.lost, l.overdueAt, l.wake = Lost, true, 0, 0
	l.off = l.off || errors.Is(err, ErrSwitchedOff) // of a driver that it requires
	if l.off {
		l.log.Error("device is off", zap.Error(err))
	} else {
		l.overdueAt = l.retry.Failed(now, l.log, err)
	}
	l.arm()
}

// take takes what the driver held when it panicked: at first the devices of other
// drivers, and a little later what still has to leave.
func (l *Link) take(now time.Duration) {
	if len(l.holders) > 0 {
		l.takeAt = now + parting
		for _, h := range slices.Clone(l.holders) {
			h.abandon(now)
		}
	} else {
		l.takeAt = 0
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

// takeAll takes it at once: the driver is about to be set up again.
func (l *Link) takeAll(now time.Duration) {
	for l.takeAt != 0 {
		l.take(now)
	}
}

func (l *Link) hold(h holder) { l.holders = append(l.holders, h) }

func (l *Link) release(h holder) {
	l.holders = slices.DeleteFunc(l.holders, func(o holder) bool { return o == h })
}

// isOff reports whether the driver, or one that it requires, has been switched off.
func (l *Link) isOff() bool { return l.off || slices.ContainsFunc(l.holders, holder.isOff) }

// trace returns where a panic came from, innermost first.
func trace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	var b strings.Builder
	panicking := false
	for more := true; more && b.Len() < longestTrace; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			panicking = panicking || f.Function == "runtime.gopanic"
			continue
		case !panicking:
			continue
		case strings.HasPrefix(f.Function, "player/devices.(*Link).call"), strings.HasPrefix(f.Function, "player/devices.(*held"):
			more = false
		}
		fmt.Fprintf(&b, "%s %s:%d; ", path.Base(f.Function), path.Base(f.File), f.Line)
	}
	return b.String()[:min(b.Len(), longestTrace)]
}

// heldHost is the Host that a driver gets. It remembers what the driver opens.
type heldHost struct{ link *Link }

func (o heldHost) WakeAt(l *Link, at time.Duration) { o.link.host.WakeAt(l, at) }

func (o heldHost) OpenSerial(path string, baud int, h PortHandler, opened func(now time.Duration, l Line, err error)) {
	l := &heldLine{heldPort: o.link.port(h)}
	l.openedBy(func(answer func(time.Duration, Port, error)) {
		o.link.host.OpenSerial(path, baud, l, func(now time.Duration, line Line, err error) {
			l.line = line
			answer(now, line, err)
		})
	}, func(now time.Duration, err error) { opened(now, l, err) })
}

func (o heldHost) Identify(path string, done func(now time.Duration, f Finding)) {
	l, run := o.link, o.link.run
	l.host.Identify(path, func(now time.Duration, f Finding) {
		if run == l.run {
			defer l.caught(now)
			done(now, f)
		}
	})
}

func (o heldHost) OpenInput(path string, h PortHandler, opened func(now time.Duration, p Port, err error)) {
	p := o.link.port(h)
	p.openedBy(func(answer func(time.Duration, Port, error)) {
		o.link.host.OpenInput(path, p, answer)
	}, func(now time.Duration, err error) { opened(now, p, err) })
}

func (o heldHost) Dial(address string, h PortHandler) (Port, error) {
	p := o.link.port(h)
	port, err := o.link.host.Dial(address, p)
	return p.opened(port, err)
}

func (o heldHost) StartProgram(exited func(now time.Duration, err error), name string, args ...string) (Program, error) {
	p := &heldProgram{link: o.link, run: o.link.run, exited: exited}
	program, err := o.link.host.StartProgram(p.ended, name, args...)
	if err != nil {
		return nil, err
	}
	return p.started(program), nil
}

func (o heldHost) StartPlugin(stdout, stderr PortHandler, exited func(now time.Duration, err error), name string, args ...string) (Program, Port, error) {
	p, stdin := &heldProgram{link: o.link, run: o.link.run, exited: exited}, o.link.port(nil)
	program, port, err := o.link.host.StartPlugin(o.link.port(stdout), o.link.port(stderr), p.ended, name, args...)
	if err != nil {
		return nil, nil, err
	}
	in, _ := stdin.opened(port, nil)
	return p.started(program), in, nil
}

// heldPort is a port of a driver, and its handler.
type heldPort struct {
	Port
	link    *Link
	run     int
	handler PortHandler
	last    []byte // words
}

func (l *Link) port(h PortHandler) *heldPort { return &heldPort{link: l, run: l.run, handler: h} }

func (p *heldPort) opened(port Port, err error) (Port, error) {
	if err != nil {
		return nil, err
	}
	p.Port = port
	p.link.ports = append(p.link.ports, p)
	return p, nil
}

// openedBy has open open the port, and passes its answer on to the driver. By then the link
// may have stopped or begun anew, or its driver may have panicked: such a port is closed.
func (p *heldPort) openedBy(open func(answer func(time.Duration, Port, error)), opened func(now time.Duration, err error)) {
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
			p.call(now, func() { opened(now, err) })
		}
	})
}

// call calls the driver, unless it has panicked since it asked for the port.
func (p *heldPort) call(now time.Duration, fn func()) {
	if p.run == p.link.run {
		defer p.link.caught(now)
		fn()
	}
}

func (p *heldPort) forget() {
	p.link.ports = slices.DeleteFunc(p.link.ports, func(o *heldPort) bool { return o == p })
}

// Receive implements PortHandler.
func (p *heldPort) Receive(now time.Duration, b []byte) {
	p.call(now, func() { p.handler.Receive(now, b) })
}

// Hangup implements PortHandler.
func (p *heldPort) Hangup(now time.Duration, err error) {
	p.forget()
	p.call(now, func() { p.handler.Hangup(now, err) })
}

// LastWords implements Port.
func (p *heldPort) LastWords(b []byte) {
	p.last = slices.Clone(b)
	p.Port.LastWords(b)
}

// Close implements Port.
func (p *heldPort) Close() {
	p.forget()
	p.Port.Close()
}

// heldLine is a serial line of a driver, and its handler.
type heldLine struct {
	*heldPort
	line Line
}

// SetSpeed implements Line.
func (l *heldLine) SetSpeed(baud int, done func(now time.Duration, err error)) {
	l.line.SetSpeed(baud, func(now time.Duration, err error) { l.call(now, func() { done(now, err) }) })
}

// SetModemLines implements Line.
func (l *heldLine) SetModemLines(dtr, rts bool) { l.line.SetModemLines(dtr, rts) }

// Discard implements Line.
func (l *heldLine) Discard() { l.line.Discard() }

// heldProgram is a program that a driver has started.
type heldProgram struct {
	Program
	link   *Link
	run    int
	exited func(now time.Duration, err error)
}

func (p *heldProgram) started(program Program) Program {
	p.Program = program
	p.link.programs = append(p.link.programs, p)
	return p
}

func (p *heldProgram) ended(now time.Duration, err error) {
	p.link.programs = slices.DeleteFunc(p.link.programs, func(o *heldProgram) bool { return o == p })
	if p.run == p.link.run {
		defer p.link.caught(now)
		p.exited(now, err)
	}
}
