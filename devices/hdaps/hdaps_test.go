package hdaps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
)

const ms = time.Millisecond

// sensor is a fake sysfs tree, and the outside world of its driver.
type sensor struct {
	devices.Host // what it does not implement, nobody calls
	t            *testing.T
	dir          string
	joystick     *devices.Device
	at           time.Duration
	err          error // of a setup
	log          *observer.ObservedLogs
}

func (s *sensor) WakeAt(_ *devices.Link, at time.Duration)                { s.at = at }
func (s *sensor) SetupDone(_ time.Duration, _ *devices.Device, err error) { s.err = err }

func (s *sensor) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func newSensor(t *testing.T) *sensor {
	s := &sensor{t: t, dir: t.TempDir()}
	s.write("calibrate", "(409,528)\n")
	s.write("position", "(409,528)\n")
	core, log := observer.New(zapcore.InfoLevel)
	s.log = log
	table := devices.NewTable(zap.New(core))
	if _, err := table.Attach(Kind().Instance(New(s.dir, 20))); err != nil {
		t.Fatal(err)
	}
	table.Connect(s)
	s.joystick = table.Device(codec.Joystick)
	return s
}

// sample lets the driver sample once and returns how often it has published.
func (s *sensor) sample() uint64 {
	s.at = s.joystick.Link().Wake(s.at)
	return s.joystick.Seq()
}

func TestTilt(t *testing.T) {
	s := newSensor(t)
	if pending, err := s.joystick.Subscribe(ms, s); pending || err != nil {
		t.Fatal(pending, err)
	}
	for i, tt := range []struct {
		position string
		x, y     int16
	}{
		{"(409,528)\n", 0, 0},
		{"(419,528)\n", 2184, 0},
		{"(419,513)", 2184, -3276},
		{"(-500,2000)\n", -32767, 32767},
		{"(559,378)\n", 32767, -32767},
	} {
		s.write("position", tt.position)
		at := s.at
		if seq := s.sample(); seq != uint64(i+1) {
			t.Fatalf("%s: published %d times, want %d", tt.position, seq, i+1)
		}
		if s.at != at+50*ms {
			t.Errorf("next sample after %v", s.at-at)
		}
		if s.sample() != uint64(i+1) {
			t.Error("published without a change")
		}
		var d codec.JoystickData
		if err := d.Decode(s.joystick.Data()); err != nil || d != (codec.JoystickData{Axes: [8]int16{tt.x, tt.y}}) {
			t.Errorf("%s: %+v, %v", tt.position, d, err)
		}
	}
	for _, broken := range []string{"", "(12)", "(a,b)", "(1,2,3)"} {
		s.write("position", broken)
		if s.sample() != 5 {
			t.Errorf("%q was published", broken)
		}
	}
	s.joystick.Unsubscribe(s.at, s)
	if s.joystick.Link().State() != devices.Idle {
		t.Error("not stopped")
	}
}

// published is what the joystick says, and how often it has said anything.
func (s *sensor) published() (seq uint64, x int16) {
	s.t.Helper()
	var d codec.JoystickData
	if err := d.Decode(s.joystick.Data()); err != nil {
		s.t.Fatal(err)
	}
	return s.joystick.Seq(), d.Axes[0]
}

// run lets the driver sample until a time and returns how often it has.
func (s *sensor) run(until time.Duration) (samples int) {
	for ; s.at <= until; samples++ {
		s.sample()
	}
	return samples
}

// remove takes the module away, insert brings another back.
func (s *sensor) remove() {
	s.write("position", "") // the driver's file does not work again
	for _, name := range []string{"calibrate", "position"} {
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *sensor) insert(calibrate, position string) {
	s.write("calibrate", calibrate)
	s.write("position", position)
}

// Whoever drives by a sensor that is lost does not drive on, and can again when
// it is back.
func TestLost(t *testing.T) {
	s := newSensor(t)
	s.write("position", "(419,528)")
	if _, err := s.joystick.Subscribe(ms, s); err != nil {
		t.Fatal(err)
	}
	s.sample()
	for i := uint64(1); i < 6; i += 2 {
		lost := s.at
		s.remove()
		if s.run(lost + 950*ms); s.joystick.Seq() != i {
			t.Fatal("at rest too early")
		}
		s.run(lost + 1000*ms)
		if seq, x := s.published(); seq != i+1 || x != 0 {
			t.Fatalf("after 1 s it has published %d times, last %d", seq, x)
		}
		if samples := s.run(lost + 10000*ms); samples != 3 || s.joystick.Seq() != i+1 {
			t.Errorf("sampled %d times in 9 s, published %d times", samples, s.joystick.Seq())
		}
		if n := s.log.FilterMessage("device unavailable, trying again").Len(); n != 2 { // unreadable, then not there
			t.Errorf("%d lines in the log", n)
		}
		s.insert("(400,528)", "") // it is there, and not ready yet
		if s.run(lost + 14000*ms); s.joystick.Seq() != i+1 {
			t.Error("published nothing")
		}
		s.insert("(300,528)", "(310,528)")
		s.run(lost + 19000*ms)
		if seq, x := s.published(); seq != i+2 || x != 2184 {
			t.Fatalf("back, it has published %d times, last %d", seq, x)
		}
		if n := s.log.FilterMessage("device is back").Len(); n != 1 {
			t.Errorf("told %d times that it is back", n)
		}
		s.log.TakeAll()
		s.run(lost + 40*time.Second) // long enough for the next outage to count as a first one
	}
	s.remove()
	s.run(s.at + 5000*ms)
	s.joystick.Unsubscribe(s.at, s)
	if s.joystick.Link().State() != devices.Idle {
		t.Error("not stopped")
	}
}

// A sensor that is busy now and then is not lost.
func TestBusy(t *testing.T) {
	s := newSensor(t)
	if _, err := s.joystick.Subscribe(ms, s); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		s.write("position", "(419,528)")
		s.sample()
		s.write("position", "")
		s.run(s.at + 900*ms)
	}
	if seq, x := s.published(); seq != 1 || x != 2184 || s.log.FilterLevelExact(zapcore.WarnLevel).Len() != 0 {
		t.Errorf("published %d times, last %d; %v", seq, x, s.log.All())
	}
}

func TestSetupFails(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{"calibrate", "", "is the kernel module hdaps loaded?"},
		{"position", "", "is the kernel module hdaps loaded?"},
		{"calibrate", "(1,2", ""},
		{"calibrate", "x\n", `"x\n" is not a position such as (409,528)`},
	} {
		s := newSensor(t)
		if tt.text == "" {
			if err := os.Remove(filepath.Join(s.dir, tt.file)); err != nil {
				t.Fatal(err)
			}
		} else {
			s.write(tt.file, tt.text)
		}
		_, err := s.joystick.Subscribe(ms, s)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestLookAllocatesNothing(t *testing.T) {
	s := newSensor(t)
	if _, err := s.joystick.Subscribe(ms, s); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { s.sample() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestKind(t *testing.T) {
	k := Kind()
	if _, err := k.New(devices.Args{Name: k.Name, Values: k.Defaults()}); err != nil {
		t.Error(err)
	}
}
