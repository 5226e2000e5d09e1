package devices

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices/retry"
)

func TestAlwaysOn(t *testing.T) {
	w := newTwoDevices(t)
	w.link.KeepOn()
	broken := true
	w.driver.setup = func(now time.Duration) {
		if broken {
			w.link.Fail(now, errBroken)
			return
		}
		w.link.Ready(now)
	}
	step := func(what string, want ...string) {
		t.Helper()
		if got := w.driver.take(); !slices.Equal(got, want) {
			t.Fatalf("%s: the driver was notified %q, want %q", what, got, want)
		}
	}
	w.table.Start(ms)
	step("start", "setup")
	if w.host.wake(w.link, retry.First) {
		t.Fatal("tried again too early")
	}
	broken = false
	if !w.host.wake(w.link, ms+retry.First) || w.link.State() != Ready {
		t.Fatal("not tried again")
	}
	step("second try", "setup")
	who := &person{}
	subscribe(t, w.sonar, 7*time.Second, who, false)
	w.sonar.Unsubscribe(8*time.Second, who)
	step("a client came and went")
	w.table.Shutdown(9 * time.Second)
	step("server's end", "shutdown")
	if !w.table.Done() || w.host.at[w.link] != 0 {
		t.Fatal("it would start again")
	}
}

func TestAlwaysOnIsStartedByAClient(t *testing.T) {
	w := newTwoDevices(t)
	w.link.KeepOn()
	who := &person{}
	subscribe(t, w.sonar, ms, who, false)
	w.sonar.Unsubscribe(2*ms, who)
	if w.link.State() != Ready {
		t.Fatalf("link is %v after the client left", w.link.State())
	}
}

func TestAttachIndices(t *testing.T) {
	table := NewTable(zap.NewNop())
	inner := attach(t, table, newScripted("inner", Position().At(1), Sonar(), Laser().At(Hidden)).desc)
	if table.Device(codec.Position) != nil || table.Device(codec.Laser) != nil || table.Device(codec.Sonar) != inner.Device(codec.Sonar) {
		t.Error("clients see other devices than those of index 0")
	}
	if table.Find(codec.Position, 1) != inner.Device(codec.Position) || table.Find(codec.Laser, Hidden) != nil {
		t.Error("drivers find other devices than those with an index")
	}
	// A hidden device is in no way, a visible one does, and then
	// nothing of the driver is attached.
	attach(t, table, newScripted("outer", Position(), Laser()).desc)
	if _, err := table.Attach(newScripted("third", Misc(), Laser()).desc); err == nil || table.Device(codec.Misc) != nil {
		t.Errorf("error %v", err)
	}
	if len(table.Links()) != 2 {
		t.Errorf("%d links", len(table.Links()))
	}
}
