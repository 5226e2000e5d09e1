package devices

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices/retry"
)

// world is a link with a driver of changing mood and three subscribers, and
// next to it a model of their possible views. The model knows no code of the link:
// it believes the driver's acts and the subscribers' notices, and holds the
// two against each other.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	now   time.Duration
	host  *fakeHost
	table *Table
	link  *Link
	trace []string

	// The state of the driver.
	alwaysOn  bool
	phase     State         // as its calls and its answers say
	overdueAt time.Duration // when its Setup or Shutdown is over at the latest, or is tried again
	wake      time.Duration // its own deadline
	run       int           // counts Setups
	failed    int           // the run that failed last
	pause     time.Duration // after a failed run of an always-on driver
	closed    bool          // the table is shut down
	reactions int           // how many more calls subscribers make while they are notified

	// The state of the subscribers: for each subscription the run that it waits for, or
	// standing.
	members [3]*member
	wants   map[want]int
	asking  int // Subscribes under way
}

type want struct {
	m *member
	d *Device
}

const (
	standing   = 0
	modelLimit = 400 * ms // of Setup
)

type member struct {
	w       *world
	name    string
	calling int // its calls of Subscribe and Unsubscribe under way
}

func newWorld(t *testing.T, seed uint64, alwaysOn bool) *world {
	w := &world{alwaysOn: alwaysOn, t: t, rng: rand.New(rand.NewPCG(seed, 1)), host: newHost(), table: NewTable(zap.NewNop()), wants: map[want]int{}, now: ms}
	attach(t, w.table, Instance{Driver: w, Name: "moody", Provides: []Spec{Position(), Sonar()}, SetupLimit: modelLimit})
	w.table.Connect(w.host)
	w.link = w.table.Links()[0]
	if alwaysOn {
		w.link.KeepOn()
	}
	for i := range w.members {
		w.members[i] = &member{w: w, name: string(rune('A' + i))}
	}
	return w
}

func (w *world) say(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%8v ", w.now)+fmt.Sprintf(format, args...))
}

func (w *world) expect(ok bool, format string, args ...any) {
	w.t.Helper()
	if ok {
		return
	}
	last := w.trace[max(0, len(w.trace)-30):]
	w.t.Fatalf("%s\nlink %v, driver %v, wants %v\n%s", fmt.Sprintf(format, args...), w.link.State(), w.phase, w.wants, strings.Join(last, "\n"))
}

// overdue ends the run's setup, which has had its time: it has failed, and later
// subscriptions are for the next one.
func (w *world) overdue() bool { return w.phase == Starting && w.overdueAt <= w.now }

// off is the driver's end, good or bad.
func (w *world) off() {
	w.phase, w.overdueAt, w.wake = Idle, 0, 0
	if w.alwaysOn && !w.closed {
		w.overdueAt = w.now + w.pause
	}
}

// fails is a setup that fails: the pause doubles.
func (w *world) fails() {
	w.failed = w.run
	w.pause = min(max(2*w.pause, retry.First), retry.Last)
}

// cutOff is the end of a driver that did not stop in time.
func (w *world) cutOff() {
	if w.phase == Stopping && w.overdueAt <= w.now {
		w.off()
	}
}

// The driver.

func (w *world) Setup(now time.Duration, l *Link) {
	w.say("Setup")
	w.cutOff()
	w.expect(w.phase == Idle, "Setup of a driver that is %v", w.phase)
	again := w.alwaysOn && (w.run == 0 || w.overdueAt <= w.now)
	w.expect(again || w.asking > 0 || len(w.wants) > 0, "Setup without a subscriber")
	w.expect(!w.closed, "Setup after the table was shut down")
	w.expect(l == w.link && now == w.now, "Setup(%v, %v)", now, l)
	for _, d := range l.devices {
		w.expect(!d.HasData() && d.Data() == nil && d.Command() == nil, "device %c starts with something of an earlier run", d.Letter())
	}
	w.run++
	w.phase, w.overdueAt = Starting, now+modelLimit
	w.mood(0.5)
	if w.rng.IntN(3) == 0 {
		w.wakeAt()
	}
}

