package devices

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// tower is a virtual sonar that works on position and laser of two drivers.
type tower struct {
	table                *Table
	wheels, eye, virtual *scripted
	needs                *Required
	sonar                *Device
	who                  *person
}

func newTower(t *testing.T) *tower {
	w := &tower{
		table:   NewTable(zap.NewNop()),
		wheels:  newScripted("wheels", Position()),
		eye:     newScripted("eye", Laser()),
		virtual: newScripted("virtual", Sonar()),
		who:     &person{},
	}
	w.virtual.desc.SetupLimit = VirtualSetupLimit
	attach(t, w.table, w.wheels.desc, w.eye.desc, w.virtual.desc)
	w.table.Connect(newHost())
	w.sonar = w.table.Device(codec.Sonar)
	w.needs = &Required{Devices: []*Device{w.table.Device(codec.Position), w.table.Device(codec.Laser)}}
	w.virtual.setup = func(now time.Duration) {
		w.needs.Open(now, w.virtual.link)
	}
	w.virtual.shutdown = func(now time.Duration) {
		w.needs.Close(now)
		w.virtual.link.Stopped(now)
	}
	return w
}

func (w *tower) expect(t *testing.T, wheels, eye, virtual State, notified ...string) {
	t.Helper()
	for i, want := range []State{wheels, eye, virtual} {
		if l := w.table.Links()[i]; l.State() != want {
			t.Errorf("%s is %v, want %v", l.Name(), l.State(), want)
		}
	}
	if !slices.Equal(w.who.notified, notified) {
		t.Errorf("notified %q, want %q", w.who.notified, notified)
	}
}

func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		slow   string // which of the inner drivers take their time
		broken string // which of them fail
	}{
		{"at once", "", ""}, {"one slow", "w", ""}, {"the other slow", "e", ""}, {"both slow", "we", ""},
		{"first fails at once", "", "w"}, {"second fails at once", "", "e"},
		{"first fails later", "w", "w"}, {"second fails later", "e", "e"},
		{"second fails at once, first is under way", "w", "e"},
		{"both fail later", "we", "we"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTower(t)
			slow := func(d *scripted, letter byte) {
				end := func(now time.Duration) {
					if slices.Contains([]byte(tt.broken), letter) {
						d.link.Fail(now, errBroken)
					} else {
						d.link.Ready(now)
					}
				}
				if d.setup = end; slices.Contains([]byte(tt.slow), letter) {
					d.setup = later
					d.tick = func(now time.Duration) time.Duration { end(now); return 0 }
				}
			}
			slow(w.wheels, 'w')
			slow(w.eye, 'e')
			pending, err := w.sonar.Subscribe(ms, w.who)
			for _, d := range []*scripted{w.wheels, w.eye} {
				if d.tick != nil {
					d.tick(2 * ms)
				}
			}
			if tt.broken == "" {
				if !pending {
					w.expect(t, Ready, Ready, Ready)
				} else {
					w.expect(t, Ready, Ready, Ready, "s <nil>")
				}
				w.sonar.Unsubscribe(3*ms, w.who)
				w.expect(t, Idle, Idle, Idle, w.who.notified...)
				return
			}
			want := map[byte]string{'w': "it works on position of wheels: broken", 'e': "it works on laser of eye: broken"}[tt.broken[0]]
			if !pending {
				w.expect(t, Idle, Idle, Idle)
				if err == nil || err.Error() != want {
					t.Errorf("error %v, want %s", err, want)
				}
				return
			}
			w.expect(t, Idle, Idle, Idle, "s "+want)
		})
	}
}

// The client leaves while the devices underneath are still being set up.
func TestNeedsGivenBackEarly(t *testing.T) {
	w := newTower(t)
	w.wheels.setup = later
	if pending, _ := w.sonar.Subscribe(ms, w.who); !pending {
		t.Fatal("ready too early")
	}
	w.sonar.Unsubscribe(2*ms, w.who)
	w.expect(t, Idle, Idle, Idle)
}

type follower struct{ got []string }

// A driver that comes late gets the earlier reports, once per opening.
func TestNeedsFollow(t *testing.T) {
	w := newTower(t)
	laser := w.table.Device(codec.Laser)
	subscribe(t, laser, ms, w.who, false)
	laser.Publish(ms, []byte("1"))
	var f follower
	w.needs.Observer = &f
	for range 2 {
		subscribe(t, w.sonar, ms, w.who, false)
		laser.Publish(ms, []byte("2"))
		w.sonar.Unsubscribe(ms, w.who)
		laser.Publish(ms, []byte("3"))
	}
	w.wheels.setup = func(now time.Duration) { w.wheels.link.Fail(now, errBroken) }
	if _, err := w.sonar.Subscribe(ms, w.who); err == nil {
		t.Fatal("no error")
	}
	laser.Publish(ms, []byte("4"))
	if want := []string{"1", "2", "3", "2"}; !slices.Equal(f.got, want) {
		t.Errorf("notified %q, want %q", f.got, want)
	}
}

func (f *follower) Published(d *Device) { f.got = append(f.got, string(d.Data())) }

func TestFollow(t *testing.T) {
	w := newTwoDevices(t)
	subscribe(t, w.sonar, ms, &person{}, false)
	var a, b follower
	w.sonar.Publish(ms, []byte("1"))
	w.sonar.AddObserver(w.link, &a)
	w.sonar.AddObserver(w.link, &b)
	w.sonar.Publish(2*ms, []byte("2"))
	w.position.Publish(2*ms, []byte("x"))
	w.sonar.RemoveObserver(&a)
	w.sonar.Publish(3*ms, []byte("3"))
	if !slices.Equal(a.got, []string{"2"}) || !slices.Equal(b.got, []string{"2", "3"}) || w.sonar.Stamp() != 3*ms {
		t.Errorf("%q, %q, stamp %v", a.got, b.got, w.sonar.Stamp())
	}
}

type leaver struct {
	device *Device
	calls  int
}

func (l *leaver) Published(*Device) { l.calls++; l.device.RemoveObserver(l) }

// A follower may leave when it is called.
func TestRemoveObserverWithinPublish(t *testing.T) {
	w := newTwoDevices(t)
	var first, last follower
	middle := &leaver{device: w.sonar}
	w.sonar.AddObserver(w.link, &first)
	w.sonar.AddObserver(w.link, middle)
	w.sonar.AddObserver(w.link, &last)
	w.sonar.Publish(ms, nil)
	w.sonar.Publish(ms, nil)
	if len(first.got) != 2 || middle.calls != 1 || len(last.got) != 2 {
		t.Errorf("%d, %d, %d calls", len(first.got), middle.calls, len(last.got))
	}
}
