package server

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"player/devices"
	"player/timers"
)

const (
	// stopTime is the promise of 5.4 and 9.1, and what a slow line and a loop that
	// is delayed add to it.
	stopTime = 2*time.Second + 400*time.Millisecond
	// afterFault is how long after a fault of the line the wheels may turn: if only the bytes of
	// the robot are lost, the driver commands it for two more seconds, and the robot's own
	// watchdog stops the wheels two seconds later.
	afterFault = 4500 * time.Millisecond
)

// simRobot is a Pioneer and its serial line. It speaks the protocol of P2OS as
// its manual describes it, as far as the driver uses it, and checks that it is
// driven only by those who may.
type simRobot struct {
	sim   *sim
	index int
	path  string
	link  *devices.Link

	scanner  *simScanner
	front    int           // what is in front of the wheels
	lease    time.Duration // of a command to the wheels, zero: for ever
	reflexes bool          // in front of the wheels, or a pilot
	pilot    bool          // in front of the wheels

	// The line.
	port     *simPort
	sessions int
	baud     int
	plugged  bool
	jammed   bool            // it takes no bytes
	mute     bool            // the robot sends nothing
	deaf     bool            // bytes that it is sent are lost
	damage   int             // one packet in that many has a wrong checksum; zero: none
	lost     int             // one piece of a packet in that many is lost; zero: none
	fault    time.Duration   // when something of this changed last
	garbled  time.Duration   // when bytes were lost last
	faults   int             // under way
	calm     bool            // no fault happens to this robot
	starts   []time.Duration // of the link

	// The microcontroller.
	stage       int // of the handshake; 4: open
	heard       time.Duration
	motors      bool
	powered     time.Duration // when motors changed, or the driver has sent that it should
	left, right float64       // mm/s
	x, heading  float64
	seq         int
	answers     time.Duration // when its adapter has answered to all that it was asked
	tick        *timers.Timer
	reports     []*simReport // that the driver was given whole, oldest first

	// The clients that may drive.
	writers   int
	lastLost  time.Duration // when the last writer was lost
	ended     time.Duration // when the newest of its clients has ended
	mustStop  bool          // a stop is to be seen
	commanded time.Duration // when a command came last
	history   history
	stops     []*stopOp // emergency stops and releases
	keeps     bool      // the commander keeps control (8.6)
	driver    *simClient
	claimed   time.Duration // driver has claimed control then, or later

	// Its driver.
	fuse     int             // how often it will panic
	panicked time.Duration   // the last time
	panics   []time.Duration // of the last minute
	crashed  bool            // since the last time that the link worked or was off
	missing  time.Duration   // since when it does neither, though the hardware is well
	off      bool            // it has panicked too often
}

// simReport is one packet of the robot's state.
type simReport struct {
	seq     int
	session int // of the line
	at      time.Duration
	speed   int
	damaged bool // or a part of it was lost
	shown   bool // a client got it
	unsure  bool // the driver has panicked over it, or given up its line
}

func (s *sim) newRobot(index int) *simRobot {
	r := &simRobot{
		sim: s, index: index, path: fmt.Sprintf("/dev/ttySIM%d", index), plugged: true,
		front: unknown,
		baud:  []int{9600, 9600, 38400}[s.random.IntN(3)], motors: true, calm: s.chance(4), lastLost: s.now,
	}
	r.keeps = s.chance(3)
	r.history.robot = r
	r.tick = timers.NewTimer(r.pass)
	s.outside.Set(r.tick, s.now+s.between(0, 100*time.Millisecond))
	return r
}

// unknown is the front of a robot that has not been built.
const unknown = -1

// intended is the value of the panics of the simulation.
const intended = "a panic that the simulation wants"

