package deadman

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/codec"
	"player/devices"
	"player/devices/transport/transporttest"
)

const (
	ms    = time.Millisecond
	lease = 300 * ms
)

// wheels are the real ones.
type wheels struct {
	world *transporttest.World
	link  *devices.Link
	log   *observer.ObservedLogs
	told  []string
	quiet bool // it tells nothing
}

func (w *wheels) Setup(now time.Duration, l *devices.Link) { w.link = l; l.Ready(now) }
func (w *wheels) Shutdown(now time.Duration)               { w.note("shutdown"); w.link.Stopped(now) }
func (w *wheels) Command(_ time.Duration, d *devices.Device) {
	if w.quiet {
		return
	}
	var c codec.PositionCommand
	if err := c.Decode(d.Command()); err != nil {
		panic(err)
	}
	w.note("%d", c.Speed)
}
func (w *wheels) Configure(_ time.Duration, _ *devices.Device, payload []byte) error {
	w.note("configure %s", payload)
	return nil
}
func (w *wheels) note(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf("%v "+format, append([]any{w.world.Now() - time.Second}, args...)...))
}

type client struct{}

func (client) SetupDone(time.Duration, *devices.Device, error) {}

func start(t *testing.T) (*wheels, *devices.Device) {
	t.Helper()
	core, logs := observer.New(zapcore.WarnLevel)
	w, table := &wheels{world: transporttest.NewWorld(), log: logs}, devices.NewTable(zap.New(core))
	inner, err := table.Attach(devices.Instance{Driver: w, Name: "wheels", Provides: []devices.Spec{devices.Position().At(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Attach(Kind().Instance(New(inner.Devices()[0], lease))); err != nil {
		t.Fatal(err)
	}
	table.Connect(w.world)
	device := table.Device(codec.Position)
	if pending, err := device.Subscribe(w.world.Now(), client{}); pending || err != nil {
		t.Fatal(pending, err)
	}
	return w, device
}

func TestLease(t *testing.T) {
	w, device := start(t)
	drive := func(speed int16) {
		device.SetCommand(w.world.Now(), codec.PositionCommand{Speed: speed}.Append(nil))
	}
	drive(100)
	w.world.Pass(200 * ms)
	drive(100) // in time: the lease begins anew
	w.world.Pass(time.Second)
	drive(200)
	w.world.Pass(100 * ms)
	drive(0) // needs no lease
	w.world.Pass(time.Second)
	drive(300)
	device.Unsubscribe(w.world.Now(), client{})
	w.world.Pass(time.Second)
	want := []string{"0s 100", "200ms 100", "500ms 0", "1.2s 200", "1.3s 0", "2.3s 300", "2.3s 0", "2.3s shutdown"}
	if !slices.Equal(w.told, want) {
		t.Errorf("the wheels were told %q\nwant %q", w.told, want)
	}
	if device.Link().State() != devices.Idle || w.link.State() != devices.Idle {
		t.Error("still on")
	}
}

// A program that is always late does not fill the log.
func TestComplaints(t *testing.T) {
	w, device := start(t)
	for range 20 {
		device.SetCommand(w.world.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
		w.world.Pass(lease + 100*ms)
	}
	if n := w.log.Len(); n < 7 || n > 8 { // in 8 s
		t.Errorf("%d lines", n)
	}
}

// Who has not driven does not stop, when leaving, what another driver drives.
func TestReader(t *testing.T) {
	w, device := start(t)
	w.link.Devices()[0].Subscribe(w.world.Now(), client{})
	device.Unsubscribe(w.world.Now(), client{})
	if device.Link().State() != devices.Idle || w.told != nil {
		t.Errorf("%v, the wheels were told %q", device.Link().State(), w.told)
	}
	// Nor is what was commanded before remembered.
	device.Subscribe(w.world.Now(), client{})
	device.SetCommand(w.world.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
	device.Unsubscribe(w.world.Now(), client{})
	w.told = nil
	device.Subscribe(w.world.Now(), client{})
	w.world.Pass(time.Second)
	device.Unsubscribe(w.world.Now(), client{})
	if w.told != nil {
		t.Errorf("the wheels were told %q", w.told)
	}
}

// Deadmen can stand in a row: the strictest one counts.
func TestChain(t *testing.T) {
	w, outer := start(t)
	table := devices.NewTable(zap.NewNop())
	if _, err := table.Attach(Kind().Instance(New(outer, 2*lease))); err != nil {
		t.Fatal(err)
	}
	table.Connect(w.world)
	outer.Unsubscribe(w.world.Now(), client{})
	w.told = nil
	device := table.Device(codec.Position)
	if pending, err := device.Subscribe(w.world.Now(), client{}); pending || err != nil {
		t.Fatal(pending, err)
	}
	device.SetCommand(w.world.Now(), codec.PositionCommand{Speed: 100}.Append(nil))
	w.world.Pass(time.Second)
	if want := []string{"0s 100", "300ms 0", "600ms 0"}; !slices.Equal(w.told, want) {
		t.Errorf("the wheels were told %q, want %q", w.told, want)
	}
	p := codec.PositionData{X: 5}
	w.link.Devices()[0].Publish(7*ms, p.Append(nil))
	if device.Stamp() != 7*ms || string(device.Data()) != string(p.Append(nil)) {
		t.Error("data does not come through")
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	w, device := start(t)
	data, command := make([]byte, codec.PositionSize), codec.PositionCommand{}.Append(nil)
	w.quiet = true
	if n := testing.AllocsPerRun(1000, func() {
		w.link.Devices()[0].Publish(ms, data)
		command[0] ^= 1 // drive, stop, ...
		device.SetCommand(w.world.Now(), command)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if device.Seq() < 1000 {
		t.Error("nothing was published")
	}
}

func TestPassesOn(t *testing.T) {
	w, device := start(t)
	p := codec.PositionData{X: 5, Heading: 90}
	w.link.Devices()[0].Publish(7*ms, p.Append(nil))
	var got codec.PositionData
	if err := got.Decode(device.Data()); err != nil || got != p || device.Stamp() != 7*ms {
		t.Errorf("%+v at %v, %v", got, device.Stamp(), err)
	}
	if err := device.Configure(ms, []byte("R")); err != nil || !slices.Equal(w.told, []string{"0s configure R"}) {
		t.Errorf("%v, told %q", err, w.told)
	}
}
