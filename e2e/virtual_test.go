package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/e2e/ports"
	"player/e2e/waiting"
	"player/server/session"
)

// passing starts a server that passes on devices of the server at address.
func passing(t *testing.T, address, provides string) *server {
	t.Helper()
	return serve(t, `driver ( name "passthrough" remote %q provides [%s] )`, address, provides)
}

// wheels are the devices that most chains pass on.
const wheels = `"position:0" "sonar:0" "laser:0"`

// speeds waits for a position whose speed is ok.
func (p *peer) speeds(ok func(speed int16) bool) {
	p.t.Helper()
	var d codec.PositionData
	waiting.Until(p.t, "another speed", func() bool { d = p.position(); return ok(d.Speed) })
}

func drives(speed int16) bool { return speed > 50 }
func stands(speed int16) bool { return speed == 0 }

// Three servers in a row: a simulated robot, and two that pass it on.
func TestChain(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	last := passing(t, passing(t, robot.address, wheels).address, wheels)
	p, direct := last.dial(t), robot.dial(t)
	if reply := p.request("sryrlrpa"); reply != "sryrlrpa" {
		t.Fatalf("reply %q", reply)
	}
	direct.request("srlrpr")
	for _, letter := range []byte{'s', 'l'} {
		if got, want := p.payload(letter), direct.payload(letter); !bytes.Equal(got, want) {
			t.Errorf("%c is % X, at the robot % X", letter, got, want)
		}
	}
	if got := p.frame(4); got != "p21 y20 s32 l722" {
		t.Errorf("frame %s", got)
	}
	p.message('x', 'p', 'm', 1)
	p.drive(200, 0)
	p.speeds(drives)
	direct.speeds(drives)
	p.conn.Close()
	direct.speeds(stands)
	if !last.Alive() {
		t.Error("the chain has ended")
	}
}

// A server that passes on a robot says the same of it as the robot, to a client that asks as soon as it has the devices:
// where the sonars and the lasers are. So it does after the robot has got its laser in another place.
func TestChainPassesOnGeometry(t *testing.T) {
	t.Parallel()
	rear := func(pose string) string {
		return stageRoom(t) + fmt.Sprintf("driver ( name \"testpattern\" provides [\"laser:1\"] pose [%s] )\n", pose)
	}
	parts := func(p *peer) (lines []string) {
		for _, line := range p.ask(codec.QuestionGeometry) {
			if key, _, _ := strings.Cut(line, " "); slices.Contains([]string{"p", "s", "l", "laser:1"}, key) {
				lines = append(lines, line)
			}
		}
		slices.Sort(lines)
		return lines
	}
	robot := startFile(t, launch{}, rear("-0.25 0.1 180"))
	chain := passing(t, robot.address, wheels+` "laser:1"`)
	direct, p := robot.dial(t), chain.dial(t)
	for _, p := range []*peer{direct, p} {
		p.mustOpen("pr", "pr")
		p.ask(codec.QuestionDevices) // from then on answers have laser:1
	}
	want := parts(direct)
	if len(want) < 1+16+1+1 || !slices.Contains(want, "laser:1 0 -250 100 180 0 0 0 0") {
		t.Fatalf("the robot says %q", want)
	}
	if got := parts(p); !slices.Equal(got, want) {
		t.Errorf("the chain says %q, the robot %q", got, want)
	}
	robot.reload(t, rear("0.3 0 90"))
	want = parts(direct)
	if !slices.Contains(want, "laser:1 0 300 0 90 0 0 0 0") {
		t.Fatalf("the robot says %q", want)
	}
	waiting.Until(t, "the new geometry", func() bool { return slices.Equal(parts(p), want) })
}

// The server in the middle is killed: the robot stops.
func TestChainIsCut(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	chain := passing(t, robot.address, wheels)
	p, direct := chain.dial(t), robot.dial(t)
	p.request("pa")
	direct.request("pr")
	p.message('x', 'p', 'm', 1)
	p.drive(200, 0)
	direct.speeds(drives)
	chain.kill(t)
	direct.speeds(stands)
}

// When a client that only read through the chain leaves, a robot that another client
// drives goes on.
func TestChainReaderLeaves(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	chain := passing(t, robot.address, wheels)
	direct := robot.dial(t)
	direct.request("pa")
	direct.message('x', 'p', 'm', 1)
	p := chain.dial(t)
	p.request("prsr")
	p.frame(2)
	direct.drive(100, 0)
	direct.speeds(drives)
	p.conn.Close()
	waiting.Until(t, "the end of the reading", func() bool { return strings.Contains(chain.Output.String(), devices.LogStops) })
	for range 5 {
		if d := direct.position(); d.Speed <= 50 {
			t.Fatal("it was stopped")
		}
	}
}

