package devices

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"player/codec"
	"player/devices/retry"
)

// Messages of the log, by which tests find lines.
const (
	LogReady    = "device ready"
	LogStops    = "device stops"
	LogCutOff   = "device did not stop in time"
	LogPanicked = "driver has panicked"
)

// ErrNotOpen refuses a request because the link is not ready.
var ErrNotOpen = errors.New("no client has the device open")

// ErrRing refuses a subscription that would wait for itself.
var ErrRing = errors.New("it is in a ring of servers: its driver waits for a server that waits for it")

// errShutdown refuses a subscription to a link that is being shut down.
var errShutdown = errors.New("the device is shut down")

// errSetupLimit ends a setup that takes too long.
var errSetupLimit = errors.New("gave up: no answer in time")

// ErrNoConfiguration refuses a configuration request to a driver that is no Configurer.
var ErrNoConfiguration = errors.New("the device has nothing to configure")

const (
	// defaultSetupLimit bounds the setup of a driver that names no limit. A
	// client waits for its reply that long.
	defaultSetupLimit = 10 * time.Second
	// stopLimit bounds a driver's Shutdown. It keeps the shutdown of the whole
	// server under two seconds; a driver that needs longer is cut off.
	stopLimit = 1500 * time.Millisecond
	// outcomesAtOnce is how many subscribers are notified at a time, and outcomesPause the time
	// until the next ones are. Their replies take the loop half a millisecond. If all were notified at
	// once, an emergency stop would wait for the replies to thousands.
	outcomesAtOnce = 64
	outcomesPause  = time.Millisecond
)

// State of a link.
type State uint8

const (
	Idle     State = iota // no subscribers, the driver is off
	Starting              // Setup is under way
	Ready                 // data flows
	Stopping              // Shutdown is under way
	Lost                  // the driver has panicked; it is set up again later
)

func (s State) String() string {
	return [...]string{"idle", "starting", "ready", "stopping", "lost"}[s]
}

// Subscriber is a session, or a virtual device's driver.
type Subscriber interface {
	// SetupDone ends a pending subscription. After an error the subscription is gone
	// and must not be ended. SetupDone is never called from within a call of
	// Subscribe or Unsubscribe to the same link.
	SetupDone(now time.Duration, d *Device, err error)
}

// routed is a Subscriber for which links wait, perhaps on other servers.
type routed interface {
	// Path returns the identifiers of the links that wait for the Subscriber, 8 random bytes each.
	// The first is the link that began to wait first.
	Path() string
}

func pathOf(who Subscriber) string {
	if r, ok := who.(routed); ok {
		return r.Path()
	}
	return ""
}

// newID returns the identifier of a new link.
func newID() string { return string(binary.BigEndian.AppendUint64(nil, rand.Uint64())) }

// subscription is a Subscriber of one device. It is pending until the link is ready.
type subscription struct {
	device *Device
	who    Subscriber
}

// outcome is how a pending subscription ended.
type outcome struct {
	subscription
	err error
}

// Link is a driver, its devices, and their subscribers. The first subscription to any of the devices
// starts the driver, and the end of the last one stops it. A subscription that comes while the driver
// stops waits for that, and starts it again.
type Link struct {
	// Counts count events so far. A driver that reconnects lost hardware by itself adds to them.
	Counts Counts

	table   *Table
	name    string
	driver  Driver
	limit   time.Duration // of Setup
	devices []*Device
	host    Host
	log     *zap.Logger

	// The optional interfaces of the driver; nil: it lacks them.
	commanded  Commanded
	configurer Configurer
	surveyed   Surveyed
	ranged     Ranged
	channelled Channelled
	colored    Colored
	motored    Motored
	charged    Charged
	polled     Polled
	ticker     Ticker
	stepper    Stepper
	recorder   Recorder
	sourced    Sourced

	geometry Geometry

	id   string // identifies the link in paths
	path string // the path of the subscriber that has started the driver

	state         State
	subscriptions []subscription
	outcomes      []outcome     // SetupDone calls that are due
	notifying     bool          // notify is calling SetupDone
	notifyAt      time.Duration // when notify is called again; zero: no outcome is left
	overdueAt     time.Duration // when Starting or Stopping has taken too long
	wake          time.Duration // the driver's own deadline, zero for none
	setupError    error         // why the last setup failed
	readyAt       time.Duration // when the last setup has succeeded
	closed        bool          // Shutdown was called: the driver is not started again
	alwaysOn      bool          // it runs from Table.Start on, with or without subscribers
	retry         retry.Retry   // of a driver that is lost or always on
	pause         time.Duration // until the next setup of an always-on driver
	lost          bool          // the driver has failed and is set up again: it keeps its subscriptions

	belongings
}

