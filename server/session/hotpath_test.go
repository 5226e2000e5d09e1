package session

import (
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/e2e/must"
)

// everything returns a client that reads and writes all seven devices, with
// empty vision data: its frame is the 807 bytes of the original's experiments.
func everything(t testing.TB) *Session {
	r := &robot{table: devices.NewTable(zap.NewNop()), now: time.Minute}
	for _, d := range []devices.Spec{devices.Laser(), devices.Sonar(), devices.Position(), devices.Gripper(), devices.Misc(), devices.PTZ(), devices.Vision()} {
		must.Get(r.table.Attach(devices.Instance{Driver: still{}, Name: d.Name, Provides: []devices.Spec{d}}))(t)
	}
	p := newPeer(t, r)
	p.request("lasapagamazava", "lasapagamazava")
	r.publish([]byte("lspgmz")...)
	r.table.Device('v').Publish(r.now, nil)
	return p.Session
}

// still is a driver that does nothing, and so allocates nothing.
type still struct{}

func (still) Setup(now time.Duration, l *devices.Link)               { l.Ready(now) }
func (still) Shutdown(time.Duration)                                 {}
func (still) Command(time.Duration, *devices.Device)                 {}
func (still) Configure(time.Duration, *devices.Device, []byte) error { return nil }

var someCommands = map[string][]byte{
	"command":                 message(codec.KindCommand, codec.Position, 0, 100, 0, 20),
	"lifetime":                config('l', 1, 0),
	"configuration of device": message(codec.KindConfig, codec.Position, 'R'),
	"configuration of server": config('n', 0),
	"request for data":        config('d'),
}

func TestHotPathAllocates(t *testing.T) {
	s := everything(t)
	dst := make([]byte, 0, 1000)
	for _, onlyNew := range []bool{false, true} {
		for _, freshness := range []access{none, read} {
			s.frames.onlyNew, s.freshness, s.agesShown = onlyNew, freshness, freshness == read
			size := 807
			if freshness == read {
				size += codec.BlockHeaderSize + 8 + 7*4
			}
			if n := testing.AllocsPerRun(100, func() {
				for i := range s.slots {
					s.slots[i].sent = 0
				}
				dst = s.AppendFrame(dst[:0], time.Hour)
			}); n != 0 || len(dst) != size {
				t.Errorf("a frame of %d bytes, want %d: %v allocations", len(dst), size, n)
			}
		}
	}
	s.frames.onlyNew, s.freshness = false, none
	if n := testing.AllocsPerRun(100, func() {
		if s.Period() == 0 || !s.IsMover() || s.Err() != nil || len(s.Output()) != 0 || s.Asked() < 0 {
			t.Error("the session is not streaming")
		}
	}); n != 0 {
		t.Errorf("querying a session: %v allocations", n)
	}
	s.frames.onRequest = true
	for name, in := range someCommands {
		if n := testing.AllocsPerRun(100, func() { s.Receive(time.Hour, in) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	// A device request does not allocate once its buffers exist.
	in := request("srpwlr")
	if n := testing.AllocsPerRun(100, func() { s.Receive(time.Hour, in); s.Flushed() }); n != 0 {
		t.Errorf("request: %v allocations", n)
	}
	// Nor does a message that is cut in two.
	command := someCommands["command"]
	if n := testing.AllocsPerRun(100, func() {
		s.Receive(time.Hour, command[:5])
		s.Receive(time.Hour, command[5:])
	}); n != 0 {
		t.Errorf("a command in two pieces: %v allocations", n)
	}
}

func BenchmarkFrame807(b *testing.B) {
	s := everything(b)
	dst := make([]byte, 0, 1000)
	b.SetBytes(807)
	b.ReportAllocs()
	for b.Loop() {
		if dst = s.AppendFrame(dst[:0], time.Hour); len(dst) != 807 {
			b.Fatal(len(dst))
		}
	}
}

func BenchmarkReceiveCommand(b *testing.B) {
	s := everything(b)
	command := someCommands["command"]
	b.SetBytes(int64(len(command)))
	b.ReportAllocs()
	for b.Loop() {
		s.Receive(time.Hour, command)
	}
	if string(s.table.Device(codec.Position).Command()) != string(command[codec.ClientHeaderSize:]) {
		b.Fatal("the command did not arrive")
	}
}
