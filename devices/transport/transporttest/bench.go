package transporttest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"player/devices"
)

// Bench is a driver in a World, with a client and a log.
type Bench struct {
	*World
	T     testing.TB
	Table *devices.Table
	Link  *devices.Link
	Log   *observer.ObservedLogs

	// Client is the device that the client opens: the first of the driver.
	Client *devices.Device
	// Done is how the setups have ended that the client has asked for.
	Done []error
	// Again has the client subscribe again, once, when a setup fails.
	Again bool

	isUp func() bool
}

// NewBench attaches a driver. The Probes of kinds recognise other hardware on its line.
func NewBench(t testing.TB, i devices.Instance, kinds ...devices.Kind) *Bench {
	t.Helper()
	core, log := observer.New(zap.DebugLevel)
	b := &Bench{World: NewWorld(), T: t, Table: devices.NewTable(zap.New(core)), Log: log}
	b.Table.Kinds = kinds
	b.Link = b.Attach(i)
	b.Client = b.Link.Devices()[0]
	if d, ok := i.Driver.(interface{ IsUp() bool }); ok {
		b.isUp = d.IsUp
	}
	return b
}

// Attach attaches one more driver.
func (b *Bench) Attach(i devices.Instance) *devices.Link {
	b.T.Helper()
	link, err := b.Table.Attach(i)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Table.Connect(b.World)
	return link
}

// NewKind attaches a driver of a kind with its default options.
func NewKind(t testing.TB, kind devices.Kind) (*Bench, devices.Driver) {
	t.Helper()
	driver, err := kind.New(devices.Args{Name: kind.Name, Values: kind.Defaults()})
	if err != nil {
		t.Fatal(err)
	}
	return NewBench(t, kind.Instance(driver)), driver
}

func (b *Bench) SetupDone(_ time.Duration, _ *devices.Device, err error) {
	if b.Done = append(b.Done, err); err != nil && b.Again {
		b.Again = false
		b.Subscribe()
	}
}

// Subscribe has the client open its device.
func (b *Bench) Subscribe() {
	if pending, err := b.Client.Subscribe(b.Now(), b); err != nil || !pending {
		b.Done = append(b.Done, err)
	}
}

// Unsubscribe has the client close its device.
func (b *Bench) Unsubscribe() { b.Client.Unsubscribe(b.Now(), b) }

// Ready opens the device and waits for the hardware.
func (b *Bench) Ready() {
	b.T.Helper()
	b.Subscribe()
	b.UntilUp()
}

// UntilUp waits for the hardware.
func (b *Bench) UntilUp() {
	b.T.Helper()
	if !b.Until(b.isUp, 10*time.Second) {
		b.T.Fatalf("not connected: %v; log %q", b.Done, b.Messages())
	}
}

// Failed tests that the only setup so far has failed by an error with a text, and left nothing open.
func (b *Bench) Failed(want string) {
	b.T.Helper()
	if len(b.Done) != 1 || b.Done[0] == nil || !strings.Contains(b.Done[0].Error(), want) {
		b.T.Fatalf("setup ended with %v, want %q", b.Done, want)
	}
	if b.Link.State() != devices.Idle || len(b.Ports) > 0 && !b.Port().Closed {
		b.T.Fatalf("link is %s", b.Link.State())
	}
}

// Messages returns the lines logged since the last call, with their levels.
func (b *Bench) Messages() (lines []string) {
	for _, e := range b.Log.TakeAll() {
		lines = append(lines, fmt.Sprint(e.Level, " ", e.Message))
	}
	return lines
}

// Chaos plays events in the order of a script: time passes, bytes are received, the port hangs
// up or cannot be opened, the client comes and goes, and the events of more. No port may be
// left open. At the end mend makes the hardware work, and the driver must find it.
func (b *Bench) Chaos(script []byte, mend func(), more ...func(next func() byte)) {
	b.T.Helper()
	next := func() (v byte) {
		if len(script) > 0 {
			v, script = script[0], script[1:]
		}
		return v
	}
	open := false
	for len(script) > 0 && len(b.Ports) < 50 {
		switch op := int(next()) % (6 + len(more)); op {
		case 0:
			b.Pass(time.Duration(next()) * 10 * time.Millisecond)
		case 1:
			n := min(int(next()), len(script))
			if len(b.Ports) > 0 {
				b.Port().Say(script[:n])
			}
			script = script[n:]
		case 2:
			if len(b.Ports) > 0 {
				b.Port().HangUp()
			}
		case 3:
			if open = !open; open {
				b.Subscribe()
			} else {
				b.Unsubscribe()
			}
		case 4:
			b.Refuse = nil
			if next()%2 == 0 {
				b.Refuse = errors.New("no such port")
			}
		case 5:
			leave := next()%2 == 0
			b.Break = func() {
				if leave && open {
					open = false
					b.Unsubscribe()
				}
			}
		default:
			more[op-6](next)
		}
		b.checkPorts()
	}
	b.Refuse, b.Break, b.Done = nil, nil, nil
	mend()
	if !open || b.Link.State() == devices.Idle {
		b.Pass(2 * time.Second)
		b.Subscribe()
	}
	if !b.Until(b.isUp, 30*time.Second) && len(b.Done) > 0 && b.Done[0] != nil {
		b.Subscribe() // that setup was spoilt before
	}
	b.UntilUp()
}

// checkPorts fails if a port was forgotten.
func (b *Bench) checkPorts() {
	b.T.Helper()
	n := 0
	for _, p := range b.Ports {
		if !p.Closed {
			n++
		}
	}
	if n > 1 || n > 0 && b.Link.State() == devices.Idle {
		b.T.Fatalf("%d ports are open, link is %s", n, b.Link.State())
	}
}

// Data decodes the newest data of a device.
func Data[T any, P interface {
	*T
	Decode(b []byte) error
}](t testing.TB, d *devices.Device) (data T) {
	t.Helper()
	if err := P(&data).Decode(d.Data()); err != nil {
		t.Fatal(err)
	}
	return data
}
