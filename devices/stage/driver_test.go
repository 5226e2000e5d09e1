package stage

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices"
	"player/devices/stage/floor"
	"player/e2e/must"
	"player/timers"
)

// bench is a server without sockets: a table for each robot, and a clock that
// jumps from deadline to deadline.
type bench struct {
	devices.Host // nil: a robot of a world opens no ports
	world        *World
	tables       []*devices.Table
	now          time.Duration
	queue        timers.Queue
	timers       map[*devices.Link]*timers.Timer
	wakes        int
}

func newBench(t testing.TB, w *World) *bench {
	b := &bench{world: w, now: time.Hour, timers: map[*devices.Link]*timers.Timer{}}
	for _, made := range w.Instances() {
		table := devices.NewTable(zap.NewNop())
		must.Get(table.Attach(made))(t)
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
	deadline := b.now + d
	for {
		at, armed := b.queue.Next()
		if !armed || at > deadline {
			break
		}
		// A server never wakes twice at the same time.
		b.now = max(at, b.now+1)
		b.queue.Run(b.now, 0)
	}
	b.now = deadline
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
	must.Do(t, p.Decode(b.tables[robot].Device(codec.Position).Data()))
	return p
}

const allDevices = "pslgmvz"

func TestRoomRobotHasAllDevices(t *testing.T) {
	b := benchInRoom(t, allDevices)
	b.run(publishPeriod)
	sizes := map[byte]int{'p': 21, 's': 32, 'l': 722, 'g': 2, 'm': 3, 'z': 6}
	for _, letter := range []byte(allDevices) {
		data := b.tables[0].Device(letter).Data()
		if want, fixed := sizes[letter]; fixed && len(data) != want || len(data) == 0 {
			t.Errorf("device %c has %d bytes, want %d", letter, len(data), want)
		}
	}
}

func TestDriveOneMetre(t *testing.T) {
	b := benchInRoom(t, "p")
	b.drive(0, 200, 0)
	b.run(5 * time.Second)
	b.drive(0, 0, 0)
	b.run(time.Second)
	p := b.position(t, 0)
	// Acceleration and deceleration cancel out.
	if math.Abs(float64(p.X)-1000) > 3 || p.Y != 0 || p.Heading != 0 || p.Speed != 0 || p.Stall != 0 {
		t.Errorf("after one metre: %+v", p)
	}
	if at := b.world.Robots()[0].Pose(); math.Abs(at.X-(-1)) > 0.003 || at.Y != -1.5 {
		t.Errorf("the robot is at %v", at)
	}
}

func TestOdometryStartsAtTheOpeningOfTheMicrocontroller(t *testing.T) {
	b := benchInRoom(t, "plz") // the link stays open when p is closed
	b.drive(0, 300, 20)
	b.run(2 * time.Second)
	if p := b.position(t, 0); p.X < 400 || p.Y < 10 {
		t.Fatalf("after two seconds: %+v", p)
	}
	b.open(t, 0, "m")
	b.run(time.Second)
	b.close(0, "p")
	b.run(time.Second)
	b.open(t, 0, "p")
	b.run(publishPeriod)
	if p := b.position(t, 0); p.X < 500 {
		t.Errorf("with m open all the time, reopening p resets the pose: %+v", p)
	}
	b.close(0, "pm")
	b.run(time.Second)
	b.open(t, 0, "s")
	b.run(time.Second)
	b.open(t, 0, "p")
	b.run(publishPeriod)
	if p := b.position(t, 0); p.X != 0 || p.Y != 0 || p.Heading != 0 || p.Compass == 0 {
		t.Errorf("opened again: %+v", p)
	}
}

func TestConfigurations(t *testing.T) {
	b := newBench(t, loadRoom(t))
	r := b.world.Robots()[0]
	b.open(t, 0, allDevices)
	for _, letter := range []byte("psgm") {
		for _, c := range []struct {
			payload string
			done    func() bool
		}{
			{"m\x00", func() bool { return !r.drive.motors }},
			{"m\x01", func() bool { return r.drive.motors }},
			{"v\x01", func() bool { return r.drive.separate }},
			{"v\x00", func() bool { return !r.drive.separate }},
			{"R", func() bool { return r.odometry.pose == Pose{} }},
		} {
			r.odometry.add(floor.Arc(1, 1))
			if err := b.configure(0, letter, c.payload); err != nil || !c.done() {
				t.Errorf("%q to %c: error %v", c.payload, letter, err)
			}
		}
		for _, bad := range []string{"", "x", "m", "R1", "v\x00\x00"} {
			if err := b.configure(0, letter, bad); err == nil {
				t.Errorf("%q to %c is taken", bad, letter)
			}
		}
	}
	for _, letter := range []byte("lvz") {
		if err := b.configure(0, letter, "m\x00"); err == nil || !r.drive.motors {
			t.Errorf("%c takes a configuration", letter)
		}
	}
	// Configurations need one of the microcontroller's devices open (manual
	// 3.6).
	b.close(0, "psgm")
	if err := b.configure(0, 'p', "m\x00"); err != devices.ErrNotOpen || !r.drive.motors {
		t.Errorf("with only the laser open: %v", err)
	}
}

// A reopened robot starts like one that was switched on.
func TestSettingsDoNotOutliveTheirClients(t *testing.T) {
	b := benchInRoom(t, "p")
	for _, c := range []string{"m\x00", "v\x01"} {
		must.Do(t, b.configure(0, 'p', c))
	}
	b.drive(0, 300, 0)
	b.close(0, "p")
	b.open(t, 0, "p")
	b.run(time.Second)
	d := &b.world.Robots()[0].drive
	if !d.motors || d.separate || d.wantSpeed != 0 || b.position(t, 0).X != 0 {
		t.Errorf("motors %v, separate %v, speed %v", d.motors, d.separate, d.wantSpeed)
	}
}

func TestCommandsReachTheirDevices(t *testing.T) {
	b := benchInRoom(t, allDevices)
	b.command(0, codec.PTZ, (&codec.PTZCommand{Pan: 40, Tilt: 10, Zoom: 500}).Append(nil))
	b.command(0, codec.Gripper, codec.GripperCommand{Code: codec.GripClose}.Append(nil))
	b.drive(0, 100, -10)
	b.run(3 * time.Second)
	var z codec.PTZData
	var g codec.GripperData
	if err := z.Decode(b.tables[0].Device('z').Data()); err != nil || z != (codec.PTZData{Pan: 40, Tilt: 10, Zoom: 500}) {
		t.Errorf("ptz %+v, error %v", z, err)
	}
	if err := g.Decode(b.tables[0].Device('g').Data()); err != nil || g.State&codec.PaddlesClosed == 0 {
		t.Errorf("gripper %+v, error %v", g, err)
	}
	if p := b.position(t, 0); p.X < 200 || p.Speed != 100 || p.TurnRate != -10 || p.Heading < 300 {
		t.Errorf("position %+v", p)
	}
}

// Only data that is read is computed.
func TestUnreadDevicesAreNotPublished(t *testing.T) {
	b := benchInRoom(t, "s")
	b.run(time.Second)
	for _, letter := range []byte("plgmvz") {
		if seq := b.tables[0].Device(letter).Seq(); seq != 0 {
			t.Errorf("%c was published %d times", letter, seq)
		}
	}
}

// A robot has the devices of its model, and no others.
func TestDevicesOfAModel(t *testing.T) {
	w := newWorld(t, robotWorld+`position ( ) pioneer2dx ( pose [2 0 0 0] ) pioneer2dx ( pose [4 0 0 0] camera ( ) p2gripper ( ) )`)
	b := newBench(t, w)
	for i, want := range []string{"pm", "pms", "pmszgv"} {
		for _, letter := range []byte(allDevices) {
			if has := b.tables[i].Device(letter) != nil; has != strings.ContainsRune(want, rune(letter)) {
				t.Errorf("robot %d has device %c: %v", i, letter, has)
			}
		}
	}
}

// Robots of one world report at different times of one clock.
func TestRobotsReportOneAfterTheOther(t *testing.T) {
	b := newBench(t, newWorld(t, arena(10, "pioneer2dx")))
	for i := range 10 {
		b.open(t, i, "s")
	}
	b.run(time.Second)
	wakes := b.wakes
	last, together := map[int]uint64{}, 0
	for i, table := range b.tables {
		last[i] = table.Device('s').Seq()
	}
	for range 100 {
		b.run(StepTime)
		reports := 0
		for i, table := range b.tables {
			if seq := table.Device('s').Seq(); seq != last[i] {
				last[i] = seq
				reports++
			}
		}
		together = max(together, reports)
	}
	if got := b.wakes - wakes; got != 100 {
		t.Errorf("%d wakes for 10 robots in a second", got)
	}
	if together != 1 {
		t.Errorf("%d robots reported at once", together)
	}
}

func TestTickAllocatesNothing(t *testing.T) {
	b := benchInRoom(t, allDevices)
	b.drive(0, 200, 30)
	b.run(10 * time.Second)
	if n := testing.AllocsPerRun(50, func() { b.run(publishPeriod) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}
