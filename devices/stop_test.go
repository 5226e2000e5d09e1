package devices

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
)

// restless is a virtual device that answers each command of its own with one to the
// device that it works on.
type restless struct {
	inner *Device
	open  Required
}

func (r *restless) Setup(now time.Duration, l *Link) {
	r.open.Devices = []*Device{r.inner}
	r.open.Open(now, l)
}

func (r *restless) Shutdown(now time.Duration) {
	l := r.open.link
	r.open.Close(now)
	l.Stopped(now)
}

func (r *restless) Command(now time.Duration, _ *Device) { r.inner.SetCommand(now, []byte("move")) }

// A stop reaches every device with motors, and nothing moves them until Release.
func TestStop(t *testing.T) {
	table, host := NewTable(zap.NewNop()), newHost()
	wheels := newScripted("wheels", Position().At(1), Sonar())
	attach(t, table, wheels.desc)
	inner := table.Find('p', 1)
	virtual := &restless{inner: inner}
	attach(t, table, Instance{Driver: virtual, Name: "virtual", Provides: []Spec{Position()}})
	table.Connect(host)
	outer := table.Device('p')
	table.Stop(ms) // nothing is open: nothing happens
	subscribe(t, outer, ms, &person{}, false)
	outer.SetCommand(ms, []byte("fast"))
	if inner.Command() != nil || outer.Command() != nil || !table.Stopped() {
		t.Errorf("stopped before it was opened: %q, %q", outer.Command(), inner.Command())
	}
	table.Release()
	outer.SetCommand(2*ms, []byte("fast"))
	if string(inner.Command()) != "move" || string(outer.Command()) != "fast" || table.Stopped() {
		t.Errorf("released: %q, %q", outer.Command(), inner.Command())
	}
	zero := Position().Stop
	for range 2 { // the second stop changes nothing
		table.Stop(3 * ms)
		outer.SetCommand(3*ms, []byte("fast"))
		inner.SetCommand(3*ms, []byte("fast"))
		if string(inner.Command()) != zero || string(outer.Command()) != zero {
			t.Errorf("stopped: %q, %q", outer.Command(), inner.Command())
		}
	}
	table.Release()
	if string(inner.Command()) != zero || string(outer.Command()) != zero {
		t.Errorf("a release moves: %q, %q", outer.Command(), inner.Command())
	}
	if got := wheels.take(); slices.Contains(got, "shutdown") {
		t.Errorf("wheels: %q", got)
	}
}

// The events of a link are counted.
func TestCounts(t *testing.T) {
	w := newTwoDevices(t)
	expect := func(what string, want Counts, wrong error) {
		t.Helper()
		if w.link.Counts != want || w.link.SetupError() != wrong {
			t.Errorf("%s: %+v, %v", what, w.link.Counts, w.link.SetupError())
		}
	}
	expect("nothing", Counts{}, nil)
	w.driver.setup = func(now time.Duration) { w.link.Fail(now, errBroken) }
	if _, err := w.sonar.Subscribe(ms, &person{}); err == nil {
		t.Fatal("it is open")
	}
	expect("a setup that fails", Counts{Setups: 1, Errors: 1}, errBroken)
	w.driver.setup = func(now time.Duration) { w.link.Ready(now) }
	subscribe(t, w.sonar, 2*ms, &person{}, false)
	expect("one that succeeds", Counts{Setups: 2, Errors: 1}, nil)
	if !w.sonar.IsFresh(2*ms+staleAfter) || w.sonar.IsFresh(3*ms+staleAfter) {
		t.Error("without data")
	}
	w.sonar.Publish(time.Minute, []byte{1})
	if !w.sonar.IsFresh(time.Minute+staleAfter) || w.sonar.IsFresh(time.Minute+staleAfter+ms) {
		t.Error("with data")
	}
}
