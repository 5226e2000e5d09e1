package session

import (
	"slices"
	"testing"
	"time"

	"player/config/rights"
)

const (
	drivesAhead = "command p 01020304"
	drivesLeft  = "command p 05060708"
	stands      = "command p 00000000"
)

var halt = message('c', 'p', 0, 0, 0, 0)

// setLifetime is the configuration that sets the lifetime of commands (4.10).
func setLifetime(d time.Duration) []byte { return config('l', byte(d/ms>>8), byte(d/ms)) }

// pass lets time pass, and the command of a client end when it is due.
func (p *peer) pass(d time.Duration) {
	p.t.Helper()
	for end := p.robot.now + d; p.robot.now < end; {
		p.robot.now = end
		if at := p.Lapses(); at != 0 && at <= end {
			p.robot.now = at
			if next := p.Lapse(at); next != p.Lapses() {
				p.t.Errorf("due again at %v, not %v", next, p.Lapses())
			}
		}
	}
}

func (r *robot) expectCommands(t *testing.T, want ...string) {
	t.Helper()
	if got := r.commands(); !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
}

// A command that is not repeated in time ends; one that is goes on.
func TestLifetime(t *testing.T) {
	r := newRobot(t)
	control := &Control{}
	p := newDrivers(t, r, control, 1)[0]
	p.send(ahead)
	if p.Lapses() != 0 {
		t.Error("a command without a lifetime ends")
	}
	p.changed = false
	p.send(setLifetime(500*ms), ahead)
	if !p.changed {
		t.Error("the owner was not told when the command ends")
	}
	for range 3 {
		p.pass(499 * ms)
		p.send(ahead)
	}
	r.expectCommands(t, drivesAhead, drivesAhead, drivesAhead, drivesAhead, drivesAhead)
	p.pass(500 * ms)
	r.expectCommands(t, stands)
	if control.Holds(p.Session) || p.Lapses() != 0 || p.Access() != "pa" {
		t.Errorf("after its end: control %v, due at %v, %s", control.Holds(p.Session), p.Lapses(), p.Access())
	}
	p.pass(time.Hour)
	p.send(ahead) // anew
	p.pass(time.Second)
	p.send(ahead, halt) // a robot that stands has nothing to end
	if p.Lapses() != 0 {
		t.Error("a command to stop ends")
	}
	r.expectCommands(t, drivesAhead, stands, drivesAhead, stands)
}

// Setting the lifetime renews the client's newest command, and only that.
func TestLifetimeRenews(t *testing.T) {
	r := newRobot(t)
	p := newDrivers(t, r, &Control{}, 2)
	p[0].send(ahead, setLifetime(500*ms)) // of a command without one, too
	for range 3 {
		p[0].pass(499 * ms)
		p[0].send(setLifetime(500 * ms))
	}
	r.expectCommands(t, drivesAhead)
	p[0].send(setLifetime(100 * ms))
	p[0].pass(100 * ms)
	r.expectCommands(t, stands)
	p[0].send(setLifetime(100 * ms))
	if p[0].Lapses() != 0 {
		t.Error("a command that has ended is renewed")
	}
	p[0].send(ahead)
	p[1].send(left)
	p[0].send(setLifetime(100 * ms))
	if p[0].Lapses() != 0 {
		t.Error("the command of another client is renewed")
	}
	p[1].send(config('l', 0xFF, 0xFF))
	p[1].pass(time.Hour)
	r.expectCommands(t, drivesAhead, drivesLeft)
}

// The client cannot be good for longer than the server allows.
func TestLimit(t *testing.T) {
	for _, tt := range []struct{ asked, want time.Duration }{{0, 300 * ms}, {0xFFFF * ms, 300 * ms}, {400 * ms, 300 * ms}, {200 * ms, 200 * ms}} {
		r := newRobot(t)
		p := newDrivers(t, r, &Control{}, 1)[0]
		p.Limit(300 * ms)
		if tt.asked != 0 {
			p.send(setLifetime(tt.asked))
		}
		p.send(ahead)
		if got := p.Lapses() - r.now; got != tt.want {
			t.Errorf("asked for %v: %v, want %v", tt.asked, got, tt.want)
		}
	}
}

