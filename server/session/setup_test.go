package session

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"player/devices"
)

// A request made while the hardware stops waits for it to start again.
func TestOpenWhileStopping(t *testing.T) {
	r := newRobot(t)
	r.of('p').last = func(time.Duration) {}
	a, b := newPeer(t, r), newPeer(t, r)
	a.request("pr", "pr")
	a.request("pc", "pc")
	b.send(request("sr"))
	a.send(request("pr"))
	a.expectReplies()
	b.expectReplies()
	r.of('p').link.Stopped(r.now)
	a.expectReplies("pr")
	b.expectReplies("sr")
	a.expectFrame("p21")
	r.expect(t, "setup base", "shutdown base", "setup base")
}

// A client that leaves during setup gives up its setup.
func TestDisconnectWhileStarting(t *testing.T) {
	r := newRobot(t)
	r.of('p').mood = slow
	p, other := newPeer(t, r), newPeer(t, r)
	p.send(request("pasr"))
	other.send(request("sr"))
	p.Close(r.now)
	r.expect(t, "setup base") // the other client still waits
	r.of('p').end(r.now)
	p.expectReplies()
	other.expectReplies("sr")
	other.Close(r.now)
	r.expect(t, "shutdown base")

	p = newPeer(t, r)
	p.send(request("pa"), r.command('p', 1))
	p.Close(r.now)
	r.expect(t, "setup base", "shutdown base")
}

// 2.7: input that follows a waiting request is processed after its reply, in
// order, even if it has to wait again.
func TestInputIsKept(t *testing.T) {
	input := slices.Concat(
		request("pa"), []byte("cp\x00\x04\x01\x01\x01\x01"), message('x', 'p', 'm', 1), request("lr"), config('r', 1),
		message('x', 'p', 'R'), request("vrzr"), config('d'), message('c', 'p', 2, 2, 2, 2), request("q"), config('d'))
	for cut := range len(input) + 1 {
		r := newRobot(t)
		for _, part := range r.parts {
			part.mood = slow
		}
		p := newPeer(t, r)
		p.send(input[:cut], input[cut:])
		p.expectReplies()
		r.expect(t, "setup base")
		r.of('p').end(r.now)
		p.expectReplies("pa")
		r.expect(t, "command p 01010101", `configure p "m\x01"`, "setup laser")
		r.of('l').end(r.now)
		p.expectReplies("lr")
		r.expect(t, `configure p "R"`, "setup vision", "setup camera")
		r.of('z').end(r.now)
		p.expectReplies()
		p.expectFrame("")
		r.of('v').end(r.now)
		p.expectReplies("vrzr", "q")
		r.expect(t, "command p 02020202")
		if p.Asked() != 2 {
			t.Errorf("%d frames asked for, want 2", p.Asked())
		}
		p.expectFrame("p21 l722 v94 z6")
		if t.Failed() {
			t.Fatalf("cut at %d", cut)
		}
	}
}

// 2.7: a client may send 64 KiB while it waits, in pieces of any size; one
// byte more ends the connection.
func TestKeptInputIsBounded(t *testing.T) {
	for _, pieces := range []int{1, 2, 100, 1000} {
		for _, more := range []int{0, 1} {
			r, p := connectTo(t, 'l', slow)
			command := r.command('p', 1)
			input := request("lr")
			input = append(input, bytes.Repeat(command, maxKept/len(command))...)
			input = append(input, make([]byte, more)...)
			for piece := range slices.Chunk(input, (len(input)+pieces-1)/pieces) {
				p.send(piece)
				if len(p.input.kept) > maxKept {
					t.Errorf("%d bytes are kept", len(p.input.kept))
				}
			}
			if more == 0 && p.Err() != nil || more == 1 && p.Err() != ErrKept {
				t.Errorf("%d pieces, %d bytes: %v", pieces, len(input), p.Err())
			}
			if more == 1 {
				if !p.changed {
					t.Error("the owner was not notified of the end")
				}
				kept := len(p.input.kept)
				if p.send([]byte{0}); len(p.input.kept) != kept {
					t.Error("input is kept after the end")
				}
				p.Close(r.now)
				continue
			}
			r.of('l').end(r.now)
			p.expectReplies("lr")
			if len(p.input.kept) != 0 || p.Err() != nil {
				t.Errorf("%d bytes left, %v", len(p.input.kept), p.Err())
			}
		}
	}
}

// Input behind a request that opens or closes devices waits until others were served, and a request
// tries each device once. So a client cannot keep the loop from others with setups.
func TestSetupsWait(t *testing.T) {
	r, p := connectTo(t, 'l', broken)
	failing := request(strings.Repeat("lr", 50))
	p.Receive(r.now, slices.Concat(failing, failing, request("sa"), r.command('p', 7), request("sc"), request("pa")[:5]))
	for _, tt := range []struct{ calls, reply string }{
		{"setup laser", strings.Repeat("le", 50)}, {"setup laser", strings.Repeat("le", 50)}, {"setup base", "sa"}, {"shutdown base", "sc"},
	} {
		r.expect(t, tt.calls)
		p.expectReplies(tt.reply)
		if !p.More() {
			t.Errorf("after %q there is no more", tt.reply)
		}
		p.Receive(r.now, nil)
	}
	if p.More() {
		t.Error("half a message is more")
	}
	p.Receive(r.now, request("pa")[5:])
	p.expectReplies("pa")
}

// 8.5: an emergency stop overtakes the input that is kept behind a request that waits for a setup,
// wherever the stream is cut. It has no effect again when that input is carried out.
func TestEmergencyStopPassesASetup(t *testing.T) {
	stop, release := []byte("xy\x00\x02e\x01"), []byte("xy\x00\x02e\x00")
	for _, tt := range []struct {
		what                 string
		in                   [][]byte
		atOnce, later, again bool // stopped: while the setup lasts, after it, and if another client releases it meanwhile
	}{
		{"a stop", [][]byte{stop}, true, true, false},
		{"behind other messages", [][]byte{request("pr"), []byte("cp\x00\x04abcd"), stop, []byte("xy\x00\x02r\x00")}, true, true, false},
		{"a release before", [][]byte{release, stop}, true, true, false},
		{"a release behind", [][]byte{stop, release}, true, false, false},
		{"twice", [][]byte{stop, release, stop}, true, true, false},
		{"a release alone", [][]byte{release}, false, false, false},
		{"behind another setup", [][]byte{request("lc"), request("lr"), stop}, true, true, false},
		{"before another setup", [][]byte{stop, request("lc"), request("lr"), release}, true, false, false},
	} {
		all := slices.Concat(tt.in...)
		for cut := range len(all) {
			for _, released := range []bool{false, true} {
				r, p := connectTo(t, 'l', slow)
				p.send(slices.Concat(request("lr"), all[:cut]), all[cut:])
				if got := r.table.Stopped(); got != tt.atOnce {
					t.Fatalf("%s, cut at %d: stopped at once: %v", tt.what, cut, got)
				}
				want := tt.later
				if released {
					r.table.Release()
					want = tt.again
				}
				for r.of('l').link.State() == devices.Starting {
					r.of('l').end(r.now)
				}
				if got := r.table.Stopped(); got != want {
					t.Fatalf("%s, cut at %d, released meanwhile: %v: stopped later: %v", tt.what, cut, released, got)
				}
				r.table.Release()
				if p.send(stop); !r.table.Stopped() {
					t.Fatalf("%s, cut at %d: the next stop has no effect", tt.what, cut)
				}
			}
		}
	}
}
