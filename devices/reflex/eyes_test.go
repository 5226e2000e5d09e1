package reflex

import (
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"player/devices"
	"player/devices/retry"
)

// TestEyesFail: the robot drives with the eyes that it has.
func TestEyesFail(t *testing.T) {
	r := newRobot(t)
	r.misc.err, r.laser.slow = errBroken, true
	r.open(t)
	r.sees(2, 200)
	r.command(300, 0)
	r.commanded(t, "with sonar only", "150 -40")
	r.Pass(retry.First)
	if n := len(r.wheels.take()); n != int(retry.First/period) || r.misc.setups != 2 {
		t.Errorf("in %v the wheels were commanded %d times, and the bumpers were tried %d times", retry.First, n, r.misc.setups)
	}
	r.laser.link.Fail(r.Now(), errBroken)
	r.device.Unsubscribe(r.Now(), r)
	for _, f := range []*fake{r.wheels, r.sonar, r.misc, r.laser} {
		if f.link.State() != devices.Idle {
			t.Errorf("%s is %v", f.name, f.link.State())
		}
	}
}

// TestEyeLater: a sensor that could not be opened is used when it can be, and is closed
// once.
func TestEyeLater(t *testing.T) {
	for _, slow := range []bool{false, true} {
		r := newRobot(t)
		r.misc.err, r.misc.slow = errBroken, slow
		r.open(t)
		if slow {
			r.misc.link.Fail(r.Now(), errBroken)
		}
		r.misc.err = nil
		r.Pass(retry.First - ms)
		if r.misc.setups != 1 {
			t.Errorf("slow %v: opened again too early", slow)
		}
		r.Pass(ms)
		if slow {
			r.misc.link.Ready(r.Now())
		}
		r.Pass(time.Minute)
		r.commanded(t, "no client wants it to move")
		if r.misc.link.State() != devices.Ready || r.misc.setups != 2 {
			t.Fatalf("slow %v: the bumpers are %v after %d setups", slow, r.misc.link.State(), r.misc.setups)
		}
		r.feels(1, 0)
		r.command(300, 0)
		r.commanded(t, "bumped", "-100 0")

		other, misc := &robot{}, r.misc.device()
		if pending, err := misc.Subscribe(r.Now(), other); pending || err != nil {
			t.Fatal(pending, err)
		}
		r.device.Unsubscribe(r.Now(), r)
		if r.misc.link.State() != devices.Ready {
			t.Errorf("slow %v: the bumpers were taken from another client", slow)
		}
		misc.Unsubscribe(r.Now(), other)
		for _, f := range []*fake{r.wheels, r.sonar, r.misc, r.laser} {
			if f.link.State() != devices.Idle {
				t.Errorf("slow %v: %s is %v", slow, f.name, f.link.State())
			}
		}
	}
}

// TestEyeOfOthers: data that other clients have opened counts.
func TestEyeOfOthers(t *testing.T) {
	r := newRobot(t)
	r.misc.err = errBroken
	r.open(t)
	r.misc.err = nil
	other, misc := &robot{}, r.misc.device()
	if pending, err := misc.Subscribe(r.Now(), other); pending || err != nil {
		t.Fatal(pending, err)
	}
	r.feels(1, 0)
	r.command(300, 0)
	r.commanded(t, "bumped", "-100 0")
	r.Pass(retry.First)
	misc.Unsubscribe(r.Now(), other)
	if r.misc.link.State() != devices.Ready {
		t.Error("reflex relies on others for its bumpers")
	}
	r.device.Unsubscribe(r.Now(), r)
	if r.misc.link.State() != devices.Idle {
		t.Error("the bumpers are still on")
	}
}

// TestEyeNever: nothing but the wheels' own clients keeps a driver searching for
// its sensor, and the log says once that it does.
func TestEyeNever(t *testing.T) {
	for _, underWay := range []bool{false, true} {
		r := newRobot(t)
		r.misc.err = errBroken
		r.open(t)
		r.Pass(14 * time.Second) // tried at 0, 1, 3, 7 and 12 s
		r.misc.slow = underWay
		r.Pass(retry.Last)
		if underWay != (r.misc.link.State() == devices.Starting) {
			t.Fatalf("under way %v: the bumpers are %v", underWay, r.misc.link.State())
		}
		r.device.Unsubscribe(r.Now(), r)
		r.Pass(time.Minute)
		if r.misc.setups != 6 || r.misc.link.State() != devices.Idle {
			t.Errorf("under way %v: %d setups, the bumpers are %v", underWay, r.misc.setups, r.misc.link.State())
		}
		if n := r.Log.FilterLevelExact(zapcore.WarnLevel).FilterField(zap.String("requires", "misc")).Len(); n != 1 {
			t.Errorf("under way %v: the log says %d times that it is not there", underWay, n)
		}
		r.commanded(t, "no client wants it to move", "shutdown")
	}
}

func TestBlind(t *testing.T) {
	if _, err := New(nil, nil, 400); !errors.Is(err, errBlind) {
		t.Errorf("error %v", err)
	}
}
