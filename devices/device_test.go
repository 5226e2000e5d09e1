package devices

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
	"player/codec/compact"
)

// The specs hold manual tables 3 to 7.
func TestSpecs(t *testing.T) {
	stop := codec.StopServos()
	for _, tt := range []struct {
		spec          Spec
		letter        byte
		name          string
		data, command int
		stop          string
	}{
		{Laser(), 'l', "laser", 722, 0, ""},
		{Sonar(), 's', "sonar", 32, 0, ""},
		{Position(), 'p', "position", 21, 4, "\x00\x00\x00\x00"},
		{Gripper(), 'g', "gripper", 2, 2, ""},
		{Misc(), 'm', "misc", 3, 0, ""},
		{Vision(), 'v', "vision", 64 + 32*10*10, 0, ""},
		{PTZ(), 'z', "ptz", 6, 6, ""},
		{Ranger(), 'R', "ranger", 2 + 2*8192, 0, ""},
		{IMU(), 'I', "imu", 36, 0, ""},
		{GPS(), 'G', "gps", 38, 0, ""},
		{IO(), 'O', "io", 4 * 128, 5, ""},
		{Servo(), 'S', "servo", 9 * 64, 9, string(stop.Append(nil))},
		{Goto(), 'T', "goto", 18, 20, string(codec.StopGoto().Append(nil))},
	} {
		want := Spec{Letter: tt.letter, Name: tt.name, DataSize: tt.data, CommandSize: tt.command, Stop: tt.stop, Front: tt.letter == 'p',
			ByPart: tt.letter == 'O' || tt.letter == 'S', Wheels: tt.letter == 'p' || tt.letter == 'T'}
		if tt.spec != want {
			t.Errorf("%+v, want %+v", tt.spec, want)
		}
	}
}

func TestPublish(t *testing.T) {
	w := newTwoDevices(t)
	d := w.position
	expect := func(step string, has bool, data string, seq uint64) {
		t.Helper()
		if d.HasData() != has || string(d.Data()) != data || d.Seq() != seq || !has && d.Data() != nil {
			t.Errorf("%s: has data %v: %q, seq %d", step, d.HasData(), d.Data(), d.Seq())
		}
		want := "ab" + string(codec.AppendBlock(nil, 'p', []byte(data)))
		if got := string(d.AppendBlock([]byte("ab"))); got != want {
			t.Errorf("%s: block %q, want %q", step, got, want)
		}
	}
	expect("never open", false, "", 0)
	w.driver.setup = func(now time.Duration) {
		d.Publish(now, []byte("first")) // before Ready: the first frame does not wait
		w.link.Ready(now)
	}
	p := new(person)
	subscribe(t, d, 10*ms, p, false)
	expect("published in Setup", true, "first", 1)
	if got := d.Age(35 * ms); got != 25*ms {
		t.Errorf("age %v, want 25ms", got)
	}
	payload := []byte("second")
	d.Publish(30*ms, payload)
	copy(payload, "SECOND") // the driver's buffer is its own
	expect("overwritten", true, "second", 2)
	if got := d.Age(35 * ms); got != 5*ms {
		t.Errorf("age %v, want 5ms", got)
	}
	d.Publish(40*ms, nil)
	expect("empty", true, "", 3)
	d.Publish(40*ms, bytes.Repeat([]byte("x"), 21))
	expect("largest", true, strings.Repeat("x", 21), 4)
	d.Publish(40*ms, bytes.Repeat([]byte("y"), 70000))
	expect("cut", true, strings.Repeat("y", 21), 5)
	if cap(d.block) > 100 {
		t.Errorf("an oversize payload took %d bytes", cap(d.block))
	}

	// Data of an earlier run is not data of the next one, not even if its driver publishes
	// it late. Seq goes on.
	d.Unsubscribe(50*ms, p)
	d.Publish(60*ms, []byte("late"))
	w.driver.setup = later
	subscribe(t, d, 70*ms, p, true)
	expect("started again", false, "", 6)
	w.link.Ready(80 * ms)
	expect("ready again", false, "", 6)
	d.Publish(90*ms, []byte("new"))
	expect("new", true, "new", 7)
}