// However a client with a lifetime ends, it leaves alone what another one drives, and
// stops what it drives itself.
func TestEndsLeaveOthersAlone(t *testing.T) {
	ends := map[string]func(p *peer){
		"zero":        func(p *peer) { p.send(halt) },
		"timeout":     func(p *peer) { p.pass(time.Minute) },
		"read only":   func(p *peer) { p.request("pr", "pr") },
		"closed":      func(p *peer) { p.request("pc", "pc") },
		"left":        func(p *peer) { p.Close(p.robot.now) },
		"silent":      func(p *peer) { p.Halt(p.robot.now) },
		"zero, later": func(p *peer) { p.pass(time.Minute); p.send(halt); p.Close(p.robot.now) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := newRobot(t)
			p := newDrivers(t, r, &Control{}, 2)
			p[0].send(setLifetime(400*ms), ahead)
			p[1].send(left)
			end(p[0])
			r.expectCommands(t, drivesAhead, drivesLeft)
			p = newDrivers(t, r, &Control{}, 1)
			p[0].send(setLifetime(400*ms), ahead)
			end(p[0])
			r.expectCommands(t, drivesAhead, stands)
		})
	}
}

// A client without a lifetime stops everybody, as in 0.7.4a; the limit of the server
// changes nothing about that.
func TestPlainZeroStopsOthers(t *testing.T) {
	r := newRobot(t)
	p := newDrivers(t, r, &Control{}, 2)
	p[1].Limit(400 * ms)
	p[0].send(ahead)
	p[1].send(halt)
	p[0].send(ahead)
	p[1].send(setLifetime(400*ms), halt, config('l', 0, 0), halt)
	r.expectCommands(t, drivesAhead, stands, drivesAhead, stands)
}

// A client that lets another one drive has given up control, and does not take it by a
// command to stop.
func TestLettingGoGivesUpControl(t *testing.T) {
	for name, end := range map[string]func(p *peer){
		"timeout":   func(p *peer) { p.pass(400 * ms) },
		"read only": func(p *peer) { p.request("pr", "pr") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRobot(t)
			p := newDrivers(t, r, &Control{First: true}, 2)
			p[0].send(setLifetime(400*ms), ahead)
			end(p[0])
			p[1].send(left)
			p[0].Restrict(rights.All)
			p[0].send(halt)
			p[1].send(left)
			r.expectCommands(t, drivesAhead, stands, drivesLeft, drivesLeft)
		})
	}
}

// A command that waits for a setup ages meanwhile.
func TestLifetimeDuringSetup(t *testing.T) {
	for _, tt := range []struct {
		waits time.Duration
		want  []string
	}{{300 * ms, []string{drivesAhead, stands}}, {400 * ms, nil}} {
		r := newRobot(t)
		base := r.of('p')
		base.mood = slow
		p := newPeer(t, r)
		p.send(setLifetime(400*ms), request("pa"), ahead)
		r.now += tt.waits
		base.end(r.now)
		p.expectReplies("pa")
		p.pass(400*ms - tt.waits)
		r.expectCommands(t, tt.want...)
		p.send(ahead)
		r.expectCommands(t, drivesAhead)
	}
	// Other commands do not end.
	r := newRobot(t)
	camera := r.of('z')
	camera.mood = slow
	p := newPeer(t, r)
	p.send(setLifetime(400*ms), request("za"), r.command('z', 1))
	r.now += time.Minute
	camera.end(r.now)
	r.expectCommands(t, "command z 010101010101")
	if p.Lapses() != 0 || p.Lapse(r.now) != 0 {
		t.Error("a command to the camera ends")
	}
}

// A command and the end of it that come together take control from another client, and so
// they stop what it drives. With control alone, that client could not stop the robot for a
// second.
func TestZeroBehindACommand(t *testing.T) {
	r := newRobot(t)
	p := newDrivers(t, r, &Control{First: true}, 2)
	p[0].send(ahead)
	p[1].Restrict(rights.All | rights.Take)
	p[1].send(setLifetime(400*ms), slices.Concat(left, halt))
	p[0].send(halt)
	r.expectCommands(t, drivesAhead, stands)
}
