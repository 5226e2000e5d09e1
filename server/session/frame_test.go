package session

import (
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/e2e/must"
)

// A frame carries the data published last before it.
func TestNewestData(t *testing.T) {
	r, p := open(t, "gr")
	for _, data := range []string{"ab", "cd", ""} {
		r.table.Device('g').Publish(r.now, []byte("xx"))
		r.table.Device('g').Publish(r.now, []byte(data))
		if got := p.blocks(); len(got) != 1 || string(got[0].payload) != data {
			t.Errorf("frame %v, want %q", got, data)
		}
	}
}

func (p *peer) freshness() (f codec.FreshnessData, others string) {
	p.t.Helper()
	blocks := p.blocks()
	if len(blocks) == 0 || blocks[0].letter != codec.Server {
		p.t.Fatalf("frame %v does not start with y", blocks)
	}
	must.Do(p.t, f.Decode(blocks[0].payload))
	for _, b := range blocks[1:] {
		others += string(rune(b.letter))
	}
	return f, others
}

// 8.1: the block of y comes first, whatever the order of opening, and gives
// the time and the age of every other block in order.
func TestFreshness(t *testing.T) {
	r := newRobot(t)
	r.of('v').mute = true
	p := newPeer(t, r)
	expect := func(letters string, ages ...uint32) {
		t.Helper()
		got, others := p.freshness()
		if got.Time != uint64(r.now.Microseconds()) || !slices.Equal(got.Ages, ages) || others != letters {
			t.Errorf("time %d, ages %v of %q, want %d, %v of %q", got.Time, got.Ages, others, r.now.Microseconds(), ages, letters)
		}
	}
	p.request("yr", "yr")
	expect("")
	p.request("srlrpw", "srlrpw")
	expect("sl", 0, 0)
	r.now += 1500 * time.Microsecond
	r.publish('l')
	r.now += 250*time.Microsecond + 999
	expect("sl", 1750, 250)
	p.request("pr", "pa")
	expect("slp", 1750, 250, 1750)
	p.request("vr", "vr")
	p.expectFrame("")
	r.now += time.Second
	expect("slpv", 1001750, 1000250, 1001750, codec.NoAge)
	r.publish('s', 'p', 'v')
	r.table.Device('l').Publish(r.now+time.Second, nil) // a timestamp in the future
	expect("slpv", 0, 0, 0, 0)
}

// The first age that is reported as MaxAge, and the last one below it (8.1).
func TestAgeAtItsEnd(t *testing.T) {
	for _, tt := range []struct {
		age  time.Duration
		want uint32
	}{{0, 0}, {999, 0}, {1000, 1}, {(1<<32 - 3) * time.Microsecond, codec.MaxAge - 1}, {(1<<32 - 2) * time.Microsecond, codec.MaxAge}, {(1<<32 - 1) * time.Microsecond, codec.MaxAge}, {1 << 33 * time.Microsecond, codec.MaxAge}} {
		r, p := open(t, "yrsr")
		r.now += tt.age
		if got, _ := p.freshness(); len(got.Ages) != 1 || got.Ages[0] != tt.want {
			t.Errorf("age %v is reported as %d, want %d", tt.age, got.Ages, tt.want)
		}
	}
}

// expectNews publishes new data of a device, and checks whether the owner is notified.
func (p *peer) expectNews(letter byte, want bool) {
	p.t.Helper()
	p.changed = false
	p.robot.publish(letter)
	if p.changed != want {
		p.t.Errorf("after news of %c the owner is notified: %v, want %v", letter, p.changed, want)
	}
}

// 8.8: in request/reply mode a client that reads a device in step gets each of its data
// once, and the driver learns when it has asked for the next.
func TestInStep(t *testing.T) {
	r := newRobot(t)
	steps := &stepping{part: r.of('p')}
	link := r.table.Device('p').Link()
	link.SetDriver(steps)
	p := newPeer(t, r)
	p.send(config('r', 1))
	expect := func(asked int, waits ...bool) {
		t.Helper()
		var got []bool
		for _, w := range link.AppendWaiters(nil) {
			got = append(got, w.Waits())
		}
		if steps.asked != asked || !slices.Equal(got, waits) {
			t.Errorf("the driver was asked %d times and its clients wait: %v; want %d, %v", steps.asked, got, asked, waits)
		}
		steps.asked = 0
	}
	expect(0)
	p.request("lrpr", "lrpr")
	expect(1, false)
	p.send(config('d'), config('d'))
	expect(2, false)
	p.expectFrame("l722 p21")
	expect(1, true) // for the second one
	p.expectFrame("")
	if p.Asked() != 1 || p.Period() != 0 {
		t.Errorf("asked %d, period %v", p.Asked(), p.Period())
	}
	p.expectNews('p', true)
	expect(0, false)
	p.expectFrame("l722 p21") // whole
	expect(0, false)
	p.send(config('d'))
	expect(1, true)
	p.expectFrame("")
	p.send(config('r', 0)) // at a rate
	expect(1)
	p.expectFrame("l722 p21")
	p.send(config('r', 1), config('d'))
	expect(2, true)
	p.request("pc", "pc")
	expect(0)             // the link stops
	p.expectFrame("l722") // no device in step
}

// stepping is a part in step.
type stepping struct {
	*part
	asked int
}

func (s *stepping) InStep() bool        { return true }
func (s *stepping) Asked(time.Duration) { s.asked++ }