func (w *world) Shutdown(now time.Duration) {
	w.say("Shutdown")
	w.expect(w.phase == Ready || w.phase == Starting, "Shutdown of a driver that is %v", w.phase)
	if w.overdue() {
		if w.failed < w.run { // else a subscriber was notified first
			w.fails()
		}
	} else {
		w.expect(!w.alwaysOn || w.closed, "Shutdown of a driver that is always on")
	}
	for k, run := range w.wants {
		untold := run != standing && run <= w.failed
		w.expect(untold || run == w.run+1, "Shutdown while %s has %c", k.m.name, k.d.Letter())
	}
	w.phase, w.overdueAt = Stopping, now+stopLimit
	w.mood(0.5)
	if w.rng.IntN(3) == 0 {
		w.wakeAt()
	}
}

func (w *world) Command(_ time.Duration, d *Device) {
	w.expect(w.phase == Ready, "command to a driver that is %v", w.phase)
}

func (w *world) Configure(time.Duration, *Device, []byte) error {
	w.expect(w.phase == Ready, "configuration of a driver that is %v", w.phase)
	return nil
}

func (w *world) Tick(now time.Duration) time.Duration {
	w.say("Tick")
	w.expect(w.phase != Idle, "Tick of a driver that is off")
	w.expect(w.wake != 0 && w.wake <= now, "Tick, but the deadline is %v", w.wake)
	w.wake = 0
	w.mood(0.7)
	var next time.Duration
	if w.rng.IntN(2) == 0 {
		next = now + w.span()
		w.say("Tick returns %v", next)
		if w.phase != Idle {
			w.wake = next
		}
	}
	return next
}

// mood is the driver's report now, if any.
func (w *world) mood(talkative float64) {
	if w.rng.Float64() > talkative {
		return
	}
	switch w.phase {
	case Starting:
		if w.rng.IntN(3) == 0 {
			w.fail()
		} else {
			w.ready()
		}
	case Stopping:
		w.stopped()
	}
}

func (w *world) ready() {
	w.say("driver: ready")
	if w.phase == Starting {
		w.phase, w.overdueAt = Ready, 0
	}
	w.link.Ready(w.now)
}

func (w *world) fail() {
	w.say("driver: failed")
	if w.phase == Starting {
		w.fails()
		w.off()
	}
	w.link.Fail(w.now, errBroken)
}

func (w *world) stopped() {
	w.say("driver: stopped")
	if w.phase == Stopping {
		w.off()
	}
	w.link.Stopped(w.now)
}

func (w *world) wakeAt() {
	at := w.now + w.span()
	if w.rng.IntN(4) == 0 {
		at = 0
	}
	w.say("driver: wake me at %v", at)
	if w.phase != Idle {
		w.wake = at
	}
	w.link.WakeAt(at)
}

func (w *world) span() time.Duration { return time.Duration(1+w.rng.IntN(600)) * ms }

// The subscribers.

func (m *member) SetupDone(now time.Duration, d *Device, err error) {
	w := m.w
	w.say("%s is notified of %c: %v", m.name, d.Letter(), err)
	run, ok := w.wants[want{m, d}]
	w.expect(m.calling == 0, "%s is notified of %c from within its own call", m.name, d.Letter())
	w.expect(ok && run != standing, "%s is notified of %c but does not wait for it", m.name, d.Letter())
	if err == nil {
		w.expect(w.phase == Ready && run == w.run, "%s is notified that run %d is ready", m.name, run)
		w.wants[want{m, d}] = standing
	} else {
		if w.overdue() && w.failed < w.run {
			w.fails()
		}
		w.expect(run <= w.failed, "%s is notified that run %d failed", m.name, run)
		delete(w.wants, want{m, d})
	}
	for w.reactions > 0 && w.rng.IntN(2) == 0 {
		w.reactions--
		if w.rng.IntN(2) == 0 {
			m.subscribe(w.device())
		} else {
			// those of any member: a notice to one may end another
			w.members[w.rng.IntN(len(w.members))].unsubscribe(w.device())
		}
	}
}

func (m *member) subscribe(d *Device) {
	w := m.w
	k := want{m, d}
	if _, ok := w.wants[k]; ok {
		return
	}
	w.say("%s subscribes to %c", m.name, d.Letter())
	before := w.run
	w.asking++
	m.calling++
	pending, err := d.Subscribe(w.now, m)
	m.calling--
	w.asking--
	w.say("%s: %v, %v", m.name, pending, err)
	switch {
	case err != nil:
		w.expect(!pending && (w.closed || w.run == before+1 && w.failed == w.run), "subscription fails without a setup that fails: %v", err)
	case pending && (w.phase == Stopping || w.overdue()):
		w.wants[k] = w.run + 1
	case pending:
		w.expect(w.phase == Starting, "pending while %v", w.phase)
		w.wants[k] = w.run
	default:
		w.expect(w.phase == Ready, "subscribed while %v", w.phase)
		w.wants[k] = standing
	}
}

