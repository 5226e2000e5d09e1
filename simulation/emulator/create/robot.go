// Package create emulates an iRobot Create 2 on a fake serial line.
//
// It follows iRobot's Create 2 Open Interface Specification (August 2016); everything else
// is marked "assumed".
package create

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"player/simulation/emulator/line"
)

// The modes of the interface, packet 35.
const (
	modeOff = iota
	modePassive
	modeSafe
	modeFull
)

// Options of a robot.
type Options struct {
	Line      line.Options // Baud (115200; 19200 after its button was pressed for long)
	Streaming bool         // a host has left it driving and streaming
	Asleep    bool         // it answers nothing until its button is pressed: a pseudo-terminal has no wake line
	Counts    int16        // first counts of both encoders
	DockQuiet bool         // it sends no frames at its charger, as owners of some Roombas report
}

const (
	streamPeriod = 15 * time.Millisecond
	countsPerMM  = 508.8 / (math.Pi * 72)
	sleepTime    = 5 * time.Minute // "Power Saving": in mode Passive, without activity; an activity is a command (assumed)
	maxSpeed     = 500             // mm/s, of a wheel
	base         = 235.0           // mm, between the wheels
)

// State is the robot's state, with its measurements.
type State struct {
	Mode        int
	Left, Right int     // mm/s, the speeds of the wheels
	X, Y        float64 // mm, the true pose since power-up
	Heading     float64 // rad, counterclockwise
	Asleep      bool
	Streaming   bool
	LEDs        [3]byte // of the last command: bits, colour and intensity of the power LED
}

// A Robot is a Create 2 at the end of a cable. Its methods may be called by any
// goroutine.
type Robot struct {
	line.End

	state     State
	baud      int  // after power-up
	bumps     byte // packet 7
	buttons   byte // packet 18
	cliffs    [4]bool
	charger   bool
	counts    [2]float64 // left, right
	way, turn float64    // mm and degrees counterclockwise that no packet has reported yet
	velocity  int        // mm/s, from the last Drive
	radius    int        // mm, the same
	songs     [5]time.Duration
	song      int
	songEnds  time.Duration
	packets   []byte   // of the stream
	received  [256]int // commands by opcode
	nextFrame time.Duration
	at        time.Duration
	active    time.Duration // when it was last
	dockQuiet bool
}

// Start plugs a robot in and switches it on.
func Start(opts Options) (*Robot, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 115200)
	r := &Robot{baud: opts.Line.Baud, dockQuiet: opts.DockQuiet}
	r.counts = [2]float64{float64(opts.Counts), float64(opts.Counts)}
	r.state.Asleep = opts.Asleep
	if opts.Streaming {
		r.state.Mode, r.state.Left, r.state.Right, r.packets = modeFull, 200, 200, []byte{7, 43, 44}
		r.nextFrame = streamPeriod
	}
	return r, r.Attach(opts.Line, r)
}

// sizes are the sizes of the commands in bytes, with the opcode. Other commands have one byte.
// The commands of a Create 1 (147, 151 to 158) are known, so that their bytes are not parsed as
// commands, and ignored (assumed).
var sizes = map[byte]int{
	129: 2, 137: 5, 138: 2, 139: 4, 141: 2, 142: 2, 144: 4, 145: 5, 146: 5, 150: 2,
	162: 3, 163: 5, 164: 5, 165: 2, 167: 16, 168: 4,
	147: 2, 151: 2, 155: 2, 156: 3, 157: 3, 158: 2,
}

// lengths are for commands with a byte that counts the elements after it: the place of that
// byte, and the size of each element in bytes.
var lengths = map[byte]struct{ at, each int }{140: {2, 2}, 148: {1, 1}, 149: {1, 1}, 152: {1, 1}}

// bauds are the speeds of command 129.
var bauds = []int{300, 600, 1200, 2400, 4800, 9600, 14400, 19200, 28800, 38400, 57600, 115200}

func (r *Robot) Frame(buf []byte) (n int, note string) {
	n = max(sizes[buf[0]], 1)
	if l, ok := lengths[buf[0]]; ok {
		if len(buf) <= l.at {
			return 0, ""
		}
		n = l.at + 1 + l.each*int(buf[l.at])
	}
	if len(buf) < n {
		return 0, ""
	}
	return n, fmt.Sprint("opcode ", buf[0])
}

