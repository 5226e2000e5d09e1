package e2e

import (
	"bytes"
	be "encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
)

// emulate starts emulated hardware, which ends with the test. A test that fails shows what went over the line.
func emulate[Hardware interface{ Close() }, Options any](t *testing.T, start func(Options) (Hardware, error), o Options) Hardware {
	t.Helper()
	h := must.Get(start(o))(t)
	t.Cleanup(func() {
		h.Close()
		if line, ok := any(h).(interface{ Transcript() string }); ok && t.Failed() {
			t.Logf("%T:\n%s", h, tail(line.Transcript(), 6000))
		}
	})
	return h
}

// newLine returns the path for a serial line of emulated hardware.
func newLine(t *testing.T) string { return filepath.Join(t.TempDir(), "line") }

func startRobot(t *testing.T, o robot.Options) *robot.Robot {
	t.Helper()
	o.Line.Link = newLine(t)
	var r *robot.Robot
	t.Cleanup(func() { // when it has ended
		for _, o := range r.State().Objections {
			if !strings.Contains(o, "before SYNC") { // commands to stop, for one that was left open
				t.Errorf("a robot would not take this: %s", o)
			}
		}
	})
	r = emulate(t, robot.Start, o)
	return r
}

func startLaser(t *testing.T, o laser.Options) *laser.Laser {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, laser.Start, o)
}

// mustOpen requests the pairs and checks the reply. Drivers give up on hardware that
// does not answer within a second or two, which is short for an emulator on a busy
// machine: devices that fail are requested again, as a user would. That the first
// request is enough is tested in simulated time, with the drivers. It returns the
// number of requests beyond the first.
func (p *peer) mustOpen(pairs, want string) (again int) {
	p.t.Helper()
	got := p.request(pairs)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && strings.Contains(got, "e") && !strings.Contains(want, "e"); {
		p.t.Logf("request %s answered %s: again", pairs, got)
		got = p.request(pairs)
		again++
	}
	if got != want {
		p.t.Fatalf("request %s answered %s, want %s", pairs, got, want)
	}
	return again
}

// age reads frames until one has the age of the newest data of its first device,
// as device y reports it.
func (p *peer) age() time.Duration {
	p.t.Helper()
	for {
		if letter, payload := p.block(); letter == codec.Server && len(payload) >= 12 {
			return time.Duration(be.BigEndian.Uint32(payload[8:])) * time.Microsecond
		}
	}
}

// until reads frames until cond holds.
func (p *peer) until(what string, cond func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !cond(); {
		if time.Now().After(deadline) {
			p.t.Fatalf("waited in vain: %s", what)
		}
		p.block()
	}
}

func motors(on byte) []byte {
	return codec.AppendMessage(nil, codec.KindConfig, codec.Position, []byte{codec.ConfigMotors, on})
}

func TestRobotConnects(t *testing.T) {
	t.Parallel()
	for _, baud := range []int{9600, 19200, 38400, 57600, 115200} {
		for _, leftOpen := range []bool{false, true} {
			t.Run(fmt.Sprint(baud, leftOpen), func(t *testing.T) {
				t.Parallel()
				r := startRobot(t, robot.Options{Line: line.Options{Baud: baud, Garble: true, Paced: true}, LeftOpen: leftOpen,
					Odometry: robot.Pose{X: 3000, Y: -500, Heading: 77}})
				s := start(t, "-pp", r.Port())
				c := s.dial(t)
				again := c.mustOpen("prsrgrmr", "prsrgrmr")
				if got := c.frame(4); got != "p21 s32 g2 m3" {
					t.Fatalf("frame %s", got)
				}
				if p := c.position(); p.X != 0 || p.Y != 0 || p.Heading != 0 || p.Compass != 90 {
					t.Fatalf("position %+v", p)
				}
				state := r.State()
				if state.Motors || !state.Sonar || state.BadPackets != 0 {
					t.Fatalf("robot %+v", state)
				}
				closes := 0
				if leftOpen {
					closes = 1
				}
				// A late answer makes the driver start again, with a robot that is open.
				repeated := again > 0 || state.Counts["SYNC0"] > 1 || state.Counts["OPEN"] > 1
				if n := state.Counts["CLOSE"]; n < closes || n > closes && !repeated {
					t.Fatalf("the robot was closed %d times, want %d: %v", n, closes, state.Counts)
				}
				s.stop(t)
				checkFarewell(t, r)
				if trips := r.State().WatchdogTrips; trips != 0 && !repeated {
					t.Fatalf("the watchdog tripped %d times", trips)
				}
			})
		}
	}
}