// Counts count the events of a link since the server started.
type Counts struct {
	Setups  uint64 // setups that were begun
	Errors  uint64 // setups that failed, and losses of hardware that had worked
	Retries uint64 // setups and reconnections that no client asked for
	Dropped uint64 // input thrown away: bytes outside of packets, and broken packets
}

// SetDriver sets the driver, before any subscription.
func (l *Link) SetDriver(d Driver) {
	l.driver = d
	l.commanded, _ = d.(Commanded)
	l.configurer, _ = d.(Configurer)
	l.surveyed, _ = d.(Surveyed)
	l.ranged, _ = d.(Ranged)
	l.channelled, _ = d.(Channelled)
	l.colored, _ = d.(Colored)
	l.motored, _ = d.(Motored)
	l.charged, _ = d.(Charged)
	l.polled, _ = d.(Polled)
	l.ticker, _ = d.(Ticker)
	if l.stepper, _ = d.(Stepper); l.stepper != nil && !l.stepper.InStep() {
		l.stepper = nil
	}
	l.recorder, _ = d.(Recorder)
	l.sourced, _ = d.(Sourced)
}

// AlwaysOn reports whether KeepOn was called.
func (l *Link) AlwaysOn() bool { return l.alwaysOn }

// KeepOn has the link run from Table.Start on, with or without subscribers. A setup
// that fails is tried again.
func (l *Link) KeepOn() { l.alwaysOn = true }

// SetGeometry sets the geometry of the devices of the link.
func (l *Link) SetGeometry(g Geometry) { l.geometry = g }

// Geometry returns the geometry of the devices of the link; zero: not declared.
func (l *Link) Geometry() Geometry { return l.geometry }

// Devices returns the devices on the link.
func (l *Link) Devices() []*Device { return l.devices }

// Name returns the driver's name, for logs.
func (l *Link) Name() string { return l.name }

// State returns the state of the link.
func (l *Link) State() State { return l.state }

// SetupError returns why the last setup has failed, or that the driver is switched off. It is nil if
// neither is so.
func (l *Link) SetupError() error {
	if l.switchedOff {
		return ErrSwitchedOff
	}
	return l.setupError
}

// Explain replaces the error of the last setup, after more was found out about its cause.
func (l *Link) Explain(err error) {
	if l.state == Idle && l.setupError != nil {
		l.setupError = err
	}
}

// HasDriver reports whether the robot has another driver of that name.
func (l *Link) HasDriver(name string) bool {
	return slices.ContainsFunc(l.table.links, func(o *Link) bool { return o != l && o.name == name })
}

// Recorder returns the driver if it is a Recorder, otherwise nil.
func (l *Link) Recorder() Recorder { return l.recorder }

// Source returns Sourced.Source, empty if the driver is not made from files.
func (l *Link) Source() string {
	if l.sourced == nil {
		return ""
	}
	return l.sourced.Source()
}

// ForgetCommands forgets the commands of all devices, so that hardware that comes back does not
// move by itself.
func (l *Link) ForgetCommands() {
	for _, d := range l.devices {
		d.ForgetCommand()
	}
}

// Log returns the link's logger, which names the driver in every line.
func (l *Link) Log() *zap.Logger { return l.log }

// Host returns the Host for the driver of the link. The link remembers the ports and programs that the
// driver opens with it.
func (l *Link) Host() Host { return isolatedHost{l} }

// Device returns the first device of the interface with the given letter, which the driver must provide. Devices has all
// of them, in the order of Instance.Provides.
func (l *Link) Device(letter byte) *Device {
	for _, d := range l.devices {
		if d.spec.Letter == letter {
			return d
		}
	}
	panic(fmt.Sprintf("driver %s uses device %q, which it does not provide", l.name, letter))
}

// Halted reports whether the emergency stop of the robot holds.
func (l *Link) Halted() bool { return l.table.stopped }

// Subscribed reports whether d is open. A driver can skip work for a device
// that no client reads. The answer is at once for a device that cannot be opened.
func (l *Link) Subscribed(d *Device) bool {
	return d.spec.Index != Hidden &&
		slices.ContainsFunc(l.subscriptions, func(s subscription) bool { return s.device == d })
}

// AppendWaiters appends the waiters of the link's devices, each once.
func (l *Link) AppendWaiters(dst []Waiter) []Waiter {
	for _, d := range l.devices {
		for _, w := range d.waiters {
			if !slices.Contains(dst, w) {
				dst = append(dst, w)
			}
		}
	}
	return dst
}

