package devices

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// overseer writes down a device's data and commands.
type overseer struct{ driver *scripted }

func (o overseer) Published(d *Device) { o.driver.note("sees data %q", d.Data()) }
func (o overseer) Commanded(now time.Duration, d *Device) {
	o.driver.note("sees %v command %q", now, d.Command())
}
func (o overseer) Configured(now time.Duration, _ *Device, payload []byte) {
	o.driver.note("sees %v configure %q", now, payload)
}

// An overseer sees a device's commands before its driver does, and only commands that
// its driver gets.
func TestCommandObserver(t *testing.T) {
	w := newTwoDevices(t)
	o := overseer{w.driver}
	w.position.AddObserver(w.link, o)
	w.position.SetCommand(ms, []byte("lost"))
	if err := w.position.Configure(ms, []byte("m")); err != ErrNotOpen {
		t.Error(err)
	}
	subscribe(t, w.position, ms, new(person), false)
	w.position.SetCommand(2*ms, []byte("fast"))
	if err := w.position.Configure(3*ms, []byte("bad")); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	w.position.Publish(4*ms, []byte("here"))
	w.sonar.Publish(4*ms, []byte("not followed"))
	w.position.RemoveObserver(o)
	w.position.SetCommand(5*ms, []byte("slow"))
	want := []string{
		"setup", `sees 2ms command "fast"`, fmt.Sprintf("command p % X", "fast"), `sees 3ms configure "bad"`, `configure p "bad"`, `sees data "here"`,
		fmt.Sprintf("command p % X", "slow"),
	}
	if got := w.driver.take(); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
