package devices

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
)

const ms = time.Millisecond

var errBroken = errors.New("broken")

// fakeHost is a Host with deadlines and without ports. As in the reactor, a WakeAt within Wake replaces
// the deadline that Wake returns.
type fakeHost struct {
	unconnected
	at map[*Link]time.Duration
}

func newHost() *fakeHost { return &fakeHost{at: map[*Link]time.Duration{}} }

func (h *fakeHost) WakeAt(l *Link, at time.Duration) {
	if delete(h.at, l); at != 0 {
		h.at[l] = at
	}
}

// wake calls the link if its deadline has come. It reports whether it had.
func (h *fakeHost) wake(l *Link, now time.Duration) bool {
	at, armed := h.at[l]
	if !armed || at > now {
		return false
	}
	delete(h.at, l)
	if next := l.Wake(now); next != 0 && h.at[l] == 0 {
		h.at[l] = next
	}
	return true
}

// scripted is a driver that acts by functions of the test, and records its calls.
type scripted struct {
	desc     Instance
	link     *Link
	setup    func(now time.Duration) // nil: ready at once
	shutdown func(now time.Duration) // nil: stopped at once
	tick     func(now time.Duration) time.Duration
	events   []string
}

func newScripted(name string, provides ...Spec) *scripted {
	s := &scripted{}
	s.desc = Instance{Driver: s, Name: name, Provides: provides}
	return s
}

func (s *scripted) note(format string, args ...any) {
	s.events = append(s.events, fmt.Sprintf(format, args...))
}

// take returns the events since the last call.
func (s *scripted) take() []string {
	events := s.events
	s.events = nil
	return events
}

func (s *scripted) Setup(now time.Duration, link *Link) {
	s.link = link
	s.note("setup")
	if s.setup == nil {
		link.Ready(now)
		return
	}
	s.setup(now)
}

func (s *scripted) Shutdown(now time.Duration) {
	s.note("shutdown")
	if s.shutdown == nil {
		s.link.Stopped(now)
		return
	}
	s.shutdown(now)
}

func (s *scripted) Command(_ time.Duration, d *Device) {
	s.note("command %c % X", d.Letter(), d.Command())
}

func (s *scripted) Configure(_ time.Duration, d *Device, payload []byte) error {
	s.note("configure %c %q", d.Letter(), payload)
	if string(payload) == "bad" {
		return errBroken
	}
	return nil
}

func (s *scripted) Tick(now time.Duration) time.Duration {
	s.note("tick")
	if s.tick == nil {
		return 0
	}
	return s.tick(now)
}

// attach attaches drivers. It returns the link of the last one.
func attach(t testing.TB, table *Table, instances ...Instance) (l *Link) {
	t.Helper()
	for _, i := range instances {
		var err error
		if l, err = table.Attach(i); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func later(time.Duration) {}

// person is a subscriber that remembers its notifications.
type person struct {
	notified []string
	react    func(now time.Duration, d *Device, err error) // nil: nothing
}

func (p *person) SetupDone(now time.Duration, d *Device, err error) {
	p.notified = append(p.notified, fmt.Sprintf("%c %v", d.Letter(), err))
	if p.react != nil {
		p.react(now, d, err)
	}
}

// twoDevices is a robot of one link with a position and a sonar device.
type twoDevices struct {
	driver          *scripted
	host            *fakeHost
	table           *Table
	link            *Link
	position, sonar *Device
}

func newTwoDevices(t testing.TB) *twoDevices {
	t.Helper()
	w := &twoDevices{driver: newScripted("wheels", Position(), Sonar()), host: newHost(), table: NewTable(zap.NewNop())}
	attach(t, w.table, w.driver.desc)
	w.table.Connect(w.host)
	w.position, w.sonar = w.table.Device(codec.Position), w.table.Device(codec.Sonar)
	w.link = w.position.Link()
	return w
}

// mute is a driver that does nothing but become ready, and allocates nothing.
type mute struct{ link *Link }

func (m *mute) Setup(now time.Duration, link *Link) { m.link = link; link.Ready(now) }
func (m *mute) Shutdown(now time.Duration)          { m.link.Stopped(now) }
