package devices_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"player/devices"
	"player/devices/retry"
	"player/devices/transport/transporttest"
	"player/e2e/must"
)

const (
	stop    = "\x00\x00\x00\x00"
	forward = "\x01\x00\x00\x00"
	patient = time.Minute // longer than any retry
)

// outside is a World with programs.
type outside struct {
	*transporttest.World
	exited  func(now time.Duration, err error)
	signals []syscall.Signal
}

func (o *outside) StartProgram(exited func(now time.Duration, err error), _ string, _ ...string) (devices.Program, error) {
	o.exited = exited
	return o, nil
}
func (o *outside) Signal(s syscall.Signal) { o.signals = append(o.signals, s) }

// bomb is a driver of wheels with a port and a program, or with wheels of another
// driver. It panics in one place.
type bomb struct {
	in       string // where; empty: nowhere
	waits    bool   // its setup does not end
	hangs    bool   // it does not stop
	required devices.Required

	link     *devices.Link
	port     devices.Port
	setups   int
	commands []string
}

func (b *bomb) may(place string) {
	if b.in == place {
		panic("in " + place)
	}
}

func (b *bomb) Setup(now time.Duration, link *devices.Link) {
	b.setups++
	b.link = link
	if len(b.required.Devices) > 0 {
		b.may("Setup")
		b.required.Open(now, link)
		return
	}
	link.Host().OpenSerial("/dev/bomb", 9600, b, func(_ time.Duration, l devices.Line, _ error) { b.port = l })
	b.port.LastWords([]byte("halt"))
	_, _ = link.Host().StartProgram(func(time.Duration, error) { b.may("exited") }, "fuse")
	b.may("Setup")
	if b.waits {
		return
	}
	link.Devices()[0].Publish(now, []byte{byte(b.setups)})
	link.Ready(now)
	link.WakeAt(now + time.Second/10)
}

func (b *bomb) Shutdown(now time.Duration) {
	b.may("Shutdown")
	if b.hangs {
		return
	}
	if b.port != nil {
		b.port.Close()
	} else {
		b.required.Close(now)
	}
	b.link.Stopped(now)
}

func (b *bomb) Tick(now time.Duration) time.Duration { b.may("Tick"); return now + time.Second/10 }
func (b *bomb) Receive(time.Duration, []byte)        { b.may("Receive") }
func (b *bomb) Hangup(time.Duration, error)          { b.may("Hangup") }
func (b *bomb) Published(*devices.Device)            { b.may("Published") }
func (b *bomb) Commanded(time.Duration, *devices.Device) {
	b.may("Commanded")
}
func (b *bomb) Configured(time.Duration, *devices.Device, []byte) { b.may("Configured") }

func (b *bomb) Command(now time.Duration, d *devices.Device) {
	b.commands = append(b.commands, string(d.Command()))
	if len(b.required.Devices) > 0 {
		b.required.Devices[0].SetCommand(now, d.Command())
	}
	b.may("Command")
}

func (b *bomb) Configure(now time.Duration, _ *devices.Device, payload []byte) error {
	b.may("Configure")
	if len(b.required.Devices) > 0 {
		return b.required.Devices[0].Configure(now, payload)
	}
	return nil
}

type member struct{ err error }

func (n *member) SetupDone(_ time.Duration, _ *devices.Device, err error) { n.err = err }

// rig is a bomb on wheels, and in front of it a virtual one.
type rig struct {
	t             *testing.T
	world         *outside
	table         *devices.Table
	logs          *observer.ObservedLogs
	wheels, front *bomb
	inner, device *devices.Device
	client        member
}

func newRig(t *testing.T) *rig {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	r := &rig{t: t, world: &outside{World: transporttest.NewWorld()}, table: devices.NewTable(zap.New(core)), logs: logs, wheels: &bomb{}, front: &bomb{}}
	attach := func(b *bomb, name string, spec devices.Spec) *devices.Device {
		l := must.Get(r.table.Attach(devices.Instance{Driver: b, Name: name, Provides: []devices.Spec{spec}}))(t)
		return l.Devices()[0]
	}
	r.inner = attach(r.wheels, "wheels", devices.Position().At(1))
	r.device = attach(r.front, "front", devices.Position())
	r.front.required = devices.Required{Devices: []*devices.Device{r.inner}, Observer: r.front}
	r.table.Connect(r.world)
	if pending, err := r.device.Subscribe(r.world.Now(), &r.client); pending || err != nil {
		t.Fatal(pending, err)
	}
	r.device.SetCommand(r.world.Now(), []byte(forward))
	return r
}

