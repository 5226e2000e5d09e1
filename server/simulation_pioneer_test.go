package server

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/p2os"
	"player/timers"
)

// pioneer is a simulated Pioneer. It speaks the protocol of P2OS as its manual describes it, as far as the driver
// uses it. Each of its reports differs from the others, so that the data of clients shows of which report it is. It
// implements base.
type pioneer struct {
	robot       *simRobot
	sim         *sim
	baud        int
	stage       int // of the handshake; 4: open
	heard       time.Duration
	on          bool    // the motors
	left, right float64 // mm/s
	x, heading  float64
	seq         int
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

// newPioneer returns a Pioneer, which runs.
func (s *sim) newPioneer(r *simRobot) *pioneer {
	h := &pioneer{robot: r, sim: s, baud: []int{9600, 9600, 38400}[s.random.IntN(3)], on: true}
	s.outside.Set(timers.NewTimer(h.pass), s.now+s.between(0, 100*time.Millisecond))
	return h
}

func (r *pioneer) driver() (devices.Kind, devices.Driver) {
	return p2os.Kind(), p2os.New(r.robot.path, p2os.Overrides{})
}

func (*pioneer) letters() string { return "psgm" }

func (*pioneer) forgets() bool { return false }

// watchdog is that of the manual of P2OS, whose period is 100 ms here.
func (*pioneer) watchdog() time.Duration { return 2 * time.Second }

func (*pioneer) brakes() time.Duration { return 0 }

func (*pioneer) befall(time.Duration) bool { return false }

func (r *pioneer) power(on bool) {
	if r.stage, r.left, r.right = -1, 0, 0; on {
		r.stage, r.on, r.robot.powered = 0, true, r.sim.now
	}
}

// pioneerEnd is the Pioneer's end of a line.
type pioneerEnd struct {
	*pioneer
	port *simPort
}

func (r *pioneer) open(p *simPort) (far, error) { return pioneerEnd{r, p}, nil }

func (e pioneerEnd) Write(b []byte) {
	if e.port.baud == e.baud {
		e.receive(b)
	}
}

func (pioneerEnd) SetSpeed(int) {}
func (pioneerEnd) Close()       {}

func (r *pioneer) send(body []byte, report *simReport) {
	b := append([]byte{0xFA, 0xFB, byte(len(body) + 2)}, body...)
	b = binary.BigEndian.AppendUint16(b, p2Sum(body))
	if p := r.robot.port; p != nil && p.baud != r.baud {
		b = r.sim.junk(len(b))
		if report != nil {
			report.damaged = true
		}
	}
	r.robot.send(b, report)
}

// motions implements base.
func (r *pioneer) motions(p *simPort, b []byte) []*op { return p2Motions(r.robot, p, b) }

// p2Motions returns the motions that a driver commands a Pioneer.
func p2Motions(r *simRobot, p *simPort, b []byte) (motions []*op) {
	for rest := b; len(rest) > 0; {
		body, size := p2Packet(rest)
		if body == nil {
			r.sim.fail("%s is sent %x, which is no packet", r.path, rest)
		}
		rest = rest[size:]
		next, _ := p2Packet(rest)
		switch body[0] {
		case 0: // SYNC0, or PULSE
			p.greets = false
		case 2, 29: // CLOSE, STOP
			motions = append(motions, &op{read: true, halts: true, apart: true})
		case 4:
			r.powered = r.sim.now
		}
		if o := velocities(body, rest); o != nil {
			// A lost robot is stopped before SYNC0, and one that was left open before CLOSE, whatever is commanded.
			o.apart = p.greets || next != nil && (next[0] == 0 || next[0] == 2)
			motions = append(motions, o)
		}
	}
	return motions
}

// receive brings the robot bytes of the line.
func (r *pioneer) receive(b []byte) {
	if r.stage < 0 { // it is off
		return
	}
	for len(b) > 0 {
		body, size := p2Packet(b)
		r.obey(body)
		b = b[size:]
	}
}

func (r *pioneer) obey(body []byte) {
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
		r.on, r.robot.powered = arg != 0, s.now
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

func (r *pioneer) turn(left, right float64) {
	if !r.on {
		left, right = 0, 0
	}
	r.left, r.right = left, right
}

func (r *pioneer) turns() bool { return r.left != 0 || r.right != 0 }

// pass is called ten times a second: the robot moves, its watchdog runs, and it
// reports.
func (r *pioneer) pass(now time.Duration) time.Duration {
	if now > r.heard+2*time.Second {
		r.turn(0, 0)
	}
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
		b = append(b, byte(r.seq%200), 0, 0, 0, 0, bit(r.on), 0, byte(r.seq%180)+1, 4)
		for i := range 4 {
			b = le.AppendUint16(append(b, byte(i)), r.sonar(r.seq, i))
		}
		b = append(b, 0, 0x11, 0, byte(r.seq%128), 0, 0, 0, byte(stageOfCharge(r.seq)))
		r.send(b, report)
	}
	return now + 100*time.Millisecond
}

// sonar returns a raw range that tells packets apart.
func (*pioneer) sonar(seq, i int) uint16 { return uint16(1000 + 40*(seq>>(6*i)&63)) }

// stageOfCharge returns the stage of the charger in a report.
func stageOfCharge(seq int) int { return seq / 50 % 5 }

func (*pioneer) charge(rep *simReport) string {
	return []string{"no", "bulk", "overcharge", "float", "balance"}[stageOfCharge(rep.seq)]
}

func (r *pioneer) motors() (on, known bool) { return r.on, true }

func (r *pioneer) matches(rep *simReport, letter byte, p []byte, late bool) bool {
	be := binary.BigEndian
	switch letter {
	case codec.Position:
		return (late || be.Uint32(p) == uint32(rep.at/time.Millisecond)) && int(int16(be.Uint16(p[14:]))) == rep.speed &&
			int(be.Uint16(p[18:])) == rep.seq%180*2
	case codec.Sonar:
		for i := range 4 {
			if be.Uint16(p[2*i:]) != uint16(math.Round(float64(r.sonar(rep.seq, i))*0.268)) {
				return false
			}
		}
		return true
	case codec.Misc:
		return p[2] == byte(rep.seq%200)
	case codec.Gripper:
		return p[0] == 0x11 && p[1] == byte(rep.seq%128)
	}
	return false
}

// shown judges nothing: matches has judged the speed, and the pose of the emulated Pioneer is judged.
func (*pioneer) shown(*simClient, *simReport, []byte) {}
