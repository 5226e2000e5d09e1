package server

import (
	"fmt"
	"slices"
	"time"

	"player/devices"
	"player/timers"
)

const (
	// stopTime is the promise of 5.4 and 9.1, and the time that a slow line and a delayed
	// loop add to it.
	stopTime = 2*time.Second + 400*time.Millisecond
	// silenceTime is how long the driver commands a robot whose bytes are lost (transport: silence), with the time that the
	// loop and the line add.
	silenceTime = 2500 * time.Millisecond
	// backTime is how long after a fault the driver may need to reach a robot again: the longest pause between two
	// tries (retry.Last), and a handshake.
	backTime = 15 * time.Second
)

// simRobot is a robot with wheels: their rig, a scanner and the clients. It judges that the wheels are driven
// only by clients that may, and that the clients get the robot's reports.
type simRobot struct {
	rig
	base base
	tick *timers.Timer

	scanner  scanner
	front    int           // the kind of driver in front of the wheels
	lease    time.Duration // of a command to the wheels, zero: for ever
	reflexes bool          // in front of the wheels, or a pilot
	pilot    bool          // in front of the wheels

	powered   time.Duration // when the motors got power or lost it, or the driver has sent that they should
	reports   []*simReport  // that the driver was given whole, oldest first
	unpowered bool          // a client has switched the motors off, perhaps
	left      bool          // the driver has given up a line that was not well, and the wheels turned

	// The clients that may drive.
	writers   int
	lastLost  time.Duration // when the last writer was lost
	ended     time.Duration // when the newest of its clients has ended
	mustStop  bool          // a stop is to be seen
	commanded time.Duration // when a command came last
	history   history
	stops     []*stopOp      // emergency stops and releases
	keeps     bool           // the commander keeps control (8.6)
	gone      bool           // it is not in the configuration
	away      *stopOp        // stands for the time in which it is gone: it is not stopped
	next      *devices.Table // of the reload that is under way
	driver    *simClient
	claimed   time.Duration // driver has claimed control then, or later
}

// base is hardware with wheels, and the facts about it that its judge needs.
type base interface {
	hardware
	// driver returns a new driver.
	driver() (devices.Kind, devices.Driver)
	// letters returns the letters of the driver's devices.
	letters() string
	// turns reports whether the wheels turn.
	turns() bool
	// watchdog is how long the wheels turn after the last packet of the driver, until they stand. Zero: for ever.
	watchdog() time.Duration
	// brakes is how long they turn after the driver has stopped them.
	brakes() time.Duration
	// motions returns the motions that bytes of the driver command.
	motions(p *simPort, b []byte) []*op
	// forgets reports whether the driver forgets its command when its motors are switched.
	forgets() bool
	// matches reports whether data is of a report; late: which was delayed.
	matches(rep *simReport, letter byte, p []byte, late bool) bool
	// shown judges the pose in data of a report, which matches.
	shown(c *simClient, rep *simReport, p []byte)
	// motors reports whether the motors have power, if that is known.
	motors() (on, known bool)
	// charge is the state of the charger in a report, empty if it is unknown.
	charge(rep *simReport) string
}

// simReport is one packet of the robot's state.
type simReport struct {
	seq     int
	session int // of the line
	at      time.Duration
	speed   int
	damaged bool // or a part of it was lost
	sent    span // when the emulated hardware has sent it
	unsure  bool // the driver has panicked over it, or given up its line
}

func (s *sim) newRobot(index int) *simRobot {
	r := &simRobot{
		rig: rig{
			sim: s, path: fmt.Sprintf("/dev/ttySIM%d", index), index: index, fails: aFault, plugged: true, calm: s.chance(4),
		},
		front: unknown, lastLost: s.now,
	}
	r.robot = r
	r.keeps = s.chance(3)
	r.history.robot = r
	r.base = s.newBase(r)
	r.hardware = r.base
	r.scanner = s.newScanner(r)
	r.tick = timers.NewTimer(func(now time.Duration) time.Duration {
		r.check()
		return now + 100*time.Millisecond
	})
	s.outside.Set(r.tick, s.now+s.between(0, 100*time.Millisecond))
	return r
}

// unknown is the front of a robot that has not been built.
const unknown = -1

// letters returns the letters of all its devices.
func (r *simRobot) letters() string { return r.base.letters() + "l" }

// watch is called once a second.
func (r *simRobot) watch() {
	r.watchGone()
	r.watchStop()
	r.watchControl()
	r.watchDriver()
	r.scanner.watch()
	r.watchDevices()
}

