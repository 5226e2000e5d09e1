package e2e

import (
	"testing"
	"time"
)

// Configuration of the server for one client (PROTOCOL 4).
func TestRequestReplyMode(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.message('x', 'y', 'r', 1)
	p.message('x', 'y', 'd') // 4.5: nothing is open yet, forgotten
	if got := p.request("srpr"); got != "srpr" {
		t.Fatal(got)
	}
	for range 3 {
		p.message('x', 'y', 'd')
		if got := p.frame(2); got != "s32 p21" {
			t.Fatalf("frame %s", got)
		}
	}
	for range 5 { // 4.3: one frame for each
		p.send('x', 'y', 0, 1, 'd')
	}
	if got := p.frame(10); got != "s32 p21 s32 p21 s32 p21 s32 p21 s32 p21" {
		t.Fatalf("five requests in a burst gave %s", got)
	}
	// Nothing comes unasked: the next message is the reply to an empty request.
	p.message('d', 'r')
	if letter, _ := p.block(); letter != 'r' {
		t.Fatalf("block %c without being asked", letter)
	}
	p.message('x', 'y', 'r', 0) // 4.2: streams again
	if got := p.frame(4); got != "s32 p21 s32 p21" {
		t.Fatalf("frame %s", got)
	}
}

func TestModeChangeWhileStreamingEndsTheStream(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.message('x', 'y', 'f', 0, 200)
	p.request("sr")
	p.frame(3)
	p.message('x', 'y', 'r', 1)
	p.message('d', 'r')
	for { // frames that were on their way
		if letter, _ := p.block(); letter == 'r' {
			break
		}
	}
	p.message('d', 'r')
	if letter, _ := p.block(); letter != 'r' {
		t.Fatalf("block %c after the mode was changed", letter)
	}
}

// Mistakes in configurations change nothing (PROTOCOL 4.5).
func TestBadConfigurationIsIgnored(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.message('x', 'y')               // no code
	p.message('x', 'y', 'f', 1)       // argument too short
	p.message('x', 'y', 'f', 0, 0)    // 4.1: refused
	p.message('x', 'y', 'f', 0, 1, 0) // too long
	p.message('x', 'y', 'r', 1, 1)    // too long
	p.message('x', 'y', 'q', 1)       // unknown
	p.message('x', 'q', 'm', 1)       // unknown device
	p.message('x', 'l', 'm', 1)       // a device that takes none
	p.message('c', 'p', 0, 0, 0, 0)   // 5.2: no access
	p.message('c', 'y', 1)            // 5.2: no device
	if got := p.request("sr"); got != "sr" {
		t.Fatal(got)
	}
	if got := p.frame(3); got != "s32 s32 s32" {
		t.Fatalf("frames %s", got)
	}
}

// One client's rate is its own (PROTOCOL 4), and is kept without drift (3.4).
func TestRatesAreIndependent(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	slow, fast := s.dial(t), s.dial(t)
	slow.message('x', 'y', 'f', 0, 2)
	fast.message('x', 'y', 'f', 0, 100)
	slow.request("sr")
	fast.request("sr")
	slow.frame(1)
	begin := time.Now()
	slow.frame(2)
	if d := time.Since(begin); d < 400*time.Millisecond {
		t.Errorf("two frames at 2 Hz took %v", d)
	}
	fast.frame(100)
}

// The freshness block (PROTOCOL 8.1) and only new data (8.2).
func TestFreshness(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	p := s.dial(t)
	p.message('x', 'y', 'f', 0, 100)
	if got := p.request("srpryr"); got != "srpryr" {
		t.Fatal(got)
	}
	var last uint64
	for range 5 {
		letter, payload := p.block()
		if letter != 'y' || len(payload) != 16 {
			t.Fatalf("first block %c%d, want y16", letter, len(payload))
		}
		var now uint64
		for _, b := range payload[:8] {
			now = now<<8 | uint64(b)
		}
		if now <= last {
			t.Fatalf("time %d after %d", now, last)
		}
		last = now
		for i := 8; i < 16; i += 4 {
			if age := uint32(payload[i])<<24 | uint32(payload[i+1])<<16; age > 60e6 {
				t.Errorf("age %d us", age)
			}
		}
		if got := p.frame(2); got != "s32 p21" {
			t.Fatalf("frame y %s", got)
		}
	}
	p.message('x', 'y', 'n', 1)
	p.request("")
	// The simulator makes data at 10 Hz, this client asks at 100 Hz: twenty
	// frames must come from at least nine different moments of the data.
	begin := time.Now()
	for range 20 {
		if letter, payload := p.block(); letter != 'y' || len(payload) <= 8 {
			t.Fatalf("block %c%d in a frame of new data", letter, len(payload))
		} else {
			p.frame((len(payload) - 8) / 4)
		}
	}
	if d := time.Since(begin); d < 700*time.Millisecond {
		t.Errorf("twenty frames of new data in %v, the data is new every 100 ms", d)
	}
}
