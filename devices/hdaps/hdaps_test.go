package hdaps

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"player/codec"
	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const ms = time.Millisecond

// sensor is a fake sysfs tree, and a driver with a client.
type sensor struct {
	*transporttest.Bench
	dir      string
	joystick *devices.Device
}

func (s *sensor) write(name, text string) {
	s.T.Helper()
	must.Do(s.T, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
}

func newSensor(t *testing.T) *sensor {
	dir := t.TempDir()
	b := transporttest.NewBench(t, Kind().Instance(New(dir, 20)))
	s := &sensor{Bench: b, dir: dir, joystick: b.Client}
	s.write("calibrate", "(409,528)\n")
	s.write("position", "(409,528)\n")
	return s
}

// at is when the driver samples next.
func (s *sensor) at() time.Duration { return s.Deadline(s.Link) }

// sample lets the driver sample once and returns how often it has published.
func (s *sensor) sample() uint64 {
	s.Pass(s.at() - s.Now())
	return s.joystick.Seq()
}

func TestTilt(t *testing.T) {
	s := newSensor(t)
	s.Subscribe()
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
		at := s.at()
		if seq := s.sample(); seq != uint64(i+1) {
			t.Fatalf("%s: published %d times, want %d", tt.position, seq, i+1)
		}
		if s.at() != at+50*ms {
			t.Errorf("next sample after %v", s.at()-at)
		}
		if s.sample() != uint64(i+1) {
			t.Error("published without a change")
		}
		d := transporttest.Data[codec.JoystickData](t, s.joystick)
		if d != (codec.JoystickData{Axes: [8]int16{tt.x, tt.y}}) {
			t.Errorf("%s: %+v", tt.position, d)
		}
	}
	for _, broken := range []string{"", "(12)", "(a,b)", "(1,2,3)"} {
		s.write("position", broken)
		if s.sample() != 5 {
			t.Errorf("%q was published", broken)
		}
	}
	s.Unsubscribe()
	if s.Link.State() != devices.Idle {
		t.Error("not stopped")
	}
}

// published returns the joystick's last data, and how often it has published.
func (s *sensor) published() (seq uint64, x int16) {
	s.T.Helper()
	return s.joystick.Seq(), transporttest.Data[codec.JoystickData](s.T, s.joystick).Axes[0]
}

// run lets the driver sample until a time and returns how often it has.
func (s *sensor) run(until time.Duration) (samples int) {
	for ; s.at() <= until; samples++ {
		s.sample()
	}
	return samples
}

// remove takes the module away, insert brings another back.
func (s *sensor) remove() {
	s.write("position", "") // the driver's file does not work again
	for _, name := range []string{"calibrate", "position"} {
		must.Do(s.T, os.Remove(filepath.Join(s.dir, name)))
	}
}

func (s *sensor) insert(calibrate, position string) {
	s.write("calibrate", calibrate)
	s.write("position", position)
}

// A client that drives by a lost sensor does not drive on, and can drive again when the
// sensor is back.
func TestLost(t *testing.T) {
	s := newSensor(t)
	s.write("position", "(419,528)")
	s.Subscribe()
	s.sample()
	for i := uint64(1); i < 6; i += 2 {
		lost := s.at()
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
		if n := s.Log.FilterMessage(retry.LogUnavailable).Len(); n != 2 { // unreadable, then not there
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
		if n := s.Log.FilterMessage(retry.LogBack).Len(); n != 1 {
			t.Errorf("told %d times that it is back", n)
		}
		s.Log.TakeAll()
		s.run(lost + 40*time.Second) // long enough for the next outage to count as a first one
	}
	s.remove()
	s.run(s.at() + 5000*ms)
	s.Unsubscribe()
	if s.Link.State() != devices.Idle {
		t.Error("not stopped")
	}
}

// A sensor that is busy now and then is not lost.
func TestBusy(t *testing.T) {
	s := newSensor(t)
	s.Subscribe()
	for range 10 {
		s.write("position", "(419,528)")
		s.sample()
		s.write("position", "")
		s.run(s.at() + 900*ms)
	}
	if seq, x := s.published(); seq != 1 || x != 2184 || s.Log.FilterLevelExact(zapcore.WarnLevel).Len() != 0 {
		t.Errorf("published %d times, last %d; %v", seq, x, s.Log.All())
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
			must.Do(t, os.Remove(filepath.Join(s.dir, tt.file)))
		} else {
			s.write(tt.file, tt.text)
		}
		s.Subscribe()
		err := s.Done[0]
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestLookAllocatesNothing(t *testing.T) {
	s := newSensor(t)
	s.Subscribe()
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
