package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

// Table is a robot: its devices by letter, and their links.
type Table struct {
	Kinds []Kind // their Probes recognise strange hardware (Link.Stranger)

	log     *zap.Logger
	letters [256]*Device
	links   []*Link
	stopped bool // the emergency stop holds
}

// NewTable returns a robot without devices.
func NewTable(log *zap.Logger) *Table { return &Table{log: log} }

// reserved has the letters of server messages, which no device may have.
const reserved = string(codec.Server) + string(codec.KindReply) + string(codec.KindCompact) + string(codec.KindAnswer)

// Hidden is the Spec.Index of a device that cannot be opened.
const Hidden = -1

// Attach puts a driver on a link of its own and adds its devices under their
// Spec.Index. The error names a device that another driver provides.
func (t *Table) Attach(i Instance) (*Link, error) {
	l := &Link{
		table: t,
		id:    newID(),
		name:  i.Name,
		limit: cmp.Or(i.SetupLimit, defaultSetupLimit),
		log:   t.log.With(zap.String("device", i.Name)),
		host:  unconnected{},
	}
	l.SetDriver(i.Driver)
	for _, spec := range i.Provides {
		if strings.IndexByte(reserved, spec.Letter) >= 0 {
			return nil, fmt.Errorf("driver %s provides device %q, a letter that the protocol reserves", l.name, spec.Letter)
		}
		other := t.Find(spec.Letter, spec.Index)
		if i := slices.IndexFunc(l.devices, func(d *Device) bool { return d.spec.Letter == spec.Letter }); i >= 0 {
			other = l.devices[i]
		}
		if other != nil {
			return nil, fmt.Errorf("device %q (%s) is provided by both %s and %s", spec.Letter, spec.Name, other.link.name, l.name)
		}
		l.devices = append(l.devices, &Device{spec: spec, link: l})
	}
	t.SetLinks(append(t.links, l))
	return l, nil
}

// SetLinks replaces the links. Links that are no longer there must be shut down and off
// (Link.Shutdown).
func (t *Table) SetLinks(links []*Link) {
	t.links, t.letters = links, [256]*Device{}
	for _, l := range links {
		l.table = t
		for _, d := range l.devices {
			if d.spec.Index == 0 {
				t.letters[d.spec.Letter] = d
			}
		}
	}
}

// Find returns the device with a letter and index, nil if there is none or index is
// Hidden.
func (t *Table) Find(letter byte, index int) *Device {
	if index == Hidden {
		return nil
	}
	for _, l := range t.links {
		for _, d := range l.devices {
			if d.spec.Letter == letter && d.spec.Index == index {
				return d
			}
		}
	}
	return nil
}

// Connect gives the links their Host, before any subscription to a new one.
func (t *Table) Connect(h Host) {
	for _, l := range t.links {
		l.host = h
	}
}

// Device returns the device of a letter, nil if the robot has none.
func (t *Table) Device(letter byte) *Device { return t.letters[letter] }

// Start starts the always-on links, when the server runs and after SetLinks.
func (t *Table) Start(now time.Duration) {
	for _, l := range t.links {
		if l.alwaysOn && !l.switchedOff && l.state == Idle && l.overdueAt == 0 { // else it is tried again at overdueAt
			l.start(now)
		}
	}
}

// Stop is the emergency stop: it stops every device that has a stop command, and
// drops every command of clients and of drivers until Release.
func (t *Table) Stop(now time.Duration) {
	t.stopped = true // first: a virtual device may answer its stop with a command
	for _, l := range t.links {
		for _, d := range l.devices {
			if stop := d.spec.Stop; stop != "" {
				d.force(now, []byte(stop))
			}
		}
	}
}

// Release ends Stop. Nothing moves before the next command.
func (t *Table) Release() { t.stopped = false }

// Stopped reports whether the emergency stop holds: after Stop, until Release.
func (t *Table) Stopped() bool { return t.stopped }

// Links returns the links in the order they were attached.
func (t *Table) Links() []*Link { return t.links }

// Shutdown stops every link, in the order they were attached: the driver of the wheels is first. Done
// reports when all have stopped.
func (t *Table) Shutdown(now time.Duration) {
	for _, l := range t.links {
		l.Shutdown(now)
	}
}

// Done reports whether every link is idle.
func (t *Table) Done() bool {
	for _, l := range t.links {
		if l.state != Idle {
			return false
		}
	}
	return true
}

// unconnected is the Host of a link before Connect: everything fails.
type unconnected struct{}

func (unconnected) WakeAt(*Link, time.Duration) {}
func (unconnected) OpenSerial(path string, _ int, _ PortHandler, opened func(time.Duration, Line, error)) {
	opened(0, nil, fmt.Errorf("%s: the server is not running", path))
}
func (unconnected) Identify(string, func(time.Duration, Finding)) {}
func (unconnected) OpenInput(path string, _ PortHandler, opened func(time.Duration, Port, error)) {
	opened(0, nil, fmt.Errorf("%s: the server is not running", path))
}
func (unconnected) Dial(address string, _ PortHandler) (Port, error) {
	return nil, fmt.Errorf("%s: the server is not running", address)
}
func (unconnected) StartPlugin(_, _ PortHandler, _ func(time.Duration, error), name string, _ ...string) (Program, Port, error) {
	return nil, nil, fmt.Errorf("%s: the server is not running", name)
}
func (unconnected) StartProgram(_ func(time.Duration, error), name string, _ ...string) (Program, error) {
	return nil, fmt.Errorf("%s: the server is not running", name)
}

// Hide hides the device of a letter from the clients, so that a virtual device that requires it can be
// attached with that letter: its Spec.Index becomes the first free one. It returns the device, nil if
// there is none. Call it before the robot is served.
func (t *Table) Hide(letter byte) *Device {
	d := t.letters[letter]
	if d == nil {
		return nil
	}
	index := 1
	for t.Find(letter, index) != nil {
		index++
	}
	d.spec.Index = index
	t.letters[letter] = nil
	return d
}
