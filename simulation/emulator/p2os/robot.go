// Package p2os emulates the microcontroller of the Pioneer family (PSOS, P2OS, AROS
// and ARCOS), with its drive, sonars, gripper, bumpers and compass, on a fake serial line.
//
// It follows the published protocol and recordings of hosts; anything from
// neither is marked "assumed".
package p2os

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"player/simulation/emulator/line"
)

// Options of a robot. Zero fields have the default in parentheses.
type Options struct {
	Line line.Options // Baud (9600)

	Name, Class, Subclass string // in the answer to SYNC2 ("Emu01", "Pioneer", "p2dx"); the subclass is the model

	// LeftOpen starts the robot as after a host died: connected and streaming.
	LeftOpen bool

	// MotorsOn presses the white motor button whenever a host opens the robot.
	// Otherwise the motors are off, as after power-up, until ENABLE or
	// PressMotorButton.
	MotorsOn bool

	Odometry Pose    // odometry at the start; to a host that sends no SETO it is (0, 0, 0)
	Room     float64 // side of the square room around the start for the sonars, mm; 0: readings as set
	NoRVEL   bool    // RVEL is unknown, as to PSOS before 4.2
	Accel    float64 // limit of each wheel, mm/s², in both directions (1000, assumed); SETA changes it
	Slip     float64 // the fraction of a rotation that the wheels count, and the robot does not make
	Gyro     Gyro

	Faults Faults
}

// Faults of a robot.
type Faults struct {
	BadChecksum int // every n-th SIP has a wrong checksum and a battery reading of 9.9 V; 0: none
}

const (
	// sipPeriod is the factory setting of the SIP stream.
	sipPeriod = 100 * time.Millisecond

	// watchdogTime is the factory setting of the watchdog: this long after the
	// last packet from a host the motors stop.
	watchdogTime = 2 * time.Second
)

// Stages of the connection: how many of SYNC0, SYNC1 and SYNC2 have been
// answered, then open.
const (
	stageSynced = 3
	stageOpen   = 4
)

// A Robot is a robot of the Pioneer family at the end of a cable. Its methods may be called
// by any goroutine.
type Robot struct {
	line.End
	opts  Options
	model model
	send  func(packet []byte, note string)

	stage     int
	drive     drive
	gripper   gripper
	motors    bool
	sonarOn   bool
	nextSonar int
	nextSIP   time.Duration
	sips      int
	heard     time.Duration // time of the last good packet
	tripped   bool          // the watchdog bit: no packet came since
	stopped   [2]float64    // wheel speeds in mm/s that the watchdog has ended; the next packet brings them back
	trips     int
	bad       int
	counts    map[string]int

	// Set from outside: by a person or the world.
	battery               byte
	compass               byte // 2 degrees, of no meaning above a revolution (ARIA)
	analog, digitalIn     byte
	digitalOut            byte // user outputs; a robot starts with zeros (assumed)
	front, rear           byte // bumpers, bits 0 to 4
	stallLeft, stallRight bool
	charge                byte // RECHARGESTAGE
	sonar                 []uint16

	gyroOn      bool
	noise       *rand.Rand
	rates       []int         // of the gyro since the last packet
	nextRate    time.Duration // when the next one is taken
	lastHeading float64       // deg, when the last one was
	objected    []string      // messages that a robot does not accept
}

// Start plugs a robot in and switches it on.
func Start(opts Options) (*Robot, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 9600)
	r := newRobot(opts)
	r.send = func(packet []byte, note string) { r.Send(packet, note) }
	return r, r.Attach(opts.Line, r)
}