// mayPanic is called whenever the driver runs, with the port in use.
func (r *simRobot) mayPanic(p *simPort) {
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
	r.history.end(s, s.now)
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

// fragile is a driver that panics now and then, at the beginning or at the end of a
// call; the ports that it uses do so in the middle.
type fragile struct {
	devices.Driver
	devices.Commanded
	devices.Configurer
	devices.Ticker
	devices.Surveyed
	devices.Motored
	devices.Charged
	robot *simRobot
}

// call calls the driver.
func (d *fragile) call(fn func()) {
	d.robot.mayPanic(nil)
	fn()
	d.robot.mayPanic(nil)
}

func (d *fragile) Setup(now time.Duration, link *devices.Link) {
	d.call(func() { d.Driver.Setup(now, link) })
}

func (d *fragile) Shutdown(now time.Duration) { d.call(func() { d.Driver.Shutdown(now) }) }

func (d *fragile) Command(now time.Duration, device *devices.Device) {
	d.call(func() { d.Commanded.Command(now, device) })
}

func (d *fragile) Configure(now time.Duration, device *devices.Device, payload []byte) error {
	d.robot.mayPanic(nil)
	return d.Configurer.Configure(now, device, payload)
}

func (d *fragile) Tick(now time.Duration) (next time.Duration) {
	d.call(func() { next = d.Ticker.Tick(now) })
	return next
}

// watch is called once a second.
func (r *simRobot) watch() {
	s := r.sim
	r.watchStop()
	r.watchControl()
	r.watchDevices()
	switch state := r.link.State(); {
	case state != devices.Lost && state != devices.Starting && state != devices.Stopping: // also between two tries
		r.crashed, r.missing = false, 0
	case r.off || !r.healthy() || r.missing == 0:
		r.missing = s.now
	case s.now-r.missing > 15*time.Second:
		s.fail("%s is well since %v, and it is %v", r.path, r.missing, state)
	}
	if state := r.scanner.link; state != nil && state.State() != devices.Lost && state.State() != devices.Starting {
		r.scanner.crashed = false
	}
}

// healthy reports whether a setup must succeed.
func (r *simRobot) healthy() bool {
	return r.faults == 0 && !r.off && r.sim.now-r.fault > 15*time.Second
}

func (r *simRobot) faulty(format string, args ...any) {
	r.fault = max(r.fault, r.sim.now)
	r.faults++
	r.sim.note(r.path+": "+format, args...)
}

func (r *simRobot) mended() {
	r.fault = max(r.fault, r.sim.now)
	r.faults--
	r.sim.note("%s is well again", r.path)
}

// misfortune lets a fault happen, and later another one.
func (r *simRobot) misfortune() {
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
			s.after(s.between(0, 50*time.Millisecond), p.hangup)
		}
		over = func() { r.plugged = true }
	case 1:
		r.faulty("it is switched off for %v", lasts)
		s.summary.Losses++
		r.mute, r.jammed = true, false
		r.stage, r.left, r.right = -1, 0, 0
		over = func() { r.mute, r.stage, r.motors, r.powered = false, 0, true, s.now }
	case 2:
		r.faulty("it sends nothing for %v", lasts)
		r.mute = true
		over = func() { r.mute = false }
	case 3:
		r.faulty("its line takes nothing for %v", lasts)
		r.jammed = true
		over = func() {
			r.jammed = false
			r.history.jammed()
			if r.port != nil {
				r.port.flush()
			}
			r.expectStop()
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
		r.faulty("it hears nothing for %v", lasts)
		r.deaf = true
		over = func() { r.deaf = false }
	}
	s.after(lasts, func() {
		over()
		r.mended()
		s.later(aFault, r.index, 25*time.Second)
	})
}

// junk is bytes that begin no packet.
func (s *sim) junk(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.random.IntN(0xFA))
	}
	return b
}

// answer has the adapter of the line carry out a request: at once, or some time later, after all earlier
// requests.
func (r *simRobot) answer(fn func(now time.Duration)) {
	s := r.sim
	if s.now >= r.answers && s.chance(2) {
		fn(s.now)
		return
	}
	r.answers = max(s.now, r.answers) + s.between(1, slowAnswer)
	s.at(r.answers, func() { s.onLoop(fn) })
}

