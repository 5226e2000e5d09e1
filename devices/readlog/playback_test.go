package readlog

import (
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"player/devices"
	"player/e2e/must"
)

// control controls the playback and checks its position afterwards, as the time since the
// start of the log.
func (r *rig) control(c Control, state State, at time.Duration) {
	r.T.Helper()
	must.Do(r.T, r.driver.Control(r.Now(), c))
	r.wantPlayback(state, at)
}

func (r *rig) wantPlayback(state State, at time.Duration) {
	r.T.Helper()
	p := r.driver.Playback(r.Now())
	if got := time.Duration(p.Time - p.Start); p.State != state || got != at {
		r.T.Errorf("%s at %v, want %s at %v", p.State, got, state, at)
	}
}

// to is a seek to a time since the start of the log of script.
func to(at time.Duration) Control {
	ns := began.Add(5*time.Second + at).UnixNano()
	return Control{Seek: &ns}
}

func TestPlayback(t *testing.T) {
	yes, no, twice := true, false, 2.0
	r := newRig(t, Options{File: write(t, script()...), Rate: 1}, devices.Position(), devices.Sonar())
	r.wantPlayback(Off, 0)
	p := r.driver.Playback(r.Now())
	if time.Duration(p.End-p.Start) != 210*ms || p.Start != began.Add(5*time.Second).UnixNano() || p.Speed != 1 {
		t.Errorf("%+v", p)
	}
	if err := r.driver.Control(r.Now(), Control{Pause: &yes}); !errors.Is(err, errOff) {
		t.Error(err)
	}
	r.open()
	r.want(`1s p "p0"`)
	r.run(1050 * ms)
	r.want(`1.01s s "s0"`)
	r.control(Control{Pause: &yes}, Paused, 50*ms)
	if r.at() != 0 {
		t.Errorf("paused, it wakes the server at %v", r.at())
	}
	r.run(5 * time.Second)
	r.want()
	r.wantPlayback(Paused, 50*ms)

	// It goes on where it was, twice as fast.
	r.control(Control{Pause: &no, Speed: &twice}, Playing, 50*ms)
	r.run(5025 * ms)
	r.want(`5.025s p "p1"`, `5.025s s "s1, taken before"`)
	r.wantPlayback(Playing, 100*ms)

	// Back: all devices have their data of that time, and it goes on from there.
	r.control(to(60*ms), Playing, 60*ms)
	r.want(`5.025s p "p0"`, `5.025s s "s0"`)
	r.run(5045 * ms)
	r.want(`5.045s p "p1"`, `5.045s s "s1, taken before"`)
	// Forward, paused, and beyond the end.
	r.control(Control{Pause: &yes, Seek: to(205 * ms).Seek}, Paused, 205*ms)
	r.want(`5.045s p "p2"`)
	r.control(to(time.Hour), Paused, 210*ms)
	r.want()
	r.run(6 * time.Second)
	r.control(Control{Pause: &no}, Ended, 210*ms)
	r.want(`6s s ""`)
	// An ended log begins again.
	r.control(Control{Pause: &no}, Playing, 0)
	r.run(6005 * ms)
	r.want(`6s p "p0"`, `6.005s s "s0"`)
	r.control(to(-time.Hour), Playing, 0)

	// The next client finds the log as it was configured.
	r.control(Control{Pause: &yes}, Paused, 0)
	r.close()
	r.wantPlayback(Off, 0)
	r.take()
	r.open()
	r.run(7 * time.Second)
	r.wantPlayback(Ended, 210*ms)
	if got := len(r.take()); got != 6 {
		t.Errorf("%d messages", got)
	}
}

// A seek reads in bursts, and the playback goes on from its end.
func TestSeekThroughLongLog(t *testing.T) {
	var messages []said
	for i := range 3 * burst {
		messages = append(messages, said{0, time.Duration(i) * ms, "p"})
	}
	r := openRig(t, Options{File: write(t, messages...), Rate: 1})
	r.take()
	at := began.Add(time.Duration(2*burst) * ms).UnixNano()
	r.control(Control{Seek: &at}, Playing, 2*burst*ms)
	if got := len(r.take()); got != 0 {
		t.Fatalf("%d messages in the first burst", got)
	}
	for len(r.events) == 0 {
		r.run(r.at())
	}
	if wait := r.Now() - time.Second; wait < 2*pause || wait > 20*pause {
		t.Errorf("the seek took %v", wait)
	}
	if got := time.Duration(r.driver.Playback(r.Now()).Time - at); got != 0 {
		t.Errorf("it went on at %v", got)
	}
}

func TestControlRefused(t *testing.T) {
	speed, nan, back := 1000.0, math.NaN(), to(0)
	path := write(t, script()...)
	r := openRig(t, Options{File: path, Rate: 1})
	r.run(1100 * ms)
	for _, c := range []Control{{Speed: &speed}, {Speed: &nan}} {
		if err := r.driver.Control(r.Now(), c); err == nil {
			t.Errorf("speed %v", *c.Speed)
		}
	}
	must.Do(t, os.Remove(path))
	if err := r.driver.Control(r.Now(), back); !errors.Is(err, errRead) {
		t.Error(err)
	}
	r.wantPlayback(Ended, 210*ms)
	r.run(2 * time.Second)

	steps := newRig(t, Options{File: write(t, script()...), Rate: 1, Step: true}, devices.Position(), devices.Sonar())
	steps.open()
	if err := steps.driver.Control(steps.Now(), back); !errors.Is(err, errSteps) {
		t.Error(err)
	}
}

// A seek in a log that loops does not end the loop.
func TestSeekInLoop(t *testing.T) {
	r := openRig(t, Options{File: write(t, script()...), Rate: 1, Loop: true})
	r.control(to(time.Hour), Playing, 0)
	r.take()
	r.run(r.Now() + lap + 50*ms)
	r.want(`1.1s p "p0"`, `1.11s s "s0"`)
}
