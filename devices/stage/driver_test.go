package stage

import (
	"fmt"
	"math"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/timers"
)

// bench is a server without sockets: a table for each robot, and a clock that
// jumps from deadline to deadline.
type bench struct {
	world  *World
	tables []*devices.Table
	now    time.Duration
	queue  timers.Queue
	timers map[*devices.Link]*timers.Timer
	wakes  int
}

func newBench(t testing.TB, w *World) *bench {
	b := &bench{world: w, now: time.Hour, timers: map[*devices.Link]*timers.Timer{}}
	for _, r := range w.Robots() {
		table := devices.NewTable(zap.NewNop())
		if err := table.Attach(NewDriver(w, r)); err != nil {
			t.Fatal(err)
		}
		table.Connect(b)
		b.tables = append(b.tables, table)
	}
	return b
}

func (b *bench) WakeAt(l *devices.Link, at time.Duration) {
	timer := b.timers[l]
	if timer == nil {
		timer = timers.NewTimer(func(now time.Duration) time.Duration { b.wakes++; return l.Wake(now) })
		b.timers[l] = timer
	}
	if at == 0 {
		b.queue.Stop(timer)
		return
	}
	b.queue.Set(timer, at)
}

func (*bench) OpenSerial(string, int, devices.PortHandler) (devices.Port, error) {
	return nil, fmt.Errorf("no serial ports here")
}
func (*bench) Dial(string, devices.PortHandler) (devices.Port, error) {
	return nil, fmt.Errorf("no network here")
}

func (b *bench) SetupDone(time.Duration, *devices.Device, error) {}

// open subscribes to devices of a robot.
func (b *bench) open(t testing.TB, robot int, letters string) {
	t.Helper()
	for _, letter := range []byte(letters) {
		if pending, err := b.tables[robot].Device(letter).Subscribe(b.now, b); pending || err != nil {
			t.Fatalf("device %c: pending %v, error %v", letter, pending, err)
		}
	}
}

func (b *bench) close(robot int, letters string) {
	for _, letter := range []byte(letters) {
		b.tables[robot].Device(letter).Unsubscribe(b.now, b)
	}
}

// run lets d of server time pass.
func (b *bench) run(d time.Duration) {
	end := b.now + d
	for {
		at, armed := b.queue.Next()
		if !armed || at > end {
			break
		}
		// A server never wakes twice at the same time.
		b.now = max(at, b.now+1)
		b.queue.Run(b.now, 0)
	}
	b.now = end
}

func (b *bench) command(robot int, letter byte, payload []byte) {
	b.tables[robot].Device(letter).SetCommand(b.now, payload)
}

func (b *bench) drive(robot int, speed, turn int16) {
	b.command(robot, codec.Position, codec.PositionCommand{Speed: speed, TurnRate: turn}.Append(nil))
}

func (b *bench) configure(robot int, letter byte, payload string) error {
	return b.tables[robot].Device(letter).Configure(b.now, []byte(payload))
}

func (b *bench) position(t testing.TB, robot int) (p codec.PositionData) {
	t.Helper()
	if err := p.Decode(b.tables[robot].Device(codec.Position).Data()); err != nil {
		t.Fatal(err)
	}
	return p
}

func loadRoom(t testing.TB) *World {
	w, err := Load("../../worlds/room.world")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

const allDevices = "pslgmvz"

func TestRoomRobotHasAllDevices(t *testing.T) {
	b := newBench(t, loadRoom(t))
	b.open(t, 0, allDevices)
	b.run(publishPeriod)
	sizes := map[byte]int{'p': 21, 's': 32, 'l': 722, 'g': 2, 'm': 3, 'z': 6}
	for _, letter := range []byte(allDevices) {
		data := b.tables[0].Device(letter).Data()
		if want, fixed := sizes[letter]; fixed && len(data) != want || len(data) == 0 {
			t.Errorf("device %c has %d bytes, want %d", letter, len(data), want)
		}
	}
}

func TestReportsComeAtTenHertz(t *testing.T) {
	b := newBench(t, loadRoom(t))
	b.open(t, 0, "p")
	b.run(10 * time.Second)
	if seq := b.tables[0].Device('p').Seq(); seq < 100 || seq > 102 {
		t.Errorf("%d reports in 10 s", seq)
	}
	if b.wakes > 105 {
		t.Errorf("%d wakes in 10 s", b.wakes)
	}
	if now, want := b.world.Time(), 10*time.Second; now < want-publishPeriod || now > want {
		t.Errorf("the world is at %v after %v", now, want)
	}
}

func TestDriveOneMetre(t *testing.T) {
	b := newBench(t, loadRoom(t))
	b.open(t, 0, "p")
	b.drive(0, 200, 0)
	b.run(5 * time.Second)
	b.drive(0, 0, 0)
	b.run(time.Second)
	p := b.position(t, 0)
	// Speeding up and slowing down cost and give the same.
	if math.Abs(float64(p.X)-1000) > 3 || p.Y != 0 || p.Heading != 0 || p.Speed != 0 || p.Stall != 0 {
		t.Errorf("after one metre: %+v", p)
	}
	if at := b.world.Robots()[0].Pose(); math.Abs(at.X-(-1)) > 0.003 || at.Y != -1.5 {
		t.Errorf("the robot is at %v", at)
	}
}