// slowAnswer is how long adapters take at most.
const slowAnswer = 20 * time.Millisecond

// open is the server's open(2) of the serial line.
func (r *simRobot) open(baud int, handler devices.PortHandler) (*simPort, error) {
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
	r.sessions++
	r.port = &simPort{robot: r, handler: handler, baud: baud, opened: s.now}
	r.history.begin(s)
	s.note("%s is opened, %d baud", r.path, baud)
	return r.port, nil
}

// p2Packet returns the body of the packet at the beginning of b, and its size.
// Framing: FA FB, a count of what follows, the body, its checksum.
func p2Packet(b []byte) (body []byte, size int) {
	if len(b) < 6 || b[0] != 0xFA || b[1] != 0xFB || len(b) < 3+int(b[2]) {
		return nil, 0
	}
	size = 3 + int(b[2])
	body = b[3 : size-2]
	if sum := p2Sum(body); b[size-2] != byte(sum>>8) || b[size-1] != byte(sum) {
		return nil, 0
	}
	return body, size
}

func p2Sum(body []byte) (sum uint16) {
	for i := 0; i+1 < len(body); i += 2 {
		sum += uint16(body[i])<<8 | uint16(body[i+1])
	}
	if len(body)%2 == 1 {
		sum ^= uint16(body[len(body)-1])
	}
	return sum
}

func (r *simRobot) send(body []byte, report *simReport) {
	if r.mute || r.port == nil || r.port.gone {
		return
	}
	b := append([]byte{0xFA, 0xFB, byte(len(body) + 2)}, body...)
	b = binary.BigEndian.AppendUint16(b, p2Sum(body))
	if r.damage != 0 && r.sim.chance(r.damage) {
		b[len(b)-1] ^= 0x11
		if report != nil {
			report.damaged = true
		}
	}
	r.port.bring(b, report)
}

// receive brings the robot bytes of the line.
func (r *simRobot) receive(b []byte) {
	if r.stage < 0 { // it is off
		return
	}
	for len(b) > 0 {
		body, size := p2Packet(b)
		r.obey(body)
		b = b[size:]
	}
}

func (r *simRobot) obey(body []byte) {
	s := r.sim
	arg := 0
	if len(body) >= 4 {
		arg = int(body[2]) | int(body[3])<<8
		if body[1] == 0x1B {
			arg = -arg
		}
	}
	if r.stage < 4 {
		switch code := int(body[0]); {
		case code == 1 && r.stage == 3:
			r.stage, r.heard = 4, s.now
		case code <= min(r.stage, 2):
			r.stage = code + 1
			r.send(slices.Concat([]byte{body[0]}, []byte("Sim\x00Pioneer\x00p2dx\x00")[:min(17, code/2*17)]), nil)
		}
		return
	}
	r.heard = s.now
	forward, turn := (r.left+r.right)/2, (r.right-r.left)/2
	switch body[0] {
	case 2:
		r.stage = 0
		r.turn(0, 0)
	case 4:
		r.motors, r.powered = arg != 0, s.now
		r.turn(r.left, r.right)
	case 7:
		r.x, r.heading = 0, 0
	case 11:
		r.turn(float64(arg)-turn, float64(arg)+turn)
	case 21:
		turn = float64(arg) * math.Pi / 180 * 160
		r.turn(forward-turn, forward+turn)
	case 29:
		r.turn(0, 0)
	case 32:
		r.turn(20*float64(int8(body[3])), 20*float64(int8(body[2])))
	}
}

func (r *simRobot) turn(left, right float64) {
	if !r.motors {
		left, right = 0, 0
	}
	r.left, r.right = left, right
}

func (r *simRobot) turns() bool { return r.left != 0 || r.right != 0 }

