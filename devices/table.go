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

// Table is a robot: its devices by their bytes on the wire, and their links.
type Table struct {
	Kinds []Kind // their Probes recognise strange hardware (Link.Stranger)

	log     *zap.Logger
	codes   [256]*Device
	handed  map[string]byte // the bytes handed out, by address, also to devices that a reload has removed
	links   []*Link
	stopped bool // the emergency stop holds
}

// NewTable returns a robot without devices.
func NewTable(log *zap.Logger) *Table { return &Table{log: log, handed: map[string]byte{}} }

// reserved has the letters of server messages, which no device may have.
const reserved = string(codec.Server) + string(codec.KindReply) + string(codec.KindCompact) + string(codec.KindAnswer)

// MostHanded is how many bytes a Table hands out: all but 0 and the letters of the alphabet, which the protocol keeps.
const MostHanded = 256 - 1 - 2*26

// letterOf returns the byte of a device that has a letter of its own. It reports false for a device to which the Table
// hands a byte out. The byte of a device that clients do not see is 0.
func letterOf(spec Spec) (code byte, own bool) {
	switch {
	case spec.Index == Hidden, spec.Index > 0 && spec.Front:
		return 0, true
	case spec.Index == 0 && codec.OnWire(spec.Letter):
		return spec.Letter, true
	}
	return 0, false
}

// handOut returns the byte of a device that has no letter, 0 if there is none left. A device has the byte that one of its
// address had before. A byte is never handed out for another address, because clients remember it.
func (t *Table) handOut(spec Spec) byte {
	address := spec.Address()
	if code, had := t.handed[address]; had || len(t.handed) == MostHanded {
		return code
	}
	code := byte(0x80) // from here on, and then the low ones
	for range t.handed {
		for code++; code == 0 || codec.IsLetter(code); {
			code++
		}
	}
	t.handed[address] = code
	return code
}

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
	handed := len(t.handed)
	for _, spec := range i.Provides {
		if strings.IndexByte(reserved, spec.Letter) >= 0 {
			return nil, fmt.Errorf("driver %s provides device %q, a letter that the protocol reserves", l.name, spec.Letter)
		}
		if other := t.find(spec.Letter, spec.Index, l); other != nil {
			return nil, fmt.Errorf("device %q (%s) is provided by both %s and %s", spec.Letter, spec.Name, other.link.name, l.name)
		}
		if _, had := t.handed[spec.Address()]; !had {
			if _, own := letterOf(spec); !own {
				handed++
			}
		}
		l.devices = append(l.devices, &Device{spec: spec, link: l})
	}
	if handed > MostHanded {
		return nil, fmt.Errorf("driver %s provides too many devices: a robot has at most %d without a letter of their own", l.name, MostHanded)
	}
	t.SetLinks(append(t.links, l))
	return l, nil
}

// SetLinks replaces the links. Links that are no longer there must be shut down and off
// (Link.Shutdown).
func (t *Table) SetLinks(links []*Link) {
	t.links, t.codes = links, [256]*Device{}
	for _, l := range links {
		l.table = t
		for _, d := range l.devices {
			var own bool
			if d.code, own = letterOf(d.spec); !own {
				if d.code = t.handOut(d.spec); d.code == 0 {
					t.log.Warn("no byte is left for a device: restart the server", zap.String("device", d.spec.Address()))
				}
			}
			if d.code != 0 {
				t.codes[d.code] = d
			}
		}
	}
}

// Find returns the device with a letter and index, nil if there is none or index is
// Hidden.
func (t *Table) Find(letter byte, index int) *Device { return t.find(letter, index) }

// find is Find, also among the devices of links that are not attached yet.
func (t *Table) find(letter byte, index int, others ...*Link) *Device {
	if index == Hidden {
		return nil
	}
	for _, l := range slices.Concat(t.links, others) {
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

// Removed returns the address of a device whose byte is code and that a reload has removed; empty: there is none.
func (t *Table) Removed(code byte) string {
	for address, handed := range t.handed {
		if handed == code && t.codes[code] == nil {
			return address
		}
	}
	return ""
}

// Device returns the device of a byte on the wire (Device.Code), nil if the robot has none.
func (t *Table) Device(code byte) *Device { return t.codes[code] }

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
	d := t.codes[letter]
	if d == nil {
		return nil
	}
	index := 1
	for t.Find(letter, index) != nil {
		index++
	}
	d.spec.Index, d.spec.Front, d.code = index, true, 0
	t.codes[letter] = nil
	return d
}
