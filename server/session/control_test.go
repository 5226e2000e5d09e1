package session

import (
	"slices"
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

// commands returns the commands that reached drivers since the last take: A, L, 0, or others.
func (r *robot) commands() (all string) {
	for e := range strings.Lines(r.take()) {
		switch command, is := strings.CutPrefix(strings.TrimSpace(e), "command "); {
		case !is:
		case command == "p 01020304":
			all += "A"
		case command == "p 05060708":
			all += "L"
		case command == "p 00000000":
			all += "0"
		default:
			all += command
		}
	}
	return all
}

// What the server knows of a client.
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
