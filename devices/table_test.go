package devices

import (
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

func TestTable(t *testing.T) {
	table := NewTable(zap.NewNop())
	wheels, laser := newScripted("wheels", Position(), Sonar()), newScripted("laser", Laser())
	attach(t, table, wheels.desc, laser.desc)
	for _, tt := range []struct {
		driver *scripted
		want   string
	}{
		{newScripted("other", PTZ(), Sonar()), `device 's' (sonar) is provided by both wheels and other`},
		{newScripted("twice", Misc(), Misc()), `device 'm' (misc) is provided by both twice and twice`},
	} {
		if _, err := table.Attach(tt.driver.desc); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	// A driver that was refused leaves nothing behind.
	for letter := range 256 {
		d := table.Device(byte(letter))
		if want := slices.Contains([]byte("psl"), byte(letter)); (d != nil) != want {
			t.Errorf("device %q: %v", byte(letter), d)
		}
		if d != nil && (d.Letter() != byte(letter) || d.Spec().Letter != byte(letter)) {
			t.Errorf("device %q calls itself %q", byte(letter), d.Letter())
		}
	}
	if links := table.Links(); len(links) != 2 || links[0].Name() != "wheels" || links[1].Name() != "laser" {
		t.Errorf("%d links, want wheels and laser", len(links))
	}
	if _, err := table.Attach(newScripted("camera", PTZ()).desc); err != nil {
		t.Errorf("a letter of a refused driver is taken: %v", err)
	}
}

// A driver may have several devices of an interface.
func TestSeveralDevicesOfADriver(t *testing.T) {
	table := NewTable(zap.NewNop())
	attach(t, table, newScripted("front", Laser(), Ranger()).desc)
	link := attach(t, table, newScripted("pair", Laser().At(1), Ranger().At(1), Laser().At(2), Ranger().At(2), Ranger().At(Hidden)).desc)
	want := []struct {
		address string
		code    byte
	}{{"laser:1", 0x81}, {"ranger:1", 0x82}, {"laser:2", 0x83}, {"ranger:2", 0x84}, {"ranger:-1", 0}}
	for i, d := range link.Devices() {
		if d.Spec().Address() != want[i].address || d.Code() != want[i].code || want[i].code != 0 && table.Device(d.Code()) != d {
			t.Errorf("device %d is %s with byte %#x, want %+v", i, d.Spec().Address(), d.Code(), want[i])
		}
	}
	if table.Device(codec.Ranger) != nil {
		t.Error("a ranger has the letter that names its interface")
	}
}

// Before Connect there is no outside world, and nothing panics.
func TestUnconnected(t *testing.T) {
	table := NewTable(zap.NewNop())
	attach(t, table, newScripted("laser", Laser()).desc)
	l := table.Links()[0]
	l.WakeAt(ms)
	l.host.OpenSerial("/dev/ttyS1", 9600, nil, func(_ time.Duration, p Line, err error) {
		if p != nil || err == nil || err.Error() != "/dev/ttyS1: the server is not running" {
			t.Errorf("opened: %v, %v", p, err)
		}
	})
	if p, err := l.Host().Dial("127.0.0.1:5001", nil); p != nil || err == nil || err.Error() != "127.0.0.1:5001: the server is not running" {
		t.Errorf("dialled: %v, %v", p, err)
	}
}

// Shutdown stops the running drivers, the first attached first, also if they are open;
// it is done when the last driver is off.
func TestTableShutdown(t *testing.T) {
	table, host := NewTable(zap.NewNop()), newHost()
	var order []string
	specs := []Spec{Position(), Laser(), PTZ(), Vision(), Gripper()}
	drivers := make([]*scripted, len(specs))
	for i, spec := range specs {
		d := newScripted(spec.Name, spec)
		d.shutdown = later
		drivers[i] = d
		attach(t, table, d.desc)
	}
	table.Connect(host)
	var p person
	open := func(letter byte, pending bool) {
		t.Helper()
		subscribe(t, table.Device(letter), ms, &p, pending)
	}
	drivers[2].setup = later
	open(codec.PTZ, true) // starting
	open(codec.Laser, false)
	open(codec.Position, false)
	open(codec.Vision, false)
	table.Device(codec.Vision).Unsubscribe(ms, &p) // stopping
	open(codec.Vision, true)                       // and to be started again
	for _, d := range drivers {
		d.events = nil
		d.shutdown = nil
		if d != drivers[1] {
			name := d.desc.Name
			d.shutdown = func(now time.Duration) { order = append(order, name) }
			continue
		}
		d.shutdown = func(now time.Duration) { order = append(order, "laser"); d.link.Stopped(now) }
	}
	if table.Done() {
		t.Error("done before it began")
	}
	table.Shutdown(2 * ms)
	if want := []string{"position", "laser", "ptz"}; !slices.Equal(order, want) {
		t.Errorf("stopped %v, want %v", order, want)
	}
	for i, driver := range []*scripted{drivers[2], drivers[0]} {
		if table.Done() {
			t.Errorf("done while %d drivers run", 3-i)
		}
		driver.link.Stopped(3 * ms)
	}
	if table.Done() {
		t.Error("done while a driver stops that stopped already")
	}
	host.wake(drivers[3].link, 1900*ms)
	if !table.Done() {
		t.Error("not done: the server would take two seconds to end")
	}
	for _, d := range drivers {
		if pending, err := table.Device(d.desc.Provides[0].Letter).Subscribe(4*ms, &p); pending || err != errShutdown {
			t.Errorf("%s can be opened after the shutdown: %v, %v", d.desc.Name, pending, err)
		}
		if slices.Contains(d.take(), "setup") {
			t.Errorf("%s was started again", d.desc.Name)
		}
	}
	expectNotified(t, &p)
	if len(host.at) != 0 {
		t.Errorf("%d deadlines are armed for a robot that is off", len(host.at))
	}
}

// A reload replaces a driver. The other one, and its subscribers, notice nothing.
func TestSetLinks(t *testing.T) {
	table, host := NewTable(zap.NewNop()), newHost()
	wheels, old, next := newScripted("wheels", Position()), newScripted("old", Laser()), newScripted("next", Laser(), PTZ())
	old.shutdown = func(time.Duration) {} // it takes a while
	attach(t, table, wheels.desc, old.desc)
	table.Connect(host)
	driver, viewer := &person{}, &person{}
	subscribe(t, table.Device('p'), ms, driver, false)
	subscribe(t, table.Device('l'), ms, viewer, false)
	wheels.take()

	stopping := table.Links()[1]
	stopping.Shutdown(2 * ms)
	if stopping.State() != Stopping {
		t.Errorf("the old driver is %v", stopping.State())
	}
	if _, err := table.Device('l').Subscribe(3*ms, viewer); err == nil {
		t.Error("a driver that is shut down is opened")
	}
	stopping.Stopped(4 * ms)
	if stopping.State() != Idle {
		t.Errorf("the old driver is %v", stopping.State())
	}

	fresh := NewTable(zap.NewNop())
	link := attach(t, fresh, next.desc)
	link.KeepOn()
	table.Stop(5 * ms)
	wheels.take()
	table.SetLinks([]*Link{table.Links()[0], link})
	table.Connect(host)
	table.Start(6 * ms)
	if got := next.take(); !slices.Equal(got, []string{"setup"}) {
		t.Errorf("the new driver: %v", got)
	}
	if got := wheels.take(); got != nil {
		t.Errorf("the driver that stays: %v", got)
	}
	if table.Device('l') != link.Devices()[0] || table.Device('y') != nil || table.Device('z') != link.Devices()[1] {
		t.Error("the devices are not those of the links")
	}
	link.Devices()[1].SetCommand(7*ms, make([]byte, PTZ().CommandSize))
	if link.Devices()[1].Command() != nil {
		t.Error("the emergency stop does not hold for the new driver")
	}
	if !table.Device('p').Link().Subscribed(table.Device('p')) {
		t.Error("a subscriber of the driver that stays is lost")
	}
	table.Start(8 * ms) // for another reload
	if got := next.take(); got != nil {
		t.Errorf("started twice: %v", got)
	}
}

func TestHide(t *testing.T) {
	w := newTwoDevices(t)
	attach(t, w.table, newScripted("spare", Position().At(1)).desc)
	if got := w.table.Hide(codec.Position); got != w.position || got.Spec().Index != 2 {
		t.Fatalf("covered %+v", got)
	}
	if w.table.Device(codec.Position) != nil || w.table.Find(codec.Position, 2) != w.position || w.table.Device(codec.Sonar) != w.sonar {
		t.Error("clients see it still, or drivers do not, or the sonar is gone")
	}
	if w.table.Hide(codec.Position) != nil || w.table.Hide(codec.Laser) != nil {
		t.Error("there was nothing to cover")
	}
	front := newScripted("front", Position())
	attach(t, w.table, front.desc)
	if got := w.table.Device(codec.Position); got == nil || got.Link().Name() != "front" {
		t.Errorf("clients see %v", got)
	}
}

// PROTOCOL 2.11: a device without a letter has a byte of its own, which is never another device's.
func TestHandedBytes(t *testing.T) {
	table := NewTable(zap.NewNop())
	code := func(name string) byte {
		for _, l := range table.Links() {
			for _, d := range l.Devices() {
				if d.Spec().Address() == name {
					if c := d.Code(); c != 0 && table.Device(c) != d {
						t.Errorf("%s: byte %d is another device's", name, c)
					}
					return d.Code()
				}
			}
		}
		t.Fatalf("no device %s", name)
		return 0
	}
	expect := func(want map[string]byte) {
		t.Helper()
		for name, c := range want {
			if got := code(name); got != c {
				t.Errorf("%s has byte %d, want %d", name, got, c)
			}
		}
	}
	first := newScripted("first", Laser(), Position(), Sonar().At(Hidden))
	attach(t, table, first.desc)
	attach(t, table, newScripted("rear", Laser().At(1), Sonar().At(3)).desc)
	attach(t, table, newScripted("wheels", Position().At(1)).desc)
	expect(map[string]byte{"laser:0": 'l', "position:0": 'p', "laser:1": 0x80, "sonar:3": 0x81, "position:1": 0, "sonar:-1": 0})

	// A reload removes the rear, has another device, and brings the rear back.
	links := table.Links()
	fresh := NewTable(zap.NewNop())
	attach(t, fresh, newScripted("top", Laser().At(2)).desc)
	attach(t, fresh, newScripted("rear again", Laser().At(1)).desc)
	table.SetLinks([]*Link{links[0], fresh.Links()[0]})
	expect(map[string]byte{"laser:0": 'l', "laser:2": 0x82})
	if table.Device(0x80) != nil || table.Removed(0x80) != "laser:1" {
		t.Errorf("a device that is gone has its byte, or another name: %q", table.Removed(0x80))
	}
	if a, b := table.Removed(0x82), table.Removed(0xFE); a != "" || b != "" {
		t.Errorf("%q and %q were removed", a, b)
	}
	table.SetLinks([]*Link{links[0], fresh.Links()[0], fresh.Links()[1]})
	expect(map[string]byte{"laser:1": 0x80, "laser:2": 0x82})

	if d := table.Hide(codec.Laser); d.Code() != 0 || table.Device(codec.Laser) != nil {
		t.Errorf("a hidden laser has byte %d", d.Code())
	}
	table.SetLinks(table.Links())
	expect(map[string]byte{"laser:3": 0})
}

func TestMostDevices(t *testing.T) {
	table := NewTable(zap.NewNop())
	for i := range MostHanded {
		attach(t, table, newScripted("laser", Laser().At(i+1)).desc)
	}
	seen := map[byte]bool{}
	for _, l := range table.Links() {
		c := l.Devices()[0].Code()
		if c == 0 || codec.IsLetter(c) || seen[c] {
			t.Errorf("byte %d", c)
		}
		seen[c] = true
	}
	if _, err := table.Attach(newScripted("more", Laser().At(1000)).desc); err == nil {
		t.Error("one more device has a byte")
	}
	attach(t, table, newScripted("first", Laser(), Position()).desc) // have letters
	attach(t, table, newScripted("wheels", Position().At(1)).desc)   // is not seen
}
