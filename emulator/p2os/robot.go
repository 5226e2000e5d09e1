// Package p2os emulates the microcontroller of a Pioneer 2-DX under P2OS, with its drive, sonars, gripper, bumpers and
// compass, on a fake serial line.
//
// It follows the published protocol and recordings of hosts; what neither tells is marked "assumed".
package p2os

import (
	"cmp"
	"maps"
	"sync"
	"time"

	"player/emulator/line"
)

// Options of a robot. Zero fields get the value in parentheses.
type Options struct {
	Line line.Options // Baud (9600)

	Name, Class, Subclass string // what SYNC2 tells ("Emu01", "Pioneer", "p2dx")

	// LeftOpen starts the robot as a host leaves it that died: connected and streaming.
	LeftOpen bool

	// MotorsOn presses the white motor button whenever a host opens the robot. Otherwise the motors are off, as after
	// power-up, until ENABLE or PressMotorButton.
	MotorsOn bool

	Odometry Pose    // what the robot remembers at the start; a host that does not send SETO sees it (0, 0, 0)
	Room     float64 // side of the square room around the start that the sonars see, mm; 0: readings as set
	UnitMM   float64 // mm for one encoder unit (0.826, as Player 0.7.4a has it; later versions say 0.84)
	AxleMM   float64 // mm between the wheels (320, as Player 0.7.4a has it; later versions say 357)
	Accel    float64 // limit of each wheel, mm/s², both ways (1000, assumed); SETA changes it

	Faults Faults
}

// Faults of a robot.
type Faults struct {
	BadChecksum int  // every n-th SIP has a wrong checksum, and says that the battery is at 9.9 V; 0: none
	NoSIPs      bool // nothing is streamed; the robot obeys still
}

const (
	// sipPeriod is the factory setting for the stream.
	sipPeriod = 100 * time.Millisecond

	// watchdogTime is the factory setting: so long after the last packet from a host the motors stop.
	watchdogTime = 2 * time.Second
)

// stages of the connection: how many of SYNC0, SYNC1 and SYNC2 have been answered, then open.
const (
	stageSynced = 3
	stageOpen   = 4
)

// A Robot is a Pioneer 2-DX at the end of a cable. All its methods may be called by any goroutine.
type Robot struct {
	*line.Line
	opts Options
	send func(packet []byte, note string)

	mu        sync.Mutex
	faults    Faults
	stage     int
	drive     drive
	gripper   gripper
	motors    bool
	sonarOn   bool
	nextSonar int
	nextSIP   time.Duration
	sips      int
	heard     time.Duration // when the last good packet came
	tripped   bool          // the watchdog bit, and no packet came since
	trips     int
	bad       int
	counts    map[string]int

	// What a person or the world sets.
	battery               byte
	compass               byte
	analog, digitalIn     byte
	front, rear           byte
	stallLeft, stallRight bool
	sonar                 [sonars]uint16
}

// Start plugs a robot in and switches it on.
func Start(opts Options) (*Robot, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 9600)
	r := newRobot(opts)
	l, err := line.Open(opts.Line)
	if err != nil {
		return nil, err
	}
	r.Line, r.send = l, l.Send
	l.Serve(r)
	return r, nil
}

func newRobot(opts Options) *Robot {
	opts.Name = cmp.Or(opts.Name, "Emu01")
	opts.Class = cmp.Or(opts.Class, "Pioneer")
	opts.Subclass = cmp.Or(opts.Subclass, "p2dx")
	opts.UnitMM = cmp.Or(opts.UnitMM, 0.826)
	opts.AxleMM = cmp.Or(opts.AxleMM, 320)
	opts.Accel = cmp.Or(opts.Accel, 1000)
	r := &Robot{
		opts:    opts,
		faults:  opts.Faults,
		drive:   drive{axle: opts.AxleMM, accel: opts.Accel, decel: opts.Accel, odometry: opts.Odometry},
		gripper: newGripper(),
		counts:  map[string]int{},
		battery: 124,
		compass: 46, // 90 degrees
		analog:  128,
	}
	for i := range r.sonar {
		r.sonar[i] = uint16(1000 + 100*i) // all different: a host that mixes them up is seen
	}
	if opts.LeftOpen {
		r.open(0)
		r.tripped = true // long ago
	}
	return r
}

// Receive handles one packet from the host.
func (r *Robot) Receive(now time.Duration, packet []byte) {
	body, ok := parsePacket(packet)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.bad++
		return
	}
	r.advance(now)
	if r.stage == stageOpen || r.stage == stageSynced && body[0] != 0 {
		r.obey(now, body)
		return
	}
	r.sync(body)
}

