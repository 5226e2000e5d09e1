package devices

import (
	"slices"
	"strings"
	"testing"
	"time"

	"player/codec"
)

func expectEvents(t *testing.T, d *scripted, want ...string) {
	t.Helper()
	if got := d.take(); !slices.Equal(got, want) {
		t.Errorf("driver: %q, want %q", got, want)
	}
}

func expectNotified(t *testing.T, p *person, want ...string) {
	t.Helper()
	if got := p.notified; !slices.Equal(got, want) {
		t.Errorf("subscriber was notified %q, want %q", got, want)
	}
	p.notified = nil
}

func expectState(t *testing.T, w *twoDevices, want State) {
	t.Helper()
	if got := w.link.State(); got != want {
		t.Errorf("link is %v, want %v", got, want)
	}
}

// subscribe expects a subscription to be pending or to stand.
func subscribe(t *testing.T, d *Device, now time.Duration, s Subscriber, wantPending bool) {
	t.Helper()
	if pending, err := d.Subscribe(now, s); err != nil || pending != wantPending {
		t.Errorf("subscribed to %c: pending %v, %v, want pending %v", d.Letter(), pending, err, wantPending)
	}
}

func TestStateNames(t *testing.T) {
	for s, want := range map[State]string{Idle: "idle", Starting: "starting", Ready: "ready", Stopping: "stopping"} {
		if s.String() != want {
			t.Errorf("%d is %q", s, s)
		}
	}
}

// Every way in which a setup ends, and the first subscriber's notices with their times.
func TestSetupEnds(t *testing.T) {
	const at = 5 * time.Second
	limit := defaultSetupLimit
	for _, tt := range []struct {
		name     string
		setup    func(w *twoDevices, now time.Duration) // within Setup
		after    func(w *twoDevices)                    // later
		pending  bool
		err      string // of Subscribe
		notified string
		state    State
		events   []string
	}{
		{"at once", func(w *twoDevices, now time.Duration) { w.link.Ready(now) }, nil,
			false, "", "", Ready, []string{"setup"}},
		{"fails at once", func(w *twoDevices, now time.Duration) { w.link.Fail(now, errBroken) }, nil,
			false, "broken", "", Idle, []string{"setup"}},
		{"later", nil, func(w *twoDevices) { w.link.Ready(at + 900*ms) },
			true, "", "p <nil>", Ready, []string{"setup"}},
		{"fails later", nil, func(w *twoDevices) { w.link.Fail(at+900*ms, errBroken) },
			true, "", "p broken", Idle, []string{"setup"}},
		{"not yet", nil, func(w *twoDevices) { w.host.wake(w.link, at+limit-1) },
			true, "", "", Starting, []string{"setup"}},
		{"never", nil, func(w *twoDevices) { w.host.wake(w.link, at+limit) },
			true, "", "p gave up: no answer in time", Idle, []string{"setup", "shutdown"}},
		{"in the tick of its last moment", nil, func(w *twoDevices) {
			w.driver.tick = func(now time.Duration) time.Duration { w.link.Ready(now); return 0 }
			w.link.WakeAt(at + limit)
			w.host.wake(w.link, at+limit)
		}, true, "", "p <nil>", Ready, []string{"setup", "tick"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTwoDevices(t)
			w.driver.setup = later
			if tt.setup != nil {
				w.driver.setup = func(now time.Duration) { tt.setup(w, now) }
			}
			var p person
			pending, err := w.position.Subscribe(at, &p)
			if pending != tt.pending || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("Subscribe: %v, %v", pending, err)
			}
			if tt.after != nil {
				tt.after(w)
			}
			var notified []string
			if tt.notified != "" {
				notified = []string{tt.notified}
			}
			expectNotified(t, &p, notified...)
			expectState(t, w, tt.state)
			expectEvents(t, w.driver, tt.events...)
			if armed := len(w.host.at) > 0; armed != (tt.state == Starting) {
				t.Errorf("a deadline is armed: %v", armed)
			}
			if got, want := w.link.Subscribed(w.position), tt.state == Ready || tt.state == Starting; got != want {
				t.Errorf("Subscribed: %v", got)
			}
		})
	}
}

