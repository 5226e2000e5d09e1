package server

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
)

// hardware is the machine at the end of a serial line: simulated here, or emulated (simulation_hardware_test.go).
type hardware interface {
	// open is called when a host opens the line.
	open(p *simPort) (far, error)
	// power switches it off or on. Without power it neither hears nor sends, and its wheels do not turn.
	power(on bool)
	// befall has it make trouble of its own kind for so long. It reports whether it knows any.
	befall(lasts time.Duration) bool
}

// far is the far end of an open line.
type far interface {
	Write(b []byte)
	SetSpeed(baud int)
	Close()
}

// rig is a driver, its serial line and the hardware at the end of it, and how the three fail. It judges
// whether the driver comes back, and whether its panics are isolated.
type rig struct {
	sim      *sim
	path     string
	link     *devices.Link
	hardware hardware
	robot    *simRobot // whose wheels these are; nil: they are no wheels
	index    int       // of the robot that it is a part of
	fails    kind      // the event of its faults

	// The line.
	port     *simPort
	last     *simPort // that was opened
	sessions int
	plugged  bool
	jammed   bool            // it takes no bytes
	mute     bool            // the hardware sends nothing
	asleep   func() bool     // nil: the hardware never sleeps
	deaf     bool            // bytes that it is sent are lost
	damage   int             // one packet in that many has a wrong checksum; zero: none
	lost     int             // one piece of a packet in that many is lost; zero: none
	fault    time.Duration   // when something of this changed last
	garbled  time.Duration   // when bytes were lost last
	faults   int             // under way
	calm     bool            // no fault happens to it
	starts   []time.Duration // of the link
	answers  time.Duration   // when its adapter has answered to all that it was asked
	asked    int             // questions that it has not answered

	// Its driver.
	fuse     int             // how often it will panic
	panicked time.Duration   // the last time
	panics   []time.Duration // of the last minute
	crashed  bool            // since the last time that the link worked or was off
	missing  time.Duration   // since when it does neither, though the hardware is well
	off      bool            // it has panicked too often
}

// renew has the rig have the link of a new driver.
func (r *rig) renew(link *devices.Link) {
	r.link, r.crashed, r.off, r.missing, r.panics, r.fuse = link, false, false, 0, nil, 0
}

// intended is the value of the panics of the simulation.
const intended = "a panic that the simulation wants"

// mayPanic is called whenever the driver runs, with the port in use.
func (r *rig) mayPanic(p *simPort) {
	s := r.sim
	switch {
	case r.panicked == s.now: // the write of the last words after a panic is no call of the driver
		return
	case r.off:
		s.fail("%s: its driver is called, and it has been switched off", r.path)
	case r.fuse == 0 || s.chance(2):
		return
	}
	r.fuse--
	r.fault, r.panicked, r.crashed = s.now, s.now, true
	s.note("%s: its driver panics", r.path)
	s.summary.Panics++
	r.panics = append(slices.DeleteFunc(r.panics, func(at time.Duration) bool { return at+time.Minute <= s.now }), s.now)
	if r.off = len(r.panics) >= 3; r.off {
		s.note("%s: its driver is switched off", r.path)
		s.summary.Off++
	}
	r.endSession()
	if p = cmp.Or(p, r.port); p != nil {
		words := p.words
		p.said, p.dead = nil, true
		s.after(10*time.Millisecond, func() { // timers may have run
			switch {
			case p.gone:
			case len(words) > 0 && !slices.Equal(p.said, words), len(words) == 0 && !p.closed:
				s.fail("%s: its driver has panicked, and its motors are not stopped: %x", r.path, p.said)
			case len(words) > 0 && p.closed && r.link.State() == devices.Lost:
				s.fail("%s: its driver has panicked, and its port is closed before the last words have left", r.path)
			}
		})
		s.at(max(s.now, s.busy)+900*time.Millisecond, func() { // the loop may be delayed
			if !p.closed && !p.gone && s.awake(900*time.Millisecond) {
				s.fail("%s: its driver has panicked, and its port is open", r.path)
			}
		})
	}
	panic(intended)
}

