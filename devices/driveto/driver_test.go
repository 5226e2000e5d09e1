package driveto

import (
	"errors"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// fake is the driver of a device that the test speaks for.
type fake struct {
	spec     devices.Spec
	link     *devices.Link
	commands []codec.PositionCommand
	deaf     bool // commands are dropped at once, as by hardware that was lost
	off      bool // the motors
	parts    []codec.Part
	rays     []codec.Rays
}

func (f *fake) Setup(now time.Duration, l *devices.Link) { f.link = l; l.Ready(now) }
func (f *fake) Shutdown(now time.Duration)               { f.link.Stopped(now) }
func (f *fake) Command(_ time.Duration, d *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(d.Command()); err != nil {
		panic(err)
	}
	f.commands = append(f.commands, c)
	if f.deaf {
		d.ForgetCommand()
	}
}
func (f *fake) MotorsOff(time.Duration) bool { return f.off }
func (f *fake) AppendParts(dst []codec.Part, _ *devices.Device) []codec.Part {
	return append(dst, f.parts...)
}
func (f *fake) AppendRays(dst []codec.Rays, _ *devices.Device) []codec.Rays {
	return append(dst, f.rays...)
}

// robot is wheels and sensors, which report ten times a second, with the driver on them.
type robot struct {
	*transporttest.Bench
	wheels, laser, ranger, sonar *fake
	silent                       map[*fake]bool
	at                           codec.PositionData
	stuck, timeless              bool   // the wheels do not turn; the odometry has no time
	far                          uint16 // of all readings
	driver                       *Driver
	device                       *devices.Device
}

func newRobot(t testing.TB, eyes ...devices.Spec) *robot {
	t.Helper()
	r := &robot{wheels: &fake{spec: devices.Position()}, silent: map[*fake]bool{}, far: 5000}
	r.laser, r.ranger, r.sonar = &fake{spec: devices.Laser()}, &fake{spec: devices.Ranger()}, &fake{spec: devices.Sonar()}
	r.ranger.rays = []codec.Rays{{Count: 180, Heading: -90, Step: 1}}
	r.sonar.parts = []codec.Part{{Number: 3, X: 166, Range: 5000, View: 15}}
	instance := func(f *fake) devices.Instance {
		return devices.Instance{Driver: f, Name: f.spec.Name, Provides: []devices.Spec{f.spec}}
	}
	r.Bench = transporttest.NewBench(t, instance(r.wheels))
	var open []*devices.Device
	for _, f := range []*fake{r.sonar, r.ranger, r.laser} {
		for _, spec := range eyes {
			if spec == f.spec {
				open = append(open, r.Attach(instance(f)).Devices()[0])
			}
		}
	}
	defaults := Kind().Defaults()
	r.driver = must.Get(New(r.Client, open, Limits{defaults["speed"].(int), defaults["turnrate"].(int), defaults["tolerance"].(int), 0}))(t)
	r.device = r.Attach(Kind().Instance(r.driver)).Devices()[0]
	r.Client = r.device
	r.Subscribe()
	return r
}

// run lets time pass; the robot reports ten times a second, and moves as its wheels are commanded, along x.
func (r *robot) run(d time.Duration) {
	for end := r.Now() + d; r.Now() < end; {
		if n := len(r.wheels.commands); n > 0 && !r.stuck {
			r.at.X += int32(r.wheels.commands[n-1].Speed) / 10
		}
		r.report()
		r.Pass(100 * ms)
	}
}

// report has the wheels and the sensors publish.
func (r *robot) report() {
	now := r.Now()
	for _, f := range []*fake{r.laser, r.ranger, r.sonar, r.wheels} {
		if f.link == nil || r.silent[f] {
			continue
		}
		var data interface{ Append([]byte) []byte }
		switch f {
		case r.laser:
			scan := codec.LaserData{}
			for i := range scan {
				scan[i] = r.far
			}
			data = &scan
		case r.ranger:
			scan := codec.RangerData{Unit: 1, Ranges: make([]uint16, 180)}
			for i := range scan.Ranges {
				scan.Ranges[i] = r.far
			}
			data = &scan
		case r.sonar:
			data = &codec.SonarData{3: r.far}
		default:
			if !r.timeless {
				r.at.Time = uint32(now / ms)
			}
			data = &r.at
		}
		f.link.Devices()[0].Publish(now, data.Append(nil))
	}
}

func (r *robot) order(c codec.GotoCommand) { r.device.SetCommand(r.Now(), c.Append(nil)) }

func (r *robot) data(t testing.TB) codec.GotoData {
	return transporttest.Data[codec.GotoData](t, r.device)
}

func (r *robot) last() codec.PositionCommand {
	if len(r.wheels.commands) == 0 {
		return codec.PositionCommand{}
	}
	return r.wheels.commands[len(r.wheels.commands)-1]
}

var ahead = codec.GotoCommand{X: 2000, Heading: codec.AnyHeading, Tag: 7}

// A robot drives to its goal, and the data say so all the time.
func TestArrival(t *testing.T) {
	for _, eyes := range [][]devices.Spec{{devices.Laser(), devices.Sonar()}, {devices.Ranger(), devices.Sonar()}, {devices.Sonar()}} {
		r := newRobot(t, eyes...)
		r.run(time.Second)
		if got, want := r.data(t), (codec.GotoData{X: codec.Unknown, Y: codec.Unknown, Heading: codec.AnyHeading, Distance: codec.UnknownAmount}); got != want {
			t.Errorf("before a goal: %+v", got)
		}
		if len(r.wheels.commands) != 0 || r.driver.way != nil {
			t.Error("it works without a goal")
		}
		r.order(ahead)
		r.run(3 * time.Second)
		if got := r.data(t); got.State != codec.GotoDriving || got.Tag != 7 || got.X != 2000 || got.Y != 0 || got.Distance < 500 || got.Distance > 1500 {
			t.Errorf("on its way: %+v", got)
		}
		r.run(10 * time.Second)
		got := r.data(t)
		if got.State != codec.GotoArrived || got.Reason != codec.GotoNoReason || got.Distance > 50 || r.last() != (codec.PositionCommand{}) {
			t.Errorf("after 13 s: %+v, %+v", got, r.last())
		}
		n := len(r.wheels.commands)
		r.run(time.Second)
		if len(r.wheels.commands) != n || r.device.Age(r.Now()) > 200*ms {
			t.Errorf("afterwards: %d commands, and data that are %v old", len(r.wheels.commands)-n, r.device.Age(r.Now()))
		}
	}
}

// Each of these events ends a goal, and the wheels stand afterwards unless they are another's.
func TestEnds(t *testing.T) {
	other := codec.PositionCommand{Speed: 77}
	still := codec.PositionCommand{}
	for _, tt := range []struct {
		name  string
		event func(r *robot)
		why   codec.GotoReason
		after codec.PositionCommand
	}{
		{"a command to stop", func(r *robot) { r.order(codec.StopGoto()) }, codec.GotoByCommand, still},
		{"another command of the wheels", func(r *robot) { r.wheels.link.Devices()[0].SetCommand(r.Now(), other.Append(nil)) }, codec.GotoByOther, other},
		{"the emergency stop", func(r *robot) { r.Table.Stop(r.Now()) }, codec.GotoEmergency, still},
		{"no ranges", func(r *robot) { r.silent[r.laser] = true }, codec.GotoBlind, still},
		{"no odometry", func(r *robot) { r.silent[r.wheels] = true }, codec.GotoLost, still},
		{"wheels that were lost", func(r *robot) { r.wheels.link.ForgetCommands() }, codec.GotoLost, still},
		{"wheels that are deaf", func(r *robot) { r.wheels.deaf = true }, codec.GotoLost, still},
		{"motors off", func(r *robot) { r.wheels.off = true }, codec.GotoMotors, still},
		{"too far a goal", func(r *robot) { r.order(codec.GotoCommand{X: 1_000_000_000}) }, codec.GotoRefused, still},
		{"too wide a robot", func(r *robot) { r.order(codec.GotoCommand{X: 1000, Radius: 5000}) }, codec.GotoRefused, still},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRobot(t, devices.Laser())
			r.run(time.Second)
			r.order(codec.GotoCommand{X: 50_000, Heading: codec.AnyHeading})
			r.run(time.Second)
			if got := r.data(t); got.State != codec.GotoDriving || r.last().Speed < 100 {
				t.Fatalf("before: %+v, %+v", got, r.last())
			}
			tt.event(r)
			r.run(2 * time.Second)
			if got := r.data(t); got.State != codec.GotoStopped || got.Reason != tt.why {
				t.Errorf("%v, %v; want stopped, %v", got.State, got.Reason, tt.why)
			}
			n := len(r.wheels.commands)
			r.silent, r.wheels.deaf, r.wheels.off = map[*fake]bool{}, false, false
			r.Table.Release()
			r.run(2 * time.Second)
			if r.last() != tt.after || len(r.wheels.commands) != n {
				t.Errorf("the wheels have %+v, and %d commands afterwards", r.last(), len(r.wheels.commands)-n)
			}
			if r.order(ahead); r.data(t).State != codec.GotoDriving {
				t.Errorf("a new goal: %+v", r.data(t))
			}
		})
	}
}