func TestSetupLimitOfTheDriver(t *testing.T) {
	w := newTwoDevices(t)
	w.driver.desc.SetupLimit = 700 * ms
	w.table = NewTable(w.table.log)
	attach(t, w.table, w.driver.desc)
	w.table.Connect(w.host)
	w.driver.setup = later
	d := w.table.Device(codec.Position)
	subscribe(t, d, time.Second, new(person), true)
	if got := w.host.at[d.Link()]; got != 1700*ms {
		t.Errorf("setup is over at %v, want 1.7s", got)
	}
}

// Shutdown ends when the driver says so, and after stopLimit at the latest.
func TestShutdownEnds(t *testing.T) {
	const at = 5 * time.Second
	for _, tt := range []struct {
		name  string
		stop  func(w *twoDevices, now time.Duration)
		after func(w *twoDevices)
		state State
	}{
		{"at once", func(w *twoDevices, now time.Duration) { w.link.Stopped(now) }, nil, Idle},
		{"later", nil, func(w *twoDevices) { w.link.Stopped(at + 100*ms) }, Idle},
		{"not yet", nil, func(w *twoDevices) { w.host.wake(w.link, at+stopLimit-1) }, Stopping},
		{"never", nil, func(w *twoDevices) { w.host.wake(w.link, at+stopLimit) }, Idle},
		{"as ready or failed", nil, func(w *twoDevices) { w.link.Ready(at); w.link.Fail(at, errBroken) }, Stopping},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTwoDevices(t)
			w.driver.shutdown = later
			if tt.stop != nil {
				w.driver.shutdown = func(now time.Duration) { tt.stop(w, now) }
			}
			subscribe(t, w.position, 0, new(person), false)
			w.link.WakeAt(time.Hour)
			p := new(person)
			subscribe(t, w.sonar, 0, p, false)
			w.sonar.Unsubscribe(at, p)
			expectEvents(t, w.driver, "setup")
			// A subscriber that still has a subscription ends it.
			w.position.Unsubscribe(at, p)
			expectState(t, w, Ready)
			w.link.subscriptions[0].device.Unsubscribe(at, w.link.subscriptions[0].who)
			expectEvents(t, w.driver, "shutdown")
			if tt.after != nil {
				tt.after(w)
			}
			expectState(t, w, tt.state)
			if armed := len(w.host.at) > 0; armed != (tt.state == Stopping) {
				t.Errorf("a deadline is armed: %v", armed)
			}
			expectEvents(t, w.driver)
		})
	}
}

// The last one to leave during setup stops it; the driver's late answer means
// nothing.
func TestSetupIsGivenUp(t *testing.T) {
	w := newTwoDevices(t)
	w.driver.setup, w.driver.shutdown = later, later
	var p person
	subscribe(t, w.position, ms, &p, true)
	subscribe(t, w.sonar, ms, &p, true)
	w.position.Unsubscribe(2*ms, &p)
	expectState(t, w, Starting)
	w.sonar.Unsubscribe(2*ms, &p)
	expectState(t, w, Stopping)
	w.link.Ready(3 * ms)
	w.link.Fail(3*ms, errBroken)
	expectState(t, w, Stopping)
	w.link.Stopped(4 * ms)
	expectState(t, w, Idle)
	expectEvents(t, w.driver, "setup", "shutdown")
	expectNotified(t, &p)
}

