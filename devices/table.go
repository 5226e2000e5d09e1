package devices

import (
	"cmp"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Table is the robot: its devices by letter, and the links they are on.
type Table struct {
	log     *zap.Logger
	letters [256]*Device
	links   []*Link
}

// NewTable returns a robot without devices.
func NewTable(log *zap.Logger) *Table { return &Table{log: log} }

// Attach puts a driver on a link of its own and adds its devices. The error
// names a letter that is taken.
func (t *Table) Attach(driver Driver) error {
	desc := driver.Describe()
	l := &Link{
		name:   desc.Name,
		driver: driver,
		limit:  cmp.Or(desc.SetupLimit, defaultSetupLimit),
		log:    t.log.With(zap.String("device", desc.Name)),
		host:   unconnected{},
	}
	for _, spec := range desc.Provides {
		if other := t.letters[spec.Letter]; other != nil {
			return fmt.Errorf("device %q (%s) is provided by both %s and %s", spec.Letter, spec.Name, other.link.name, l.name)
		}
		d := &Device{spec: spec, link: l}
		t.letters[spec.Letter] = d
		l.devices = append(l.devices, d)
	}
	t.links = append(t.links, l)
	return nil
}

// Connect gives the links their outside world, before any subscription.
func (t *Table) Connect(h Host) {
	for _, l := range t.links {
		l.host = h
	}
}

// Device returns the device of a letter, nil if the robot has none.
func (t *Table) Device(letter byte) *Device { return t.letters[letter] }

// Links returns the links in the order they were attached.
func (t *Table) Links() []*Link { return t.links }

// Shutdown stops every link, in the order they were attached: wheels come
// first. It is called once, when no session is left. Done tells when it ended.
func (t *Table) Shutdown(now time.Duration) {
	for _, l := range t.links {
		l.subscriptions = nil
		if l.state == Starting || l.state == Ready {
			l.stop(now)
		}
	}
}

// Done says whether every link is idle.
func (t *Table) Done() bool {
	for _, l := range t.links {
		if l.state != Idle {
			return false
		}
	}
	return true
}

// unconnected is the outside world of a link before Connect: there is none.
type unconnected struct{}

func (unconnected) WakeAt(*Link, time.Duration) {}
func (unconnected) OpenSerial(path string, _ int, _ PortHandler) (Port, error) {
	return nil, fmt.Errorf("%s: the server is not running", path)
}
func (unconnected) Dial(address string, _ PortHandler) (Port, error) {
	return nil, fmt.Errorf("%s: the server is not running", address)
}