// Ready is called by the driver when its setup has succeeded.
func (l *Link) Ready(now time.Duration) {
	if l.state != Starting {
		return
	}
	l.state, l.overdueAt, l.readyAt = Ready, 0, now
	l.arm()
	l.retry.Worked(now, l.log)
	l.log.Info(LogReady)
	if l.lost {
		l.lost = false
		return
	}
	l.endPending(now, nil)
}

// Fail is called by the driver when its setup has failed. It must have cleaned up: Shutdown is not
// called.
func (l *Link) Fail(now time.Duration, err error) {
	if l.state != Starting {
		return
	}
	if l.lost {
		l.lose(now, err)
		return
	}
	l.failed(now, l.log, err)
	l.idle(now)
	l.endPending(now, err)
}

// failed counts and logs a failed setup. An always-on driver is set up again, so each reason is logged
// once.
func (l *Link) failed(now time.Duration, log *zap.Logger, err error) {
	l.Counts.Errors++
	if l.alwaysOn && !l.closed && !l.switchedOff {
		l.pause = l.retry.Failed(now, log, err) - now
		return
	}
	log.Error("device setup failed", zap.Error(err))
}

// Stopped is called by the driver when its Shutdown has ended.
func (l *Link) Stopped(now time.Duration) {
	if l.state != Stopping {
		return
	}
	if l.lost && len(l.subscriptions) > 0 { // otherwise all have left while it stopped
		l.lose(now, errSetupLimit)
		return
	}
	l.idle(now)
	switch {
	case len(l.subscriptions) == 0:
	case l.switchedOff:
		l.endPending(now, ErrSwitchedOff)
	default: // that came while the driver stopped
		l.start(now)
	}
}

// WakeAt sets the deadline of the driver's next Tick; zero cancels it. The driver must be a Ticker.
// WakeAt has no effect if the driver is off, which may have happened earlier in the same call.
func (l *Link) WakeAt(at time.Duration) {
	if l.state == Idle || l.state == Lost {
		return
	}
	l.wake = at
	l.arm()
}

// wakeBy has Tick called at the given time at the latest.
func (l *Link) wakeBy(at time.Duration) {
	if l.wake == 0 || at < l.wake {
		l.WakeAt(at)
	}
}

// Wake is called by the host at the deadline of Host.WakeAt. It returns the next deadline, zero for
// none.
func (l *Link) Wake(now time.Duration) time.Duration {
	if l.notifyAt != 0 && l.notifyAt <= now {
		l.notify(now)
	}
	if l.reclaimAt != 0 && l.reclaimAt <= now {
		l.reclaim(now)
	}
	if l.wake != 0 && l.wake <= now {
		l.wake = 0
		l.call(now, l.run, func() {
			if next := l.ticker.Tick(now); next != 0 {
				l.WakeAt(next)
			}
		})
	}
	if l.overdueAt != 0 && l.overdueAt <= now {
		l.expire(now)
	}
	return l.deadline()
}

// deadline returns the earliest deadline of the link, zero for none.
func (l *Link) deadline() (earliest time.Duration) {
	for _, at := range [...]time.Duration{l.overdueAt, l.wake, l.reclaimAt, l.notifyAt} {
		if at != 0 && (earliest == 0 || at < earliest) {
			earliest = at
		}
	}
	return earliest
}

func (l *Link) arm() { l.host.WakeAt(l, l.deadline()) }

// expire is called at overdueAt: Starting or Stopping takes too long, or Setup is to be tried again.
func (l *Link) expire(now time.Duration) {
	switch l.state {
	case Idle:
		l.Counts.Retries++
		l.start(now)
	case Lost:
		l.Counts.Retries++
		l.setup(now)
	case Starting:
		// Subscribers are removed before the driver stops. Otherwise Stopped would take them
		// for new subscribers and start the driver again.
		l.state, l.overdueAt = Stopping, now+stopLimit
		l.arm()
		if !l.lost {
			l.failed(now, l.log.With(zap.Duration("limit", l.limit)), errSetupLimit)
			l.endPending(now, errSetupLimit)
		}
		l.call(now, l.run, func() { l.driver.Shutdown(now) })
	case Stopping:
		l.log.Warn(LogCutOff)
		l.disown(now)
		l.Stopped(now)
	}
}

// subscribe is Device.Subscribe.
func (l *Link) subscribe(now time.Duration, d *Device, who Subscriber) (pending bool, err error) {
	if l.closed {
		return false, errShutdown
	}
	if l.isSwitchedOff() {
		return false, ErrSwitchedOff
	}
	path := pathOf(who)
	if l.isOn(path) {
		return false, ErrRing
	}
	if l.state == Idle {
		l.path = path
		l.start(now)
		if l.state == Idle {
			return false, l.setupError
		}
	}
	l.subscriptions = append(l.subscriptions, subscription{d, who})
	return l.state != Ready && !l.lost, nil
}

