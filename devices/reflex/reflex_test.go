package reflex

import (
	"errors"
	"fmt"
	"slices"
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
	name   string
	spec   devices.Spec
	slow   bool // its setup waits for the test
	quiet  bool // nothing is written down
	deaf   bool // commands are dropped at once, as by a passthrough without a connection
	err    error
	link   *devices.Link
	events []string

	setups int
}

func (f *fake) instance() devices.Instance {
	return devices.Instance{Driver: f, Name: f.name, Provides: []devices.Spec{f.spec}}
}
func (f *fake) Setup(now time.Duration, l *devices.Link) {
	f.link = l
	f.setups++
	switch {
	case f.slow:
	case f.err != nil:
		l.Fail(now, f.err)
	default:
		l.Ready(now)
	}
}
func (f *fake) Shutdown(now time.Duration) { f.note("shutdown"); f.link.Stopped(now) }
func (f *fake) Command(_ time.Duration, d *devices.Device) {
	var c codec.PositionCommand
	if err := c.Decode(d.Command()); err != nil {
		panic(err)
	}
	if !f.quiet {
		f.note("%d %d", c.Speed, c.TurnRate)
	}
	if f.deaf {
		d.ForgetCommand()
	}
}
func (f *fake) Configure(_ time.Duration, _ *devices.Device, payload []byte) error {
	f.note("configure %s", payload)
	return nil
}
func (f *fake) note(format string, args ...any) {
	f.events = append(f.events, fmt.Sprintf(format, args...))
}
func (f *fake) take() []string {
	events := f.events
	f.events = nil
	return events
}
func (f *fake) device() *devices.Device { return f.link.Devices()[0] }

// robot is wheels and eyes with reflexes before them.
type robot struct {
	*transporttest.Bench
	wheels, sonar, misc, laser *fake
	driver                     *Driver
	device                     *devices.Device // the device for clients
}

func newRobot(t testing.TB) *robot {
	t.Helper()
	wheels := &fake{name: "wheels", spec: devices.Position().At(1)}
	r := &robot{
		Bench:  transporttest.NewBench(t, wheels.instance()),
		wheels: wheels,
		sonar:  &fake{name: "ring", spec: devices.Sonar()},
		misc:   &fake{name: "bumpers", spec: devices.Misc()},
		laser:  &fake{name: "scanner", spec: devices.Laser()},
	}
	var eyes []*devices.Device
	for _, f := range []*fake{r.sonar, r.misc, r.laser} {
		eyes = append(eyes, r.Attach(f.instance()).Devices()[0])
	}
	var err error
	if r.driver, err = New(r.Client, eyes, 400); err != nil {
		t.Fatal(err)
	}
	r.device = r.Attach(Kind().Instance(r.driver)).Devices()[0]
	r.Client = r.device
	return r
}

// open opens the device as a client would.
func (r *robot) open(t testing.TB) {
	t.Helper()
	if pending, err := r.device.Subscribe(r.Now(), r); pending || err != nil {
		t.Fatal(pending, err)
	}
}

// openRobot returns a robot with an open device.
func openRobot(t testing.TB) *robot {
	t.Helper()
	r := newRobot(t)
	r.open(t)
	return r
}

func (r *robot) command(speed, turn int16) {
	c := codec.PositionCommand{Speed: speed, TurnRate: turn}
	r.device.SetCommand(r.Now(), c.Append(nil))
}

// sees publishes sonar data: something at mm in a direction, nothing elsewhere.
func (r *robot) sees(direction int, mm uint16) {
	var d codec.SonarData
	for i := range d {
		d[i] = 5000
	}
	d[direction] = mm
	r.sonar.device().Publish(r.Now(), d.Append(nil))
}

func (r *robot) feels(front, rear uint8) {
	r.misc.device().Publish(r.Now(), []byte{front, rear, 120})
}

func (r *robot) commanded(t testing.TB, when string, want ...string) {
	t.Helper()
	if got := r.wheels.take(); !slices.Equal(got, want) {
		t.Errorf("%s: the wheels were commanded %q, want %q", when, got, want)
	}
}

// last returns the last command to the wheels since the previous call.
func (r *robot) last() string {
	commands := r.wheels.take()
	if len(commands) == 0 {
		return "nothing"
	}
	return commands[len(commands)-1]
}