// endSession is called when the input of the hardware is not known any more.
func (r *rig) endSession() {
	if r.robot != nil {
		r.robot.history.end(r.sim, r.sim.now)
	}
}

// fragile is a driver that panics now and then, at the beginning or at the end of a
// call; the ports that it uses do so in the middle.
type fragile struct {
	devices.Driver
	devices.Ticker
	rig *rig
}

// call calls the driver.
func (d *fragile) call(fn func()) {
	d.rig.mayPanic(nil)
	fn()
	d.rig.mayPanic(nil)
}

func (d *fragile) Setup(now time.Duration, link *devices.Link) {
	d.call(func() { d.Driver.Setup(now, link) })
}

func (d *fragile) Shutdown(now time.Duration) { d.call(func() { d.Driver.Shutdown(now) }) }

func (d *fragile) Tick(now time.Duration) (next time.Duration) {
	d.call(func() { next = d.Ticker.Tick(now) })
	return next
}

// fragileBase is a fragile driver of a robot with wheels.
type fragileBase struct {
	fragile
	devices.Commanded
	devices.Configurer
	devices.Motored
}

// fragilePioneer is a fragile driver of a Pioneer.
type fragilePioneer struct {
	fragileBase
	devices.Surveyed
	devices.Charged
}

// fragileScanner is a fragile driver of a scanner that knows its geometry.
type fragileScanner struct {
	fragile
	devices.Surveyed
}

func (d *fragileBase) Command(now time.Duration, device *devices.Device) {
	d.call(func() { d.Commanded.Command(now, device) })
}

func (d *fragileBase) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	d.rig.mayPanic(nil)
	return d.Configurer.Configure(now, device, payload)
}

// fragile makes a driver of the rig fragile, with the optional interfaces that it has.
func (r *rig) fragile(d devices.Driver) devices.Driver {
	f := fragile{d, d.(devices.Ticker), r}
	if commanded, moves := d.(devices.Commanded); moves {
		base := fragileBase{f, commanded, d.(devices.Configurer), d.(devices.Motored)}
		if charged, ok := d.(devices.Charged); ok {
			return &fragilePioneer{base, d.(devices.Surveyed), charged}
		}
		return &base
	}
	return &fragileScanner{f, d.(devices.Surveyed)}
}

// watchDriver is called once a second.
func (r *rig) watchDriver() {
	s := r.sim
	switch state := r.link.State(); {
	case state != devices.Lost && state != devices.Starting && state != devices.Stopping: // also between two tries
		r.crashed, r.missing = false, 0
	case r.off || !r.healthy() || r.missing == 0 || !s.awake(0): // fault knows no pauses of robots that were gone
		r.missing = s.now
	case s.now-r.missing > 15*time.Second:
		s.fail("%s is well since %v, and it is %v", r.path, r.missing, state)
	}
}

// healthy reports whether a setup must succeed.
func (r *rig) healthy() bool {
	return r.faults == 0 && !r.off && r.sim.now-r.fault > 15*time.Second && (r.asleep == nil || !r.asleep())
}

func (r *rig) faulty(format string, args ...any) {
	r.fault = max(r.fault, r.sim.now)
	r.faults++
	r.sim.note(r.path+": "+format, args...)
}

func (r *rig) mended() {
	r.fault = max(r.fault, r.sim.now)
	r.faults--
	r.sim.note("%s is well again", r.path)
}

