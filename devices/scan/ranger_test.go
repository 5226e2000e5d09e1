package scan

import (
	"math"
	"slices"
	"testing"
	"time"

	"player/codec"
	"player/devices"
	"player/devices/transport"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const (
	none    = codec.NothingInRange
	unknown = codec.UnknownRange
)

func TestRanger(t *testing.T) {
	type add struct {
		degrees float64
		mm      int
	}
	for name, tt := range map[string]struct {
		mount       Mount
		first, step float64
		count, unit int
		add         []add
		heading     float64 // of the first reading
		want        []uint16
	}{
		"a sweep": {Mount{}, -1, 0.5, 5, 1,
			[]add{{-1, 10}, {-0.5, 20}, {0, 30}, {1, 50}},
			-1, []uint16{10, 20, 30, unknown, 50}},
		"the next angle": {Mount{}, -1, 0.5, 3, 1,
			[]add{{-1.24, 10}, {-0.74, 20}, {-0.26, 30}},
			-1, []uint16{10, 20, unknown}},
		"beyond it": {Mount{}, -1, 0.5, 3, 1,
			[]add{{-1.3, 10}, {0.3, 20}, {180, 30}},
			-1, []uint16{unknown, unknown, unknown}},
		"codes": {Mount{}, 0, 1, 4, 1,
			[]add{{0, Nothing}, {1, Unknown}, {2, 65533}, {3, 65534}},
			0, []uint16{none, unknown, 65533, none}},
		"the nearest counts": {Mount{}, 0, 1, 1, 1,
			[]add{{0, Unknown}, {0, Nothing}, {0, 90}, {0, 80}, {0, 85}, {0, Nothing}, {0, Unknown}},
			0, []uint16{80}},
		"a coarse unit": {Mount{}, 0, 1, 3, 2,
			[]add{{0, 80000}, {1, 3}, {2, 131067}},
			0, []uint16{40000, 2, none}},
		"a turn": {Mount{}, -180, 90, 4, 1,
			[]add{{-180, 1}, {180, 2}, {269, 3}, {-90, 4}, {0, 5}, {45, 6}, {134, 7}},
			-180, []uint16{1, 3, 5, 6}},
		"turned": {Mount{Heading: 200}, -90, 90, 3, 1,
			[]add{{-90, 1}, {0, 2}, {90, 3}},
			110, []uint16{1, 2, 3}},
		"upside down": {Mount{Flip: true}, -90, 90, 3, 1,
			[]add{{-90, 1}, {0, 2}, {90, 3}},
			-90, []uint16{3, 2, 1}},
		"aslant, upside down": {Mount{Heading: 40, Flip: true}, 0, 10, 3, 1,
			[]add{{0, 1}, {10, 2}, {20, 3}},
			20, []uint16{3, 2, 1}},
	} {
		r := Ranger{Mount: tt.mount}
		r.Set(tt.first, tt.step, tt.count, tt.unit)
		for _, a := range tt.add {
			r.Add(a.degrees, a.mm)
		}
		var got codec.RangerData
		must.Do(t, got.Decode(r.data.Append(nil)))
		rays := r.AppendRays(nil)
		if !slices.Equal(got.Ranges, tt.want) || int(got.Unit) != tt.unit {
			t.Errorf("%s: %v in %d mm, want %v", name, got.Ranges, got.Unit, tt.want)
		}
		if len(rays) != 1 || rays[0].Heading != tt.heading || rays[0].Step != tt.step || rays[0].Count != tt.count {
			t.Errorf("%s: rays %+v, want from %v degrees", name, rays, tt.heading)
		}
	}
}

func TestTurnReadings(t *testing.T) {
	for samples, want := range map[int]int{
		450: 450, 460: 450, 714: 720, 1285: 1250, 3205: 3200, 4: 4, 0: 1, 1 << 20: 8000, 3225: 3200,
	} {
		if got := turnReadings(samples); got != want || turn%got != 0 {
			t.Errorf("%d samples: %d readings, want %d", samples, got, want)
		}
	}
}

// spinner is a driver of a Lidar without a wire format: the test takes the samples.
type spinner struct{ Lidar }

// newSpinner returns one with a client of its laser, and a client of its ranger if the block names it and it is open.
func newSpinner(t testing.TB, named, open bool) (*transporttest.Bench, *spinner) {
	t.Helper()
	kind := devices.Kind{Name: "spinner", Provides: Provides(), Options: LidarOptions()}
	d := &spinner{}
	d.Set(devices.Args{Name: kind.Name, Values: kind.Defaults()}, transport.Protocol{
		Speeds: []int{115200}, Limit: 5 * time.Second, Steps: []transport.Step{{Wait: 5 * time.Second}},
		Begin:   func(time.Duration) transport.Phase { d.Begin(); return 0 },
		Receive: func(time.Duration, []byte) {},
	})
	instance := kind.Instance(d)
	if named {
		instance.Select([]devices.Spec{devices.Laser(), devices.Ranger()})
	}
	b := transporttest.NewBench(t, instance)
	b.Subscribe()
	if open {
		_ = must.Get(b.Link.Device(codec.Ranger).Subscribe(b.Now(), b))(t)
	}
	return b, d
}

// turn takes samples of a turn, clockwise from behind: each has its number as its distance.
func (d *spinner) turn(b *transporttest.Bench, samples int) {
	for i := range samples {
		d.Take(b.Now(), 180+float64(i)*360/float64(samples), 1000+i)
	}
	b.Pass(100 * time.Millisecond)
}

// The handshake ends when a turn has as many samples as the one before. Then the number of readings is fixed, also over
// an outage, until the driver starts anew.
func TestReadingsAreFixed(t *testing.T) {
	b, d := newSpinner(t, true, true)
	ranger := b.Link.Device(codec.Ranger)
	for _, samples := range []int{900, 700, 500} { // the motor starts
		if d.turn(b, samples); d.IsUp() || len(ranger.AppendRays(nil)) != 0 {
			t.Fatal("up while the motor starts")
		}
	}
	for range 3 { // a turn of the ranger ends where the front half does
		d.turn(b, 490)
	}
	if !d.IsUp() {
		t.Fatal("not up at a steady speed")
	}
	readings := func() codec.RangerData { return transporttest.Data[codec.RangerData](t, ranger) }
	if n := len(readings().Ranges); n != 480 && n != 500 {
		t.Errorf("%d readings of 490 samples", n)
	}
	before := len(readings().Ranges)
	b.Port().HangUp()
	b.Until(func() bool { return len(b.Ports) == 2 }, 5*time.Second)
	for range 4 {
		d.turn(b, 1000)
	}
	if got := readings(); len(got.Ranges) != before || !d.IsUp() || ranger.Age(b.Now()) > time.Second {
		t.Errorf("%d readings after an outage, before %d, up %v", len(got.Ranges), before, d.IsUp())
	}
}

// Each reading is the sample at its angle; no sample is there for the last turn's.
func TestTurn(t *testing.T) {
	b, d := newSpinner(t, true, true)
	for range 5 {
		d.turn(b, 720)
	}
	ranger := b.Link.Device(codec.Ranger)
	rays := ranger.AppendRays(nil)
	if len(rays) != 1 || rays[0].Count != 720 || rays[0].Step != 0.5 || rays[0].Far != 12000 {
		t.Fatalf("rays %+v", rays)
	}
	for i, r := range transporttest.Data[codec.RangerData](t, ranger).Ranges {
		clockwise := math.Mod(360+180-(rays[0].Heading+rays[0].Step*float64(i)), 360) // from behind
		if want := uint16(1000 + math.Round(2*clockwise)); r != want {
			t.Fatalf("reading %d is %d, want %d", i, r, want)
		}
	}
	if parts := ranger.AppendParts(nil); len(parts) != 1 || parts[0].View != 360 || parts[0].Range != 12000 {
		t.Errorf("parts %+v", parts)
	}
}

// A motor that is never steady does not keep the laser away, and a driver whose ranger is not named waits for nothing.
func TestUnsteady(t *testing.T) {
	b, d := newSpinner(t, true, true)
	for i := range mostTurns + 2 {
		d.turn(b, 400+300*(i%2))
	}
	if !d.IsUp() {
		t.Error("not up")
	}
	b, d = newSpinner(t, false, false)
	d.turn(b, 400)
	d.turn(b, 400)
	if !d.IsUp() || b.Link.Device(codec.Ranger).HasData() {
		t.Error("a ranger that is not there keeps the laser away, or has data")
	}
}

// Readings are made while the device is open.
func TestClosedRangerHasNoWork(t *testing.T) {
	b, d := newSpinner(t, true, false)
	for range 5 {
		d.turn(b, 720)
	}
	ranger := b.Link.Device(codec.Ranger)
	if !d.IsUp() || ranger.HasData() || d.taking || len(ranger.AppendRays(nil)) != 1 {
		t.Errorf("up %v, data %v, takes samples %v", d.IsUp(), ranger.HasData(), d.taking)
	}
	_ = must.Get(ranger.Subscribe(b.Now(), b))(t)
	d.turn(b, 720)
	if ranger.HasData() {
		t.Error("half a turn is published")
	}
	d.turn(b, 720)
	if data := transporttest.Data[codec.RangerData](t, ranger); slices.Contains(data.Ranges, unknown) {
		t.Error("the first turn is not complete")
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	b, d := newSpinner(t, true, true)
	for range 6 {
		d.turn(b, 720)
	}
	seq := b.Link.Device(codec.Ranger).Seq()
	if n := testing.AllocsPerRun(20, func() { d.turn(b, 720) }); n != 0 || b.Link.Device(codec.Ranger).Seq() < seq+20 {
		t.Errorf("%v allocations in a turn", n)
	}
}