func (r *Robot) Receive(now time.Duration, c []byte) {
	r.advance(now)
	s := &r.state
	if s.Asleep || s.Mode == modeOff && c[0] != 128 && c[0] != 7 {
		return
	}
	r.received[c[0]]++
	r.active = now
	switch c[0] {
	case 7: // reset
		r.powerUp()
	case 128:
		s.Mode, s.Left, s.Right = modePassive, 0, 0
	case 131:
		s.Mode = modeSafe
	case 132:
		s.Mode = modeFull
	case 173, 133: // stop, power off
		s.Mode, s.Left, s.Right, r.packets = modeOff, 0, 0, nil
	case 129:
		if int(c[1]) < len(bauds) {
			r.SetBaud(bauds[c[1]])
		}
	case 130: // of a Create 1: the same as 131
		s.Mode = modeSafe
	case 134, 135, 136, 143: // it cleans, or searches for its dock: this robot stops
		s.Mode, s.Left, s.Right = modePassive, 0, 0
	case 137:
		if s.Mode >= modeSafe {
			r.velocity, r.radius = speed(c[1], c[2]), number(c[3], c[4])
			s.Left, s.Right = wheels(r.velocity, r.radius)
		}
	case 145:
		if s.Mode >= modeSafe {
			s.Right, s.Left = speed(c[1], c[2]), speed(c[3], c[4])
		}
	case 146: // assumed: the speed grows with the width of the pulse
		if s.Mode >= modeSafe {
			s.Right, s.Left = pulse(c[1], c[2]), pulse(c[3], c[4])
		}
	case 139: // available in modes Safe and Full
		if s.Mode >= modeSafe {
			s.LEDs = [3]byte(c[1:])
		}
	case 140:
		if song := int(c[1]); song < len(r.songs) {
			r.songs[song] = 0
			for i := 4; i < len(c); i += 2 {
				r.songs[song] += time.Duration(c[i]) * time.Second / 64
			}
		}
	case 141:
		if song := int(c[1]); s.Mode >= modeSafe && song < len(r.songs) && now >= r.songEnds {
			r.song, r.songEnds = song, now+r.songs[song]
		}
	case 142:
		r.report(c[1:])
	case 148:
		r.packets = append([]byte(nil), c[2:]...)
		r.nextFrame = now + streamPeriod
	case 149:
		r.report(c[2:])
	case 150:
		if r.nextFrame = 0; c[1] != 0 {
			r.nextFrame = now + streamPeriod
		}
	}
	r.protect()
	s.Streaming = r.nextFrame != 0
}

// report sends packets without their numbers.
func (r *Robot) report(packets []byte) {
	var bytes []byte
	for _, p := range packets {
		bytes = r.data(bytes, p)
	}
	if len(bytes) > 0 {
		r.Send(bytes, "sensors")
	}
}

func number(high, low byte) int { return int(int16(uint16(high)<<8 | uint16(low))) }

func speed(high, low byte) int { return max(-maxSpeed, min(number(high, low), maxSpeed)) }

func pulse(high, low byte) int {
	const widest = 255
	return max(-widest, min(number(high, low), widest)) * maxSpeed / widest
}

// wheels returns the speeds of the wheels on a curve around a point, which is to the left for
// a positive radius.
func wheels(velocity, radius int) (left, right int) {
	switch radius {
	case math.MinInt16, math.MaxInt16:
		return velocity, velocity
	case 1: // on the spot, counterclockwise
		return -velocity, velocity
	case -1:
		return velocity, -velocity
	case 0: // not in the specification
		return 0, 0
	}
	at := func(side float64) int {
		v := float64(velocity) * (float64(radius) + side) / float64(radius)
		return max(-maxSpeed, min(int(math.Round(v)), maxSpeed))
	}
	return at(-base / 2), at(base / 2)
}