func newRobot(opts Options) *Robot {
	opts.Name = cmp.Or(opts.Name, "Emu01")
	opts.Class = cmp.Or(opts.Class, "Pioneer")
	opts.Subclass = cmp.Or(opts.Subclass, "p2dx")
	opts.Accel = cmp.Or(opts.Accel, 1000)
	opts.Gyro.Centre, opts.Gyro.Scaler = cmp.Or(opts.Gyro.Centre, 512.4), cmp.Or(opts.Gyro.Scaler, 1.626)
	m := findModel(opts.Subclass)
	m.later = strings.HasPrefix(opts.Subclass, "p3") || strings.HasSuffix(opts.Subclass, "-sh")
	r := &Robot{
		opts:  opts,
		model: m,
		drive: drive{axle: m.axle, accel: opts.Accel, decel: opts.Accel, odometry: opts.Odometry, slip: opts.Slip,
			top: defaultTop, topTurn: defaultTopTurn},
		gripper: newGripper(),
		counts:  map[string]int{},
		noise:   rand.New(rand.NewPCG(1, 1)),
		battery: 124,
		compass: 46, // 92 degrees
		analog:  128,
	}
	r.sonar = make([]uint16, len(m.sonars))
	for i := range r.sonar {
		r.sonar[i] = uint16(1000 + 100*i) // all different, so that a test detects a host that mixes them up
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
	if !ok {
		r.bad++
		return
	}
	r.advance(now)
	r.object(body)
	if r.stage == stageOpen || r.stage == stageSynced && body[0] != 0 {
		r.obey(now, body)
		return
	}
	r.sync(body)
}

// sync answers the three steps of the handshake. A step may be repeated,
// because its echo can get lost. SYNC0 restarts the handshake, even after
// SYNC2 (assumed: otherwise a robot would be unusable after a host died before
// OPEN).
func (r *Robot) sync(body []byte) {
	step := int(body[0])
	if step > min(r.stage, 2) {
		r.stage = 0 // out of sequence: only SYNC0 is accepted now (AMRISim; of robots assumed)
		return
	}
	r.stage = step + 1
	r.counts[[...]string{"SYNC0", "SYNC1", "SYNC2"}[step]]++
	if step < 2 {
		r.send(packetOf(body[:1]), [...]string{"SYNC0 echo", "SYNC1 echo"}[step])
		return
	}
	reply := []byte{2}
	for _, s := range []string{r.opts.Name, r.opts.Class, r.opts.Subclass} {
		reply = append(append(reply, s...), 0)
	}
	r.send(packetOf(reply), "SYNC2 + name, class, subclass")
}

// obey handles a packet from a connected host.
func (r *Robot) obey(now time.Duration, body []byte) {
	if r.tripped { // it drives on (P2OS manual)
		r.drive.wantLeft, r.drive.wantRight = r.stopped[0], r.stopped[1]
	}
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

// close ends the connection and stops motors and sonars (Operations Manual:
// closing the connection disables them).
func (r *Robot) close() {
	r.stage, r.sonarOn = 0, false
	r.requestGyro(0, false)
	r.enable(false)
}

// enable switches the motors. Without power the wheels stop, and speeds sent meanwhile are
// dropped.
func (r *Robot) enable(on bool) {
	r.motors = on
	if !on {
		r.drive.halt()
		r.drive.left, r.drive.right = 0, 0
		r.stopped = [2]float64{}
	}
}

// Advance sends a SIP when one is due and runs the watchdog.
func (r *Robot) Advance(now time.Duration) time.Duration {
	r.advance(now)
	if r.stage != stageOpen {
		return 0
	}
	if r.nextSIP <= now {
		r.stream()
		r.nextSIP += (now - r.nextSIP).Truncate(sipPeriod) + sipPeriod // missed periods are skipped, never made up
	}
	if r.tripped {
		return r.nextSIP
	}
	return min(r.nextSIP, r.heard+watchdogTime)
}

// advance advances the robot's mechanics to now, including the watchdog.
func (r *Robot) advance(now time.Duration) {
	if bite := r.heard + watchdogTime; r.stage == stageOpen && !r.tripped && bite <= now {
		r.roll(bite)
		r.stopped = [2]float64{r.drive.wantLeft, r.drive.wantRight}
		r.drive.halt()
		r.tripped = true
		r.trips++
	}
	r.roll(now)
	r.gripper.advance(now)
}

// stream sends one SIP.
func (r *Robot) stream() {
	r.sips++
	if r.gyroOn {
		r.send(packetOf(r.appendRates(nil)), "GYROpac")
	}
	if n := r.opts.Faults.BadChecksum; n > 0 && r.sips%n == 0 {
		battery := r.battery
		r.battery = liar
		packet := packetOf(r.appendSIP(nil))
		r.battery = battery
		packet[len(packet)-1] ^= 0x1C // any change makes it wrong
		r.send(packet, "SIP, bad checksum")
		return
	}
	r.send(packetOf(r.appendSIP(nil)), "SIP")
}

// A State is a copy of the robot's state.
type State struct {
	Connected       bool // the handshake is complete
	Open            bool // the host has sent OPEN: SIPs are streamed
	Motors          bool // powered
	Sonar           bool
	World           Pose // true pose, relative to its start
	Odometry        Pose // from SETO
	Left, Right     float64
	WantLeft        float64 // all wheel speeds in mm/s
	WantRight       float64
	Gripper         byte    // as in the SIP
	Paddles, Lift   float64 // 0 closed and down, 1 open and up
	SIPs            int     // due so far, received by a host or not
	WatchdogTrips   int
	WatchdogTripped bool // no packet since the last trip
	Outputs         byte // user outputs
	BadPackets      int  // from the host: wrong checksum, or junk
	Counts          map[string]int
	Objections      []string // messages that a robot would not have accepted, and why
}

// State returns the robot's state. Pose and speeds date from the last packet in or out, at
// most one SIP ago. Counts are the numbers of good packets from the host, by name: SYNC0,
// SYNC1, SYNC2, PULSE, OPEN, CLOSE, ENABLE, SETO, VEL, RVEL, VEL2, STOP, GRIPPER, ... and by
// decimal number for commands without a name here.
func (r *Robot) State() (s State) {
	r.Locked(func() {
		d := &r.drive
		s = State{
			Connected: r.stage >= stageSynced, Open: r.stage == stageOpen,
			Motors: r.motors, Sonar: r.sonarOn,
			World: d.world, Odometry: d.odometry,
			Left: d.left, Right: d.right, WantLeft: d.wantLeft, WantRight: d.wantRight,
			Gripper: r.gripper.state(), Paddles: r.gripper.paddles.pos, Lift: r.gripper.lift.pos,
			SIPs: r.sips, WatchdogTrips: r.trips, WatchdogTripped: r.tripped,
			Outputs: r.digitalOut, BadPackets: r.bad, Counts: maps.Clone(r.counts), Objections: slices.Clone(r.objected),
		}
	})
	return s
}