// fire makes the event that leads a driver into a place.
func (r *rig) fire(place string) {
	now := r.world.Now()
	switch place {
	case "Tick":
		r.world.Pass(time.Second / 10)
	case "Receive":
		r.world.Port().Say([]byte("x"))
	case "Hangup":
		r.world.Port().HangUp()
	case "exited":
		r.world.exited(now, errors.New("exit"))
	case "Published":
		r.inner.Publish(now, []byte{99})
	case "Commanded", "Command":
		r.device.SetCommand(now, []byte(forward))
	case "Configured":
		_ = r.inner.Configure(now, nil)
	case "Configure":
		if err := r.device.Configure(now, nil); err == nil {
			r.t.Error("the request has succeeded")
		}
	}
}

func (r *rig) expect(d *devices.Device, state devices.State) {
	r.t.Helper()
	if got := d.Link().State(); got != state {
		r.t.Fatalf("%s is %v, want %v", d.Link().Name(), got, state)
	}
}

// panics returns how many panics were logged since the last call, each with a stack
// that names the place.
func (r *rig) panics(place string) (n int) {
	r.t.Helper()
	for _, line := range r.logs.TakeAll() {
		if line.Message != devices.LogPanicked {
			continue
		}
		n++
		fields := line.ContextMap()
		if stack := fields["stack"].(string); fields["panic"] != "in "+place || !strings.Contains(stack, "(*bomb).may isolation_test.go:") || len(stack) > 1000 {
			r.t.Errorf("logged %v", fields)
		}
	}
	return n
}

// A driver of hardware panics: its motors are stopped, its belongings are reclaimed, clients keep their
// subscriptions, and it is set up again.
func TestPanicOfHardware(t *testing.T) {
	for _, place := range []string{"Tick", "Receive", "Hangup", "exited", "Command", "Configure"} {
		t.Run(place, func(t *testing.T) {
			r := newRig(t)
			port := r.world.Port()
			r.wheels.in = place
			r.fire(place)
			if r.panics(place) != 1 {
				t.Fatal("no panic")
			}
			r.wheels.in = ""
			r.expect(r.inner, devices.Lost)
			r.expect(r.device, devices.Ready)
			// The port stays open until the last words were sent.
			if place != "Hangup" && (string(port.Wrote) != "halt" || port.Closed) {
				t.Errorf("wrote %q, port closed: %v", port.Wrote, port.Closed)
			}
			if r.inner.Command() != nil || !r.inner.HasData() {
				t.Errorf("command %q, has data: %v", r.inner.Command(), r.inner.HasData())
			}
			// The driver is not called any more, and cannot write.
			before := len(r.wheels.commands)
			r.device.SetCommand(r.world.Now(), []byte(forward))
			r.inner.Link().WakeAt(r.world.Now())
			if err := r.inner.Configure(r.world.Now(), nil); !errors.Is(err, devices.ErrNotOpen) || len(r.wheels.commands) != before {
				t.Errorf("configured with %v, commands %q", err, r.wheels.commands)
			}
			if pending, err := r.inner.Subscribe(r.world.Now(), &member{}); pending || err != nil {
				t.Errorf("a subscription is pending: %v, %v", pending, err)
			}
			r.wheels.in = "Receive"
			port.Say([]byte("late"))
			if r.wheels.in = ""; r.panics(place) != 0 {
				t.Error("the old run was called")
			}

			if r.world.Pass(600 * time.Millisecond); !port.Closed {
				t.Error("the port is open")
			}
			r.world.Pass(retry.First - 1 - 600*time.Millisecond)
			ended := place == "exited"
			if !port.Closed || slices.Contains(r.world.signals, syscall.SIGKILL) == ended || slices.Contains(r.world.signals, syscall.SIGTERM) == ended {
				t.Errorf("port closed: %v, signals %v", port.Closed, r.world.signals)
			}
			r.world.Pass(1)
			r.expect(r.inner, devices.Ready)
			if r.wheels.setups != 2 || r.inner.Command() != nil || r.inner.Data()[0] != 2 {
				t.Errorf("%d setups, command %q, data %v", r.wheels.setups, r.inner.Command(), r.inner.Data())
			}
			r.device.SetCommand(r.world.Now(), []byte(forward))
			if len(r.wheels.commands) != before+1 {
				t.Errorf("commands %q", r.wheels.commands)
			}
		})
	}
}