func TestCommand(t *testing.T) {
	w := newTwoDevices(t)
	d := w.position
	p := new(person)
	refused := func() {
		t.Helper()
		before := string(d.Command())
		d.SetCommand(ms, []byte{9, 9, 9, 9})
		if got := string(d.Command()); got != before {
			t.Errorf("%v link took command % X", w.link.State(), got)
		}
		expectEvents(t, w.driver)
	}
	w.driver.setup, w.driver.shutdown = later, later
	refused()
	subscribe(t, d, ms, p, true)
	expectEvents(t, w.driver, "setup")
	refused()
	w.link.Ready(ms)
	if d.Command() != nil {
		t.Errorf("command % X before there was one", d.Command())
	}

	payload := []byte{0, 100, 0, 20}
	d.SetCommand(ms, payload)
	payload[1] = 7 // the caller's buffer is its own
	if got := d.Command(); !bytes.Equal(got, []byte{0, 100, 0, 20}) {
		t.Errorf("command % X", got)
	}
	d.SetCommand(ms, []byte{0, 200, 0, 0}) // one slot (manual 4.1)
	if got := d.Command(); !bytes.Equal(got, []byte{0, 200, 0, 0}) {
		t.Errorf("command % X", got)
	}
	if w.sonar.Command() != nil {
		t.Error("another device has the command")
	}
	expectEvents(t, w.driver, "command p 00 64 00 14", "command p 00 C8 00 00")
	d.ForgetCommand()
	if d.Command() != nil {
		t.Errorf("command % X is not forgotten", d.Command())
	}
	expectEvents(t, w.driver)

	d.SetCommand(ms, payload)
	d.Unsubscribe(ms, p)
	expectEvents(t, w.driver, "command p 00 07 00 14", "shutdown")
	refused()
	w.link.Stopped(ms)
	subscribe(t, d, ms, p, true)
	if d.Command() != nil {
		t.Errorf("command % X of an earlier run", d.Command())
	}
}

// Configurations have no effect unless the link is ready (manual 3.6), for any
// opener and for any of its devices.
func TestConfigure(t *testing.T) {
	w := newTwoDevices(t)
	p := new(person)
	refused := func() {
		t.Helper()
		if err := w.position.Configure(ms, []byte("m\x01")); !errors.Is(err, ErrNotOpen) {
			t.Errorf("%v link: %v", w.link.State(), err)
		}
	}
	w.driver.setup, w.driver.shutdown = later, later
	refused()
	subscribe(t, w.sonar, ms, p, true)
	refused()
	w.link.Ready(ms)
	expectEvents(t, w.driver, "setup")
	for _, d := range []*Device{w.position, w.sonar} {
		if err := d.Configure(ms, []byte("m\x01")); err != nil {
			t.Error(err)
		}
	}
	if err := w.position.Configure(ms, []byte("bad")); !errors.Is(err, errBroken) {
		t.Errorf("the driver's error is %v", err)
	}
	expectEvents(t, w.driver, `configure p "m\x01"`, `configure s "m\x01"`, `configure p "bad"`)
	w.sonar.Unsubscribe(ms, p)
	refused()
	w.link.Stopped(ms)
	refused()
	expectEvents(t, w.driver, "shutdown")
}