func (m *member) unsubscribe(d *Device) {
	m.w.say("%s unsubscribes from %c", m.name, d.Letter())
	delete(m.w.wants, want{m, d})
	m.calling++
	d.Unsubscribe(m.w.now, m)
	m.calling--
}

func (w *world) device() *Device {
	return w.table.Device([]byte{codec.Position, codec.Sonar}[w.rng.IntN(2)])
}

// step does one thing that can happen.
func (w *world) step() {
	w.reactions = 4
	m, d := w.members[w.rng.IntN(len(w.members))], w.device()
	switch w.rng.IntN(12) {
	case 0, 1, 2:
		m.subscribe(d)
	case 3, 4, 5:
		m.unsubscribe(d)
	case 6: // at the right time or not
		w.ready()
	case 7:
		w.fail()
	case 8:
		w.stopped()
	case 9:
		d.Publish(w.now, []byte{1})
		d.SetCommand(w.now, []byte{0, 1, 0, 2})
		err := d.Configure(w.now, []byte("R"))
		w.expect((err == nil) == (w.phase == Ready), "configured while %v: %v", w.phase, err)
		w.expect(err == nil || errors.Is(err, ErrNotOpen), "configured while %v: %v", w.phase, err)
	case 10:
		w.now += w.span()
		w.fire()
	case 11: // exactly at the deadline
		w.now = max(w.now, w.host.at[w.link])
		w.fire()
	}
	w.check()
}

// fire wakes the link for all that is due.
func (w *world) fire() {
	for range 100 {
		if !w.host.wake(w.link, w.now) {
			return
		}
		w.cutOff()
	}
	w.expect(false, "the link wants to be woken for ever")
}

// check holds the knowledge of all sides against each other when all has settled.
func (w *world) check() {
	w.expect(w.link.State() == w.phase, "link and driver disagree")
	await := map[State]int{Starting: w.run, Ready: standing, Stopping: w.run + 1, Idle: -1}[w.phase]
	for k, run := range w.wants {
		w.expect(run == await, "%s waits for run %d of %c, now is run %d", k.m.name, run, k.d.Letter(), w.run)
	}
	w.expect(len(w.wants) > 0 || w.alwaysOn || w.phase == Idle || w.phase == Stopping, "the driver runs without a subscriber")
	for _, d := range w.link.devices {
		open := false
		for k := range w.wants {
			open = open || k.d == d
		}
		w.expect(w.link.Subscribed(d) == open, "Subscribed(%c) is %v", d.Letter(), !open)
	}
	deadline := w.overdueAt
	if deadline == 0 || w.wake != 0 && w.wake < deadline {
		deadline = w.wake
	}
	w.expect(w.host.at[w.link] == deadline, "armed for %v, want %v (overdue at %v, wake %v)", w.host.at[w.link], deadline, w.overdueAt, w.wake)
	w.expect(w.overdueAt == 0 || w.overdueAt > w.now, "what should have ended goes on at %v", w.overdueAt)
}

// TestLinkModel holds the link against the model in many random histories.
func TestLinkModel(t *testing.T) {
	states := map[State]int{}
	for seed := range uint64(400) {
		w := newWorld(t, seed, seed%4 == 0)
		steps := 200
		if w.alwaysOn {
			w.table.Start(w.now)
			w.check()
			steps = w.rng.IntN(12) // once it is ready it stays so
		}
		for range steps {
			w.step()
			states[w.phase]++
		}
		w.say("table: shut down")
		w.closed = true
		clear(w.wants)
		if w.phase == Idle {
			w.overdueAt = 0
		}
		w.table.Shutdown(w.now)
		w.check()
		for range 50 {
			w.step()
			w.expect(len(w.wants) == 0, "a member subscribed after the table was shut down")
		}
		w.now += 10 * time.Second
		w.fire()
		w.expect(w.table.Done() && w.phase == Idle, "not done 10 s after the shutdown")
	}
	for _, s := range []State{Idle, Starting, Ready, Stopping} {
		if states[s] < 1000 {
			t.Errorf("only %d steps ended %v: the histories do not go everywhere", states[s], s)
		}
	}
}