// protect leaves mode Safe where the robot protects itself.
func (r *Robot) protect() {
	s := &r.state
	cliff := r.cliffs[0] || r.cliffs[1] || r.cliffs[2] || r.cliffs[3]
	forward := s.Left+s.Right > 0
	if s.Mode == modeSafe && (cliff && forward || r.bumps&0x0C != 0 || r.charger) {
		s.Mode, s.Left, s.Right = modePassive, 0, 0
	}
}

func (r *Robot) powerUp() {
	r.state = State{X: r.state.X, Y: r.state.Y, Heading: r.state.Heading}
	r.counts, r.packets, r.nextFrame = [2]float64{}, nil, 0
	r.way, r.turn, r.velocity, r.radius, r.songEnds = 0, 0, 0, 0, 0
	r.SetBaud(r.baud)
}

func (r *Robot) Advance(now time.Duration) time.Duration {
	r.advance(now)
	if r.state.Mode == modePassive && now >= r.active+sleepTime {
		r.state.Mode, r.state.Asleep, r.state.Streaming, r.nextFrame = modeOff, true, false, 0
	}
	if r.nextFrame != 0 && now >= r.nextFrame && !r.state.Asleep {
		if !r.dockQuiet || !r.charger {
			r.frame()
		}
		for r.nextFrame += streamPeriod; r.nextFrame <= now; r.nextFrame += streamPeriod {
		}
	}
	if r.nextFrame == 0 && r.state.Mode == modePassive {
		return r.active + sleepTime
	}
	return r.nextFrame
}

// advance moves the robot to now.
func (r *Robot) advance(now time.Duration) {
	s := &r.state
	seconds := (now - r.at).Seconds()
	r.at = now
	left, right := float64(s.Left)*seconds, float64(s.Right)*seconds
	r.counts[0] += left * countsPerMM
	r.counts[1] += right * countsPerMM
	turn := (right - left) / base
	way := (left + right) / 2
	s.X += way * math.Cos(s.Heading+turn/2)
	s.Y += way * math.Sin(s.Heading+turn/2)
	s.Heading += turn
	r.way += way
	r.turn += turn * 180 / math.Pi
}

// frame sends one frame of the stream.
func (r *Robot) frame() {
	f := []byte{19, 0}
	for _, p := range r.packets {
		f = r.data(append(f, p), p)
	}
	if len(f)-2 > math.MaxUint8 {
		return // assumed: its length has one byte
	}
	f[1] = byte(len(f) - 2)
	sum := byte(0)
	for _, b := range f {
		sum += b
	}
	r.Send(append(f, -sum), "stream")
}

// change changes the inputs of the robot's sensors.
func (r *Robot) change(fn func()) {
	r.Change(func() {
		r.active = r.Now()
		fn()
		r.protect()
	})
}

// Bump presses the bumpers.
func (r *Robot) Bump(left, right bool) {
	r.change(func() {
		r.bumps &^= 3
		if right {
			r.bumps |= 1
		}
		if left {
			r.bumps |= 2
		}
	})
}

// Lift lifts both wheels off the floor, or sets the robot down.
func (r *Robot) Lift(up bool) {
	r.change(func() {
		if r.bumps &^= 12; up {
			r.bumps |= 12
		}
	})
}

// Press presses buttons: bit 0 to 7 are clean, spot, dock, minute, hour, day, schedule and clock.
func (r *Robot) Press(which byte) { r.change(func() { r.buttons = which }) }

// Cliff puts a cliff under a sensor: 0 left, 1 front left, 2 front right, 3 right.
func (r *Robot) Cliff(sensor int, there bool) { r.change(func() { r.cliffs[sensor] = there }) }

// Charger plugs the charger in or out.
func (r *Robot) Charger(plugged bool) { r.change(func() { r.charger = plugged }) }

// PressButton presses CLEAN: a robot that sleeps wakes.
func (r *Robot) PressButton() { r.change(func() { r.state.Asleep = false }) }

// Reboot takes the battery out and puts it in again.
func (r *Robot) Reboot() { r.change(r.powerUp) }

// State returns the robot's state.
func (r *Robot) State() State { return line.Copy(&r.End, &r.state) }

// Count returns how many commands with an opcode the robot has obeyed or ignored.
func (r *Robot) Count(opcode byte) int { return line.Copy(&r.End, &r.received[opcode]) }