// checkFarewell waits until the robot has heard zero velocities, STOP and CLOSE,
// and nothing after them.
func checkFarewell(t *testing.T, r *robot.Robot) {
	t.Helper()
	want := []byte{
		0xFA, 0xFB, 6, 32, 0x3B, 0, 0, 0x20, 0x3B,
		0xFA, 0xFB, 3, 29, 0, 29,
		0xFA, 0xFB, 3, 2, 0, 2,
	}
	waiting.Until(t, "zero velocities, STOP and CLOSE", func() bool { return bytes.HasSuffix(r.Heard(line.HostToDevice), want) })
	waiting.Until(t, "a robot that is closed", func() bool { state := r.State(); return !state.Open && !state.Motors })
}

// A robot that is unplugged at the first request, then silent, then there.
func TestRobotSwitchedOnLate(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	r.Unplug()
	c := start(t, "-pp", r.Port()).dial(t)
	c.mustOpen("pr", "pe")
	must.Do(t, r.Plug())
	r.Silence()
	c.mustOpen("pr", "pe")
	r.Speak()
	c.mustOpen("pr", "pr")
}

func TestRobotDrivesSquare(t *testing.T) {
	t.Parallel()
	r := startRobot(t, robot.Options{})
	s := start(t, "-pp", r.Port())
	c := s.dial(t)
	c.mustOpen("pamrga", "pamrga")
	c.drive(400, 0)
	c.until("three frames", counter(9))
	if p := r.State().World; p != (robot.Pose{}) {
		t.Fatalf("the robot is at %+v without power", p)
	}
	c.drive(0, 0)
	c.send(motors(1)...)
	waiting.Until(t, "motors on", func() bool { return r.State().Motors })
	side, corner := 200.0, 90.0
	for range 4 {
		start := r.State().World
		c.drives("a side", 400, 0, func() bool { p := r.State().World; return math.Hypot(p.X-start.X, p.Y-start.Y) > side })
		c.drives("a corner", 0, 90, func() bool { return math.Abs(r.State().World.Heading-start.Heading) > corner-10 })
	}
	c.drive(0, 0)
	c.until("standstill", func() bool { return r.State().Left == 0 && r.State().Right == 0 })
	c.until("two frames", counter(6))
	checkOdometry(t, c, r)
	if want := r.State().Odometry; want.Heading < 300 {
		t.Fatalf("that was no square: %+v", want)
	}

	c.message('c', 'g', 17, 0) // lift carry with an argument
	waiting.Until(t, "the gripper's argument", func() bool { return r.State().Counts["GRIPPERVAL"] == 1 })
	c.message('x', 'p', 'R')
	waiting.Until(t, "SETO", func() bool { return r.State().Counts["SETO"] == 2 })
	c.until("the origin", func() bool { p := c.position(); return p.X == 0 && p.Y == 0 && p.Heading == 0 })

	c.drives("motion", 300, 0, func() bool { return r.State().Left > 100 })
	s.stop(t)
	checkFarewell(t, r)
}

// drives repeats a command until cond holds. Once is not enough on a busy machine:
// the driver stops a robot whose reports are seconds late.
func (p *peer) drives(what string, speed, turnRate int16, cond func() bool) {
	p.t.Helper()
	p.until(what, func() bool {
		p.drive(speed, turnRate)
		return cond()
	})
}