func TestNothingInTheWay(t *testing.T) {
	r := openRobot(t)
	r.commanded(t, "opened")
	r.sees(3, 3000)
	r.command(500, -100)
	r.commanded(t, "at once", "500 -100")
	r.command(-32768, 32767)
	r.commanded(t, "unchanged", "-32768 32767")
	r.Pass(200 * ms)
	r.commanded(t, "20 times a second", slices.Repeat([]string{"-32768 32767"}, 4)...)
	r.command(0, 0)
	r.commanded(t, "stop", "0 0")
	r.Pass(time.Minute)
	r.commanded(t, "a robot that stands is left alone")
}

func TestOdometryPasses(t *testing.T) {
	r := newRobot(t)
	r.wheels.slow = true
	if pending, err := r.device.Subscribe(r.Now(), r); !pending || err != nil {
		t.Fatal(pending, err)
	}
	if r.sonar.link != nil {
		t.Error("the eyes open before the wheels")
	}
	p := codec.PositionData{X: 5, Heading: 90}
	r.wheels.device().Publish(7*ms, p.Append(nil)) // before it is ready
	r.wheels.link.Ready(r.Now())
	check := func(at time.Duration) {
		t.Helper()
		var got codec.PositionData
		if err := got.Decode(r.device.Data()); err != nil || got != p || r.device.Stamp() != at {
			t.Errorf("%+v at %v, %v; want %+v at %v", got, r.device.Stamp(), err, p, at)
		}
	}
	check(7 * ms)
	p.X = 6
	r.wheels.device().Publish(9*ms, p.Append(nil))
	check(9 * ms)
	if err := r.device.Configure(r.Now(), []byte("R")); err != nil {
		t.Error(err)
	}
	r.commanded(t, "configuration", "configure R")
}

func TestReflexes(t *testing.T) {
	for _, c := range []struct {
		name        string
		sense       func(r *robot)
		speed, turn int16
		want        string
	}{
		{"something to the left", func(r *robot) { r.sees(2, 399) }, 300, 5, "150 -40"},
		{"something to the right", func(r *robot) { r.sees(5, 399) }, 300, 5, "150 40"},
		{"far enough", func(r *robot) { r.sees(2, 400) }, 300, 5, "300 5"},
		{"slow clients are also slowed", func(r *robot) { r.sees(2, 300) }, 60, 0, "30 -40"},
		{"turning on the spot", func(r *robot) { r.sees(2, 100) }, 0, 20, "0 20"},
		{"backing away", func(r *robot) { r.sees(2, 100) }, -200, 0, "-200 0"},
		{"backing into something", func(r *robot) { r.sees(12, 199) }, -200, 7, "0 7"},
		{"nothing behind", func(r *robot) { r.sees(12, 200) }, -200, 7, "-200 7"},
		{"a sonar in front has not fired yet", func(r *robot) { r.sees(2, 0) }, 300, 5, "300 5"},
		{"a robot without sonars behind", func(r *robot) { r.sees(12, 0) }, -200, 7, "-200 7"},
		{"a bump", func(r *robot) { r.feels(1, 0) }, 300, 0, "-100 0"},
		{"a bump from behind", func(r *robot) { r.feels(0, 1) }, -300, 0, "100 0"},
		{"the laser sees it", func(r *robot) {
			var d codec.LaserData
			for i := range d {
				d[i] = 8191
			}
			d[200] = 350 // 10° to the left
			r.laser.device().Publish(r.Now(), d.Append(nil))
		}, 300, 0, "150 -40"},
		{"blocked wheels", func(r *robot) {
			r.command(100, 0)
			d := codec.PositionData{Stall: 1}
			r.wheels.device().Publish(r.Now(), d.Append(nil))
		}, 300, 0, "-100 0"},
		{"an old reading is none", func(r *robot) { r.sees(2, 100); r.Pass(1501 * ms) }, 300, 0, "300 0"},
		{"data that make no sense", func(r *robot) { r.sonar.device().Publish(r.Now(), []byte("abc")) }, 300, 0, "300 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openRobot(t)
			c.sense(r)
			r.command(c.speed, c.turn)
			if got := r.last(); got != c.want {
				t.Errorf("commanded %d %d the wheels go %s, want %s", c.speed, c.turn, got, c.want)
			}
		})
	}
}

// TestStandMeansStand: a reflex ends when the client does not want to move, and
// does not act while the robot is stopped.
func TestStandMeansStand(t *testing.T) {
	r := openRobot(t)
	r.feels(1, 0)
	r.Pass(time.Second)
	r.commanded(t, "bumped while it stands")
	r.command(200, 0)
	r.commanded(t, "bumped when it wants to go", "-100 0")
	r.Pass(100 * ms)
	r.command(0, 0)
	if got := r.last(); got != "0 0" {
		t.Errorf("in the middle of a recovery it is commanded to stop, and does %s", got)
	}
	r.Pass(time.Minute)
	r.commanded(t, "standing")
	r.feels(0, 0)
	r.command(200, 0)
	r.commanded(t, "the recovery is over", "200 0")
}