// A virtual driver panics: the wheels that it commands are stopped and closed.
func TestPanicOfVirtualDriver(t *testing.T) {
	for _, place := range []string{"Command", "Configure", "Published", "Commanded", "Configured"} {
		t.Run(place, func(t *testing.T) {
			r := newRig(t)
			must.Get(r.inner.Subscribe(r.world.Now(), &member{}))(t) // a client keeps the wheels open
			r.front.in = place
			r.fire(place)
			r.front.in = ""
			if r.panics(place) != 1 {
				t.Fatal("no panic")
			}
			r.expect(r.device, devices.Lost)
			r.world.Pass(0)
			r.expect(r.inner, devices.Ready)
			if n := len(r.wheels.commands); n == 0 || r.wheels.commands[n-1] != stop {
				t.Errorf("commands %q", r.wheels.commands)
			}
			r.inner.Publish(r.world.Now(), []byte{50})
			r.expect(r.device, devices.Lost) // it is not called for this data
			r.world.Pass(retry.First)
			r.expect(r.device, devices.Ready)
			r.device.SetCommand(r.world.Now(), []byte(forward))
			if n := len(r.wheels.commands); r.wheels.commands[n-1] != forward || r.wheels.setups != 1 {
				t.Errorf("commands %q, %d setups", r.wheels.commands, r.wheels.setups)
			}
		})
	}
}

// A panic during a setup is a setup that fails, and says why.
func TestPanicInSetup(t *testing.T) {
	r := newRig(t)
	r.device.Unsubscribe(r.world.Now(), &r.client)
	r.expect(r.inner, devices.Idle)
	r.wheels.in = "Setup"
	_, err := r.device.Subscribe(r.world.Now(), &r.client)
	if err == nil || !strings.Contains(err.Error(), "its driver has panicked") {
		t.Errorf("error %v", err)
	}
	r.expect(r.inner, devices.Idle)
	r.expect(r.device, devices.Idle)
	r.wheels.in = ""
	port := r.world.Port()
	r.world.Pass(patient)
	if !port.Closed || string(port.Wrote) != "halt" || r.wheels.setups != 2 {
		t.Errorf("port closed: %v, wrote %q, %d setups", port.Closed, port.Wrote, r.wheels.setups)
	}
	// The virtual driver panics when it gets the first data.
	r.front.in = "Published"
	_, err = r.device.Subscribe(r.world.Now(), &r.client)
	if err == nil {
		t.Error("no error")
	}
	r.front.in = ""
	r.world.Pass(time.Second)
	r.expect(r.inner, devices.Idle)
	if _, err = r.device.Subscribe(r.world.Now(), &r.client); err != nil {
		t.Error(err)
	}
	r.expect(r.device, devices.Ready)
}

func TestPanicInShutdown(t *testing.T) {
	r := newRig(t)
	port := r.world.Port()
	r.wheels.in = "Shutdown"
	r.device.Unsubscribe(r.world.Now(), &r.client)
	r.expect(r.inner, devices.Idle)
	if string(port.Wrote) != "halt" || r.panics("Shutdown") != 1 {
		t.Errorf("wrote %q", port.Wrote)
	}
	r.wheels.in = ""
	if _, err := r.device.Subscribe(r.world.Now(), &r.client); err != nil {
		t.Error(err)
	}
	r.expect(r.device, devices.Ready)
	if !port.Closed {
		t.Error("the port of the old run is open")
	}
}