func TestHotPathAllocates(t *testing.T) {
	table := NewTable(newTwoDevices(t).table.log)
	attach(t, table, Instance{Driver: &mute{}, Provides: []Spec{Position(), Laser()}})
	d, laser := table.Device(codec.Position), table.Device(codec.Laser)
	subscribe(t, d, ms, new(person), false)
	scan, command := make([]byte, codec.LaserSize), []byte{0, 1, 0, 2}
	dst := make([]byte, 0, 1000)
	seq := d.Seq()
	for name, f := range map[string]func(){
		"Publish":                  func() { laser.Publish(ms, scan); d.Publish(ms, scan) },
		"SetCommand":               func() { d.SetCommand(ms, command) },
		"AppendBlock":              func() { dst = laser.AppendBlock(d.AppendBlock(dst[:0])) },
		"AppendItem":               func() { laser.Publish(ms, scan); dst = laser.AppendItem(dst[:0], codec.Scan{}) },
		"AppendBlock without data": func() { dst = table.Device(codec.Laser).AppendBlock(dst[:0]) },
		"Data, Age, Command":       func() { _, _, _ = d.Data(), d.Age(ms), d.Command() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if d.Seq() == seq || d.Command() == nil {
		t.Error("nothing was published or commanded")
	}
}

// A device has the item of its newest data for each selection, regardless of earlier requests.
func TestAppendItem(t *testing.T) {
	table := NewTable(newTwoDevices(t).table.log)
	attach(t, table, Instance{Driver: &mute{}, Provides: []Spec{Position(), Laser()}})
	laser := table.Device(codec.Laser)
	expect := func(data []byte, scan codec.Scan) {
		t.Helper()
		want := compact.Append([]byte("ab"), codec.Laser, data, scan)
		if got := laser.AppendItem([]byte("ab"), scan); !bytes.Equal(got, want) {
			t.Errorf("%+v: % X, want % X", scan, got, want)
		}
	}
	expect(nil, codec.Scan{})
	subscribe(t, laser, ms, new(person), false)
	for n := range 3 {
		data := bytes.Repeat([]byte{byte(n)}, codec.LaserSize)
		laser.Publish(ms, data)
		for i := range 3 * (mostItems + 2) {
			expect(data, codec.Scan{Step: uint8(i % (mostItems + 2)), Last: 360})
			expect(data, codec.Scan{})
		}
	}
	if len(laser.items) != mostItems {
		t.Errorf("%d items are kept", len(laser.items))
	}
	kept := &laser.items[0].bytes[1]
	laser.AppendItem(nil, laser.items[0].scan)
	if *kept++; laser.AppendItem(nil, laser.items[0].scan)[1] != *kept {
		t.Error("the data was encoded again")
	}
}

// surveyed is a driver that knows two sonars.
type surveyed struct{ mute }

func (*surveyed) AppendParts(dst []codec.Part, d *Device) []codec.Part {
	if d.Letter() != codec.Sonar {
		return dst
	}
	return append(dst, codec.Part{X: 100}, codec.Part{Number: 1, Y: 50, Heading: 90, Range: 5000})
}

// aimed is a surveyed driver whose ranger has four readings.
type aimed struct{ surveyed }

func (*aimed) AppendRays(dst []codec.Rays, _ *Device) []codec.Rays {
	return append(dst, codec.Rays{Count: 3, X: 100, Heading: -90, Step: 45, Near: 20, Far: 5000}, codec.Rays{First: 3, Count: 1, Heading: 170})
}

func (*aimed) AppendChannels(dst []codec.Channel, _ *Device) []codec.Channel {
	return append(dst, codec.Channel{Number: 1, Role: codec.Output, Unit: codec.UnitBit, Max: 1, Name: "Lamp"})
}

// The driver says where readings look, or it follows from the parts of a laser or a sonar.
func TestRays(t *testing.T) {
	table := NewTable(newTwoDevices(t).table.log)
	link := attach(t, table, Instance{Driver: &aimed{}, Provides: []Spec{Laser(), Sonar(), Ranger(), IO()}})
	link.SetGeometry(Geometry{X: 10, Y: 20, Heading: 90})
	for i, want := range [][]codec.Rays{
		{{Device: 'l', Count: 361, X: 10, Y: 20, Step: 0.5}},
		{{Device: 's', Count: 1, X: 10, Y: 120, Heading: 90}, {Device: 's', First: 1, Count: 1, X: -40, Y: 20, Heading: 180, Far: 5000}},
		{{Device: 0x80, Count: 3, X: 10, Y: 120, Step: 45, Near: 20, Far: 5000}, {Device: 0x80, First: 3, Count: 1, X: 10, Y: 20, Heading: -100}},
		nil,
	} {
		got := link.Devices()[i].AppendRays(nil)
		for i, r := range got {
			got[i] = r.Rounded()
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", link.Devices()[i].Spec().Name, got, want)
		}
	}
	want := []codec.Channel{{Device: 0x81, Number: 1, Role: codec.Output, Unit: codec.UnitBit, Max: 1, Name: "Lamp"}}
	if got := link.Devices()[3].AppendChannels(nil); !slices.Equal(got, want) {
		t.Errorf("channels %+v, want %+v", got, want)
	}
}

// The parts of a device are on the place that the configuration declares.
func TestParts(t *testing.T) {
	turned := Geometry{X: 10, Y: 20, Heading: 90, Length: 300, Width: 200}
	for _, tt := range []struct {
		name            string
		driver          Driver
		declared        Geometry
		position, sonar []codec.Part
	}{
		{"nothing known", &mute{}, Geometry{}, nil, nil},
		{"declared", &mute{}, turned,
			[]codec.Part{{Device: 'p', X: 10, Y: 20, Heading: 90, Length: 300, Width: 200}},
			[]codec.Part{{Device: 's', X: 10, Y: 20, Heading: 90, Length: 300, Width: 200}}},
		{"known", &surveyed{}, Geometry{}, nil,
			[]codec.Part{{Device: 's', X: 100}, {Device: 's', Number: 1, Y: 50, Heading: 90, Range: 5000}}},
		{"both", &surveyed{}, turned,
			[]codec.Part{{Device: 'p', X: 10, Y: 20, Heading: 90, Length: 300, Width: 200}},
			[]codec.Part{{Device: 's', X: 10, Y: 120, Heading: 90}, {Device: 's', Number: 1, X: -40, Y: 20, Heading: 180, Range: 5000}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table := NewTable(newTwoDevices(t).table.log)
			link := attach(t, table, Instance{Driver: tt.driver, Provides: []Spec{Position(), Sonar()}})
			link.SetGeometry(tt.declared)
			for letter, want := range map[byte][]codec.Part{codec.Position: tt.position, codec.Sonar: tt.sonar} {
				got := table.Device(letter).AppendParts(nil)
				for i, p := range got {
					got[i] = p.Rounded()
				}
				if !slices.Equal(got, want) {
					t.Errorf("%c: %+v, want %+v", letter, got, want)
				}
			}
		})
	}
}