// TestCollision: a complete recovery, and then the client drives on.
func TestCollision(t *testing.T) {
	r := openRobot(t)
	r.command(300, 0)
	r.feels(1, 0)
	r.Pass(100 * ms)
	r.feels(0, 0)
	var phases []string
	for range 60 {
		r.Pass(50 * ms)
		if now := r.last(); len(phases) == 0 || phases[len(phases)-1] != now {
			phases = append(phases, now)
		}
	}
	if want := []string{"-100 0", "100 -80", "200 0", "300 0"}; !slices.Equal(phases, want) {
		t.Errorf("the wheels were commanded %q, want %q", phases, want)
	}
}

// TestWheelsLost: wheels that have forgotten their command, for they were
// unplugged, stay stopped until a client commands them.
func TestWheelsLost(t *testing.T) {
	again := func(command string, n int) []string { return slices.Repeat([]string{command}, n) }
	for _, c := range []struct {
		name   string
		sense  func(r *robot)
		deaf   bool
		driven string // to the wheels, before
		away   []string
		back   []string
	}{
		{"on a line", func(*robot) {}, false, "300 0", again("200 0", 21), again("0 0", 1)},
		{"in a recovery", func(r *robot) { r.feels(1, 0) }, false, "-100 0", again("200 0", 21), again("0 0", 1)},
		{"on another computer", func(*robot) {}, true, "300 0", []string{"200 0", "0 0"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openRobot(t)
			c.sense(r)
			r.command(300, 0)
			r.Pass(100 * ms)
			r.commanded(t, "driving", again(c.driven, 3)...)

			r.wheels.deaf = c.deaf
			r.wheels.device().ForgetCommand()
			r.Pass(time.Minute)
			r.commanded(t, "lost", "0 0")
			if r.device.Command() != nil {
				t.Error("reflex has not forgotten the command")
			}
			r.feels(0, 0)
			r.command(0, 0)
			r.Pass(time.Minute)
			r.commanded(t, "commanded to stop while they are away", "0 0")
			r.command(200, 0)
			r.Pass(time.Second)
			r.commanded(t, "commanded to go while they are away", c.away...)

			r.wheels.deaf = false
			r.wheels.device().ForgetCommand()
			r.Pass(time.Minute)
			r.commanded(t, "back", c.back...)
			r.command(250, 0)
			r.Pass(100 * ms)
			r.commanded(t, "driving again", again("250 0", 3)...)
		})
	}
}

// TestCaught: escape acts where reflexes get nowhere, and not for a client that
// drives in circles or slowly.
func TestCaught(t *testing.T) {
	t.Run("in a corner", func(t *testing.T) {
		r := openRobot(t)
		r.command(300, 0)
		for i := range 30 { // both sides alternately, and the robot does not get away
			r.sees(2+3*(i%2), 200)
			r.wheels.device().Publish(r.Now(), new(codec.PositionData).Append(nil))
			r.Pass(250 * ms)
		}
		if got := r.wheels.take(); !slices.Contains(got, "-100 0") {
			t.Errorf("it never backs up: %q", slices.Compact(got))
		}
	})
	t.Run("between moments in which the client has its way", func(t *testing.T) {
		r := openRobot(t)
		r.command(300, 0)
		for range 8 {
			for _, mm := range []uint16{200, 5000, 5000, 5000} {
				r.sees(2, mm)
				r.wheels.device().Publish(r.Now(), new(codec.PositionData).Append(nil))
				r.Pass(500 * ms)
			}
		}
		if got := r.wheels.take(); !slices.Contains(got, "-100 0") {
			t.Errorf("it never backs up: %q", slices.Compact(got))
		}
	})
	t.Run("a client that wants it so", func(t *testing.T) {
		r := openRobot(t)
		r.sees(2, 300)
		r.command(60, 0) // avoid acts for a moment
		r.sees(2, 3000)
		r.command(20, 60)
		for range 200 {
			r.sees(2, 3000)
			r.wheels.device().Publish(r.Now(), new(codec.PositionData).Append(nil))
			r.Pass(100 * ms)
		}
		if got := slices.Compact(r.wheels.take()); !slices.Equal(got, []string{"30 -40", "20 60"}) {
			t.Errorf("the wheels were commanded %q", got)
		}
	})
}

