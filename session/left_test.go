package session

import "testing"

// A client that has ended its connection moves nothing with what it has sent before,
// and is answered all the same (5.4).
func TestLeave(t *testing.T) {
	r := newRobot(t)
	p := newPeer(t, r)
	p.request("pagw", "pagw")
	p.send(r.command('p', 1))
	r.take()
	p.Leave(r.now)
	r.expect(t, stands)
	p.send(r.command('p', 2), r.command('g', 3), request("pa"), halt)
	p.expectReplies("pa")
	r.expect(t, "command g 0303", stands) // a stop is obeyed, and a gripper does not drive away
	p.Close(r.now)
	r.expect(t, stands, "shutdown base")
}

// What another client drives goes on.
func TestLeaveStopsNobodyElse(t *testing.T) {
	r := newRobot(t)
	p, other := newPeer(t, r), newPeer(t, r)
	p.request("pw", "pw")
	other.request("pw", "pw")
	p.send(r.command('p', 1))
	other.send(r.command('p', 2))
	r.take()
	p.Leave(r.now)
	r.expect(t)
}

// The owner watches those who drive, from the first command that moves something on.
// If the client has ended its connection by then, that command is dropped, also where
// it has waited for a setup.
func TestWhoDrivesIsWatched(t *testing.T) {
	r := newRobot(t)
	p := newPeer(t, r)
	p.request("pagw", "pagw")
	p.send(halt, r.command('g', 1))
	if p.watched != 0 {
		t.Error("it is watched, and moves nothing")
	}
	p.send(r.command('p', 1), r.command('p', 2))
	if p.watched != 1 {
		t.Errorf("it drives and is watched %d times", p.watched)
	}
	for _, setup := range []mood{fine, slow} {
		r := newRobot(t)
		r.of('p').mood = setup
		p := newPeer(t, r)
		p.gone = true
		p.send(request("pa"), r.command('p', 1), request("ga"))
		if setup == slow {
			r.of('p').end(r.now)
		}
		p.expectReplies("pa", "ga")
		r.expect(t, "setup base")
	}
}