// Path returns the identifiers of the links that wait for this one, and its own.
func (l *Link) Path() string { return l.path + l.id }

// isOn reports whether this link is in a path.
func (l *Link) isOn(path string) bool {
	for ids := range slices.Chunk([]byte(path), codec.PathID) {
		if string(ids) == l.id {
			return true
		}
	}
	return false
}

func (l *Link) unsubscribe(now time.Duration, d *Device, who Subscriber) {
	s := subscription{d, who}
	if i := slices.IndexFunc(l.outcomes, func(o outcome) bool { return o.subscription == s }); i >= 0 {
		failed := l.outcomes[i].err != nil
		l.outcomes = slices.Delete(l.outcomes, i, i+1)
		if failed {
			return
		}
	}
	i := slices.Index(l.subscriptions, s)
	if i < 0 {
		return
	}
	last := len(l.subscriptions) - 1
	l.subscriptions[i] = l.subscriptions[last] // thousands may leave at once
	l.subscriptions = slices.Delete(l.subscriptions, last, last+1)
	if len(l.subscriptions) == 0 {
		l.turnOff(now)
	}
}

// turnOff stops the driver, unless it is off or stops already.
func (l *Link) turnOff(now time.Duration) {
	switch l.state {
	case Starting, Ready:
		l.beginShutdown(now)
	case Lost:
		l.idle(now)
	}
}

// Shutdown stops the driver for good. Off reports when that is done. Its subscriptions end, without a
// notification, and new ones fail.
func (l *Link) Shutdown(now time.Duration) {
	l.closed, l.subscriptions = true, nil
	l.turnOff(now)
	if l.state == Idle {
		l.idle(now) // an always-on driver is not tried again
	}
}

// Off reports whether the driver is stopped and owns nothing any more, so that another driver may open
// the same hardware.
func (l *Link) Off() bool { return l.state == Idle && l.reclaimAt == 0 }

func (l *Link) start(now time.Duration) {
	stay := subscription{who: keeper{}}
	if l.alwaysOn && !slices.Contains(l.subscriptions, stay) {
		l.subscriptions = append(l.subscriptions, stay)
	}
	for _, d := range l.devices {
		d.restart()
	}
	l.setup(now)
}

func (l *Link) setup(now time.Duration) {
	l.reclaimAll(now)
	l.Counts.Setups++
	l.state, l.overdueAt = Starting, now+l.limit
	l.arm()
	l.call(now, l.run, func() { l.driver.Setup(now, l) })
}

func (l *Link) beginShutdown(now time.Duration) {
	l.state, l.overdueAt, l.lost = Stopping, now+stopLimit, false
	l.arm()
	l.call(now, l.run, func() { l.driver.Shutdown(now) })
	l.log.Info(LogStops)
}

func (l *Link) idle(now time.Duration) {
	l.state, l.overdueAt, l.wake, l.lost = Idle, 0, 0, false
	if l.alwaysOn && !l.closed && !l.switchedOff {
		l.overdueAt = now + l.pause
	}
	l.arm()
}

// keeper is the subscriber that keeps an always-on link from stopping. It stays when all others leave.
type keeper struct{}

func (keeper) SetupDone(time.Duration, *Device, error) {} // idle sets the next try

// endPending ends the pending subscriptions: all of the link, because setup has just ended. Subscribers
// may subscribe and unsubscribe, themselves or others, from within SetupDone.
func (l *Link) endPending(now time.Duration, err error) {
	l.setupError = err
	for _, s := range l.subscriptions {
		l.outcomes = append(l.outcomes, outcome{s, err})
	}
	if err != nil {
		l.subscriptions = nil
	}
	if l.notifyAt == 0 {
		l.notify(now)
	}
}

// notify calls SetupDone for the first outcomesAtOnce outcomes.
func (l *Link) notify(now time.Duration) {
	if l.notifying { // SetupDone has led here: the loop below goes on with the new outcomes
		return
	}
	l.notifying = true
	defer func() { l.notifying = false }() // also if a subscriber panics
	for n := 0; len(l.outcomes) > 0 && n < outcomesAtOnce; n++ {
		o := l.outcomes[0]
		l.outcomes[0] = outcome{}
		l.outcomes = l.outcomes[1:]
		o.who.SetupDone(now, o.device, o.err)
	}
	if l.notifyAt = 0; len(l.outcomes) > 0 {
		l.notifyAt = now + outcomesPause
	}
	l.arm()
}