// misfortune lets a fault happen, and later another one.
func (r *rig) misfortune() {
	s := r.sim
	lasts := s.wait(3 * time.Second)
	over := func() {}
	switch s.random.IntN(9) {
	case 0:
		r.faulty("it is unplugged for %v", lasts)
		r.plugged = false
		if p := r.port; p != nil {
			s.summary.Losses++
			p.gone = true
			p.far.Close()
			s.after(s.between(0, 50*time.Millisecond), p.hangup)
		}
		over = func() { r.plugged = true }
	case 1:
		r.faulty("it is switched off for %v", lasts)
		s.summary.Losses++
		r.mute, r.jammed = true, false
		r.hardware.power(false)
		over = func() {
			r.mute = false
			r.hardware.power(true)
		}
	case 2:
		r.faulty("it sends nothing for %v", lasts)
		r.mute = true
		over = func() { r.mute = false }
		moves := r.port != nil && r.port.moves
		if r.robot != nil && (moves || s.chance(2)) { // a robot that drives and is not heard must be stopped
			s.after(s.between(0, 1500*time.Millisecond), func() {
				if !s.closing {
					r.robot.visitor(func() {})
				}
			})
		}
	case 3:
		r.faulty("its line takes nothing for %v", lasts)
		r.jammed = true
		over = func() {
			r.jammed = false
			if r.port != nil {
				r.port.flush()
			}
			if r.robot != nil {
				r.robot.history.jammed()
				r.robot.expectStop()
			}
		}
	case 4:
		r.faulty("every other packet of it is damaged for %v", lasts)
		r.damage = 2
		over = func() { r.damage = 0 }
	case 5:
		r.faulty("it loses bytes for %v", lasts)
		r.lost = 4
		over = func() { r.lost = 0 }
	case 6:
		r.faulty("junk on its line")
		if p := r.port; p != nil {
			p.bring(s.junk(1+s.random.IntN(300)), nil)
			r.garbled = s.now + 400*time.Millisecond // it breaks into packets
		}
	case 7:
		r.faulty("its driver will panic, for %v at most", lasts)
		r.fuse = 1 + s.random.IntN(3)
		over = func() { r.fuse = 0 }
	case 8:
		r.faulty("trouble of its own for %v", lasts)
		if !r.hardware.befall(lasts) {
			r.deaf = true
			over = func() { r.deaf = false }
		}
	}
	s.after(lasts, func() {
		over()
		r.mended()
		r.nextFault()
	})
}

// nextFault lets a fault happen some time later.
func (r *rig) nextFault() { r.sim.later(r.fails, r.index, 25*time.Second) }

// send brings the driver a packet of the hardware.
func (r *rig) send(b []byte, report *simReport) {
	if r.mute || r.port == nil || r.port.gone {
		return
	}
	if r.damage != 0 && r.sim.chance(r.damage) {
		b = slices.Clone(b)
		b[len(b)-1] ^= 0x11
		if report != nil {
			report.damaged = true
		}
	}
	r.port.bring(b, report)
}

// junk is bytes that begin no packet of a Pioneer.
func (s *sim) junk(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.random.IntN(0xFA))
	}
	return b
}

// answer has the adapter of the line carry out a request: at once, or some time later, after all earlier
// requests.
func (r *rig) answer(fn func(now time.Duration)) {
	s := r.sim
	if s.now >= r.answers && s.chance(2) && r.asked == 0 {
		fn(s.now)
		return
	}
	r.answers = max(s.now, r.answers) + s.between(1, slowAnswer)
	r.asked++
	s.at(r.answers, func() {
		s.onLoop(func(now time.Duration) {
			r.asked--
			fn(now)
		})
	})
}

// startsUntil returns how often the hardware was started until a moment.
func (r *rig) startsUntil(at time.Duration) int {
	n, _ := slices.BinarySearch(r.starts, at+1)
	return n
}

// slowAnswer is how long adapters take at most.
const slowAnswer = 20 * time.Millisecond

// open is the server's open(2) of the serial line.
func (r *rig) open(baud int, handler devices.PortHandler) (*simPort, error) {
	s := r.sim
	if !r.plugged {
		return nil, fmt.Errorf("%s: %w", r.path, unix.ENOENT)
	}
	if r.port != nil {
		s.fail("%s is opened twice", r.path)
	}
	if r.link.State() == devices.Starting && !r.crashed { // else it is not started anew
		r.starts = append(r.starts, s.now)
	}
	if r.last != nil {
		r.last.far.Close()
	}
	r.sessions++
	p := &simPort{rig: r, handler: handler, baud: baud, opened: s.now, greets: true}
	var err error
	if p.far, err = r.hardware.open(p); err != nil {
		s.fail("%s: %v", r.path, err)
	}
	r.port, r.last = p, p
	if r.robot != nil {
		r.robot.history.begin()
	}
	s.note("%s is opened, %d baud", r.path, baud)
	return p, nil
}