// The port of a driver that does not stop, or has panicked, is closed before the link is off: another
// driver may wait for the hardware.
func TestShutdownOfADriverThatHangs(t *testing.T) {
	for _, panics := range []bool{false, true} {
		r := newRig(t)
		port, wheels := r.world.Port(), r.inner.Link()
		if panics {
			r.wheels.in = "Shutdown"
		}
		r.wheels.hangs = true
		wheels.Shutdown(r.world.Now())
		if wheels.Off() || port.Closed {
			t.Errorf("panics %v: off %v, port closed %v", panics, wheels.Off(), port.Closed)
		}
		if r.world.Pass(2600 * time.Millisecond); !wheels.Off() || !port.Closed || len(r.world.signals) == 0 || string(port.Wrote) != "halt" {
			t.Errorf("panics %v: off %v, port closed %v, signals %v, wrote %q", panics, wheels.Off(), port.Closed, r.world.signals, port.Wrote)
		}
	}
}

// The port is also closed if the last client unsubscribes and no other comes.
func TestTheLastOneLeavesADriverThatHangs(t *testing.T) {
	r := newRig(t)
	port := r.world.Port()
	r.wheels.hangs = true
	r.device.Unsubscribe(r.world.Now(), &r.client)
	if r.world.Pass(2100 * time.Millisecond); r.inner.Link().State() != devices.Idle || !port.Closed || string(port.Wrote) != "halt" {
		t.Errorf("the link is %v, port closed %v, wrote %q", r.inner.Link().State(), port.Closed, port.Wrote)
	}
}

// The last client leaves while the driver, which was lost, stops because its new setup took too long: it stays off.
func TestTheLastOneLeavesALostDriver(t *testing.T) {
	r := newRig(t)
	r.wheels.in = "Receive"
	r.fire("Receive")
	r.wheels.in, r.wheels.waits, r.wheels.hangs = "", true, true
	if !r.world.Until(func() bool { return r.inner.Link().State() == devices.Stopping }, patient) {
		t.Fatal("the setup is not given up")
	}
	r.device.Unsubscribe(r.world.Now(), &r.client)
	r.world.Pass(patient)
	r.expect(r.inner, devices.Idle)
	if r.wheels.setups != 2 || !r.inner.Link().Off() {
		t.Errorf("%d setups, off: %v", r.wheels.setups, r.inner.Link().Off())
	}
}

// Three panics in a minute switch a driver off; its clients stay, new ones are
// refused.
func TestPanicsSwitchOff(t *testing.T) {
	r := newRig(t)
	r.wheels.in = "Tick"
	r.world.Pass(patient)
	if n := r.panics("Tick"); n != 3 || r.wheels.setups != 3 {
		t.Errorf("%d panics, %d setups", n, r.wheels.setups)
	}
	r.expect(r.inner, devices.Lost)
	r.expect(r.device, devices.Ready)
	for _, d := range []*devices.Device{r.inner, r.device} {
		if _, err := d.Subscribe(r.world.Now(), &member{}); err == nil || !strings.Contains(err.Error(), "off until the server is restarted") {
			t.Errorf("error %v", err)
		}
	}
	r.device.Unsubscribe(r.world.Now(), &r.client)
	r.expect(r.inner, devices.Idle)
	if _, err := r.device.Subscribe(r.world.Now(), &r.client); err == nil || !strings.Contains(err.Error(), "off until") {
		t.Errorf("error %v", err)
	}
	r.table.Shutdown(r.world.Now())
	if !r.table.Done() {
		t.Error("it does not end")
	}
}

// Panics that are rare do not switch it off.
func TestRarePanics(t *testing.T) {
	r := newRig(t)
	for range 10 {
		r.wheels.in = "Receive"
		r.fire("Receive")
		r.wheels.in = ""
		r.world.Pass(patient / 2)
		r.expect(r.inner, devices.Ready)
	}
}

// The hardware is not there, or does not answer, when a driver is set up again.
func TestSetupAfterPanicFails(t *testing.T) {
	r := newRig(t)
	r.wheels.in = "Receive"
	r.fire("Receive")
	r.wheels.in = "Setup"
	r.world.Pass(retry.First)
	r.wheels.in = ""
	r.expect(r.inner, devices.Lost)
	r.world.Pass(retry.Last)
	r.expect(r.inner, devices.Ready)
	// The server ends while it is lost.
	r.wheels.in = "Receive"
	r.fire("Receive")
	r.expect(r.inner, devices.Lost)
	r.table.Shutdown(r.world.Now())
	r.expect(r.inner, devices.Idle)
	r.world.Pass(patient)
	if !r.table.Done() {
		t.Error("it does not end")
	}
}

