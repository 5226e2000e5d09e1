package devices

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices/retry"
)

// A driver uses the devices that can be opened; the rest is tried again while it runs, and
// only then.
func TestOptional(t *testing.T) {
	core, observed := observer.New(zapcore.WarnLevel)
	table, host := NewTable(zap.New(core)), newHost()
	sonar, laser, user := newScripted("sonar", Sonar()), newScripted("laser", Laser()), newScripted("user", Position())
	attach(t, table, sonar.desc, laser.desc, user.desc)
	table.Connect(host)
	eyes := Optional{Devices: []*Device{table.Device(codec.Sonar), table.Device(codec.Laser)}}
	user.setup = func(now time.Duration) {
		eyes.Open(now, user.link)
		user.link.Ready(now)
	}
	user.tick = func(now time.Duration) time.Duration { eyes.Tick(now); return eyes.RetryAt() }
	user.shutdown = func(now time.Duration) { eyes.Close(now); user.link.Stopped(now) }
	laser.setup = func(now time.Duration) { laser.link.Fail(now, errBroken) }

	position, who, start := table.Device(codec.Position), new(person), time.Hour
	expect := func(what string, at time.Duration, sonarState, laserState State) {
		t.Helper()
		if got := host.at[user.link]; got != at {
			t.Errorf("%s: the next try is at %v, want %v", what, got-start, at-start)
		}
		if s, l := table.Device(codec.Sonar).Link().State(), table.Device(codec.Laser).Link().State(); s != sonarState || l != laserState {
			t.Errorf("%s: sonar %v, laser %v", what, s, l)
		}
	}
	subscribe(t, position, start, who, false)
	expect("one is broken", start+retry.First, Ready, Idle)
	now := start + retry.First
	host.wake(user.link, now)
	expect("still", now+2*retry.First, Ready, Idle)
	laser.setup = later
	now += 2 * retry.First
	host.wake(user.link, now)
	expect("under way", 0, Ready, Starting)
	laser.link.Fail(now+ms, errBroken)
	expect("failed later", now+ms+4*retry.First, Ready, Idle)
	laser.setup = nil
	now += ms + 4*retry.First
	host.wake(user.link, now)
	expect("mended", 0, Ready, Ready)
	position.Unsubscribe(now, who)
	expect("closed", 0, Idle, Idle)

	laser.setup = func(now time.Duration) { laser.link.Fail(now, errBroken) }
	subscribe(t, position, now, who, false)
	position.Unsubscribe(now+ms, who)
	expect("closed while one is broken", 0, Idle, Idle)

	laser.link.switchedOff = true // as after three panics: the driver that uses it is not
	subscribe(t, position, now, who, false)
	subscribe(t, position, now, new(person), false)
	expect("switched off", now+retry.First, Ready, Idle)
	if n := observed.FilterMessage(retry.LogUnavailable).Len(); n != 3 {
		t.Errorf("%d lines for three outages", n)
	}
}