// Virtual devices on top of those of another computer: its wheels behind reflexes, and
// sonars made of its laser.
func TestVirtualDevicesInARow(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	s := start(t, write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`
driver ( name "reflex" provides ["position:0"] requires ["position:1" "laser:0"] )
driver ( name "lasersonar" provides ["sonar:0"] requires ["laser:0"] range 4000 )
driver ( name "passthrough" remote %q provides ["position:1" "laser:0"] pose [0.08 0 0] )`, robot.address)), "-deadman", "1500")
	p, direct := s.dial(t), robot.dial(t)
	if reply := p.request("pasrlr"); reply != "pasrlr" {
		t.Fatalf("reply %q", reply)
	}
	direct.request("sr")
	p.message('x', 'p', 'm', 1)

	sonars, virtual := direct.sonar(), p.sonar()
	for i, v := range virtual[:8] {
		want := int(min(sonars[i], 4000))
		if diff := int(v) - want; diff < -want/5-50 || diff > want/5+50 {
			t.Errorf("sonar %d reads %d, one made of a laser %d", i, sonars[i], v)
		}
	}
	for i, v := range virtual[8:] {
		if v != 4000 {
			t.Errorf("sonar %d, where the laser does not look, reads %d", 8+i, v)
		}
	}

	// Commands go on for twice their lifetime. On a busy machine two of them
	// may be almost a whole lifetime apart.
	for begin := time.Now(); time.Since(begin) < 3*time.Second; {
		p.drive(150, 0)
		p.position()
	}
	if d := p.position(); !drives(d.Speed) {
		t.Errorf("stopped while commands came: speed %d", d.Speed)
	}
	p.speeds(stands)
	direct = robot.dial(t) // with nothing old under way
	direct.request("pr")
	if d := direct.position(); d.Speed != 0 {
		t.Errorf("the robot drives on: speed %d", d.Speed)
	}
}

// A client of a server that reads another one drove; now another program drives the
// robot at its own server. However the client ends, the robot drives on. A client that
// drives through both is stopped.
func TestChainStopsNobody(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *peer){
		"gives up writing": func(p *peer) { p.mustOpen("pr", "pr") },
		"closes":           func(p *peer) { p.mustOpen("pc", "pc") },
		"leaves":           func(p *peer) { p.conn.Close() },
		"hangs":            func(p *peer) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			robot := start(t, "-stage", room)
			s := start(t, write(t, t.TempDir(), "robot.cfg", fmt.Sprintf(`driver ( name "passthrough" remote %q provides ["position:0"] )`, robot.address)), "-deadman", "1000")
			watcher, p := s.dial(t), s.dial(t) // the connection of the server stays
			watcher.request("pr")
			p.request("pa")
			direct := robot.dial(t)
			direct.request("pa")
			direct.message('x', 'p', 'm', 1)
			speed := func() int16 { return direct.position().Speed }
			p.drives("the chain drives", 0, 30, func() bool { return direct.position().TurnRate > 20 })
			direct.drives("the direct program drives", 100, 0, func() bool { return speed() == 100 })
			end(p)
			if name == "hangs" {
				s.Await(t, session.LogExpired)
			}
			for range 15 {
				if v := speed(); v != 100 {
					t.Fatalf("the robot of another program drives at %d mm/s", v)
				}
			}
			p = s.dial(t)
			p.request("pa")
			p.drives("the chain drives again", 0, 30, func() bool { return direct.position().TurnRate > 20 })
			end(p)
			waiting.Until(t, "the stop", func() bool { return direct.position().TurnRate == 0 })
		})
	}
}

// PROTOCOL 5.4: a client that opens and closes the wheels of a robot that another
// one drives does not stop it; the driving client does.
func TestVisitorStopsNobody(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.request("pa")
	p.message('x', 'p', 'm', 1)
	p.drive(100, 0)
	p.speeds(drives)
	for _, leave := range []func(v *peer){
		func(v *peer) { v.mustOpen("pc", "pc") },
		func(v *peer) { v.mustOpen("pr", "pr") },
		func(v *peer) { v.conn.Close() },
	} {
		v := s.dial(t)
		v.mustOpen("pa", "pa")
		leave(v)
		for range 5 { // a stop would be in the next data
			if d := p.position(); !drives(d.Speed) {
				t.Fatalf("the robot was stopped: %+v", d)
			}
		}
	}
	other := s.dial(t)
	other.mustOpen("pa", "pa")
	other.drive(120, 0)
	p.speeds(func(speed int16) bool { return speed == 120 })
	other.conn.Close()
	p.speeds(stands)
}

// Servers that pass on each other's devices: the devices fail at once, instead of
// waiting for each other.
func TestRingOfServers(t *testing.T) {
	t.Parallel()
	numbers := []int{ports.Free(t, 1), ports.Free(t, 1)}
	var ring []*server
	for i, port := range numbers {
		config := fmt.Sprintf(`driver ( name "passthrough" remote "127.0.0.1:%d" provides ["position:0"] )`, numbers[1-i])
		ring = append(ring, launch{port: port}.start(t, write(t, t.TempDir(), "ring.cfg", config)))
	}
	for _, s := range ring {
		if reply := s.dial(t).request("pr"); reply != "pe" {
			t.Errorf("reply %q", reply)
		}
		waiting.Until(t, "the reason", func() bool { return strings.Contains(s.Output.String(), devices.ErrRing.Error()) })
	}
}

// A server that reads another one by two connections is no ring.
func TestTwoConnectionsAreNoRing(t *testing.T) {
	t.Parallel()
	robot := start(t, "-stage", room)
	between := serve(t, `
define robot driver ( name "passthrough" remote %q )
robot ( provides ["position:0"] )
robot ( provides ["sonar:0"] )`, robot.address)
	p := passing(t, between.address, `"position:0" "sonar:0"`).dial(t)
	if reply := p.request("prsr"); reply != "prsr" {
		t.Fatalf("reply %q", reply)
	}
	p.payload('p')
	p.payload('s')
}