// Random panics, subscriptions and times: none gets out, no port is left open, and a
// driver that does not panic any more works again unless it was switched off.
func TestRandomPanics(t *testing.T) {
	places := []string{"", "", "Setup", "Shutdown", "Tick", "Receive", "Hangup", "exited", "Command", "Configure", "Published", "Commanded", "Configured"}
	works, off := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		r := newRig(t)
		members := map[*member]*devices.Device{&r.client: r.device}
		for range 30 {
			r.wheels.in, r.front.in = places[rng.IntN(len(places))], places[rng.IntN(len(places))]
			switch rng.IntN(4) {
			case 0:
				for m, d := range members {
					d.Unsubscribe(r.world.Now(), m)
					delete(members, m)
					break
				}
			case 1:
				m, d := &member{}, []*devices.Device{r.inner, r.device}[rng.IntN(2)]
				if _, err := d.Subscribe(r.world.Now(), m); err == nil {
					members[m] = d
				}
			default:
				if place := places[rng.IntN(len(places))]; place != "Configure" {
					r.fire(place)
				}
			}
			r.world.Pass(time.Duration(rng.IntN(20)) * time.Second)
		}
		r.wheels.in, r.front.in = "", ""
		r.world.Pass(patient)
		open := 0
		for _, p := range r.world.Ports {
			if !p.Closed {
				open++
			}
		}
		state := r.inner.Link().State()
		if open > 1 || open > 0 && state != devices.Ready {
			t.Fatalf("seed %d: %d ports are open, the link is %v", seed, open, state)
		}
		_, err := r.device.Subscribe(r.world.Now(), &r.client)
		switch {
		case errors.Is(err, devices.ErrSwitchedOff):
			off++
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		default:
			r.expect(r.device, devices.Ready)
			r.expect(r.inner, devices.Ready)
			works++
		}
	}
	if works < 30 || off < 30 {
		t.Errorf("%d work, %d are off: the test has lost its variety", works, off)
	}
}

// waiter is a driver that is ready when its port is open, and panics at the first bytes.
type waiter struct {
	link   *devices.Link
	opened int
}

func (w *waiter) Setup(_ time.Duration, link *devices.Link) {
	w.link = link
	link.Host().OpenSerial("/dev/slow", 9600, w, func(now time.Duration, _ devices.Line, _ error) {
		w.opened++
		link.Ready(now)
	})
}
func (w *waiter) Shutdown(now time.Duration)       { w.link.Stopped(now) }
func (w *waiter) Receive(time.Duration, []byte)    { panic("at once") }
func (w *waiter) Hangup(time.Duration, error)      {}
func (w *waiter) Tick(time.Duration) time.Duration { return 0 }

// A port that opens when its driver waits for another try is closed: it belongs to a setup that has
// failed.
func TestPortOpensTooLate(t *testing.T) {
	driver := &waiter{}
	b := transporttest.NewBench(t, devices.Instance{Driver: driver, Name: "waiter", Provides: []devices.Spec{devices.Position()}, SetupLimit: time.Second})
	w, link := b.World, b.Link
	b.Subscribe()
	w.Port().Say([]byte("x"))
	w.Slow = true
	await := func(state devices.State) {
		t.Helper()
		if !w.Until(func() bool { return link.State() == state }, patient) {
			t.Fatalf("the link is %s", link.State())
		}
	}
	await(devices.Starting)
	await(devices.Lost)
	if w.Answer(); driver.opened != 1 || len(w.Ports) != 2 || !w.Port().Closed {
		t.Errorf("the driver got %d ports of %d", driver.opened, len(w.Ports))
	}
	await(devices.Starting)
	if w.Answer(); driver.opened != 2 || link.State() != devices.Ready {
		t.Errorf("the driver got %d ports, and is %s", driver.opened, link.State())
	}
}
