package session

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
)

var (
	ahead = message('c', 'p', 1, 2, 3, 4)
	left  = message('c', 'p', 5, 6, 7, 8)
	halt  = message('c', 'p', 0, 0, 0, 0)
)

// newDrivers returns two clients of a robot that have its control in common and may drive.
func newDrivers(t *testing.T, control *Control) (*robot, [2]*peer) {
	r := newRobot(t)
	peers := [2]*peer{newPeer(t, r), newPeer(t, r)}
	for _, p := range peers {
		p.SetControl(control)
		p.request("pa", "pa")
	}
	r.take()
	return r, peers
}

// commands returns the commands that reached drivers since the last take: A, L, 0, or others.
func (r *robot) commands() (all string) {
	names := map[string]string{"p 01020304": "A", "p 05060708": "L", "p 00000000": "0"}
	for e := range strings.Lines(r.take()) {
		if command, is := strings.CutPrefix(strings.TrimSpace(e), "command "); is {
			all += cmp.Or(names[command], command)
		}
	}
	return all
}

// The server can ask a session for the state of its client.
func TestState(t *testing.T) {
	r, p := connect(t)
	if p.Name() != "" || p.Access() != "" || p.Rate() != 10 {
		t.Errorf("%q, %q, %v", p.Name(), p.Access(), p.Rate())
	}
	p.request("yrlrpasr", "yrlrpasr")
	p.request("sc", "sc")
	p.send(message('x', 'y', append([]byte{'w'}, "Anna"...)...))
	for _, bad := range []string{strings.Repeat("x", codec.MaxName+1), "a\x00", "\xFF"} {
		p.send(message('x', 'y', append([]byte{'w'}, bad...)...))
	}
	p.send(ahead, message('c', 'g', 1, 1), config('f', 0, 20))
	r.now += 70 * ms
	age, ok := p.Age(r.now)
	if p.Name() != "Anna" || p.Access() != "yrlrpa" || p.Rate() != 20 || !ok || age < 70*ms {
		t.Errorf("%q, %q, %v, %v", p.Name(), p.Access(), p.Rate(), age)
	}
	if c, want := p.Counts(), (Counts{Commands: 1, Refused: 1, LastCommand: r.now - 70*ms}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	p.send(config('r', 1))
	if p.Rate() != 0 {
		t.Errorf("on request: %v", p.Rate())
	}
}

// The log names the client that takes control and the client that loses it, once a second at most.
func TestControlIsLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	r, p := newDrivers(t, &Control{})
	for i, peer := range p {
		peer.log = zap.New(core).With(zap.Int("client", i))
	}
	for range 10 {
		p[0].send(ahead)
		p[1].send(left)
	}
	r.now += time.Second
	p[0].send(ahead)
	got := ""
	for _, line := range logs.TakeAll() {
		got += line.Message + "\n"
	}
	const taken, lost = "client has taken control of position\n", "client has lost control of position\n"
	if got != taken+lost+taken {
		t.Errorf("%q", got)
	}
}

// driving are conversations of clients that have opened the position of a robot.
// Control is newest, or first where a conversation begins with that.
var driving = map[string][]string{
	"control (8.6)": {
		"A 2:L A [ALA] C",
		"first A 2:L A [AA] C 2:. ~999 3:L [] ~1 3:L A [L] 3:C 3:. 3:c A [0A]",
		"first 2:^wt A 2:L A [AL] 2:C ~1000 A [A] C", // with the right to it, a client takes control at once
	},
	// An emergency stop holds while clients come and go, until a client that may drive releases it.
	"emergency stop (8.5)": {
		"A 2:x6501 A 2:L . 2:. [A0] 3:A 4:^ 4:x6500 5:^r 5:x6500 6:^rc 6:x6500 3:x65 3:x650000 3:A [] 7:x6500 [] 3:A " +
			"[A] 8:^rc 8:x6501 3:A [A]",
	},
	// A command that is not repeated in time ends; a command that is repeated goes on.
	"lifetime (4.10, 5.5)": {
		"A ~3600000 [A] C",
		"A T500 A ~499 A ~499 A ~499 A ~500 [AAAAA0] c ~3600000 [] A ~1000 [A0] A 0 ~1000 [A0]",
		"A T500 ~499 T500 ~499 T500 ~499 T500 [A] T100 ~100 [0] T100 ~1000 []", // it renews the newest command
		"A 2:L T100 ~1000 [AL] 2:T65535 ~3600000 []",                           // of this client only
		"M300 A ~299 [A] ~1 [0]", "M300 T65535 A ~299 [A] ~1 [0]", "M300 T400 A ~299 [A] ~1 [0]",
		"M300 T200 A ~199 [A] ~1 [0]",
	},
	// Without a lifetime it stops every client, as in 0.7.4a; the limit of the server changes nothing about that.
	"a command to stop (5.5)": {"2:M400 A 2:0 A 2:T400 2:0 2:T0 2:0 [A0A0]"},
	// A client that lets another one drive does not take control by a command to stop.
	"letting go (5.5, 8.6)": {"first T400 A ~400 2:L 0 2:L [A0LL]", "first T400 A pr=pr 2:L 0 2:L [A0LL]"},
	// Together they take control and stop. With control alone, the other client could not stop the robot for a second.
	"a stop behind a command (5.5)": {"first A 2:^rwct 2:T400 2:L0 0 [A0]"},
	// A device that another client commands goes on.
	"leaving (5.4)": {"A 2:L E [AL]"},
}

func TestDriving(t *testing.T) {
	for name, conversations := range driving {
		for _, conversation := range conversations {
			converse(t, name, "pa", conversation)
		}
	}
	// In whatever way a client with a lifetime ends, its own commands are stopped, and devices that
	// another client commands go on.
	for _, end := range []string{"0", "~60000", "pr=pr", "pc=pc", ".", "H", "~60000 0 ."} {
		converse(t, "ends", "pa", "T400 A 2:L "+end+" [AL]")
		converse(t, "ends", "pa", "T400 A "+end+" [A0]")
	}
}

// 5.4: speed and turn rate become zero when the client that has given the newest
// command stops having write access, however that happens. Other clients stop
// nothing, and camera and gripper are left alone.
func TestWheelsStop(t *testing.T) {
	for end, stops := range map[string]bool{
		"pc=pc": true, "pr=pr": true, "pw=pw": false, "pa=pa": false, "px=pa": false, "prpw=papa": true,
		".": true, "H": true, "H .": true, "pc=pc .": true, ". .": true,
	} {
		for _, drives := range []string{"", "A", "2:L", "A 2:L", "2:L A"} {
			want := strings.NewReplacer("2:", "", " ", "").Replace(drives)
			if stops && strings.HasSuffix(drives, "A") {
				want += "0"
			}
			converse(t, "wheels", "pazaga", "z010101010101 g0101 "+drives+" "+end+" ["+want+"]")
		}
	}
	converse(t, "wheels", "prsaza", "H . []") // a client that only reads, or writes elsewhere, stops nothing
}

// Commands to the camera that wait for a setup do not end.
func TestLifetimeIsOfPosition(t *testing.T) {
	r, p := connectTo(t, 'z', slow)
	p.send(config('l', 1, 144), request("za"), r.command('z', 1))
	r.now += time.Minute
	r.of('z').end(r.now)
	r.expect(t, "setup camera", "command z 010101010101")
	if p.Lapses() != 0 || p.Lapse(r.now) != 0 {
		t.Error("a command to the camera ends")
	}
}