// sync answers the three steps of the handshake. A step may be repeated, because its echo can get lost, and SYNC0
// starts again, even after SYNC2 (assumed: otherwise a host that dies before OPEN would leave a dead robot).
func (r *Robot) sync(body []byte) {
	step := int(body[0])
	if step > min(r.stage, 2) {
		return
	}
	r.stage = step + 1
	r.counts[[...]string{"SYNC0", "SYNC1", "SYNC2"}[step]]++
	if step < 2 {
		r.send(appendPacket(nil, body[:1]), [...]string{"SYNC0 echo", "SYNC1 echo"}[step])
		return
	}
	reply := []byte{2}
	for _, s := range []string{r.opts.Name, r.opts.Class, r.opts.Subclass} {
		reply = append(append(reply, s...), 0)
	}
	r.send(appendPacket(nil, reply), "SYNC2 + name, class, subclass")
}

// obey handles a packet of a connected host.
func (r *Robot) obey(now time.Duration, body []byte) {
	r.heard, r.tripped = now, false
	r.counts[commandName(body[0])]++
	c, a := commands[body[0]], parseArg(body)
	if c.do != nil && (a.given || !c.arg) {
		c.do(r, now, a)
	}
}

// open starts the stream and the sonars; the motors wait for ENABLE.
func (r *Robot) open(now time.Duration) {
	if r.stage == stageOpen {
		return
	}
	r.stage, r.sonarOn, r.heard = stageOpen, true, now
	r.nextSIP = now + sipPeriod
	r.enable(r.opts.MotorsOn)
}

// close ends the connection, and with it motors and sonars (Operations Manual: closing the connection disables them).
func (r *Robot) close() {
	r.stage, r.sonarOn = 0, false
	r.enable(false)
}

// enable switches the motors. Without power the wheels stand, and speeds sent meanwhile are not remembered.
func (r *Robot) enable(on bool) {
	r.motors = on
	if !on {
		r.drive.turn(0, 0)
		r.drive.left, r.drive.right = 0, 0
	}
}

// Advance streams a SIP when one is due and watches over the host.
func (r *Robot) Advance(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advance(now)
	if r.stage != stageOpen {
		return 0
	}
	if r.nextSIP <= now {
		r.stream()
		r.nextSIP += (now - r.nextSIP).Truncate(sipPeriod) + sipPeriod // whole periods are skipped, none is made up for
	}
	if r.tripped {
		return r.nextSIP
	}
	return min(r.nextSIP, r.heard+watchdogTime)
}

// advance lets time pass in the body of the robot, up to the watchdog and on.
func (r *Robot) advance(now time.Duration) {
	if bite := r.heard + watchdogTime; r.stage == stageOpen && !r.tripped && bite <= now {
		r.drive.advance(bite)
		r.drive.turn(0, 0)
		r.tripped = true
		r.trips++
	}
	r.drive.advance(now)
	r.gripper.advance(now)
}

// stream sends one SIP.
func (r *Robot) stream() {
	if r.faults.NoSIPs {
		return
	}
	r.sips++
	if n := r.faults.BadChecksum; n > 0 && r.sips%n == 0 {
		battery := r.battery
		r.battery = liar
		packet := appendPacket(nil, r.appendSIP(nil))
		r.battery = battery
		packet[len(packet)-1] ^= 0x1C // any change is wrong
		r.send(packet, "SIP, bad checksum")
		return
	}
	r.send(appendPacket(nil, r.appendSIP(nil)), "SIP")
}

// A State is what a robot knows, a copy.
type State struct {
	Connected       bool // the handshake is done
	Open            bool // and the host has sent OPEN: SIPs are streamed
	Motors          bool // they have power
	Sonar           bool
	World           Pose // where the robot is, from its start
	Odometry        Pose // from SETO
	Left, Right     float64
	WantLeft        float64 // all speeds of wheels in mm/s
	WantRight       float64
	Gripper         byte    // as in the SIP
	Paddles, Lift   float64 // 0 closed and down, 1 open and up
	SIPs            int     // due so far, heard by a host or not
	WatchdogTrips   int
	WatchdogTripped bool // no packet since the last trip
	BadPackets      int  // from the host: wrong checksum, or junk
	Counts          map[string]int
}

// State returns what the robot knows now. Pose and speeds are those of the last packet in or out, at most one SIP ago.
// Counts are of good packets from the host, under their names: SYNC0, SYNC1, SYNC2, PULSE, OPEN, CLOSE, ENABLE, SETO,
// VEL, RVEL, VEL2, STOP, GRIPPER, ... and under the decimal number for commands without a name here.
func (r *Robot) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := &r.drive
	return State{
		Connected: r.stage >= stageSynced, Open: r.stage == stageOpen,
		Motors: r.motors, Sonar: r.sonarOn,
		World: d.world, Odometry: d.odometry,
		Left: d.left, Right: d.right, WantLeft: d.wantLeft, WantRight: d.wantRight,
		Gripper: r.gripper.state(), Paddles: r.gripper.paddles.pos, Lift: r.gripper.lift.pos,
		SIPs: r.sips, WatchdogTrips: r.trips, WatchdogTripped: r.tripped,
		BadPackets: r.bad, Counts: maps.Clone(r.counts),
	}
}
