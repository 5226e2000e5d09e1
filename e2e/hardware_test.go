package e2e

import (
	"bytes"
	be "encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
	"player/e2e/waiting"
	"player/simulation/emulator/create"
	"player/simulation/emulator/kobuki"
	"player/simulation/emulator/line"
	robot "player/simulation/emulator/p2os"
	laser "player/simulation/emulator/sick"
)

// emulate starts emulated hardware, which ends with the test. A test that fails shows the record of the line.
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

func startCreate(t *testing.T, o create.Options) (*create.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, create.Start, o), serve(t, `driver ( name "create" provides ["position:0" "misc:0"] port %q )`, o.Line.Link)
}

func startKobuki(t *testing.T, o kobuki.Options) (*kobuki.Robot, *server) {
	t.Helper()
	o.Line.Link = newLine(t)
	return emulate(t, kobuki.Start, o), serve(t, `driver ( name "kobuki" provides ["position:0" "misc:0"] port %q )`, o.Line.Link)
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
