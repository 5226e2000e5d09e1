// Package kobuki emulates a Yujin Kobuki on a fake serial line.
//
// It follows Yujin's "Kobuki: Protocol Specification", and for the wheels its "Kobuki
// Parameters"; everything else is marked "assumed".
package kobuki

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"player/simulation/emulator/line"
)

// Options of a robot.
type Options struct {
	Line    line.Options // Baud (115200)
	Driving bool         // a host has left it driving
	Counts  uint16       // first counts of both encoders
	// Slip is the fraction of a rotation that the wheels make and the robot does not, 0 to 1.
	Slip   float64
	NoGyro bool // its reports have no inertial sensor data
}

const (
	period      = 20 * time.Millisecond
	base        = 230.0
	countsPerMM = 11.72441658029856
)

// State is the robot's state, with its measurements.
type State struct {
	Left, Right float64 // mm/s, the speeds of the wheels
	X, Y        float64 // mm, the true pose since power-up
	Heading     float64 // rad, counterclockwise
}

// A Robot is a Kobuki at the end of a cable. Its methods may be called by any goroutine.
type Robot struct {
	line.End
	opts Options

	state    State
	bumpers  byte // bit 0 right, 1 middle, 2 left
	dropped  byte // bit 0 right, 1 left
	cliffs   byte // bit 0 right, 1 middle, 2 left
	current  byte // bit 0 left, 1 right
	buttons  byte // bit 0 to 2
	digital  byte // inputs of the expansion port, bit 0 to 3
	analog   [4]uint16
	outputs  int // flags of the last general purpose output; -1: none has come
	counts   [2]float64
	gyro     float64 // rad, since power-up
	extra    byte    // parts that the next report has on request: the flags of the request
	commands int
	gains    [13]byte      // of the wheels' controller: its type, then P, I and D in thousandths, as a host sent them
	began    time.Duration // of its clock
	next, at time.Duration
}

// The flags of a request for parts that a robot does not send by itself. The last one is not of the protocol: it stands
// for another request.
const (
	wantHardware = 1 << 0
	wantFirmware = 1 << 1
	wantID       = 1 << 3
	wantGains    = 1 << 7
)

// gains are the controller's as it leaves the factory: 100, 0.1 and 2.
var gains = [13]byte{0, 0xA0, 0x86, 0x01, 0, 100, 0, 0, 0, 0xD0, 0x07, 0, 0}

// Start plugs a robot in and switches it on.
func Start(opts Options) (*Robot, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 115200)
	r := &Robot{opts: opts, next: period, gyro: 3.1, began: -20 * time.Second, outputs: -1, gains: gains} // it was on before
	r.counts = [2]float64{float64(opts.Counts), float64(opts.Counts)}
	if opts.Driving {
		r.state.Left, r.state.Right = 200, 200
	}
	return r, r.Attach(opts.Line, r)
}

func (r *Robot) Frame(buf []byte) (n int, note string) {
	if buf[0] != 0xAA || len(buf) > 1 && buf[1] != 0x55 {
		return line.Junk(buf, 0xAA), "junk"
	}
	if len(buf) < 3 || len(buf) < int(buf[2])+4 {
		return 0, ""
	}
	return int(buf[2]) + 4, "command"
}

func (r *Robot) Receive(now time.Duration, c []byte) {
	r.advance(now)
	if len(c) < 4 || c[0] != 0xAA || line.Xor(c[2:]) != 0 {
		return
	}
	for p := c[3 : len(c)-1]; len(p) >= 2 && len(p) >= 2+int(p[1]); p = p[2+int(p[1]):] {
		if p[0] == 1 && p[1] == 4 {
			r.commands++
			r.drive(float64(int16(int(p[2])|int(p[3])<<8)), float64(int16(int(p[4])|int(p[5])<<8)))
		}
		switch {
		case p[0] == 9 && p[1] == 2:
			r.extra |= p[2]
		case p[0] == 12 && p[1] == 2:
			r.outputs = int(p[2]) | int(p[3])<<8
		case p[0] == 13 && p[1] == 13:
			r.gains = [13]byte(p[2:15])
		case p[0] == 14 && p[1] == 1:
			r.extra |= wantGains
		}
	}
}

// drive sets the wheels, from the table of base control, solved for them.
func (r *Robot) drive(speed, radius float64) {
	s := &r.state
	inner := func(radius float64) float64 { return speed * (radius - base/2) / (radius + base/2) }
	switch {
	case radius == 0:
		s.Left, s.Right = speed, speed
	case radius == 1:
		s.Left, s.Right = -speed, speed
	case radius > 1:
		s.Left, s.Right = inner(radius), speed
	case radius < -1:
		s.Left, s.Right = speed, inner(-radius)
	} // -1 is not in the table
}