// TestLog: at level debug, the layer that drives is logged when it changes.
func TestLog(t *testing.T) {
	r := openRobot(t)
	r.sees(2, 3000)
	r.command(300, 0)
	r.Pass(500 * ms)
	r.sees(2, 300)
	r.Pass(500 * ms)
	r.command(0, 0)
	var layers []string
	for _, line := range r.Log.FilterMessage("the wheels go to").All() {
		layers = append(layers, line.ContextMap()["layer"].(string))
	}
	if want := []string{"radio", "avoid", "stop"}; !slices.Equal(layers, want) {
		t.Errorf("logged %q, want %q", layers, want)
	}
}

var errBroken = errors.New("unplugged")

func TestWheelsFail(t *testing.T) {
	for _, slow := range []bool{false, true} {
		r := newRobot(t)
		r.wheels.err, r.wheels.slow = errBroken, slow
		pending, err := r.device.Subscribe(r.Now(), r)
		if pending != slow {
			t.Fatalf("slow %v: pending %v, error %v", slow, pending, err)
		}
		if slow {
			r.wheels.link.Fail(r.Now(), errBroken)
			if len(r.Done) != 1 {
				t.Fatalf("told %v", r.Done)
			}
			err = r.Done[0]
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("slow %v: error %v", slow, err)
		}
		if r.sonar.link != nil || r.device.Link().State() != devices.Idle {
			t.Errorf("slow %v: something is still on", slow)
		}
		// And again, when it is plugged in.
		r.wheels.err, r.wheels.slow = nil, false
		r.open(t)
	}
}

// TestReaderAfterDriver: a client that only reads does not command the wheels, though a
// sensor is tried again, and though a client drove before.
func TestReaderAfterDriver(t *testing.T) {
	r := newRobot(t)
	r.misc.err = errBroken
	r.open(t)
	r.command(300, 0)
	r.device.Unsubscribe(r.Now(), r)
	r.commanded(t, "driven", "300 0", "0 0", "shutdown")
	r.open(t)
	r.wheels.device().ForgetCommand()
	r.Pass(time.Minute)
	r.commanded(t, "read")
}

func TestShutdown(t *testing.T) {
	for _, when := range []string{"driving", "while the laser starts", "while the wheels start"} {
		t.Run(when, func(t *testing.T) {
			r := newRobot(t)
			r.laser.slow = when == "while the laser starts"
			r.wheels.slow = when == "while the wheels start"
			must.Get(r.device.Subscribe(r.Now(), r))(t)
			if !r.wheels.slow {
				r.command(300, 0)
				r.commanded(t, when, "300 0")
			}
			r.device.Unsubscribe(r.Now(), r)
			if r.wheels.slow {
				r.commanded(t, "closed", "shutdown")
			} else {
				r.commanded(t, "closed", "0 0", "shutdown")
			}
			r.Pass(time.Minute)
			r.commanded(t, "afterwards")
			for _, f := range []*fake{r.wheels, r.sonar, r.misc, r.laser} {
				if f.link != nil && f.link.State() != devices.Idle {
					t.Errorf("%s is %v", f.name, f.link.State())
				}
			}
			if r.device.Link().State() != devices.Idle {
				t.Error("reflex is still on")
			}
		})
	}
}

func TestCycleDoesNotAllocate(t *testing.T) {
	r := openRobot(t)
	r.sees(2, 300)
	r.feels(0, 0)
	r.wheels.device().Publish(r.Now(), new(codec.PositionData).Append(nil))
	r.wheels.quiet = true
	r.command(300, 0)
	now := r.Now()
	if allocs := testing.AllocsPerRun(1000, func() {
		now += period
		r.driver.Tick(now)
	}); allocs != 0 {
		t.Errorf("%v allocations in a cycle", allocs)
	}
}

// The device for clients has the size of the robot, which goto plans with.
func TestParts(t *testing.T) {
	r := openRobot(t)
	if parts := r.device.AppendParts(nil); len(parts) != 0 {
		t.Errorf("parts of wheels that know none: %+v", parts)
	}
	r.wheels.link.SetGeometry(devices.Geometry{Length: 600, Width: 500})
	parts := r.device.AppendParts(nil)
	if want := (codec.Part{Device: r.device.Code(), Length: 600, Width: 500}); len(parts) != 1 || parts[0] != want {
		t.Errorf("%+v, want %+v", parts, want)
	}
}
