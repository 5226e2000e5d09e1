package e2e

import "testing"

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
	// No frame comes without a request: the next message is the reply to an empty one.
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

// One client's rate is its own (PROTOCOL 4).
func TestRatesAreIndependent(t *testing.T) {
	t.Parallel()
	s := start(t, "-stage", room)
	slow, fast := s.dial(t), s.dial(t)
	slow.message('x', 'y', 'f', 0, 2)
	fast.message('x', 'y', 'f', 0, 100)
	slow.request("yrsr")
	fast.request("yrsr")
	// The times are the server's: it may make the first frame late, up to a
	// period, but no later one early.
	first := slow.freshness().Time
	slow.freshness()
	if d := slow.freshness().Time - first; d < 500_000 {
		t.Errorf("two periods of 2 Hz took %d us", d)
	}
	for fast.freshness().Time < first+1_000_000 { // it gets frames all the time
	}
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
		d := p.freshness()
		if d.Time <= last {
			t.Fatalf("time %d after %d", d.Time, last)
		}
		last = d.Time
		if len(d.Ages) != 2 {
			t.Fatalf("%d ages of two devices", len(d.Ages))
		}
		for _, age := range d.Ages {
			// The time begins with the server, so no data is older.
			if uint64(age) > d.Time {
				t.Errorf("age %d us at %d us", age, d.Time)
			}
		}
		if got := p.frame(2); got != "s32 p21" {
			t.Fatalf("frame y %s", got)
		}
	}
	p.message('x', 'y', 'n', 1)
	p.request("")
	// The simulator makes data of each device at 10 Hz and this client's rate is
	// 100 Hz: twenty frames take at least nine periods of the data. The time is the
	// server's; it may make the first frame late.
	var first uint64
	for i := range 20 {
		d := p.freshness()
		if len(d.Ages) == 0 {
			t.Fatal("a frame without new data")
		}
		if i == 0 {
			first = d.Time
		}
		last = d.Time
		p.frame(len(d.Ages))
	}
	if d := last - first; d < 700_000 {
		t.Errorf("twenty frames of new data in %d us, the data is new every 100 ms", d)
	}
}