// A subscription that comes while the driver stops waits, and starts it again.
func TestSubscriptionWhileStopping(t *testing.T) {
	w := newTwoDevices(t)
	w.driver.shutdown = later
	var a, b person
	subscribe(t, w.position, ms, &a, false)
	w.position.Unsubscribe(2*ms, &a)
	subscribe(t, w.sonar, 3*ms, &b, true)
	expectState(t, w, Stopping)
	expectNotified(t, &b)
	w.link.Stopped(4 * ms)
	expectState(t, w, Ready)
	expectNotified(t, &b, "s <nil>")
	expectEvents(t, w.driver, "setup", "shutdown", "setup")

	w.sonar.Unsubscribe(5*ms, &b)
	subscribe(t, w.position, 6*ms, &a, true)
	w.position.Unsubscribe(7*ms, &a) // changes its mind
	w.host.wake(w.link, 5*ms+stopLimit)
	expectState(t, w, Idle)
	expectEvents(t, w.driver, "shutdown")

	subscribe(t, w.position, 8*ms, &a, false)
	w.position.Unsubscribe(9*ms, &a)
	subscribe(t, w.position, 9*ms, &a, true)
	w.driver.setup = func(now time.Duration) { w.link.Fail(now, errBroken) }
	w.host.wake(w.link, 9*ms+stopLimit) // the driver is cut off
	expectState(t, w, Idle)
	expectNotified(t, &a, "p broken")
	expectEvents(t, w.driver, "setup", "shutdown", "setup")
}

// Two subscriptions of one subscriber to one device are two.
func TestSubscriptionsCount(t *testing.T) {
	w := newTwoDevices(t)
	p := new(person)
	for range 3 {
		subscribe(t, w.position, ms, p, false)
	}
	for range 2 {
		w.position.Unsubscribe(ms, p)
		expectState(t, w, Ready)
	}
	w.position.Unsubscribe(ms, p)
	w.position.Unsubscribe(ms, p)
	expectEvents(t, w.driver, "setup", "shutdown")
}

// From within SetupDone a subscriber subscribes again, and another one unsubscribes from a device of which
// it is not notified any more.
func TestCallsFromWithinSetupDone(t *testing.T) {
	for _, err := range []error{nil, errBroken} {
		w := newTwoDevices(t)
		w.driver.setup = later
		var p person
		p.react = func(now time.Duration, d *Device, _ error) {
			if len(p.notified) == 1 {
				w.sonar.Unsubscribe(now, &p)
				w.position.Unsubscribe(now, &p)
				subscribe(t, w.sonar, now, &p, true)
				expectNotified(t, &p, "p "+errorText(err))
			}
		}
		w.driver.shutdown = later
		subscribe(t, w.position, ms, &p, true)
		subscribe(t, w.sonar, ms, &p, true)
		w.driver.take()
		if err == nil {
			w.link.Ready(2 * ms)
			expectEvents(t, w.driver, "shutdown")
			w.link.Stopped(3 * ms)
		} else {
			w.link.Fail(2*ms, err)
		}
		expectEvents(t, w.driver, "setup")
		expectNotified(t, &p)
		p.react = nil
		w.link.Ready(4 * ms)
		expectNotified(t, &p, "s <nil>")
		if w.link.Subscribed(w.position) || !w.link.Subscribed(w.sonar) {
			t.Error("subscriptions are not as given")
		}
	}
}

// A subscriber that was not notified yet of a failure may subscribe again, and end one of the two
// subscriptions. The other one stays.
func TestAskedTwice(t *testing.T) {
	w := newTwoDevices(t)
	w.driver.setup = later
	var p person
	p.react = func(now time.Duration, d *Device, _ error) {
		if len(p.notified) == 1 {
			subscribe(t, w.sonar, now, &p, true)
			w.sonar.Unsubscribe(now, &p)
		}
	}
	subscribe(t, w.position, ms, &p, true)
	subscribe(t, w.sonar, ms, &p, true)
	w.link.Fail(2*ms, errBroken)
	expectState(t, w, Starting)
	w.link.Ready(3 * ms)
	expectNotified(t, &p, "p broken", "s <nil>")
}

func errorText(err error) string {
	if err == nil {
		return "<nil>"
	}
	return err.Error()
}