// A robot that has no way says so, and gives up after two minutes.
func TestNoWay(t *testing.T) {
	for name, far := range map[string]uint16{"wheels that do not turn": 5000, "a wall that it sees": 300} {
		r := newRobot(t, devices.Laser())
		r.stuck, r.far = true, far
		r.order(codec.GotoCommand{X: 5000, Heading: codec.AnyHeading})
		r.run(119 * time.Second)
		if got := r.data(t); !got.State.Active() {
			t.Fatalf("%s: given up already: %+v", name, got)
		}
		r.run(3 * time.Second)
		if got := r.data(t); got.State != codec.GotoStopped || got.Reason != codec.GotoNoWay {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// At the goal the robot turns to its heading, and drives again if it is carried away.
func TestHeading(t *testing.T) {
	r := newRobot(t, devices.Laser())
	r.order(codec.GotoCommand{X: 20, Heading: 90 + 360, TurnRate: 30})
	r.run(time.Second)
	if got := r.last(); got.Speed != 0 || got.TurnRate != 30 {
		t.Errorf("it turns: %+v", got)
	}
	r.at.X = 1000
	r.run(200 * ms)
	if got := r.last(); got.TurnRate == 30 || r.data(t).State != codec.GotoDriving {
		t.Errorf("carried away: %+v", got)
	}
	r.at = codec.PositionData{X: 0, Heading: 89}
	r.run(300 * ms)
	if got := r.data(t); got.State != codec.GotoArrived || got.Heading != 90 {
		t.Errorf("%+v", got)
	}
}

// A goal that is repeated goes on with new limits, and stays ended when it has ended. Another tag is a new goal, also at
// the same place.
func TestRepeated(t *testing.T) {
	r := newRobot(t, devices.Laser())
	r.order(ahead)
	r.run(2 * time.Second)
	slow := ahead
	slow.Speed = 60
	r.order(slow)
	if got := r.data(t); got.Distance == codec.UnknownAmount {
		t.Error("it began anew")
	}
	r.run(time.Second)
	if got := r.last().Speed; got > 60 || got < 30 {
		t.Errorf("a speed of %d with a limit of 60", got)
	}
	r.wheels.link.Devices()[0].SetCommand(r.Now(), codec.PositionCommand{}.Append(nil))
	r.order(slow)
	if got := r.data(t); got.State != codec.GotoStopped || got.Reason != codec.GotoByOther {
		t.Errorf("repeated after its end: %+v", got)
	}
	slow.Tag++
	r.order(slow)
	if got := r.data(t); got.Distance != codec.UnknownAmount || got.Tag != slow.Tag || got.State != codec.GotoDriving {
		t.Errorf("another tag: %+v", got)
	}
}

// However often the wheels report, the driver steps ten times a second, and a clock that stands still does not hold it up.
func TestPace(t *testing.T) {
	for _, clock := range []bool{true, false} {
		r := newRobot(t, devices.Laser())
		r.timeless = !clock
		r.order(codec.GotoCommand{X: 50_000, Heading: codec.AnyHeading})
		r.run(time.Second)
		n := len(r.wheels.commands)
		for range 200 {
			r.report()
			r.Pass(10 * ms)
		}
		if got := len(r.wheels.commands) - n; got < 18 || got > 21 {
			t.Errorf("clock %v: %d commands in 2 s", clock, got)
		}
	}
}

// Until its sensors have sent data the robot stands, and it does not wait for ever.
func TestFirstRanges(t *testing.T) {
	r := newRobot(t, devices.Laser())
	r.silent[r.laser] = true
	r.run(time.Second)
	r.order(ahead)
	r.run(time.Second)
	if got := r.data(t); got.State != codec.GotoDriving || r.last() != (codec.PositionCommand{}) || r.at.X != 0 {
		t.Errorf("%+v, %+v", got, r.last())
	}
	r.silent[r.laser] = false
	r.run(time.Second)
	if r.last().Speed == 0 {
		t.Error("it stands")
	}
	blind := newRobot(t, devices.Sonar())
	blind.sonar.parts = nil
	blind.order(ahead)
	if got := blind.data(t); got.State != codec.GotoStopped || got.Reason != codec.GotoBlind {
		t.Errorf("sonars at unknown places: %+v", got)
	}
}

// A driver needs something to see with, and is off with the last client.
func TestOpening(t *testing.T) {
	if _, err := New(nil, nil, Limits{}); !errors.Is(err, errBlind) || !strings.Contains(err.Error(), "requires") {
		t.Error(err)
	}
	r := newRobot(t, devices.Laser())
	r.order(ahead)
	r.run(time.Second)
	r.Unsubscribe()
	if r.Link.State() != devices.Idle || r.driver.way != nil || r.last() != (codec.PositionCommand{}) {
		t.Errorf("link %s, wheels %+v", r.Link.State(), r.last())
	}
	r.Subscribe()
	if got := r.data(t); got.State != codec.GotoIdle {
		t.Errorf("opened again: %+v", got)
	}
}

// A step allocates nothing.
func TestAllocations(t *testing.T) {
	r := newRobot(t, devices.Laser(), devices.Sonar())
	r.order(codec.GotoCommand{X: 50_000, Y: 3000, Heading: codec.AnyHeading})
	r.run(2 * time.Second)
	r.wheels.commands = make([]codec.PositionCommand, 0, 1000)
	if n := testing.AllocsPerRun(50, func() { r.driver.step(r.Now()) }); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
}
