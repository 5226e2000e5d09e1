package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/config/rights"
)

var (
	ahead = message('c', 'p', 1, 2, 3, 4)
	left  = message('c', 'p', 5, 6, 7, 8)
)

// newDrivers returns clients of a robot that share its control and may drive.
func newDrivers(t *testing.T, r *robot, control *Control, n int) []*peer {
	peers := make([]*peer, n)
	for i := range peers {
		peers[i] = newPeer(t, r)
		peers[i].Share(control)
		peers[i].request("pa", "pa")
	}
	r.take()
	return peers
}

// commands returns the commands that reached the driver.
func (r *robot) commands() (all []string) {
	for e := range strings.Lines(r.take()) {
		if strings.HasPrefix(e, "command") {
			all = append(all, strings.TrimSpace(e))
		}
	}
	return all
}

// With control "newest" the newest command counts, with "first" that of the client
// that drives already.
func TestControl(t *testing.T) {
	const first, second, stop = "command p 01020304", "command p 05060708", "command p 00000000"
	for _, tt := range []struct {
		first bool
		want  []string
	}{
		{false, []string{first, second, first}},
		{true, []string{first, first}},
	} {
		r := newRobot(t)
		control := &Control{First: tt.first}
		p := newDrivers(t, r, control, 2)
		p[0].send(ahead)
		p[1].send(left)
		p[0].send(ahead)
		if got := r.commands(); !slices.Equal(got, tt.want) || !control.Holds(p[0].Session) {
			t.Errorf("first %v: %q, want %q", tt.first, got, tt.want)
		}
		if !tt.first {
			continue
		}
		if c := p[1].Counts(); c.Commands != 0 || c.Refused != 1 {
			t.Errorf("the second client: %+v", c)
		}
		p[1].Close(r.now) // it stops nothing
		p[1] = newDrivers(t, r, control, 1)[0]
		r.now += controlTime - ms
		p[1].send(left)
		r.now += ms
		p[1].send(left)
		p[0].send(ahead)
		if got := r.commands(); !slices.Equal(got, []string{second}) || !control.Holds(p[1].Session) {
			t.Errorf("after a second: %q", got)
		}
		p[1].Close(r.now)
		if control.Holds(p[1].Session) {
			t.Error("who has left has control")
		}
		p[0].send(ahead)
		if got := r.commands(); !slices.Equal(got, []string{stop, first}) {
			t.Errorf("when it has left: %q", got)
		}
	}
}

// With control "first", a client with the right to it takes control at once, and
// keeps it as others do.
func TestTakeControl(t *testing.T) {
	r := newRobot(t)
	control := &Control{First: true}
	p := newDrivers(t, r, control, 2)
	p[1].Restrict(rights.Write | rights.Take)
	p[0].send(ahead)
	p[1].send(left)
	p[0].send(ahead)
	if got := r.commands(); !slices.Equal(got, []string{"command p 01020304", "command p 05060708"}) || !control.Holds(p[1].Session) {
		t.Errorf("taken: %q", got)
	}
	r.now += controlTime
	p[0].send(ahead)
	if got := r.commands(); !slices.Equal(got, []string{"command p 01020304"}) || !control.Holds(p[0].Session) {
		t.Errorf("after a second: %q", got)
	}
}

// An emergency stop holds whoever comes and goes, until it is released.
func TestEmergencyStop(t *testing.T) {
	const stop = "command p 00000000"
	r := newRobot(t)
	p := newDrivers(t, r, &Control{}, 2)
	p[0].send(ahead)
	p[1].send(config('e', 1)) // it has commanded nothing
	p[0].send(ahead)
	p[1].send(left)
	p[0].Close(r.now)
	p[1].Close(r.now)
	if got := r.commands(); !slices.Equal(got, []string{"command p 01020304", stop}) {
		t.Errorf("%q", got)
	}
	p = newDrivers(t, r, &Control{}, 2)
	p[0].send(ahead)
	for _, may := range []rights.Set{rights.None, rights.Read, rights.Read | rights.Config} {
		stranger := newPeer(t, r)
		stranger.Restrict(may)
		stranger.send(config('e', 0))
	}
	p[0].send(config('e'), config('e', 0, 0), ahead) // malformed
	if got := r.commands(); got != nil || !r.table.Stopped() {
		t.Errorf("new clients: %q", got)
	}
	p[1].send(config('e', 0))
	if got := r.commands(); got != nil {
		t.Errorf("released: %q", got)
	}
	p[0].send(ahead)
	if got := r.commands(); !slices.Equal(got, []string{"command p 01020304"}) {
		t.Errorf("after the release: %q", got)
	}
	stranger := newPeer(t, r)
	stranger.Restrict(rights.Read | rights.Config)
	stranger.send(config('e', 1))
	if r.table.Stopped() {
		t.Error("stopped by a client that may not drive")
	}
}

// What the server is told about a client.
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

// Who takes control from whom is logged, once a second at most.
func TestControlIsLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	r := newRobot(t)
	p := newDrivers(t, r, &Control{}, 2)
	for i, peer := range p {
		peer.log = zap.New(core).With(zap.Int("client", i))
	}
	for range 10 {
		p[0].send(ahead)
		p[1].send(left)
	}
	r.now += time.Second
	p[0].send(ahead)
	var got []string
	for _, line := range logs.TakeAll() {
		got = append(got, line.Message)
	}
	const taken, lost = "client has taken control of position", "client has lost control of position"
	if want := []string{taken, lost, taken}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