// The host is given the earlier one of the driver's deadline and the link's.
func TestOneDeadline(t *testing.T) {
	w := newTwoDevices(t)
	w.driver.setup = func(now time.Duration) { w.link.WakeAt(now + 100*ms) }
	p := new(person)
	armed := func(want time.Duration) {
		t.Helper()
		if got := w.host.at[w.link]; got != want {
			t.Errorf("armed for %v, want %v", got, want)
		}
	}
	subscribe(t, w.position, ms, p, true)
	armed(101 * ms)
	w.driver.tick = func(now time.Duration) time.Duration { return now + 100*ms }
	w.host.wake(w.link, 101*ms)
	armed(201 * ms)
	w.driver.tick = nil
	w.host.wake(w.link, 201*ms)
	armed(ms + defaultSetupLimit)
	w.link.WakeAt(time.Hour)
	armed(ms + defaultSetupLimit)
	w.link.Ready(300 * ms)
	armed(time.Hour)
	w.link.WakeAt(0)
	armed(0)
	// The deadline that Tick returns counts, even if a later one was set within Tick.
	w.driver.tick = func(now time.Duration) time.Duration {
		w.link.WakeAt(now + time.Hour)
		return now + ms
	}
	w.link.WakeAt(400 * ms)
	w.host.wake(w.link, 400*ms)
	armed(401 * ms)
	w.driver.shutdown = later
	w.position.Unsubscribe(401*ms-1, p)
	armed(401 * ms) // the driver may tick while it stops
	w.driver.tick = func(now time.Duration) time.Duration { w.link.Stopped(now); return now + ms }
	w.host.wake(w.link, 401*ms)
	expectState(t, w, Idle)
	armed(0)
	w.link.WakeAt(time.Hour)
	armed(0)
}

func TestLinkAccessors(t *testing.T) {
	w := newTwoDevices(t)
	if w.link.Name() != "wheels" || w.link.Host() != Host(isolatedHost{w.link}) || w.link.host != Host(w.host) || w.link.Log() == nil {
		t.Error("name, host or log is not what it was given")
	}
	if w.link.Device(codec.Sonar) != w.sonar || w.sonar.Link() != w.link || w.sonar.Letter() != 's' {
		t.Error("link and device do not know each other")
	}
	defer func() {
		if text, ok := recover().(string); !ok || !strings.Contains(text, `wheels uses device 'l'`) {
			t.Errorf("panic %q", text)
		}
	}()
	w.link.Device(codec.Laser)
}

// Thousands of subscribers that wait for one setup are notified outcomesAtOnce at a time, in order, each
// once. Subscribers that leave meanwhile are not notified.
func TestSetupEndsInSlices(t *testing.T) {
	for _, why := range []error{nil, errBroken} {
		w := newTwoDevices(t)
		w.driver.setup = later
		const waiting = 10000
		var notified []int
		people := make([]*person, waiting)
		for i := range people {
			people[i] = &person{react: func(time.Duration, *Device, error) { notified = append(notified, i) }}
			if pending, err := w.position.Subscribe(ms, people[i]); !pending || err != nil {
				t.Fatal(pending, err)
			}
		}
		if why == nil {
			w.link.Ready(2 * ms)
		} else {
			w.link.Fail(2*ms, why)
		}
		if len(notified) != outcomesAtOnce {
			t.Fatalf("%d were notified at once", len(notified))
		}
		const leaves = waiting / 2
		w.position.Unsubscribe(2*ms, people[leaves])
		parts := 1
		for at := w.host.at[w.link]; len(notified) < waiting-1; parts++ {
			before := len(notified)
			if at = w.link.Wake(at); len(notified)-before > outcomesAtOnce || len(notified) == before {
				t.Fatalf("a slice of %d after %d", len(notified)-before, before)
			}
		}
		for i, who := range notified {
			if want := i + min(i/leaves, 1); who != want {
				t.Fatalf("%d was notified in the place of %d", who, want)
			}
		}
		if want := (waiting + outcomesAtOnce - 1) / outcomesAtOnce; parts != want {
			t.Errorf("%d slices, want %d", parts, want)
		}
		if err := people[waiting-1].notified[0]; why != nil && err != "p "+why.Error() || why == nil && err != "p <nil>" {
			t.Errorf("the last one was notified %q", err)
		}
	}
}