func (r *Robot) Advance(now time.Duration) time.Duration {
	r.advance(now)
	if now >= r.next {
		f := r.report(now)
		r.Send(f, fmt.Sprint("report ", len(f)-1))
		for r.next += period; r.next <= now; r.next += period {
		}
	}
	return r.next
}

// advance moves the robot to now. It drives on without commands (assumed).
func (r *Robot) advance(now time.Duration) {
	s := &r.state
	seconds := (now - r.at).Seconds()
	r.at = now
	left, right := s.Left*seconds, s.Right*seconds
	r.counts[0] += left * countsPerMM
	r.counts[1] += right * countsPerMM
	turn := (right - left) / base * (1 - r.opts.Slip)
	way := (left + right) / 2
	s.X += way * math.Cos(s.Heading+turn/2)
	s.Y += way * math.Sin(s.Heading+turn/2)
	s.Heading += turn
	r.gyro += turn
}

// report returns the packets that a robot sends by default, and those that were asked for.
func (r *Robot) report(now time.Duration) []byte {
	two := func(v float64) []byte {
		n := int(math.Floor(v))
		return []byte{byte(n), byte(n >> 8)}
	}
	f := []byte{0xAA, 0x55, 0}
	part := func(id byte, fields ...[]byte) {
		at := len(f)
		f = append(f, id, 0)
		for _, field := range fields {
			f = append(f, field...)
		}
		f[at+1] = byte(len(f) - at - 2)
	}
	part(1, two(float64((now - r.began).Milliseconds())), []byte{r.bumpers, r.dropped, r.cliffs}, two(r.counts[0]), two(r.counts[1]),
		[]byte{20, 20, r.buttons, 0, 161, r.current})
	part(3, make([]byte, 3))
	if !r.opts.NoGyro {
		angle := math.Remainder(r.gyro, 2*math.Pi) * 18000 / math.Pi
		part(4, two(angle), two((r.state.Right-r.state.Left)/base*18000/math.Pi), make([]byte, 3))
	}
	part(5, two(1500), two(1500), two(1500))
	part(6, make([]byte, 2))
	part(13, []byte{7, 6}, make([]byte, 12))
	inputs := []byte{r.digital, 0}
	for _, v := range r.analog {
		inputs = append(inputs, two(float64(v))...)
	}
	part(16, inputs, make([]byte, 6))
	if r.extra&wantHardware != 0 {
		part(10, []byte{4, 0, 1, 0}) // version 1.0.4
	}
	if r.extra&wantFirmware != 0 {
		part(11, []byte{0, 2, 1, 0}) // version 1.2.0
	}
	if r.extra&wantID != 0 {
		part(19, []byte("\x4C\x00\x3A\x00\x16\x51\x30\x31\x34\x36\x30\x39")) // invented
	}
	if r.extra&wantGains != 0 {
		part(21, r.gains[:])
	}
	r.extra = 0
	f[2] = byte(len(f) - 3)
	return append(f, line.Xor(f[2:]))
}

// Bump presses the bumpers: bit 0 right, 1 middle, 2 left.
func (r *Robot) Bump(which byte) { r.Change(func() { r.bumpers = which }) }

// Lift lifts both wheels off the floor, or sets the robot down.
func (r *Robot) Lift(up bool) { r.Change(func() { r.dropped = 3 * line.Bit(up) }) }

// Cliff puts cliffs under sensors: bit 0 right, 1 middle, 2 left.
func (r *Robot) Cliff(which byte) { r.Change(func() { r.cliffs = which }) }

// Press presses buttons: bit 0 to 2.
func (r *Robot) Press(which byte) { r.Change(func() { r.buttons = which }) }

// SetInputs sets the inputs of the expansion port: the digital ones, bit 0 to 3, and the analogue ones, of which 4095
// are 3.3 V.
func (r *Robot) SetInputs(digital byte, analog [4]uint16) {
	r.Change(func() { r.digital, r.analog = digital, analog })
}

// Outputs returns the flags of the last command to the general purpose outputs, -1 if none has come since power-up.
func (r *Robot) Outputs() int { return line.Copy(&r.End, &r.outputs) }

// Block blocks a wheel.
func (r *Robot) Block(blocked bool) { r.Change(func() { r.current = 2 * line.Bit(blocked) }) }

// Reboot switches the robot off and on.
func (r *Robot) Reboot() {
	r.Change(func() {
		r.counts, r.gyro, r.began = [2]float64{}, 0, r.at
		r.state.Left, r.state.Right = 0, 0
		r.outputs = -1
	})
}

// State returns the robot's state.
func (r *Robot) State() State { return line.Copy(&r.End, &r.state) }

// Commands returns how many commands to its wheels the robot has carried out.
func (r *Robot) Commands() int { return line.Copy(&r.End, &r.commands) }
