package reactor

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/panjf2000/gnet/v2"
	"go.uber.org/zap"

	"player/codec"
	"player/devices"
)

// sink is a connection that takes everything at once.
type sink struct {
	gnet.Conn
	frames, bytes int
	asked         int // how often its backlog was asked for
	backlog       int // bytes of that
	ctx           any
}

func (s *sink) Write(p []byte) (int, error) { s.frames++; s.bytes += len(p); return len(p), nil }
func (s *sink) Fd() int                     { return -1 } // no socket: nothing is unacknowledged
func (s *sink) OutboundBuffered() int       { s.asked++; return s.backlog }
func (s *sink) SetContext(ctx any)          { s.ctx = ctx }
func (s *sink) Context() any                { return s.ctx }
func (s *sink) LocalAddr() net.Addr         { return &net.TCPAddr{Port: 1} }
func (s *sink) RemoteAddr() net.Addr        { return &net.TCPAddr{Port: 2} }

// seven is a robot with all seven devices and frames of 807 bytes.
type seven struct{ robot }

func (s *seven) Describe() devices.Description {
	return devices.Description{Name: "seven", Provides: []devices.Spec{devices.Laser(), devices.Sonar(), devices.Position(),
		devices.Gripper(), devices.Misc(), devices.Vision(), devices.PTZ()}}
}

func (s *seven) Setup(now time.Duration, l *devices.Link) {
	for _, d := range s.Describe().Provides {
		size := d.DataSize
		if d.Letter == codec.Vision {
			size = 0
		}
		l.Device(d.Letter).Publish(now, make([]byte, size))
	}
	l.Ready(now)
}

// tickOf50 returns a function that serves one tick of 50 clients at 50 Hz, and
// their connections.
func tickOf50(t testing.TB) (tick func(), sinks []*sink) {
	t.Helper()
	table := devices.NewTable(zap.NewNop())
	if err := table.Attach(&seven{}); err != nil {
		t.Fatal(err)
	}
	r := newReactor(Config{MaxRate: 1000, MaxClients: 50, Log: zap.NewNop()})
	r.tables[1] = table
	table.Connect(r)
	for range 50 {
		s := &sink{}
		if !r.openClient(1, s) {
			t.Fatal("client refused")
		}
		c := s.ctx.(*client)
		c.session.Receive(1, codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{'f', 0, 50}))
		c.session.Receive(1, codec.AppendRequest(nil, []byte("lrsrprgrmrvrzr")))
		r.settle(1)
		sinks = append(sinks, s)
	}
	now := time.Duration(1)
	return func() {
		now, _ = r.queue.Next()
		r.queue.Run(now, coalesce)
		r.settle(now)
	}, sinks
}

// One client that asks for a thousand frames at once gets them in turns, between
// which the loop looks at the others.
func TestAskerHasTurns(t *testing.T) {
	const frames = 1000
	_, sinks := tickOf50(t)
	c := sinks[0].ctx.(*client)
	c.session.Receive(1, codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigMode, 1}))
	c.reactor.settle(1)
	sinks[0].frames = 0
	ask := codec.AppendMessage(nil, codec.KindConfig, codec.Server, []byte{codec.ConfigData})
	c.session.Receive(1, bytes.Repeat(ask, frames))
	for turn := 1; sinks[0].frames < frames; turn++ {
		c.reactor.settle(1)
		if want := min(turn*askedInTurn, frames); sinks[0].frames != want {
			t.Fatalf("%d frames after %d turns, want %d", sinks[0].frames, turn, want)
		}
		c.reactor.queue.Run(1, 0)
	}
}

// A connection that is closed in the middle of a callback, by a write that fails,
// settles nobody there: sessions are settled when the callback ends.
func TestClosedWithinACallback(t *testing.T) {
	_, sinks := tickOf50(t)
	talker := sinks[0].ctx.(*client)
	r := talker.reactor
	if err := r.clock.open(); err != nil {
		t.Fatal(err)
	}
	defer r.clock.close()
	before := sinks[0].frames
	now := r.enter()
	talker.session.Receive(now, codec.AppendRequest(nil, nil))
	r.OnClose(sinks[1], nil)
	if sinks[0].frames != before {
		t.Error("a client was settled within a callback")
	}
	r.leave(now)
	if sinks[0].frames != before+1 {
		t.Errorf("%d replies when the callback had ended, want one", sinks[0].frames-before)
	}
}

func TestTickOf50AllocatesNothing(t *testing.T) {
	tick, sinks := tickOf50(t)
	tick()
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations in a tick of 50 clients", n)
	}
	for _, s := range sinks {
		if reply := 3 + 14; s.frames != 1+102 || s.bytes != reply+102*807 {
			t.Fatalf("%d writes, %d bytes; want the reply and 102 frames of 807 bytes", s.frames, s.bytes)
		}
	}
}

func BenchmarkTickOf50(b *testing.B) {
	tick, _ := tickOf50(b)
	b.ReportAllocs()
	for b.Loop() {
		tick()
	}
}

// On a route that takes what it is given, a client is looked at once in
// lookEvery frames, and not all in the same tick; once a frame was not taken
// every client is looked at, until the route has been well for a while.
func TestHealthyRouteIsHardlyLookedAt(t *testing.T) {
	tick, sinks := tickOf50(t)
	looks := func(ticks int) (sum, least, most int) {
		least = 1 << 30
		for _, s := range sinks {
			s.asked, s.frames = 0, 0
		}
		for range ticks {
			tick()
		}
		for _, s := range sinks {
			looks := s.asked - s.frames // each write asks too
			sum, least, most = sum+looks, min(least, looks), max(most, looks)
		}
		return sum, least, most
	}
	if _, least, most := looks(lookEvery); least != 1 || most != 1 {
		t.Errorf("%d ticks: clients are looked at %d to %d times, want once", lookEvery, least, most)
	}
	if sum, _, _ := looks(1); sum < 50/lookEvery || sum > 50/lookEvery+1 {
		t.Errorf("one tick: %d looks, want an eighth of 50", sum)
	}
	sinks[17].backlog = 1
	looks(lookEvery)
	sinks[17].backlog = 0
	if _, least, _ := looks(1); least == 0 {
		t.Error("a frame was not taken, and not every client is looked at")
	}
	looks(2 * 50) // two seconds
	if _, least, most := looks(lookEvery); least != 1 || most != 1 {
		t.Errorf("the route is well again: clients are looked at %d to %d times, want once", least, most)
	}
}