// checkOdometry compares the position that a client gets from a robot that stands
// with the robot's own.
func checkOdometry(t *testing.T, p *peer, r *robot.Robot) {
	t.Helper()
	want := r.State().Odometry
	var got codec.PositionData
	p.until("a frame of the robot at rest", func() bool { got = p.position(); return got.Speed == 0 && got.TurnRate == 0 })
	if math.Abs(float64(got.X)-want.X) > 3 || math.Abs(float64(got.Y)-want.Y) > 3 || math.Abs(math.Remainder(float64(got.Heading)-want.Heading, 360)) > 1 {
		t.Errorf("position %+v, the robot's own %+v", got, want)
	}
}

func counter(n int) func() bool {
	return func() bool { n--; return n < 0 }
}

func TestRobotUnplugged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		lose, back func(r *robot.Robot) error
	}{
		{"unplugged", func(r *robot.Robot) error { r.Unplug(); return nil }, (*robot.Robot).Plug},
		{"silent", func(r *robot.Robot) error { r.Silence(); return nil }, func(r *robot.Robot) error { r.Speak(); return nil }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := startRobot(t, robot.Options{MotorsOn: true})
			s := start(t, "-pp", r.Port())
			c := s.dial(t)
			c.mustOpen("payr", "payr")
			c.drives("motion", 300, 0, func() bool { return r.State().Left > 100 })
			must.Do(t, test.lose(r))
			c.until("old data", func() bool { return c.age() > 3*time.Second })
			waiting.Until(t, "standstill", func() bool { return r.State().Left == 0 })
			must.Do(t, test.back(r))
			c.until("new data", func() bool { return c.age() < 200*time.Millisecond })
			c.until("ten frames", counter(20))
			if state := r.State(); state.WantLeft != 0 || state.WantRight != 0 || !state.Motors {
				t.Fatalf("the robot moves by itself or lost its power: %+v", state)
			}
			c.drives("motion", 200, 0, func() bool { return r.State().Left > 100 })
			s.stop(t)
			checkFarewell(t, r)
		})
	}
}

func TestLaserConnects(t *testing.T) {
	t.Parallel()
	tests := []laser.Options{
		{Line: line.Options{Baud: 9600}, Unit: laser.CM, Angle: 100, Resolution: 25}, // switched on
		{Line: line.Options{Baud: 38400}},
		{Line: line.Options{Baud: 38400}, Indices: true},
		{Line: line.Options{Baud: 38400}, Streaming: true}, // left by a server that was killed
		{Line: line.Options{Baud: 9600}, Streaming: true, Unit: laser.CM, Resolution: 100},
		{Line: line.Options{Baud: 19200}},
		{Line: line.Options{Baud: 19200}, Streaming: true},
		{Line: line.Options{Baud: 500000}, Angle: 100, Resolution: 25}, // left by a program on an RS-422 line
		{Line: line.Options{Baud: 500000}, Streaming: true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d baud, streaming %v", test.Line.Baud, test.Streaming), func(t *testing.T) {
			t.Parallel()
			test.Line.Paced, test.Line.Garble, test.Line.Latency = true, true, 60*time.Millisecond
			l := startLaser(t, test)
			var ranges [laser.Values]uint16
			for i := range ranges {
				ranges[i] = uint16(1000 + 10*i)
			}
			l.SetRanges(ranges)
			l.SetFlags(5, 7)
			s := start(t, "-lp", l.Port())
			c := s.dial(t)
			c.mustOpen("lr", "lr")
			letter, payload := c.block()
			var got codec.LaserData
			if err := got.Decode(payload); letter != 'l' || err != nil {
				t.Fatal(err)
			}
			if got != ranges {
				t.Fatalf("ranges %d", got)
			}
			s.stop(t)
			waiting.Until(t, "the laser stops streaming", func() bool { return !l.State().Streaming })
			if want := max(test.Line.Baud, 38400); l.Baud() != want {
				t.Fatalf("laser at %d baud: %+v", l.Baud(), l.State())
			}
		})
	}
}

// A port that cannot be opened gives the client an error at once.
func TestPortsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/nowhere/tty", "/dev/null", t.TempDir()} {
		c := start(t, "-pp", path).dial(t)
		c.mustOpen("prsr", "pese")
		c.mustOpen("srpr", "sepe")
		c = start(t, "-lp", path).dial(t)
		c.mustOpen("lr", "le")
		c.mustOpen("lr", "le")
	}
}
