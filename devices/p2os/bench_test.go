package p2os

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/devicetest"
	"player/devices/sicklms200"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// bench is a driver with a client of its position.
type bench struct {
	*transporttest.Bench
	driver *Driver

	position, sonar, gripper, misc *devices.Device
}

// newBench returns one whose block names the usual devices, and others.
func newBench(t testing.TB, others ...devices.Spec) *bench {
	t.Helper()
	driver := New("/dev/robot", Overrides{})
	instance := Kind().Instance(driver)
	if len(others) > 0 {
		usual := []devices.Spec{devices.Position(), devices.Sonar(), devices.Gripper(), devices.Misc()}
		instance.Select(append(usual, others...))
	}
	b := &bench{Bench: transporttest.NewBench(t, instance, Kind(), sicklms200.Kind()), driver: driver}
	b.position, b.sonar = b.Link.Device(codec.Position), b.Link.Device(codec.Sonar)
	b.gripper, b.misc = b.Link.Device(codec.Gripper), b.Link.Device(codec.Misc)
	return b
}

func (b *bench) command(speed, turnRate int16) {
	b.position.SetCommand(b.Now(), codec.PositionCommand{Speed: speed, TurnRate: turnRate}.Append(nil))
}

func (b *bench) configure(payload ...byte) {
	b.T.Helper()
	must.Do(b.T, b.misc.Configure(b.Now(), payload))
}

func (b *bench) pose() codec.PositionData {
	return transporttest.Data[codec.PositionData](b.T, b.position)
}

// wrote returns the packets that the driver has sent on all ports, as command names with the
// rest of the body. Handshake and operation have the same names.
func (b *bench) wrote() (packets []string) {
	for _, p := range b.Ports {
		packets = append(packets, names(p.Wrote)...)
	}
	return packets
}

func names(stream []byte) (list []string) {
	for len(stream) > 0 {
		size := 3 + int(stream[2])
		body := stream[3 : size-2]
		list = append(list, strings.TrimSpace(fmt.Sprintf("%v % X", Command(body[0]), body[1:])))
		stream = stream[size:]
	}
	return list
}

// robot plays the far end: it answers the handshake and streams SIPs. Its bytes come from
// wire recordings.
type robot struct {
	bench *bench
	baud  int
	stage int  // steps of the handshake that are done, 4 when it is open
	muted bool // it obeys, but none of its packets arrives
	off   bool
	deaf  map[string]int // how many packets of a name get lost on the way to it
	sip   []byte
	heard []string

	subclass string // empty: the recorded identity, a p2dx
	timer    bool
}

const (
	echo0    = "FA FB 03 00 00 00"
	echo1    = "FA FB 03 01 00 01"
	identity = "FA FB 16 02 45 6D 75 30 31 00 50 69 6F 6E 65 65 72 00 70 32 64 78 00 88 55"
	sipZero  = "FA FB 1B 32 00 00 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 04 11 80 06 00 E4 93"
	sipFar   = "FA FB 1B 32 A0 0F 00 00 00 00 00 00 00 00 7C 00 00 00 00 00 00 2E 00 03 11 80 06 00 F3 33" // x 4000
	sipSpeed = "FA FB 1B 33 30 00 00 00 00 00 90 01 90 01 7C 00 00 00 00 01 00 2E 00 12 11 80 06 00 F7 E3" // x 48
)

func (b *bench) robot(baud int) *robot {
	r := &robot{bench: b, baud: baud, sip: devicetest.Hex(b.T, sipZero), deaf: map[string]int{}}
	b.Heard = func(p *transporttest.Port, sent []byte) {
		if p.Baud == r.baud && !r.off {
			for _, name := range names(sent) {
				r.obey(name)
			}
		}
	}
	return r
}

// newRobot returns a bench with a robot, whose block names other devices besides the usual ones.
func newRobot(t testing.TB, baud int, others ...devices.Spec) (*bench, *robot) {
	t.Helper()
	b := newBench(t, others...)
	return b, b.robot(baud)
}

// ready returns a bench with a connected robot.
func ready(t testing.TB, baud int, others ...devices.Spec) (*bench, *robot) {
	t.Helper()
	b, r := newRobot(t, baud, others...)
	b.Ready()
	return b, r
}

// open has the client open another device, which the block names.
func (b *bench) open(letter byte) *devices.Device {
	b.T.Helper()
	d := b.Link.Device(letter)
	_ = must.Get(d.Subscribe(b.Now(), b))(b.T)
	return d
}

const stageOpen = 4

func (r *robot) obey(name string) {
	if r.deaf[name] > 0 {
		r.deaf[name]--
		return
	}
	r.heard = append(r.heard, name)
	switch {
	case r.stage > 2 && name == "SYNC2/CLOSE":
		r.stage = 0
	case r.stage == stageOpen:
	case name == "SYNC0/PULSE" && r.stage < 3:
		r.stage = 1
		r.say(echo0)
	case name == "SYNC1/OPEN" && r.stage == 3:
		r.start()
	case name == "SYNC1/OPEN" && r.stage > 0:
		r.stage = 2
		r.say(echo1)
	case name == "SYNC2/CLOSE" && r.stage > 1:
		r.stage = 3
		if r.subclass == "" {
			r.say(identity)
			return
		}
		answer := appendPacket(nil, []byte("\x02Emu01\x00Pioneer\x00"+r.subclass+"\x00")...)
		r.bench.After(10*ms, func() { r.saying(answer) })
	}
}

// start opens the robot.
func (r *robot) start() {
	r.stage = stageOpen
	if !r.timer {
		r.timer = true
		r.bench.After(100*ms, r.stream)
	}
}

func (r *robot) stream() {
	if r.timer = r.stage == stageOpen; r.timer {
		r.bench.After(100*ms, r.stream)
		r.saying(r.sip)
	}
}

func (r *robot) say(hex string) {
	r.bench.After(10*ms, func() { r.saying(devicetest.Hex(r.bench.T, hex)) })
}

func (r *robot) saying(b []byte) {
	if p := r.bench.Port(); !r.muted && !r.off && p.Baud == r.baud {
		p.Say(b)
	}
}

// at puts the robot's odometry into its SIPs: encoder units, angle units.
func (r *robot) at(x, y uint16, heading int16) {
	body := slices.Clone(Packet(r.sip).Body())
	for i, v := range []uint16{x, y, uint16(heading)} {
		binary.LittleEndian.PutUint16(body[1+2*i:], v)
	}
	r.sip = appendPacket(nil, body...)
}

// switchOff cuts the robot's power.
func (r *robot) switchOff() { r.off, r.stage = true, 0 }

var commandNames = [...]string{
	0: "SYNC0/PULSE", 1: "SYNC1/OPEN", 2: "SYNC2/CLOSE",
	Enable: "ENABLE", SetOrigin: "SETO", Vel: "VEL", RVel: "RVEL", Sonar: "SONAR",
	Stop: "STOP", Vel2: "VEL2", Gripper: "GRIPPER", GripperVal: "GRIPPERVAL",
}

// String returns the command's name in the robot's manual.
func (c Command) String() string {
	if int(c) < len(commandNames) && commandNames[c] != "" {
		return commandNames[c]
	}
	return fmt.Sprintf("command %d", byte(c))
}