// pass is called ten times a second: the robot moves, its watchdog runs, and it
// reports.
func (r *simRobot) pass(now time.Duration) time.Duration {
	if now > r.heard+2*time.Second {
		r.turn(0, 0)
	}
	r.check()
	r.x += (r.left + r.right) / 2 * 0.1 / 0.826
	r.heading = math.Mod(r.heading+(r.right-r.left)/320*0.1/0.001534+4096, 4096)
	if r.stage == 4 {
		r.seq++
		report := &simReport{seq: r.seq, speed: (int(r.left) + int(r.right)) / 2}
		kind := byte(0x32 + bit(r.turns()))
		le := binary.LittleEndian
		b := le.AppendUint16([]byte{kind}, uint16(int(r.x))&4095)
		b = le.AppendUint16(b, 0)
		b = le.AppendUint16(b, uint16(r.heading))
		b = le.AppendUint16(b, uint16(int16(r.left)))
		b = le.AppendUint16(b, uint16(int16(r.right)))
		b = append(b, byte(r.seq%200), 0, 0, 0, 0, bit(r.motors), 0, byte(r.seq%180)+1, 4)
		for i := range 4 {
			b = le.AppendUint16(append(b, byte(i)), r.sonar(r.seq, i))
		}
		b = append(b, 0, 0x11, 0, byte(r.seq%128), 0, 0, 0, byte(r.stageOfCharge(r.seq)))
		r.send(b, report)
	}
	return now + 100*time.Millisecond
}

// sonar returns a raw range that tells packets apart.
func (*simRobot) sonar(seq, i int) uint16 { return uint16(1000 + 40*(seq>>(6*i)&63)) }

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
	if r.writers == 0 && s.now > r.lastLost+stopTime && s.now > r.fault+afterFault {
		s.fail("%s: the wheels turn, %v after the last client that may drive was lost", r.path, s.now-r.lastLost)
	}
	if r.lease != 0 && r.port != nil && s.now > max(r.commanded, r.port.opened+6*time.Second)+r.lease+300*time.Millisecond && s.now > r.fault+afterFault {
		s.fail("%s: the wheels turn %v after the last command, with a lease of %v", r.path, s.now-r.commanded, r.lease)
	}
}

// checkAtRest checks that a robot without clients stands still.
func (r *simRobot) checkAtRest() {
	if r.turns() {
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
	i, _ := slices.BinarySearchFunc(r.reports, taken-tolerance, func(rep *simReport, at time.Duration) int {
		return int(rep.at.Truncate(unit) - at.Truncate(unit))
	})
	match := -1
	for ; i < len(r.reports) && r.reports[i].at <= taken+2*unit; i++ {
		if r.reports[i].matches(r, letter, p, garbled) {
			match = i
		}
	}
	if match < 0 && garbled { // a lost byte may be what the next packet begins with
		return
	}
	if match < 0 {
		s.fail("%v: data %x of %q claims to be of %v: the robot has reported nothing like it then", c, p, letter, taken)
	}
	rep := r.reports[match]
	rep.shown = true
	for _, start := range r.starts {
		if rep.at < start && start < written {
			s.fail("%v: data of %q taken at %v is from before the hardware was started at %v", c, letter, rep.at, start)
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

// matches reports whether data is of a report; late: which was delayed.
func (rep *simReport) matches(r *simRobot, letter byte, p []byte, late bool) bool {
	be := binary.BigEndian
	switch letter {
	case 'p':
		return (late || be.Uint32(p) == uint32(rep.at/time.Millisecond)) && int(int16(be.Uint16(p[14:]))) == rep.speed &&
			int(be.Uint16(p[18:])) == rep.seq%180*2
	case 's':
		for i := range 4 {
			if be.Uint16(p[2*i:]) != uint16(math.Round(float64(r.sonar(rep.seq, i))*0.268)) {
				return false
			}
		}
		return true
	case 'm':
		return p[2] == byte(rep.seq%200)
	case 'g':
		return p[0] == 0x11 && p[1] == byte(rep.seq%128)
	}
	return false
}
