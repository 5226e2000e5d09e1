// Package arduino emulates a robot with a microcontroller that runs the sketch of
// examples/arduino, on a fake serial line. The protocol is at the top of the sketch.
package arduino

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"time"

	"player/simulation/emulator/line"
)

// Options of a robot.
type Options struct {
	Line line.Options  // Baud (115200)
	Boot time.Duration // how long it is silent after the host has opened the port

	Watchdog time.Duration // how long it drives without a command (500 ms)
	IMU      bool          // it also sends lines "I ROLL PITCH YAW YAWRATE" in deg and deg/s, positive to the left
}

const (
	mmPerCount = 0.45
	base       = 150.0 // mm
	tick       = 50 * time.Millisecond
)

// State is the robot's state.
type State struct {
	Left, Right int        // mm/s
	Way         [2]float64 // mm that each wheel has driven since the board was reset
	X, Y        float64    // mm, true, since power-up
	Heading     float64    // rad, counterclockwise
	Motors      bool
	Trips       int // of its watchdog while it drove
	Lines       int // received so far
	Unknown     int // unknown ones among them
}

// A Robot is at the end of a cable. Its methods may be called by any goroutine.
type Robot struct {
	line.End

	state  State
	heard  time.Duration
	at     time.Duration
	next   time.Duration
	ticks  int
	bumper byte
	silent time.Duration

	watchdog time.Duration
	imu      bool
}

// Start plugs a robot in.
func Start(opts Options) (*Robot, error) {
	opts.Line.Baud = cmp.Or(opts.Line.Baud, 115200)
	r := &Robot{next: tick, silent: opts.Boot, watchdog: cmp.Or(opts.Watchdog, 500*time.Millisecond), imu: opts.IMU}
	r.state.Motors = true
	return r, r.Attach(opts.Line, r)
}

func (r *Robot) Frame(buf []byte) (n int, note string) {
	n = bytes.IndexByte(buf, '\n') + 1
	if n == 0 && len(buf) > 64 {
		return len(buf), "junk"
	}
	return n, string(bytes.TrimSpace(buf[:n]))
}

func (r *Robot) Receive(now time.Duration, unit []byte) {
	r.move(now)
	s := &r.state
	s.Lines++
	var left, right int
	if n, _ := fmt.Sscanf(string(unit), "V %d %d\n", &left, &right); n == 2 {
		r.heard = now
		if s.Motors {
			s.Left, s.Right = left, right
		}
	} else if n, _ := fmt.Sscanf(string(unit), "E %d\n", &left); n == 1 {
		s.Motors, s.Left, s.Right = left != 0, 0, 0
	} else {
		s.Unknown++
	}
}

// move moves the robot to now.
func (r *Robot) move(now time.Duration) {
	s := &r.state
	if stop := r.heard + r.watchdog; now > stop && (s.Left != 0 || s.Right != 0) {
		r.drive(stop)
		s.Left, s.Right = 0, 0
		s.Trips++
	}
	r.drive(now)
}

func (r *Robot) drive(until time.Duration) {
	s := &r.state
	seconds := (until - r.at).Seconds()
	r.at = until
	left, right := float64(s.Left)*seconds, float64(s.Right)*seconds
	s.Way[0] += left
	s.Way[1] += right
	turn := (right - left) / base
	s.X += (left + right) / 2 * math.Cos(s.Heading+turn/2)
	s.Y += (left + right) / 2 * math.Sin(s.Heading+turn/2)
	s.Heading += turn
}

func (r *Robot) Advance(now time.Duration) time.Duration {
	r.move(now)
	if now < r.next {
		return r.next
	}
	r.next += tick * ((now-r.next)/tick + 1)
	if now < r.silent {
		return r.next
	}
	r.say("O %d %d", int(r.state.Way[0]/mmPerCount), int(r.state.Way[1]/mmPerCount))
	if r.imu {
		const degrees = 180 / math.Pi
		r.say("I 0 0 %.1f %.1f", r.state.Heading*degrees, float64(r.state.Right-r.state.Left)/base*degrees)
	}
	if r.ticks%2 == 0 {
		r.say("S %d %d %d", 120, 80, 350)
	}
	if r.ticks%20 == 0 {
		r.say("B %d", 11640)
		r.say("K %d", r.bumper)
	}
	r.ticks++
	return r.next
}

func (r *Robot) say(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	r.Send([]byte(text+"\r\n"), text)
}

// Bump presses the bumper, or releases it.
func (r *Robot) Bump(pressed bool) {
	r.Locked(func() {
		r.bumper = line.Bit(pressed)
		r.say("K %d", r.bumper)
	})
}

// Reboot presses the reset button: the board stops, is silent for a moment and counts its
// wheels from 0.
func (r *Robot) Reboot() {
	const boot = 300 * time.Millisecond
	r.Locked(func() {
		now := r.Now()
		r.move(now)
		r.state.Way, r.silent = [2]float64{}, now+boot
		r.state.Left, r.state.Right, r.state.Motors = 0, 0, true
	})
}

// State returns the robot's state.
func (r *Robot) State() State { return line.Copy(&r.End, &r.state) }