// sent judges bytes of the driver.
func (r *simRobot) sent(p *simPort, b []byte) {
	s := r.sim
	for _, o := range r.base.motions(p, b) {
		o.call, o.ret = s.now, s.now
		p.newest = o
		p.moves = o.left != 0 || o.right != 0
		if p.moves && len(p.words) == 0 {
			s.fail("%s: %v, and nothing would stop it after the death of the process", r.path, o)
		}
		r.checkMotion(o)
		r.history.observe(s, o)
	}
}

// writersChange is called when a client gets or loses the right to drive.
func (r *simRobot) writersChange(more bool) {
	if more {
		r.writers++
		return
	}
	r.expectStop()
	if r.writers--; r.writers == 0 {
		r.lastLost = r.sim.now
		r.mustStop = r.turns()
	}
}

// check checks that the wheels turn for a client: 5.4, 9.1.
func (r *simRobot) check() {
	s := r.sim
	if !r.turns() {
		if r.writers == 0 && r.mustStop {
			r.mustStop = false
			s.summary.Stops++
		}
		return
	}
	brakes := r.base.brakes()
	if r.writers == 0 && s.now > r.lastLost+stopTime+brakes && !r.mayCoast() {
		s.fail("%s: the wheels turn, %v after the last client that may drive was lost", r.path, s.now-r.lastLost)
	}
	if r.lease != 0 && r.port != nil && !r.mayCoast() &&
		s.now > max(r.commanded, r.port.opened+6*time.Second)+r.lease+300*time.Millisecond+brakes {
		s.fail("%s: the wheels turn %v after the last command, with a lease of %v", r.path, s.now-r.commanded, r.lease)
	}
}

// mayCoast reports whether the wheels may turn because of a fault, although they should not.
func (r *simRobot) mayCoast() bool {
	s := r.sim
	if limit := r.base.watchdog(); limit != 0 {
		return s.now <= r.fault+silenceTime+limit+r.base.brakes()
	}
	// Only the driver stops them, as soon as it reaches them, or never if it has given up before.
	return r.faults > 0 || s.now <= r.fault+backTime || r.left && r.link.State() != devices.Ready
}

// closed is called when the line is given up.
func (r *simRobot) closed() {
	r.left = r.turns() && (r.faults > 0 || r.sim.now <= r.fault+backTime || r.left)
}

func (r *simRobot) turns() bool { return r.base.turns() }

// checkAtRest checks that a robot without clients stands still.
func (r *simRobot) checkAtRest() {
	if r.turns() && !r.mayCoast() {
		r.sim.fail("%s: the wheels turn, and no client is there", r.path)
	}
	if r.port != nil {
		r.sim.fail("%s is open, and no client is there", r.path)
	}
}

// checkData checks that data which claims to have been taken at a time, in steps
// of unit, was reported then, and was the newest when it was sent.
func (r *simRobot) checkData(c *simClient, letter byte, p []byte, taken, unit, written time.Duration) {
	s := r.sim
	tolerance := unit
	garbled := taken < r.garbled+time.Second
	if garbled { // the rest of a damaged packet may delay a good one
		tolerance = time.Second
	}
	i, _ := slices.BinarySearchFunc(r.reports, (taken - tolerance).Truncate(unit), func(rep *simReport, from time.Duration) int {
		return int(rep.at - from)
	})
	match, matches := -1, 0
	for ; i < len(r.reports) && r.reports[i].at <= taken+2*unit; i++ {
		if r.base.matches(r.reports[i], letter, p, garbled) {
			match = i
			matches++
		}
	}
	if match < 0 && garbled { // a lost byte may be what the next packet begins with
		return
	}
	if match < 0 {
		s.fail("%v: data %x of %q claims to be of %v: the robot has reported nothing like it then", c, p, letter, taken)
	}
	rep := r.reports[match]
	if letter == 'p' && !garbled && !rep.unsure && matches == 1 {
		r.base.shown(c, rep, p)
	}
	at := rep.at
	if garbled { // the report may be another one
		at = taken + unit
	}
	for _, start := range r.starts {
		if at < start && start < written {
			s.fail("%v: data of %q taken at %v is from before the hardware was started at %v", c, letter, at, start)
		}
	}
	if garbled {
		return
	}
	for j, newer := range r.reports[match+1:] {
		if newer.at >= written || s.stopped != 0 && newer.at > s.stopped {
			break
		}
		if newer.unsure {
			continue
		}
		if newer.session == rep.session || j > 60 && newer.at-r.reports[match+1].at > 6*time.Second && newer.session == r.reports[match+1].session {
			s.fail("%v: data of %q taken at %v was sent at %v; the robot had reported at %v", c, letter, rep.at, written, newer.at)
		}
	}
}
